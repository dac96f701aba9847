"""A reply as a file: its rows as CSV for spreadsheets or Parquet for programs, all of it as JSON or YAML for agents."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from typing import Any

from bot.conversation import Reply, sayable, spoken_json
from bylaw.errors import UsageError

_FORMULA = re.compile(r"\s*[=+\-@\t\r|%]")  # what a spreadsheet would run; a number is written as one and stays
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")

MEDIA_TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
    "yaml": "application/yaml",
}


def exported(reply: Reply, kind: str) -> bytes:
    """*reply* in one of the formats. Raises UsageError for an unknown one, and for rows where there are none."""
    if kind in _ROWS and not reply.columns:
        raise UsageError("this answer has no rows to write")
    made = {**_ROWS, **_WHOLE}.get(kind)
    if made is None:
        raise UsageError(f"`{kind}` is no format of an answer", f"write one of {', '.join(sorted(MEDIA_TYPES))}")
    return made(reply)


def as_csv(reply: Reply) -> bytes:
    """RFC 4180 in UTF-8. A text that a spreadsheet would take for a formula gets a quote in front."""
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\r\n")
    writer.writerow([_defused(name) for name in reply.columns])
    writer.writerows([_csv_cell(cell) for cell in row] for row in reply.rows)
    return held.getvalue().encode("utf-8", "replace")


def as_parquet(reply: Reply) -> bytes:
    """One column of the file for each of the answer, typed by what its cells are."""
    from bylaw.warehouses.parquet import parquet  # loads DuckDB

    return parquet(reply.columns, reply.rows)


def as_yaml(reply: Reply) -> str:
    """The reply as YAML: what JSON says, line by line."""
    from bylaw.authoring import dump

    return dump(sayable(reply))


def _csv_cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell) if not isinstance(cell, str) else _defused(cell)


def _defused(text: str) -> str:
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


_ROWS: Mapping[str, Callable[[Reply], bytes]] = {"csv": as_csv, "parquet": as_parquet}
_WHOLE: Mapping[str, Callable[[Reply], bytes]] = {
    "json": lambda reply: f"{spoken_json(reply)}\n".encode(),
    "yaml": lambda reply: as_yaml(reply).encode(),
}
