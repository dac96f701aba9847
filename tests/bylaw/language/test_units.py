"""Durations: rows, and exact conversion."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
import yaml

from bylaw.language.units import BUSINESS_DAYS, SECONDS, factor, read_durations, unit_of
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("units.yaml").read_text())


@each("row", ROWS, ids=lambda row: str(row.get("title", row["text"]))[:60])
def test_these_durations_are_read(row: dict) -> None:
    spans = read_durations(row["text"])
    assert [f"{'' if s.exact else '~'}{s.value.amount} {s.value.unit}" for s in spans] == row["durations"]
    assert all(row["text"][span.start : span.end] == span.words for span in spans)


@pytest.mark.parametrize(
    ("unit", "into", "expected"),
    [
        ("weeks", "days", 7),
        ("hours", "days", Fraction(1, 24)),
        ("years", "months", Fraction(73, 6)),
        ("fortnights", "week", 2),
        ("minutes", "Hours", Fraction(1, 60)),
        (BUSINESS_DAYS, "days", None),
        ("days", BUSINESS_DAYS, None),
        (BUSINESS_DAYS, BUSINESS_DAYS, 1),
        ("days", "USD", None),
    ],
)
def test_conversion_is_exact_or_refused(unit: str, into: str, expected: object) -> None:
    assert factor(unit, into) == expected


@pytest.mark.parametrize(
    ("word", "unit"),
    [("day", "days"), ("Days", "days"), ("hrs", "hours"), ("h", "hours"), ("calendar days", "days"), ("USD", None),
     ("business days", BUSINESS_DAYS), ("workday", BUSINESS_DAYS), ("", None), ("days days", None), ("kg", None)],
)  # fmt: skip
def test_a_unit_is_known_by_its_names(word: str, unit: str | None) -> None:
    assert unit_of(word) == unit


def test_there_and_back_is_the_same() -> None:
    for one, other in product(SECONDS, repeat=2):
        there, back = factor(one, other), factor(other, one)
        assert there is not None and back is not None
        assert there * back == 1


def test_only_some_words_lie_in_the_past_and_only_numbers_count() -> None:
    spans = {text: read_durations(text)[0].value for text in ("yesterday", "2 days", "a day")}
    assert [value.is_ago for value in spans.values()] == [True, False, False]
    assert [value.is_counted for value in spans.values()] == [True, True, False]
