"""What is remembered of people: their corrections and preferences; and what many of them propose for everybody."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0009", "0008"
upgrade = upgrade_by(__file__)
