"""What all tables share: their metadata, and how a moment is written.

A moment is ISO text in UTC of fixed width, so that the order of the texts is the order in time on every database.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from sqlalchemy import JSON, ClauseElement, Connection, Dialect, Insert, MetaData, String, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeDecorator, TypeEngine

from bot.conversation import Question
from bylaw.errors import UsageError

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Written(str):
    """JSON that is spelled already."""

    __slots__ = ()


ID_LENGTH = 128


class Json(TypeDecorator[Any]):
    """A JSON value; on PostgreSQL a JSONB. A missing value is NULL in SQL, never the JSON word null."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """PostgreSQL's own type is loaded only where PostgreSQL is."""
        if dialect.name != "postgresql":
            return dialect.type_descriptor(JSON(none_as_null=True))
        from sqlalchemy.dialects.postgresql import JSONB

        return dialect.type_descriptor(JSONB(none_as_null=True))


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


@lru_cache(maxsize=64)  # one moment stands in many rows
def stamp(moment: datetime) -> str:
    """*moment* in UTC with microseconds; raises ValueError without a timezone."""
    if moment.tzinfo is UTC:  # as the clock gives it
        return f"{moment.isoformat(timespec='microseconds')[:-6]}Z"
    if moment.tzinfo is None:
        raise ValueError("a moment needs a timezone")
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def insert_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert *row* unless its key is taken; was it inserted? Two processes may try at once, one of them wins."""
    return run(connection, inserting(table, connection.dialect.name), row) == 1


@cache
def inserting(table: Table, dialect: str) -> Insert:
    """The statement that inserts a row into *table* unless its key is taken."""
    if dialect != "postgresql":
        return sqlite.insert(table).on_conflict_do_nothing()
    from sqlalchemy.dialects.postgresql import insert

    return insert(table).on_conflict_do_nothing()


@cache
def putting(table: Table, dialect: str) -> Insert:
    """The statement that puts a row into *table* in the place of the one that has its key."""
    statement: Any
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert

        statement = insert(table)
    else:
        statement = sqlite.insert(table)
    rest = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
    found: Insert = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=rest)
    return found


_NO_ROW: Mapping[str, Any] = MappingProxyType({})

# ---- statements that every request executes -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Spelled:
    """A statement as the driver takes it; `writers` turn those values into its own that are not already."""

    text: str
    constants: Mapping[str, Any]
    writers: Mapping[str, Callable[[Any], Any]]

    def row(self, given: Mapping[str, Any]) -> dict[str, Any]:
        written = {**self.constants, **given}
        for name, write in self.writers.items():
            written[name] = write(written[name])
        return written


def run(connection: Connection, statement: ClauseElement, row: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
    """Execute a *statement* that is always the same, once or for several rows: it is spelled out only the first time.

    How many rows it touched.
    """
    spelled = _spelled(connection.dialect, statement, tuple(row if isinstance(row, Mapping) else row[0]))
    rows = spelled.row(row) if isinstance(row, Mapping) else [spelled.row(one) for one in row]
    return int(_executed(connection, spelled.text, rows).rowcount)


def first_row(
    connection: Connection, statement: ClauseElement, row: Mapping[str, Any] = _NO_ROW
) -> Sequence[Any] | None:
    """The first row that a *statement* finds which is always the same, None where it finds none.

    It holds what the driver gives: text and numbers, neither moments nor JSON.
    """
    spelled = _spelled(connection.dialect, statement, tuple(row))
    found: Sequence[Any] | None = _executed(connection, spelled.text, spelled.row(row)).fetchone()
    return found


def command(connection: Connection, text: str) -> None:
    """Tell the database itself something, such as where a transaction begins."""
    _executed(connection, text, ())


def _executed(connection: Connection, text: str, rows: Any) -> Any:
    """A cursor behind *text*. SQLite's driver is asked directly: what stands before it takes longer than the database.

    What goes wrong is said as ever: DBAPIError.
    """
    if connection.dialect.name != "sqlite":
        return connection.exec_driver_sql(text, rows)
    cursor = connection.connection.cursor()
    try:
        (cursor.executemany if isinstance(rows, list) else cursor.execute)(text, rows)
    except sqlite3.Error as error:
        raise DBAPIError.instance(text, None, error, sqlite3.Error) from error
    return cursor


@cache
def _spelled(dialect: Dialect, statement: ClauseElement, names: tuple[str, ...]) -> _Spelled:
    is_sqlite = dialect.name == "sqlite"  # its driver takes names too, though by default it is given places
    spelling = sqlite.dialect(paramstyle="named") if is_sqlite else dialect
    compiled = statement.compile(dialect=spelling, column_keys=list(names))
    assert isinstance(compiled, SQLCompiler)  # a statement with values, no definition of a table
    writers = {name: _writer(bind.type, dialect) for name, bind in compiled.binds.items()}
    return _Spelled(
        str(compiled),
        {name: bind.value for name, bind in compiled.binds.items() if name not in names},
        {name: write for name, write in writers.items() if write is not None},
    )


def _writer(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """What turns a value of that *kind* into the driver's own; None where it is that already."""
    write = kind.dialect_impl(dialect).bind_processor(dialect)
    if not isinstance(kind, JSON | Json) or write is None:
        return write
    spelled = str if dialect.name == "sqlite" else lambda text: write(json.loads(text))
    return lambda value: spelled(value) if isinstance(value, Written) else write(value)


def check_ids(question: Question) -> None:
    """Raise UsageError where a name that is kept with *question* is none."""
    named = {"request id": question.request_id, "session id": question.session_id, "user": question.actor.id}
    for name, value in named.items():
        if not value.strip() or len(value) > ID_LENGTH or not value.isprintable():
            raise UsageError(f"the {name} must have 1 to {ID_LENGTH} printable characters")
