"""Months against days, as the logic counts them: twelve are a year of 365 days, and one alone is 30."""

from __future__ import annotations

from fractions import Fraction

IN_MONTHS = {"months": 1, "years": 12}  # how many months one of these units is
_YEAR, _MONTH, _MONTHS = 365, 30, 12


def days_in(months: Fraction) -> Fraction:
    """How many days so many *months* are."""
    years, rest = divmod(Fraction(months), _MONTHS)
    return _YEAR * years + _MONTH * rest


def months_in(days: Fraction) -> Fraction | None:
    """How many months so many *days* are; None for the last five days of a year, which no number of months comes to."""
    years, rest = divmod(Fraction(days), _YEAR)
    return _MONTHS * years + rest / _MONTH if rest < _MONTHS * _MONTH else None


def months_from(days: Fraction) -> Fraction:
    """The fewest months that are at least so many *days*."""
    months = months_in(days)
    return Fraction(_MONTHS * (days // _YEAR + 1)) if months is None else months


def months_passed(days: Fraction) -> Fraction:
    """How many months have passed after so many *days*; they stand still for the last five days of a year."""
    years, rest = divmod(Fraction(days), _YEAR)
    return _MONTHS * years + min(rest, Fraction(_MONTHS * _MONTH - 1)) / _MONTH
