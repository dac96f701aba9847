"""Filters of Looker as conditions of SQL: what `"-placed"`, `"NOT 5"` and `"before 2025-01-01"` mean of one column.

A comma means or; of what is left out, all of it is. What moves with the day it is asked on has no counterpart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Literal

from bylaw.language.periods import shifted
from ci.importers.sql import Unsayable

Kind = Literal["string", "number", "yesno", "date"]
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("number", "int"), "number"),
    "yesno": "yesno",
    **dict.fromkeys(("date", "time", "date_time"), "date"),
}
_NUMBER = r"-?\d+(?:\.\d+)?"
_COMPARED = re.compile(rf"(>=|<=|<>|!=|>|<|=)?\s*({_NUMBER})")
_SPAN = re.compile(rf"([\[(])\s*({_NUMBER})?\s*,\s*({_NUMBER})?\s*([\])])")
_DAY = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?(?:[-/](\d{1,2}))?")
_WILD = re.compile(r"[%^_\[\]\"(){}]")


def condition(column: str, kind: Kind, filter_: str) -> str:
    """The condition that *filter_* puts on *column*, which is SQL. Raises Unsayable."""
    said = filter_.strip()
    if not said:
        raise Unsayable("an empty filter takes every value")
    if kind == "yesno":
        return _yesno(column, said)
    if re.fullmatch(r"-?null|not null", said, re.IGNORECASE):
        return f"{column} IS {'NULL' if said.upper() == 'NULL' else 'NOT NULL'}"
    return {"number": _number, "date": _date, "string": _string}[kind](column, said)


def _yesno(column: str, said: str) -> str:
    """Looker calls a row without a value `no`."""
    if said.lower() not in ("yes", "no"):
        raise Unsayable(f"the filter `{said[:60]}` is neither `yes` nor `no`")
    return column if said.lower() == "yes" else f"(NOT ({column}) OR ({column}) IS NULL)"


def _number(column: str, said: str) -> str:
    taken: list[str] = []
    left_out: list[str] = []
    for piece in re.split(r",(?![^\[(]*[\])])", said):
        bare = re.sub(r"(?i)^\s*not\b", "", piece)
        whole = " AND ".join(_compared(column, part) for part in re.split(r"(?i)\band\b", bare))
        is_more = bool(left_out) and not taken and re.fullmatch(_NUMBER, piece.strip()) is not None  # `NOT 66, 99`
        if bare != piece or is_more:
            left_out.append(f"NOT ({whole})")
        else:
            taken.append(whole)
    return _joined(column, taken, left_out)


def _compared(column: str, part: str) -> str:
    """One comparison, or one span like `[0, 90)`."""
    part = part.strip()
    if (found := _COMPARED.fullmatch(part)) is not None:
        return f"{column} {found[1] or '='} {found[2]}"
    if (found := _SPAN.fullmatch(part)) is not None and (found[2] or found[3]):
        low = f"{column} {'>=' if found[1] == '[' else '>'} {found[2]}" if found[2] else ""
        high = f"{column} {'<=' if found[4] == ']' else '<'} {found[3]}" if found[3] else ""
        return " AND ".join(filter(None, (low, high)))
    raise Unsayable(f"the filter `{part[:60]}` is no number, and no comparison with one")


def _joined(column: str, taken: list[str], left_out: list[str]) -> str:
    """Any of what is taken, none of what is left out. A row without a value is not left out by a value."""
    parts = []
    if taken:
        parts.append(taken[0] if len(taken) == 1 else f"({' OR '.join(taken)})")
    if left_out:
        denied = " AND ".join(left_out)
        parts.append(denied if taken else f"(({denied}) OR {column} IS NULL)")
    return " AND ".join(parts)


def _date(column: str, said: str) -> str:
    """Days, months and years that stay where they are."""
    lowered = " ".join(said.lower().split())
    if lowered.startswith(("before ", "after ")):
        word, _, day = lowered.partition(" ")
        first, _ = _period(day, said)
        return f"{column} {'<' if word == 'before' else '>='} DATE '{first}'"
    start, is_span, end = lowered.partition(" to ")
    first, after = _period(start, said)
    if is_span:
        after, _ = _period(end, said)
    return f"{column} >= DATE '{first}' AND {column} < DATE '{after}'"


def _period(text: str, said: str) -> tuple[date, date]:
    """The first day of what *text* names, and the first day after it."""
    found = _DAY.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        first = date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
        return first, shifted(first, "day" if found[3] else "month" if found[2] else "year", 1)
    except (ValueError, OverflowError):
        why = "moves with the day it is asked on, or is no date: ask for the period in the question"
        raise Unsayable(f"the filter `{said[:60]}` {why}") from None


def _string(column: str, said: str) -> str:
    if said.upper() in ("EMPTY", "-EMPTY"):
        is_denied = said.startswith("-")
        return f"({column} IS NOT NULL AND {column} <> '')" if is_denied else f"({column} IS NULL OR {column} = '')"
    if _WILD.search(said):
        raise Unsayable(f"the filter `{said[:60]}` is no list of values")
    parts = [part.strip() for part in said.split(",")]
    denied = [part.startswith("-") for part in parts]
    if any(denied) != all(denied):
        raise Unsayable(f"the filter `{said[:60]}` both takes and leaves out")
    listed = ", ".join("'" + part.lstrip("-").replace("'", "''") + "'" for part in parts)
    return f"({column} NOT IN ({listed}) OR {column} IS NULL)" if all(denied) else f"{column} IN ({listed})"
