"""Calls of agents that the gate allowed, their keys, and when each session was last decided about."""

from bot.evidence.store.migrations.statements import upgrade_by

revision, down_revision = "0007", "0006"
upgrade = upgrade_by(__file__)
