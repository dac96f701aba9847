"""What a request read and wrote, beside its reply."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0005", "0004"
upgrade = upgrade_by(__file__)
