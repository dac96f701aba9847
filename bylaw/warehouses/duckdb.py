"""DuckDB, locked down: read-only, no files or network beyond its own database, limits that no statement can lift.

Statements run in processes of their own: what is too long or too large is ended from outside, wherever it is.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event
from typing import Any

from bylaw.errors import UsageError
from bylaw.warehouses.errors import refused
from bylaw.warehouses.limits import RESULT_BYTES, STATEMENT_SECONDS
from bylaw.warehouses.port import Estimate, Rows, WarehouseError
from bylaw.warehouses.process import Pool, too_much_memory

_BACKSTOP_SECONDS = 600  # the engine's own limit, above the one that is held from outside
_CLOSING_SECONDS = 10
_MOST_PROCESSES = 4
_WIDTH = 8  # bytes of a value in a column, for an order of magnitude
_ROWS_PER_MS = 50_000  # what one core scans, for an order of magnitude


class DuckDBWarehouse:
    """One database file. Each statement has a process to itself while it runs."""

    dialect = "duckdb"

    def __init__(self, pool: Pool, statement_seconds: int, result_bytes: int) -> None:
        self._pool = pool
        self._seconds = statement_seconds
        self._bytes = result_bytes

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
        backstop = max(statement_seconds, _BACKSTOP_SECONDS) * 1000
        pool = Pool((str(path.absolute()), str(backstop)), min(_MOST_PROCESSES, max(2, os.cpu_count() or 2)))
        if (problem := pool.start()) is not None:
            raise WarehouseError(f"`{path.name}` cannot be opened: {_first_line(str(problem[2]))}")
        return cls(pool, statement_seconds, result_bytes)

    def run(self, sql: str, limit: int, stop: Event | None = None) -> Rows:
        rows: Rows = self._asked(("run", sql, limit, self._bytes), stop)
        return rows

    def explain(self, sql: str) -> Estimate:
        return _estimate(self._asked(("explain", sql)))

    def columns(self, schema: str, table: str) -> tuple[str, ...]:
        names: tuple[str, ...] = self._asked(("columns", schema, table))
        return names

    def close(self) -> None:
        self._pool.close(_CLOSING_SECONDS)

    def _asked(self, question: tuple[Any, ...], stop: Event | None = None) -> Any:
        said = self._pool.ask(question, self._seconds, stop)
        match said:
            case ("done", value):
                return value
            case ("limit", message):
                raise WarehouseError(message)
            case ("error", "memory", _):
                raise too_much_memory()
            case (_, kind, text):
                raise refused(kind, text)
            case _:
                raise WarehouseError("the warehouse gives no answer that can be read")


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


def _first_line(said: str) -> str:
    return said.strip().splitlines()[0][:300] if said.strip() else "it gives no reason"
