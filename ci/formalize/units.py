"""Which units convert into which, exactly. A month counts 30 days and a year 365; business days do not convert."""

from __future__ import annotations

from fractions import Fraction

from bylaw.logic.formula.ir import Number

# in minutes; the English rendering of a rule says that a month is 30 days and a year 365
DURATIONS = {"minute": 1, "hour": 60, "day": 1_440, "week": 10_080, "month": 43_200, "year": 525_600}


def singular(unit: str) -> str:
    """One spelling for `Days`, `day` and `days`; other units keep their words."""
    word = " ".join(unit.casefold().split())
    return word[:-1] if word.endswith("s") and word[:-1] in DURATIONS else word


def factor(unit: str | None, fact_unit: str | None) -> Number | None:
    """What an amount in *unit* is multiplied with to stand in *fact_unit*; None when the two do not compare."""
    if unit is None or (fact_unit is not None and singular(unit) == singular(fact_unit)):
        return 1
    if fact_unit is None:
        return None
    mine, its = DURATIONS.get(singular(unit)), DURATIONS.get(singular(fact_unit))
    if mine is None or its is None:
        return None
    ratio = Fraction(mine, its)
    return ratio.numerator if ratio.denominator == 1 else ratio


def comparable(fact_unit: str | None) -> list[str]:
    """The units that compare with a fact's: its own, and every duration with a duration."""
    if fact_unit is None:
        return []
    durations = [f"{unit}s" for unit in DURATIONS] if singular(fact_unit) in DURATIONS else []
    return [fact_unit, *durations]
