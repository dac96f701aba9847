"""Durations convert exactly or not at all; everything else compares only with itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from ci.formalize.units import DURATIONS, comparable, factor, singular
from tests.rows import each


@each(
    ("unit", "into", "expected"),
    [
        ("hours", "days", Fraction(1, 24)),
        ("days", "hours", 24),
        ("minutes", "hours", Fraction(1, 60)),
        ("weeks", "days", 7),
        ("months", "days", 30),
        ("years", "days", 365),
        ("years", "months", Fraction(73, 6)),
        ("Day", "days", 1),
        (" DAYS ", "day", 1),
        (None, "days", 1),
        (None, None, 1),
        ("USD", "USD", 1),
        ("usd", "USD", 1),
        ("USD", "EUR", None),
        ("days", "USD", None),
        ("days", None, None),
        ("business days", "days", None),
        ("days", "business days", None),
        ("business  days", "business days", 1),
        ("kg", "kgs", None),
        ("seconds", "minutes", None),
        ("", "days", None),
    ],
)
def test_a_unit_converts_exactly_or_not_at_all(
    unit: str | None, into: str | None, expected: int | Fraction | None
) -> None:
    found = factor(unit, into)
    assert found == expected
    assert not isinstance(found, Fraction) or found.denominator > 1


@each(("one", "other"), sorted(permutations(DURATIONS, 2)))
def test_there_and_back_is_one(one: str, other: str) -> None:
    there, back = factor(one, other), factor(other, one)
    assert there is not None
    assert back is not None
    assert Fraction(there) * Fraction(back) == 1


@each("unit", [*DURATIONS, "USD", "business day", "kg", "class"])
def test_a_unit_has_one_spelling(unit: str) -> None:
    assert singular(singular(unit)) == singular(unit) == singular(f"  {unit.upper()} ")
    if unit in DURATIONS:
        assert singular(f"{unit}s") == unit


@each("unit", [None, "USD", "hours", "Day", "business days", "kg"])
def test_the_units_that_compare_are_those_that_convert(unit: str | None) -> None:
    known = comparable(unit)
    assert all(factor(other, unit) is not None for other in known)
    assert all((name in known) == (factor(name, unit) is not None) for name in (f"{word}s" for word in DURATIONS))
