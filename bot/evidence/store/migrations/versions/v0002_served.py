"""The newest bundle that was served."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0002", "0001"
upgrade = upgrade_by(__file__)
