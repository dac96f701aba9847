"""A transaction on the store, and the plain SQL that every request executes in it.

Plain SQL is the same on both databases: values are named as in `:request_id`. SQLite's own driver takes it as it is, so
that a short command never loads SQLAlchemy; whatever else is asked, SQLAlchemy says in the same transaction.
"""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bot.evidence.store.columns import written

if TYPE_CHECKING:
    import sqlalchemy

NOTHING: Mapping[str, Any] = MappingProxyType({})
_NAMED = re.compile(r":(\w+)")
_BATCHES: Mapping[str, Any] = {"yield_per": 1_000}  # rows that a server sends at a time


class Connection(ABC):
    """One transaction. `dialect` names the database: `sqlite` or `postgresql`."""

    dialect: str

    @property
    @abstractmethod
    def full(self) -> sqlalchemy.Connection:
        """The same transaction as SQLAlchemy knows it."""

    @abstractmethod
    def run(self, text: str, given: Mapping[str, Any] | Sequence[Mapping[str, Any]] = NOTHING) -> int:
        """Execute a plain statement, once or for several rows; how many rows it touched."""

    @abstractmethod
    def each(self, text: str, given: Mapping[str, Any] = NOTHING) -> Iterator[dict[str, Any]]:
        """The rows that a plain statement finds, by column, as the driver gives them; a batch is held at a time."""

    @abstractmethod
    def first(self, text: str, given: Mapping[str, Any] = NOTHING) -> Sequence[Any] | None:
        """The first row that a plain statement finds, as the driver gives it, None where it finds none."""

    def all(self, text: str, given: Mapping[str, Any] = NOTHING) -> list[dict[str, Any]]:
        """Like `each`, all at once."""
        return list(self.each(text, given))

    def one(self, text: str, given: Mapping[str, Any] = NOTHING) -> dict[str, Any] | None:
        """Like `all`, of a statement that finds one row or none."""
        return next(iter(self.all(text, given)), None)

    def locked(self, text: str, more: str = "") -> str:
        """*text*, keeping the rows it finds from others; a transaction that writes on SQLite has them alone anyway."""
        return text if self.dialect == "sqlite" else f"{text} FOR UPDATE{more}"

    def execute(self, statement: sqlalchemy.Executable, given: Any = None) -> sqlalchemy.CursorResult[*tuple[Any, ...]]:
        """What SQLAlchemy makes of its own *statement*."""
        return self.full.execute(statement, given)

    def exec_driver_sql(self, text: str, given: Any = None) -> sqlalchemy.CursorResult[*tuple[Any, ...]]:
        """Execute what is spelled for this driver alone."""
        return self.full.exec_driver_sql(text, given)


class Shared(sqlite3.Connection):
    """SQLite's driver, whose transaction is ours: SQLAlchemy, where it is a guest, neither ends nor closes anything."""

    def commit(self) -> None:
        """Nothing: `Local` says COMMIT."""

    def rollback(self) -> None:
        """Nothing: `Local` gives the connection up."""

    def close(self) -> None:
        """Nothing: `Local` closes it."""


class Local(Connection):
    """A connection to SQLite's file; transactions follow each other on it. `is_logged`: it writes to a log first."""

    dialect = "sqlite"

    def __init__(self, driver: Shared, is_logged: bool, guest: Callable[[Shared], sqlalchemy.Connection]) -> None:
        self.driver, self.is_logged = driver, is_logged
        self._guest = guest

    @cached_property
    def full(self) -> sqlalchemy.Connection:
        """SQLAlchemy as a guest; it stays as long as the connection."""
        return self._guest(self.driver)

    def run(self, text: str, given: Mapping[str, Any] | Sequence[Mapping[str, Any]] = NOTHING) -> int:
        """Execute *text*, once or for several rows; how many rows it touched."""
        if isinstance(given, Mapping):
            return self.driver.execute(text, _row(given)).rowcount
        return self.driver.executemany(text, [_row(one) for one in given]).rowcount

    def each(self, text: str, given: Mapping[str, Any] = NOTHING) -> Iterator[dict[str, Any]]:
        """The rows that *text* finds, by column."""
        cursor = self.driver.execute(text, _row(given))
        names = [one[0] for one in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))

    def first(self, text: str, given: Mapping[str, Any] = NOTHING) -> Sequence[Any] | None:
        """The first row that *text* finds."""
        found: Sequence[Any] | None = self.driver.execute(text, _row(given)).fetchone()
        return found

    def commit(self) -> None:
        """End the transaction well."""
        self.driver.execute("COMMIT")

    def end(self) -> None:
        """Close the connection, and undo what was not committed: what somebody has half read would keep it alive."""
        with suppress(sqlite3.Error):
            sqlite3.Connection.rollback(self.driver)
        sqlite3.Connection.close(self.driver)


class Served(Connection):
    """A connection to a server, through SQLAlchemy."""

    def __init__(self, full: sqlalchemy.Connection) -> None:
        self._full, self.dialect = full, full.dialect.name

    @property
    def full(self) -> sqlalchemy.Connection:
        """What it is made of."""
        return self._full

    def run(self, text: str, given: Mapping[str, Any] | Sequence[Mapping[str, Any]] = NOTHING) -> int:
        """Execute *text*, once or for several rows; how many rows it touched."""
        rows = _row(given) if isinstance(given, Mapping) else [_row(one) for one in given]
        return self._full.exec_driver_sql(_for_server(text), rows or None).rowcount

    def each(self, text: str, given: Mapping[str, Any] = NOTHING) -> Iterator[dict[str, Any]]:
        """The rows that *text* finds, by column."""
        with self._full.exec_driver_sql(_for_server(text), _row(given) or None, _BATCHES) as found:
            for row in found.mappings():
                yield dict(row)

    def first(self, text: str, given: Mapping[str, Any] = NOTHING) -> Sequence[Any] | None:
        """The first row that *text* finds."""
        return self._full.exec_driver_sql(_for_server(text), _row(given) or None).fetchone()


def insert(connection: Connection, table: str, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    """Insert one row, or several with the same columns."""
    columns = tuple(rows if isinstance(rows, Mapping) else rows[0])
    connection.run(inserting(table, columns), rows)


def insert_new(connection: Connection, table: str, row: Mapping[str, Any]) -> bool:
    """Insert *row* unless its key is taken; was it inserted? Two processes may try at once, one of them wins."""
    return connection.run(f"{inserting(table, tuple(row))} ON CONFLICT DO NOTHING", row) == 1


def update(connection: Connection, table: str, key: Mapping[str, Any], values: Mapping[str, Any]) -> int:
    """Change *values* of the rows with that *key*; how many there were."""
    where = {f"its_{name}": value for name, value in key.items()}
    return connection.run(_updating(table, tuple(values), tuple(key)), {**values, **where})


def among(column: str, values: Iterable[Any]) -> tuple[str, dict[str, Any]]:
    """The condition that *column* is one of *values*, and what its names stand for."""
    given = {f"{column}_{n}": value for n, value in enumerate(values)}
    return (f"{column} IN ({', '.join(f':{name}' for name in given)})" if given else "FALSE"), given


@cache  # as many as there are in the code
def inserting(table: str, columns: tuple[str, ...]) -> str:
    """The statement that inserts a row."""
    return f"INSERT INTO {table} ({_named(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"


@cache
def _updating(table: str, columns: tuple[str, ...], key: tuple[str, ...]) -> str:
    values = ", ".join(f'"{name}" = :{name}' for name in columns)
    return f"UPDATE {table} SET {values} WHERE {' AND '.join(f'{name} = :its_{name}' for name in key)}"


def _named(columns: Iterable[str]) -> str:
    """Quoted, as some are words of SQL."""
    return ", ".join(f'"{name}"' for name in columns)


@cache
def _for_server(text: str) -> str:
    return _NAMED.sub(r"%(\1)s", text)


def _row(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: written(value) for name, value in given.items()}
