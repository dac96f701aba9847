"""Durations convert exactly or not at all; everything else compares only with itself."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.units import convert
from bylaw.logic.formula.ir import Variable
from ci.formalize.counted_months import changed_case
from ci.formalize.units import DURATIONS, Limit, comparable, conversion, singular
from tests.rows import each

PLURALS = [f"{unit}s" for unit in DURATIONS]


@each(
    ("unit", "into", "expected"),
    [
        ("hours", "days", Fraction(1, 24)),
        ("days", "hours", 24),
        ("minutes", "hours", Fraction(1, 60)),
        ("weeks", "days", 7),
        ("months", "days", 30),
        ("years", "days", 365),
        ("years", "months", 12),
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
    found = conversion(unit, into)
    assert (found and found.limit(1).value) == expected


@each(
    ("amount", "unit", "into", "expected"),
    [
        (12, "months", "days", Limit(365)),
        (18, "months", "days", Limit(545)),
        (24, "months", "hours", Limit(17_520)),
        (Fraction(1, 2), "years", "days", Limit(180)),
        (365, "days", "months", Limit(12)),
        (359, "days", "months", Limit(Fraction(359, 30))),
        (360, "days", "months", Limit(12, is_below=True)),
        (364, "days", "years", Limit(1, is_below=True)),
        (53, "weeks", "years", Limit(Fraction(61, 60))),
    ],
)
def test_twelve_months_are_a_year(amount: int, unit: str, into: str, expected: Limit) -> None:
    found = conversion(unit, into)
    assert found is not None
    assert found.limit(amount) == expected


@given(st.integers(0, 100_000), st.sampled_from(PLURALS), st.sampled_from(PLURALS))
def test_a_limit_is_what_words_say_it_is(amount: int, unit: str, into: str) -> None:
    found = conversion(unit, into)
    assert found is not None
    limit, said = found.limit(amount), convert(Fraction(amount), unit, into)
    assert (said is None) == limit.is_below
    assert said is None or said == limit.value


@each(
    ("operator", "now", "before", "case"),
    [
        ("<=", [365], [360], 365),
        (">", [365], [360], 365),
        ("<", [365], [360], 360),
        (">=", [365], [360], 360),
        ("==", [365], [360], 360),
        ("between", [30, 365], [30, 360], 365),
        ("in", [30, 365], [30, 360], 360),
        ("<=", [30], [30], None),
    ],
)
def test_the_case_that_changes_is_found(operator: str, now: list[int], before: list[int], case: int | None) -> None:
    assert changed_case(Variable("days", "integer"), operator, now, before) == case


@each("unit", [*DURATIONS, "USD", "business day", "kg", "class"])
def test_a_unit_has_one_spelling(unit: str) -> None:
    assert singular(singular(unit)) == singular(unit) == singular(f"  {unit.upper()} ")
    if unit in DURATIONS:
        assert singular(f"{unit}s") == unit


@each("unit", [None, "USD", "hours", "Day", "business days", "kg"])
def test_the_units_that_compare_are_those_that_convert(unit: str | None) -> None:
    known = comparable(unit)
    assert all(conversion(other, unit) is not None for other in known)
    assert all((name in known) == (conversion(name, unit) is not None) for name in PLURALS)
