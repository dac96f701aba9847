"""Whether the store keeps what it is given."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0006", "0005"
upgrade = upgrade_by(__file__)
