"""What was said where people talk, and where it was answered."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0003", "0002"
upgrade = upgrade_by(__file__)
