"""Durations: rows, and exact conversion."""

from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.units import BUSINESS_DAYS, SECONDS, Duration, convert, factor, read_durations, unit_of
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("units.yaml").read_text())


@each("row", ROWS, ids=lambda row: str(row.get("title", row["text"]))[:60])
def test_these_durations_are_read(row: dict) -> None:
    spans = read_durations(row["text"])
    assert [f"{'' if s.exact else '~'}{s.value.amount} {s.value.unit}" for s in spans] == row["durations"]
    assert all(row["text"][span.start : span.end] == span.words for span in spans)


@pytest.mark.parametrize(
    ("duration", "unit", "expected"),
    [
        (Duration(3, "weeks"), "days", 21),
        (Duration(36, "hours"), "days", Fraction(3, 2)),
        (Duration(1, "months"), "days", 30),
        (Duration(1, "years"), "days", 365),
        (Duration(1, "years"), "months", Fraction(73, 6)),
        (Duration(Fraction(3, 2), "years"), "days", 545),
        (Duration(Fraction(1, 2), "years"), "weeks", Fraction(180, 7)),
        (Duration(Fraction(5, 2), "years"), "years", Fraction(5, 2)),
        (Duration(1, "fortnights"), "week", 2),
        (Duration(90, "minutes"), "Hours", Fraction(3, 2)),
        (Duration(5, BUSINESS_DAYS), "days", None),
        (Duration(5, "days"), BUSINESS_DAYS, None),
        (Duration(5, BUSINESS_DAYS), BUSINESS_DAYS, 5),
        (Duration(5, "days"), "USD", None),
    ],
)
def test_conversion_is_exact_or_refused(duration: Duration, unit: str, expected: object) -> None:
    assert convert(duration, unit) == expected


@pytest.mark.parametrize(
    ("word", "unit"),
    [("day", "days"), ("Days", "days"), ("hrs", "hours"), ("h", "hours"), ("calendar days", "days"), ("USD", None),
     ("business days", BUSINESS_DAYS), ("workday", BUSINESS_DAYS), ("", None), ("days days", None), ("kg", None)],
)  # fmt: skip
def test_a_unit_is_known_by_its_names(word: str, unit: str | None) -> None:
    assert unit_of(word) == unit


@given(st.sampled_from(sorted(SECONDS)), st.sampled_from(sorted(SECONDS)), st.integers(0, 10**6))
def test_there_and_back_is_the_same(one: str, other: str, amount: int) -> None:
    there = convert(Duration(amount, one), other)
    assert there is not None
    assert convert(Duration(there, other), one) == amount
    assert factor(one, one) == 1


def test_only_some_words_lie_in_the_past_and_only_numbers_count() -> None:
    spans = {text: read_durations(text)[0].value for text in ("yesterday", "2 days", "a day")}
    assert [value.is_ago for value in spans.values()] == [True, False, False]
    assert [value.is_counted for value in spans.values()] == [True, True, False]
