"""Alembic's scripts, run by `bot.evidence.store.migrate`."""
