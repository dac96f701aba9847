"""Units of measure: read by every spelling, converted exactly or not at all."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.lexicon import lexicon
from bylaw.language.months import days_in, months_from, months_in, months_passed
from bylaw.language.units import convert, is_currency, seconds_in, unit_at, unit_named, units_in
from bylaw.language.words import read_words
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("units.yaml").read_text(encoding="utf-8"))
UNITS = {found[1].name: found[1] for words in lexicon().units if (found := unit_at(words, 0)) is not None}


def words(text):
    return [word.text for word in read_words(text)]


@each("row", ROWS["spelled"], ids=lambda row: row["text"])
def test_a_unit_is_read_as_the_longest_of_its_spellings(row):
    found = unit_at(words(row["text"]), 0)
    assert (found and (found[0], found[1].name)) == (row["unit"] and (len(words(row["text"])), row["unit"]))


@each("row", ROWS["named"], ids=lambda row: row["text"])
def test_a_text_names_these_units(row):
    assert [unit.name for unit in units_in(row["text"])] == row["units"]


@each("row", ROWS["factors"], ids=lambda row: f"{row['one']} in {row['other']}")
def test_so_many_of_one_are_one_of_the_other(row):
    wanted = None if row["factor"] is None else Fraction(row["factor"])
    assert UNITS[row["one"]].into(UNITS[row["other"]]) == wanted


@given(st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)))
def test_there_and_back_is_where_it_began(one, other):
    there, back = UNITS[one].into(UNITS[other]), UNITS[other].into(UNITS[one])
    assert (there is None) == (back is None)
    assert there is None or back is None or there * back == 1


def test_every_unit_is_known_in_the_singular_and_the_plural():
    for spelled, unit in lexicon().units.items():
        normal = tuple(words(" ".join(spelled)))
        if normal and all(word.isalpha() for word in spelled):
            assert lexicon().unit(normal, 0) == (unit, len(normal)), spelled


def test_every_unit_is_known_by_its_own_name():
    assert all(unit_named(unit) == unit for unit in lexicon().units.values())


@each(
    ("amount", "unit", "into", "expected"),
    [
        (1, "weeks", "days", 7),
        (1, "hours", "days", Fraction(1, 24)),
        (2, "years", "months", 24),
        (18, "months", "years", Fraction(3, 2)),
        (1, "months", "days", 30),
        (12, "months", "days", 365),
        (1, "year", "days", 365),
        (18, "months", "days", 545),
        (18, "months", "weeks", Fraction(545, 7)),
        (365, "days", "months", 12),
        (45, "days", "months", Fraction(3, 2)),
        (362, "days", "months", None),
        (362, "days", "years", None),
        (1, "fortnights", "week", 2),
        (1, "minutes", "Hours", Fraction(1, 60)),
        (1, "business days", "days", None),
        (1, "days", "business_days", None),
        (1, "business days", "working days", 1),
        (1, "days", "USD", None),
        (1, "bananas", "bananas", 1),
        (1, "bananas", "apples", None),
    ],
)
def test_to_the_logic_twelve_months_are_a_year_of_365_days(amount, unit, into, expected):
    assert convert(Fraction(amount), unit, into) == expected


@given(st.fractions(0, 1000), st.fractions(0, 1000))
def test_more_months_are_more_days_and_days_lead_back(one, other):
    assert (one < other) == (days_in(one) < days_in(other))
    assert months_in(days_in(one)) == one
    assert months_from(one) >= months_passed(one)
    assert (months_passed(one) <= months_passed(other)) or one > other


@each(
    ("word", "unit"),
    [("day", "days"), ("Days", "days"), ("hrs", "hours"), ("h", "hours"), ("calendar days", "days"), ("USD", "USD"),
     ("business days", "business_days"), ("workday", "business_days"), ("", None), ("days days", "days days"),
     ("kg", "kilograms")],
)  # fmt: skip
def test_a_unit_is_known_by_its_names(word, unit):
    assert unit_named(word) == unit


@each(
    ("unit", "is_one"),
    [("USD", True), ("usd", True), ("$", True), ("dollars", True), ("EUR", True), ("days", False), ("", False)],
)
def test_a_unit_may_be_a_currency(unit, is_one):
    assert is_currency(unit) == is_one


@each(("unit", "seconds"), [("h", 3600), ("days", 86_400), ("business days", None), ("kg", None)])
def test_only_units_of_time_have_seconds(unit, seconds):
    assert seconds_in(unit) == seconds
