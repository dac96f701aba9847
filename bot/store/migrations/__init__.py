"""Alembic's scripts, run by `bot.store.migrate`."""
