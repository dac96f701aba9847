"""Rows as a Parquet file, written by the DuckDB that is here anyway. The same rows give the same bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

_LARGEST = 2**63


def parquet(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """The file. A column is of whole numbers, numbers, truths, days or moments where all of it is, else of text."""
    typed = [_kind([row[i] for row in rows]) for i in range(len(columns))]
    names = _distinct(columns)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(config={"threads": 1}) as connection:
        path = Path(folder) / "rows.parquet"
        declared = ", ".join(f"{_quoted(name)} {kind}" for name, kind in zip(names, typed, strict=True))
        connection.execute(f"CREATE TABLE held ({declared})")
        if rows:
            lists = [[_cell(row[i], kind) for row in rows] for i, kind in enumerate(typed)]
            unpacked = ", ".join(f"unnest(?::{kind}[])" for kind in typed)
            connection.execute(f"INSERT INTO held SELECT {unpacked}", lists)
        connection.execute(f"COPY held TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def _kind(cells: Sequence[Any]) -> str:
    held = [cell for cell in cells if cell is not None]
    if held and all(isinstance(cell, bool) for cell in held):
        return "BOOLEAN"
    if held and all(isinstance(cell, int) and not isinstance(cell, bool) for cell in held):
        return "BIGINT" if all(-_LARGEST <= cell < _LARGEST for cell in held) else "VARCHAR"
    if held and all(isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) for cell in held):
        return "DOUBLE"
    if held and all(_is_iso(cell, date) for cell in held):
        return "DATE"
    return "TIMESTAMP" if held and all(_is_iso(cell, datetime) for cell in held) else "VARCHAR"


def _is_iso(cell: Any, kind: type[date]) -> bool:
    """Is it the ISO text of a day, or of a moment without a zone?"""
    if not isinstance(cell, str) or (len(cell) == 10) != (kind is date):
        return False
    try:
        return getattr(kind.fromisoformat(cell), "tzinfo", None) is None
    except ValueError:
        return False


def _cell(cell: Any, kind: str) -> Any:
    if cell is None:
        return None
    if kind == "VARCHAR":
        return str(cell).replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
    return float(cell) if kind == "DOUBLE" else cell


def _distinct(columns: Sequence[str]) -> list[str]:
    """The names, none twice: Parquet has no two columns of one name, whatever their case."""
    found: list[str] = []
    for column in columns:
        name, n = column, 2
        while name.lower() in {one.lower() for one in found}:
            name, n = f"{column}_{n}", n + 1
        found.append(name)
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace("\0", "").replace('"', '""') + '"'
