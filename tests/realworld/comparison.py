"""When two results are the same: rows in any order, columns in any order, values to four places.

The rule is that of the data sets' own `verify.py`, made free of the order of columns. Where the order of rows counts,
it is that of the columns which the gold statement sorts by: rows that are equal in those may change places.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isnan
from typing import Any

Row = tuple[Any, ...]

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?")


def norm(value: Any) -> Any:
    """A cell as it is compared: as the data sets' own `verify.py` does, and dates that came as text like dates."""
    match value:
        case None | bool():
            return value
        case Decimal():
            return norm(float(value))
        case float():
            if isnan(value):
                return "nan"
            return round(value, 4) if value != int(value) or abs(value) > 1e15 else int(value)
        case datetime():
            midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
            return value.date().isoformat() if midnight else value.replace(tzinfo=None).isoformat(sep=" ")
        case date():
            return value.isoformat()
        case timedelta():
            return str(value)
        case list() | tuple():
            return [norm(item) for item in value]
        case str() if _MOMENT.fullmatch(value):
            return norm(datetime.fromisoformat(value))
        case int() | str():
            return value
        case _:
            return str(value)


def _like(cell: Any, pattern: Any) -> Any:
    """*cell* as a number where the *pattern* is one and JSON had to spell it."""
    if isinstance(cell, str) and isinstance(pattern, int | float) and not isinstance(pattern, bool):
        try:
            return norm(float(cell))
        except ValueError:
            return cell
    return cell


def _columns(rows: Sequence[Row]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _sorted(cells: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(cell, default=str) for cell in cells)


def same(found: Sequence[Row], gold: Sequence[Row], keys: Sequence[int] | None = None) -> bool:
    """Are these the same rows, whatever the order of the columns? `keys` are the columns of *gold* it is sorted by."""
    if len(found) != len(gold):
        return False
    if not gold:
        return True
    ours, theirs = _columns([tuple(map(norm, row)) for row in found]), _columns([tuple(map(norm, row)) for row in gold])
    if len(ours) != len(theirs):
        return False
    patterns = [next((cell for cell in column if cell is not None), None) for column in theirs]
    spelled = [[[_like(cell, pattern) for cell in column] for pattern in patterns] for column in ours]
    fits = [
        [i for i in range(len(ours)) if _sorted(spelled[i][j]) == _sorted(column)] for j, column in enumerate(theirs)
    ]
    return any(
        _sorted(_rows(found)) == _sorted(_rows(theirs))
        and (keys is None or _rows([found[key] for key in keys]) == _rows([theirs[key] for key in keys]))
        for chosen in _matchings(fits, ())
        for found in [[spelled[i][j] for j, i in enumerate(chosen)]]
    )


def _matchings(fits: list[list[int]], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to give each gold column one of ours that holds its values."""
    if len(chosen) == len(fits):
        yield chosen
        return
    for column in fits[len(chosen)]:
        if column not in chosen:
            yield from _matchings(fits, (*chosen, column))


def _rows(columns: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*columns, strict=True))


def fingerprint(rows: Sequence[Row]) -> str:
    """The fingerprint of rows in any order, as `verify.py` computes it."""
    lines = sorted(json.dumps([norm(cell) for cell in row], default=str) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
