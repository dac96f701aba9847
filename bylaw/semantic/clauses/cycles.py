"""Names of months and weekdays are sorted as the calendar has them, not by their letters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Dimension
from bylaw.semantic.names import Field

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PERIODS = {
    "year", "quarter", "month", "week", "day", "hour", "semester", "trimester", "term", "season", "decade", "century",
}  # fmt: skip
_NUMBERS = ("int", "bigint", "smallint", "tinyint", "integer", "number", "numeric", "decimal")
_LETTERS = 3  # that tell them apart
_OTHERS = Fraction(1, 4)  # of the listed values that may be something else: they come last


def cycle_of(field: Field, calendar: Calendar) -> Sequence[str]:
    """The months, or the weekdays, in order, if those are what a dimension lists as its values; else nothing."""
    values = field.part.sample_values if isinstance(field.part, Dimension) else []
    said = [str(value).strip(" .").lower() for value in values]
    first = _DAYS.index(calendar.week_start)
    for cycle in (_MONTHS, (*_DAYS[first:], *_DAYS[:first])):
        found = sum(1 for text in said if len(text) >= _LETTERS and any(name.startswith(text) for name in cycle))
        if found > 1 and len(said) - found <= _OTHERS * len(said):
            return cycle
    return ()


def is_in_order(field: Field) -> bool:
    """Do the values of a dimension follow one another in time as numbers do: years, week numbers, ids of semesters?"""
    part = field.part
    if not isinstance(part, Dimension) or not (part.data_type or "").lower().startswith(_NUMBERS):
        return False
    return not _PERIODS.isdisjoint(part.name.split("_"))


def place_in(cycle: Sequence[str], tree: exp.Expr) -> exp.Expr:
    """The place of a value in *cycle*, from 1; NULL where it is none of it."""
    start = exp.Substring(
        this=exp.Lower(this=tree.copy()), start=exp.Literal.number(1), length=exp.Literal.number(_LETTERS)
    )
    places = exp.Case(this=start)
    for place, name in enumerate(cycle, 1):
        places = places.when(exp.Literal.string(name[:_LETTERS]), exp.Literal.number(place), copy=False)
    return places
