"""What all tables share: their metadata, and how a moment is written.

A moment is ISO text in UTC of fixed width, so that the order of the texts is the order in time on every database.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import JSON, Connection, Dialect, MetaData, String, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.types import TypeDecorator

from bot.conversation import Question
from bylaw.errors import UsageError

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# none_as_null: a missing value is NULL in SQL, never the JSON word null
Json = JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

ID_LENGTH = 128


class Moment(TypeDecorator[datetime]):
    """A timezone-aware datetime as `2026-11-20T09:30:00.000000Z`. SQLite would lose the zone of its own type."""

    impl = String(27)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """To text; a datetime without a zone is a mistake of the caller."""
        return None if value is None else stamp(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From text, in UTC."""
        return None if value is None else datetime.fromisoformat(value)


def stamp(moment: datetime) -> str:
    """*moment* in UTC with microseconds; raises ValueError without a timezone."""
    if moment.tzinfo is None:
        raise ValueError("a moment needs a timezone")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def insert_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert *row* unless its key is taken; was it inserted? Two processes may try at once, one of them wins."""
    return connection.execute(_inserting(table, connection.dialect.name), dict(row)).first() is not None


@cache
def _inserting(table: Table, dialect: str) -> ReturningInsert[Any]:
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert(table).on_conflict_do_nothing().returning(*table.primary_key)


def check_ids(question: Question) -> None:
    """Raise UsageError where a name that is kept with *question* is none."""
    named = {"request id": question.request_id, "session id": question.session_id, "user": question.actor.id}
    for name, value in named.items():
        if not value.strip() or len(value) > ID_LENGTH or not value.isprintable():
            raise UsageError(f"the {name} must have 1 to {ID_LENGTH} printable characters")
