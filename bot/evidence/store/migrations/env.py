"""Runs the revisions on the connection that `bot.evidence.store.migrate` holds: its transaction is the only one."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
