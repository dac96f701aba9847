"""Who asked for an allowed call, since only they may tell how it ended."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0010", "0009"
upgrade = upgrade_by(__file__)
