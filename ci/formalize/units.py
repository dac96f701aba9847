"""Which units convert into which, exactly: durations do, months against days by the calendar of the logic.

Business days convert into nothing, money only into itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bylaw.language.months import days_in, months_from, months_in
from bylaw.logic.formula.ir import Number, Value, exact

CLOCK = {"minute": 1, "hour": 60, "day": 1_440, "week": 10_080}  # in minutes
CALENDAR = {"month": 1, "year": 12}  # in months
DURATIONS = (*CLOCK, *CALENDAR)


@dataclass(frozen=True, slots=True)
class Limit:
    """An amount in the unit of its fact. One that `is_below` lies under that number, and above all that are smaller."""

    value: Value
    is_below: bool = False


@dataclass(frozen=True, slots=True)
class Conversion:
    """Amounts of *unit* in the unit of a fact."""

    unit: str
    fact_unit: str

    @property
    def ratio(self) -> Number | None:
        """What every amount is multiplied with; None where months meet days, and it is not one number."""
        if self.unit == self.fact_unit:
            return 1
        for sizes in (CLOCK, CALENDAR):
            if self.unit in sizes and self.fact_unit in sizes:
                return exact(Fraction(sizes[self.unit], sizes[self.fact_unit]))
        return None

    @property
    def counts_months(self) -> bool:
        """Do months meet days here?"""
        return self.ratio is None and "month" in (self.unit, self.fact_unit)

    def former(self, amount: Number) -> Number:
        """What *amount* was for the fact before version 0.1.0, when a month was 30 days and a year 365."""
        sizes = {**CLOCK, "month": 30 * CLOCK["day"], "year": 365 * CLOCK["day"]}
        return exact(Fraction(amount * sizes[self.unit], sizes[self.fact_unit]))

    def limit(self, amount: Number) -> Limit:
        """*amount* for a fact: the last five days of a year lie below its end, where months are counted."""
        if self.ratio is not None:
            return Limit(exact(amount * self.ratio))
        if self.unit in CALENDAR:
            minutes = days_in(Fraction(amount * CALENDAR[self.unit])) * CLOCK["day"]
            return Limit(exact(minutes / CLOCK[self.fact_unit]))
        days = Fraction(amount * CLOCK[self.unit], CLOCK["day"])
        return Limit(exact(months_from(days) / CALENDAR[self.fact_unit]), is_below=months_in(days) is None)


def singular(unit: str) -> str:
    """One spelling for `Days`, `day` and `days`; other units keep their words."""
    word = " ".join(unit.casefold().split())
    return word[:-1] if word.endswith("s") and word[:-1] in DURATIONS else word


def conversion(unit: str | None, fact_unit: str | None) -> Conversion | None:
    """How amounts in *unit* stand in *fact_unit*; None when the two do not compare."""
    if unit is None or (fact_unit is not None and singular(unit) == singular(fact_unit)):
        return Conversion("", "")
    if fact_unit is None:
        return None
    mine, its = singular(unit), singular(fact_unit)
    return Conversion(mine, its) if mine in DURATIONS and its in DURATIONS else None


def comparable(fact_unit: str | None) -> list[str]:
    """The units that compare with a fact's: its own, and every duration with a duration."""
    if fact_unit is None:
        return []
    durations = [f"{unit}s" for unit in DURATIONS] if singular(fact_unit) in DURATIONS else []
    return [fact_unit, *durations]
