"""Requests with their steps, sessions, the audit chain, the query log."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0001", None
upgrade = upgrade_by(__file__)
