"""Claimed and told values as measures, and whether a figure of a text is one of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction

from bot.claims.terms import Terms
from bylaw.language.figures import Figure, Measure, measure
from bylaw.language.units import unit_named
from bylaw.logic.formula.ir import Value, exact

_CURRENCIES = frozenset(("USD", "EUR", "GBP", "CHF", "JPY", "INR", "CAD", "AUD"))


def measures(words: Terms, fact: str | None, value: object, unit: str | None) -> Iterator[Measure]:
    """What a claimed value may be: in its own unit, in the fact's where it has none, bare where neither has."""
    found = amount_of(value)
    if found is None:
        return
    own = unit_named(unit) or (words.unit_of(fact) if fact in words.vocabulary.facts else None)
    if isinstance(found, date):
        yield Measure("date", found)
        return
    yield measure(found, own)
    yield Measure("bare", found)
    if own is None:
        yield Measure("any", found)


def told_measures(words: Terms, name: str, value: Value) -> Iterator[Measure]:
    """What a told fact may be in a text: a measure, or the bare number."""
    found = words.measured(name, value)
    if found is not None:
        yield found
        if not isinstance(found.amount, date):
            yield Measure("bare", Fraction(value))


def agree(figure: Figure, told: Measure) -> bool:
    """Is a figure of the text the value that is told?"""
    return any(_agrees(value, figure.unit, told) for value in figure.values)


def _agrees(value: Fraction | date, unit: str | None, told: Measure) -> bool:
    if isinstance(value, date) or isinstance(told.amount, date):
        return value == told.amount or (unit != "date" and _same_day(value, told.amount))
    if unit is None:
        return told.kind not in _SIZED and value == told.amount
    if told.kind == "any" or (unit == "USD" and told.kind in ("CAD", "AUD")):  # any country's dollars
        return value == told.amount
    if unit == "cents" and told.kind in _CURRENCIES:
        return value / 100 == told.amount
    return told.kind != "bare" and measure(value, unit) == told


_SIZED = frozenset(("time", "mass", "length"))


def _same_day(one: object, other: object) -> bool:
    return isinstance(one, date) and isinstance(other, date) and (one.month, one.day) == (other.month, other.day)


def amount_of(value: object) -> Fraction | date | None:
    """A claimed value as a number or a day; None for a flag or a word."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        if isinstance(value, int | Decimal):
            return Fraction(exact(value))
        if isinstance(value, float):
            return Fraction(exact(str(value)))
        if isinstance(value, str):
            text = value.strip()
            return (
                date.fromisoformat(text)
                if len(text) == 10 and text[4] == "-"
                else Fraction(exact(text.replace(",", "")))
            )
    except (ValueError, ArithmeticError):
        return None
    return None
