"""What a server's plan says of a statement's size, as an Estimate: nothing runs for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, text

from bylaw.warehouses.port import Estimate

_COSTS_PER_MS = 100  # PostgreSQL counts a page read in sequence as 1; about this many are read in a millisecond
_MANY = 1_000  # rows on both sides from which combining all with all is worth a warning

_RELATION_BYTES = text(
    "SELECT coalesce(pg_catalog.pg_table_size(pg_catalog.to_regclass("
    "pg_catalog.quote_ident(:schema) || '.' || pg_catalog.quote_ident(:name))), 0)"
)


def no_plan(connection: Connection, sql: str) -> Estimate:
    """Servers whose plans nobody reads here: nothing is known."""
    return Estimate()


def postgres_plan(connection: Connection, sql: str) -> Estimate:
    """PostgreSQL's plan. A table that is scanned counts with its whole size on disk, an index scan with its rows."""
    said = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON, VERBOSE) {sql}").scalar_one()
    plans = json.loads(said) if isinstance(said, str) else said
    top: dict[str, Any] = plans[0]["Plan"]
    scanned = 0
    warnings: list[str] = []
    for node in _nodes(top):
        kind, rows = str(node.get("Node Type", "")), int(node.get("Plan Rows", 0))
        if kind == "Seq Scan":
            asked = {"schema": node.get("Schema", ""), "name": node.get("Relation Name", "")}
            scanned += int(connection.execute(_RELATION_BYTES, asked).scalar_one())
        elif "Relation Name" in node:
            scanned += rows * int(node.get("Plan Width", 0))
        if kind == "Nested Loop" and _combines_all(node):
            warnings.append(f"combines every row with every other: about {rows} rows")
    return Estimate(
        rows=int(top.get("Plan Rows", 0)),
        scan_bytes=scanned,
        runtime_ms=int(float(top.get("Total Cost", 0)) / _COSTS_PER_MS),
        warnings=tuple(warnings),
    )


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def _combines_all(loop: dict[str, Any]) -> bool:
    """A loop without a condition between its sides, both of them long."""
    sides = loop.get("Plans", ())
    is_tied = "Join Filter" in loop or any("Index Cond" in node for side in sides for node in _nodes(side))
    return not is_tied and all(int(side.get("Plan Rows", 0)) >= _MANY for side in sides)
