"""PostgreSQL, and what else SQLAlchemy reaches: each statement in a read-only transaction of its own, within limits.

PostgreSQL and SQLite are tested against the real thing. The others have their row in the table: they are read-only as
far as their session can be told so, and by the rights of the user in the address.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event
from typing import Any
from urllib.parse import quote, quote_plus

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from bylaw.errors import UsageError
from bylaw.warehouses.errors import refused
from bylaw.warehouses.limits import RESULT_BYTES, STATEMENT_SECONDS, collected, watched
from bylaw.warehouses.plans import no_plan, postgres_plan
from bylaw.warehouses.port import Estimate, Rows, WarehouseError

_LOCK_MS = 3_000  # a reader that waits longer waits for somebody who changes tables
_CONNECT_SECONDS = 10
_POOL = 5
_GRACE_SECONDS = 1.0  # for the server to end what it was told to end
_AGAIN_SECONDS = 0.2  # it is told again: what comes before a statement has begun is lost


@dataclass(frozen=True, slots=True)
class Backend:
    """One kind of server. `session` and `transaction` are said before a statement; `{ms}` is its time."""

    dialect: str  # by its sqlglot name
    driver: str  # what to install where none is there
    session: tuple[str, ...] = ()
    transaction: tuple[str, ...] = ()
    plan: Callable[[Connection, str], Estimate] = no_plan
    connect: Mapping[str, Any] | None = None


BACKENDS: Mapping[str, Backend] = {
    "postgresql": Backend(
        dialect="postgres",
        driver="psycopg[binary]",
        session=("SET default_transaction_read_only = on",),
        # LOCAL: they hold behind a pooler that hands a connection to somebody else after each transaction
        transaction=(
            "SET TRANSACTION READ ONLY",
            "SET LOCAL statement_timeout = {ms}",
            f"SET LOCAL lock_timeout = {_LOCK_MS}",
            "SET LOCAL idle_in_transaction_session_timeout = {ms}",
            "SET LOCAL search_path = pg_catalog",
            "SET LOCAL timezone = 'UTC'",
        ),
        plan=postgres_plan,
        connect={"connect_timeout": _CONNECT_SECONDS, "application_name": "bylaw"},
    ),
    "redshift": Backend("redshift", "sqlalchemy-redshift", session=("SET statement_timeout = {ms}",)),
    "mysql": Backend(
        dialect="mysql",
        driver="pymysql",
        session=("SET SESSION TRANSACTION READ ONLY", "SET SESSION max_execution_time = {ms}"),
    ),
    "mariadb": Backend("mysql", "pymysql", ("SET SESSION TRANSACTION READ ONLY",)),
    "sqlite": Backend("sqlite", "Python", ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF")),
    "snowflake": Backend(
        dialect="snowflake",
        driver="snowflake-sqlalchemy",
        session=("ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = {s}",),
    ),
    "bigquery": Backend("bigquery", "sqlalchemy-bigquery"),
    "databricks": Backend("databricks", "databricks-sqlalchemy"),
    "trino": Backend("trino", "trino[sqlalchemy]"),
}


class SQLWarehouse:
    """One server, a few connections. Statements are stopped on the server, not only given up here."""

    def __init__(
        self, engine: Engine, backend: Backend, seconds: int, result_bytes: int, secrets: tuple[str, ...]
    ) -> None:
        self._engine = engine
        self._backend = backend
        self._seconds = seconds
        self._bytes = result_bytes
        self._secrets = secrets
        self._closing = Event()

    @classmethod
    def open(
        cls, url: str, *, statement_seconds: int = STATEMENT_SECONDS, result_bytes: int = RESULT_BYTES
    ) -> SQLWarehouse:
        """Connect to *url* (`postgresql://reader@host/database`). Raises WarehouseError where nobody answers."""
        try:
            address = make_url(url)
        except (ArgumentError, ValueError):
            # `from None`: the error repeats the address, password and all
            help = "write it like KIND://USER@HOST/DATABASE"
            raise UsageError("the address of the warehouse cannot be read", help) from None
        backend = BACKENDS[address.get_backend_name()]
        if address.drivername == "postgresql":
            address = address.set(drivername="postgresql+psycopg")
        try:
            engine = create_engine(
                address,
                hide_parameters=True,
                execution_options={"no_parameters": True},  # a `%` in a statement is no placeholder
                pool_size=_POOL,
                pool_pre_ping=True,
                connect_args=dict(backend.connect or {}),
            )
        except (ImportError, NoSuchModuleError) as error:
            raise UsageError(
                f"the driver for `{address.get_backend_name()}://` is not installed", f"install `{backend.driver}`"
            ) from error
        made = cls(engine, backend, statement_seconds, result_bytes, _secrets(address))
        event.listen(engine, "connect", made._told)
        try:
            with made._connected():
                pass
        except WarehouseError:
            made.close()
            raise
        return made

    @property
    def dialect(self) -> str:
        return self._backend.dialect

    def run(self, sql: str, limit: int, stop: Event | None = None) -> Rows:
        with self._connected(stop) as connection:
            # a cursor on the server: rows beyond the limits never leave it
            streamed = connection.execution_options(stream_results=True, max_row_buffer=1)
            result = streamed.exec_driver_sql(sql)
            try:
                rows, is_cut = collected(result.fetchmany, limit, self._bytes)
                return Rows(tuple(result.keys()), rows, truncated=is_cut)
            finally:
                result.close()

    def explain(self, sql: str) -> Estimate:
        with self._connected() as connection:
            return self._backend.plan(connection, sql)

    def columns(self, schema: str, table: str) -> tuple[str, ...]:
        with self._connected() as connection:
            looked = inspect(connection)
            if not (looked.has_table(table, schema) or table in looked.get_view_names(schema)):
                return ()
            return tuple(str(column["name"]) for column in looked.get_columns(table, schema))

    def close(self) -> None:
        self._closing.set()
        self._engine.dispose()

    def _told(self, connection: Any, _record: object) -> None:
        """What a new connection is told once."""
        cursor = connection.cursor()
        for line in self._backend.session:
            cursor.execute(self._timed(line))
        cursor.close()
        connection.commit()

    def _timed(self, line: str) -> str:
        return line.format(ms=self._seconds * 1000, s=self._seconds)

    @contextmanager
    def _connected(self, stop: Event | None = None) -> Iterator[Connection]:
        """A connection inside a transaction that is rolled back, interrupted when the time is up."""
        if self._closing.is_set():
            raise WarehouseError("the warehouse is closed")
        stops = (self._closing,) if stop is None else (self._closing, stop)
        try:
            connection = self._engine.connect()
        except SQLAlchemyError as error:
            # `from None` here and below: the chained error could repeat the address
            raise WarehouseError(f"the warehouse cannot be reached: {self._line(error)}") from None
        driver = connection.connection.driver_connection
        began: list[float] = []

        def interrupt() -> None:
            began.append(time.monotonic())
            if began[-1] - began[0] > _GRACE_SECONDS:
                _cut(driver)
            elif len(began) == 1 or began[-1] - began[-2] > _AGAIN_SECONDS:
                self._interrupt(driver)
            else:
                began.pop()

        try:
            with watched(interrupt, self._seconds, *stops) as watch:
                try:
                    for line in self._backend.transaction:
                        connection.exec_driver_sql(self._timed(line))
                    yield connection
                except SQLAlchemyError as error:
                    if watch.interrupted is not None or _is_timeout(error):
                        raise watch.error(self._seconds) from None
                    raise refused(_kind(error), self._line(error)) from None
                finally:
                    with suppress(SQLAlchemyError):
                        connection.rollback()
        finally:
            if self._closing.is_set():
                connection.invalidate()
            connection.close()

    def _interrupt(self, driver: Any) -> None:
        """Stop what runs on the driver's connection, by whatever way its driver has."""
        for name in ("cancel_safe", "cancel", "interrupt"):
            if (stop := getattr(driver, name, None)) is not None:
                with suppress(self._engine.dialect.loaded_dbapi.Error):  # it has just ended, or the server is gone
                    stop()
                return

    def _line(self, error: SQLAlchemyError) -> str:
        """The first line of what the driver said, without the password that some drivers repeat."""
        said = str(error.orig if isinstance(error, DBAPIError) else error).strip()
        line = said.splitlines()[0][:300] if said else type(error).__name__
        for secret in self._secrets:
            line = line.replace(secret, "***")
        return line


def _secrets(address: URL) -> tuple[str, ...]:
    """The password of *address* in each spelling that a message could repeat."""
    plain = None if address.password is None else str(address.password)
    return tuple(sorted({plain, quote(plain, safe=""), quote_plus(plain)}, key=len, reverse=True)) if plain else ()


_KINDS = {"42P01": "missing", "42703": "missing", "3F000": "missing", "42501": "rights", "42601": "syntax"}


def _kind(error: SQLAlchemyError) -> str:
    """What a statement failed by, as far as the server's code tells."""
    return _KINDS.get(str(getattr(getattr(error, "orig", None), "sqlstate", None)), "value")


def _cut(driver: Any) -> None:
    """Hang up: a server inside one long function does not hear that it should stop, and nobody has to wait for it."""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        line = socket.socket(fileno=os.dup(driver.fileno()))
        try:
            line.shutdown(socket.SHUT_RDWR)
        finally:
            line.close()


def _is_timeout(error: SQLAlchemyError) -> bool:
    """Did the server's own limit of time end it?"""
    return getattr(getattr(error, "orig", None), "sqlstate", None) == "57014"
