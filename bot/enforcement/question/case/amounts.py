"""What a figure of a text is for a fact: its value in the fact's unit, why it is none, or nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from bylaw.authored.vocabulary import Fact
from bylaw.language.figures import Figure
from bylaw.language.lexicon import lexicon
from bylaw.language.units import convert, unit_named
from bylaw.logic.formula.ir import Op, Value, exact

Test = tuple[Op, Value]  # that a fact which is told no value passes all the same: more than 40


@dataclass(frozen=True, slots=True)
class Misread:
    """Why a figure gives a fact no value, and the tests that the value passes by it nevertheless."""

    reason: str
    tests: tuple[Test, ...] = ()


def value_of(fact: Fact, figure: Figure, today: date) -> Value | Misread | None:
    """What *figure* is for a fact: its value, why it is none, or None where it measures something else."""
    if fact.type == "date" or figure.unit == "date":
        return _day(fact, figure, today)
    if fact.type not in ("integer", "decimal") or any(isinstance(one, date) for one in figure.values):
        return None
    if not is_measured_so(fact, figure.unit):
        is_money = (figure.unit or "").isupper() and (unit_named(fact.unit) or "").isupper()
        is_working = figure.unit == "business_days" and unit_named(fact.unit) in lexicon().sizes
        told = (figure.unit or "").replace("_", " ")
        return Misread(f"it is in {told}, not in {fact.unit}") if is_money or is_working else None
    amounts = [one for one in figure.values if not isinstance(one, date)]
    if figure.unit not in (None, "percent") and Fraction(1, 2) in amounts:
        amounts = [Fraction(1, 2)]  # half an hour is no 50 per cent
    values = {into for one in amounts if (into := _in_unit_of(fact, one, figure.unit)) is not None}
    if fact.type == "integer":
        values = {one for one in values if one.denominator == 1} if len(values) > 1 else values
    if not values:
        return Misread(f"it is no number of {fact.unit}")
    if len(values) > 1:
        return Misread("it can be read in two ways")
    value = values.pop()
    if fact.type == "integer" and value.denominator != 1:
        below = value.numerator // value.denominator
        between: tuple[Test, ...] = ((">=", below), ("<=", below + 1))  # "5 days" in weeks
        return Misread(f"it is not a whole number{f' of {fact.unit}' if fact.unit else ''}", between)
    return exact(value)


def is_measured_so(fact: Fact, unit: str | None) -> bool:
    """Does a figure in *unit* say how much the fact is?"""
    return _in_unit_of(fact, Fraction(0), unit) is not None


def _in_unit_of(fact: Fact, amount: Fraction, unit: str | None) -> Fraction | None:
    """*amount* in the fact's unit; None where the two do not convert."""
    own = unit_named(fact.unit)
    if unit == own or unit is None or (own is None and unit is not None and not unit.isupper()):
        return amount
    if unit == "cents" and own and own.isupper():
        return amount / 100
    return convert(amount, unit, own) if own else None


def _day(fact: Fact, figure: Figure, today: date) -> Value | Misread | None:
    """A day as a date, or as the number of days since or until it."""
    days = [one for one in figure.values if isinstance(one, date)]
    if not days:
        return None
    if figure.unit == "day of the year":
        days, figure = [_latest(days[0], today)], replace(figure, unit="date")
    if figure.unit != "date" or len(days) > 1:
        return Misread("it can be read in two ways") if fact.type == "date" else None
    if fact.type == "date":
        return days[0].toordinal()
    if unit_named(fact.unit) != "days" or fact.type != "integer":
        return None
    says_ago = any("ago" in one.split() for one in fact.phrases)
    apart = (today - days[0]).days
    return apart if says_ago and apart >= 0 else -apart if not says_ago and apart <= 0 else None


def _latest(day: date, today: date) -> date:
    """The last day of that name up to today."""
    year = today.year - ((day.month, day.day) > (today.month, today.day))
    return day.replace(year=year) if (day.month, day.day) != (2, 29) else date(year, 3, 1)
