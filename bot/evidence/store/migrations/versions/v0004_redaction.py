"""What is hashed of an audit entry stands apart from its payload, so that a payload can be taken away."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0004", "0003"
upgrade = upgrade_by(__file__)
