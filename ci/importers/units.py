"""The `unit_column` of imported numbers: a column beside them that is called like a currency or a unit.

It goes by names alone (`units.yaml`), so each is a proposal for people to review.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bylaw.authored.record import Authored, Name
from bylaw.language.units import units_in
from ci.loading.spelling import words

Record = dict[str, Any]
_TEXT = re.compile(r"char|text|string|enum", re.IGNORECASE)
_TABLE = Path(__file__).with_name("units.yaml")
_ADDED = ("sum", "avg", "min", "max", "median")
_COLUMN = re.compile(r"\w+")


class Kind(Authored):
    """One kind of column with units: what it is called, and what the numbers beside it are called."""

    columns: list[Name]
    prefixed: bool
    numbers: list[Name]
    never: list[Name]

    def before(self, column: Sequence[str]) -> tuple[str, ...] | None:
        """What a column's name has before that of a unit (`order` of `order_currency`); None where it is no unit."""
        for name in self.columns:
            own = tuple(name.split("_"))
            if tuple(column[-len(own) :]) == own:
                return tuple(column[: -len(own)])
        return None

    def allows(self, number: Sequence[str]) -> bool:
        """May a number that is called so be in such a unit?"""
        return set(self.never).isdisjoint(number)

    def means(self, number: Sequence[str]) -> bool:
        """Is a number that is called so in such a unit?"""
        return self.allows(number) and not set(self.numbers).isdisjoint(number)


def propose_units(records: Mapping[str, Mapping[str, Record]]) -> Iterator[tuple[str, str, str, str]]:
    """Add `unit_column` where a number stands beside one: (section, record, number, column) of each."""
    for entity, record in records["entities"].items():
        facts = record.get("facts", [])
        for fact in facts:
            if (column := _column_for(fact, fact["name"], record)) is not None:
                fact["unit_column"] = column
                yield "entities", entity, fact["name"], column
        known = {fact.get("expr", fact["name"]) for fact in facts}
        for name, metric in records["metrics"].items():
            text = metric.get("expr", "")
            is_computed = metric.get("entity") == entity and metric.get("agg") in _ADDED and text not in known
            if is_computed and _COLUMN.fullmatch(text) and (column := _column_for(metric, text, record)) is not None:
                metric["unit_column"] = column
                yield "metrics", name, name, column


def _column_for(part: Record, name: str, record: Record) -> str | None:
    """The dimension of *record* with the unit of a number called *name*; None where none, or several, may be it."""
    said = words(name)
    if not said or part.get("unit") or part.get("unit_column") or units_in(said[-1]):
        return None
    for kind in _kinds():
        found = {one: kind.before(words(one)) for one in _texts(record)}
        own = [one for one, before in found.items() if before and said[: len(before)] == before and kind.allows(said)]
        plain = [one for one, before in found.items() if before == () and kind.means(said)]
        other = [one for one, before in found.items() if before and kind.prefixed and kind.means(said)]
        for names in (own, plain, other):
            if names:
                return names[0] if len(names) == 1 else None
    return None


def _texts(record: Record) -> Iterable[str]:
    """The dimensions that may hold words."""
    for one in record.get("dimensions", ()):
        if _TEXT.search(one.get("data_type") or "text"):
            yield one["name"]


@cache
def _kinds() -> tuple[Kind, ...]:
    return tuple(Kind.model_validate(row) for row in yaml.safe_load(_TABLE.read_text(encoding="utf-8")))
