"""DuckDB, locked down: read-only, no files or network beyond its own database, limits that no statement can lift.

Every limit is given when the connection is made: a setting made later is not inherited by cursors.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition, Event
from typing import Any

import duckdb

from bylaw.errors import UsageError
from bylaw.warehouses.limits import RESULT_BYTES, STATEMENT_SECONDS, collected, watched
from bylaw.warehouses.port import Estimate, Rows, WarehouseError

_BACKSTOP_SECONDS = 600  # the engine's own limit, above the one that is watched: connections to one file share it
_CLOSING_SECONDS = 10
_WIDTH = 8  # bytes of a value in a column, for an order of magnitude
_ROWS_PER_MS = 50_000  # what one core scans, for an order of magnitude


class DuckDBWarehouse:
    """One database file. A cursor is opened for each statement, so threads do not share one."""

    dialect = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection, statement_seconds: int, result_bytes: int) -> None:
        self._connection = connection
        self._seconds = statement_seconds
        self._bytes = result_bytes
        self._closing = Event()
        self._turn = Condition()  # one call at a time on the connection itself; cursors run beside one another
        self._running = 0
        # Closed at the latest when the interpreter ends: the driver complains about connections that are still open.
        self._closed = weakref.finalize(self, connection.close)

    @classmethod
    def open(
        cls, url: str, *, statement_seconds: int = STATEMENT_SECONDS, result_bytes: int = RESULT_BYTES
    ) -> DuckDBWarehouse:
        """Open `duckdb:///path`. An absolute path is tried first, then the same path below the working folder."""
        said = url.removeprefix("duckdb://")
        candidates = (Path(said), Path(said.lstrip("/")))
        path = next((candidate for candidate in candidates if candidate.is_file()), candidates[-1])
        if not path.is_file():
            raise UsageError(
                f"there is no database file `{path}`",
                "what follows `duckdb:///` is looked for from /, then from this folder",
            )
        try:
            connection = duckdb.connect(str(path), config=_locked(statement_seconds))
        except duckdb.Error as error:
            raise WarehouseError(f"`{path.name}` cannot be opened: {_first_line(error)}") from error
        return cls(connection, statement_seconds, result_bytes)

    def run(self, sql: str, limit: int, stop: Event | None = None) -> Rows:
        with self._cursor(stop) as cursor:
            cursor.execute(sql)
            columns = tuple(str(column[0]) for column in cursor.description or ())
            rows, is_cut = collected(cursor.fetchmany, limit, self._bytes)
        return Rows(columns, rows, truncated=is_cut)

    def explain(self, sql: str) -> Estimate:
        with self._cursor() as cursor:
            rows = cursor.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()
        plans = json.loads(rows[-1][-1]) if rows else []
        return _estimate(plans)

    def columns(self, schema: str, table: str) -> tuple[str, ...]:
        asked = "SELECT column_name FROM information_schema.columns WHERE table_schema = ? AND table_name = ?"
        with self._cursor() as cursor:
            found = cursor.execute(f"{asked} ORDER BY ordinal_position", [schema, table]).fetchall()
        return tuple(str(name) for (name,) in found)

    def close(self) -> None:
        self._closing.set()
        with self._turn:
            self._turn.wait_for(lambda: not self._running, _CLOSING_SECONDS)
            self._closed()

    @contextmanager
    def _cursor(self, stop: Event | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of its own, interrupted when the time is up even where the engine's own limit does not look."""
        with self._turn:
            if self._closing.is_set():
                raise WarehouseError("the warehouse is closed")
            cursor = self._connection.cursor()
            self._running += 1

        def interrupt() -> None:
            with suppress(duckdb.Error):  # it has just ended
                cursor.interrupt()

        stops = (self._closing,) if stop is None else (self._closing, stop)
        try:
            with watched(interrupt, self._seconds, *stops) as watch:
                try:
                    yield cursor
                except duckdb.InterruptException as error:
                    raise watch.error(self._seconds) from error
                except duckdb.OutOfMemoryException as error:
                    raise WarehouseError("the statement needs more memory than it may take") from error
                except duckdb.Error as error:
                    if watch.interrupted is not None:
                        raise watch.error(self._seconds) from error
                    raise WarehouseError(f"the warehouse refuses the statement: {_first_line(error)}") from error
        finally:
            with self._turn:
                cursor.close()
                self._running -= 1
                self._turn.notify_all()


def _locked(statement_seconds: int) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "access_mode": "READ_ONLY",
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
        "memory_limit": "1GB",
        "max_temp_directory_size": "0GB",
        "threads": "2",
        "max_execution_time": str(max(statement_seconds, _BACKSTOP_SECONDS) * 1000),
        "lock_configuration": "true",
    }


def _estimate(plans: list[dict[str, Any]]) -> Estimate:
    scanned = bytes_read = 0
    warnings: list[str] = []

    def visit(node: dict[str, Any]) -> int:
        nonlocal scanned, bytes_read
        children = [visit(child) for child in node.get("children", ())]
        info = node.get("extra_info") or {}
        said = str(info.get("Estimated Cardinality", "")).replace(",", "")
        rows = int(said) if said.isdigit() else max(children, default=1)
        name = str(node.get("name", "")).strip().upper()
        if name in ("CROSS_PRODUCT", "NESTED_LOOP_JOIN", "BLOCKWISE_NL_JOIN"):
            rows = 1  # the plan gives a cross product no figure of its own
            for child in children:
                rows *= max(1, child)
            warnings.append(f"combines every row with every other: about {rows} rows")
            scanned += rows
        if "SCAN" in name:
            projections = info.get("Projections", ())
            width = len(projections) if isinstance(projections, list) else 1
            scanned += rows
            bytes_read += rows * max(1, width) * _WIDTH
        return rows

    rows = max((visit(plan) for plan in plans), default=0)
    return Estimate(rows=rows, scan_bytes=bytes_read, runtime_ms=scanned // _ROWS_PER_MS, warnings=tuple(warnings))


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
