"""Everything that a store holds, to look for what should not be there."""

from __future__ import annotations

from sqlalchemy import inspect

from bot.evidence.store.connection import Connection


def every_row(connection: Connection) -> list[str]:
    """The rows of each table, as text."""
    names = sorted(inspect(connection.full).get_table_names())
    return [str(connection.all(f'SELECT * FROM "{name}"')) for name in names]
