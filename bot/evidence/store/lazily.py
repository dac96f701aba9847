"""SQLAlchemy, and the tables told to it, loaded when somebody first needs them.

To import them takes longer than all that a short command does on a store in a file, which speaks plain SQL.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["schema", "sql"]

if TYPE_CHECKING:
    import sqlalchemy as sql

    from bot.evidence.store import schema
else:

    class _Later:
        """A module that is imported when something of it is used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self._name), name)

    sql, schema = _Later("sqlalchemy"), _Later("bot.evidence.store.schema")
