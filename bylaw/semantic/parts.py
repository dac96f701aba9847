"""Parts of a moment that come again, as dimensions of its entity: `orders.weekday(ordered_at)`.

Of a moment as the clocks of the organisation show it, like all others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bylaw.authored.context import Dimension, TimeDimension
from bylaw.semantic.query import Unanswerable

PART = re.compile(r"(weekday|hour_of_day|day_of_month|month_of_year)\((\w+)\)")
_FINE = ("day",)


@dataclass(frozen=True, slots=True)
class Kind:
    """How SQL takes it out of a moment, what its numbers are called from 1 on, and how well the moment is known."""

    sql: str
    names: Sequence[str] = ()
    known_by: Sequence[str] = _FINE


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_KINDS: Mapping[str, Kind] = {
    "weekday": Kind("isodow", DAYS),
    "hour_of_day": Kind("hour"),
    "day_of_month": Kind("day"),
    "month_of_year": Kind("month", _MONTHS, ("day", "week", "month")),
}


def is_part(name: str) -> bool:
    """Is it a part of a moment, `entity.weekday(moment)`?"""
    return PART.fullmatch(name.partition(".")[2]) is not None


def taken_out(kind: str, moment: TimeDimension, sql: str) -> Dimension:
    """The part *kind* of *moment*, which *sql* computes. Raises Unanswerable where it is not known so well."""
    known = _KINDS[kind]
    said = kind.replace("_", " ")
    if moment.time_granularity not in known.known_by:
        raise Unanswerable(f"`{moment.name}` is known by {moment.time_granularity}, so it has no {said}")
    if kind == "hour_of_day" and "time" not in (moment.data_type or "").lower():
        message = f"nothing says that `{moment.name}` has a time of day"
        raise Unanswerable(message, "declare its `data_type`, as in `data_type: timestamp`")
    number = f"extract({known.sql} from {sql})"
    if not known.names:
        return Dimension(name=kind, expr=number, data_type="integer")
    cases = " ".join(f"when {place} then '{name}'" for place, name in enumerate(known.names, 1))
    return Dimension(
        name=kind, expr=f"case {number} {cases} end", data_type="varchar", is_enum=True, sample_values=list(known.names)
    )
