"""Units of measure: read by every spelling, converted exactly or not at all."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.language.quantities import SPELLED, factor, unit_at, units_in
from bylaw.language.words import read_words

ROWS = yaml.safe_load(Path(__file__).with_name("quantities.yaml").read_text(encoding="utf-8"))
UNITS = {unit.name: unit for unit in SPELLED.values()}


def words(text):
    return [word.text for word in read_words(text)]


@pytest.mark.parametrize("row", ROWS["spelled"], ids=lambda row: row["text"])
def test_a_unit_is_read_as_the_longest_of_its_spellings(row):
    found = unit_at(words(row["text"]), 0)
    assert (found and (found[0], found[1].name)) == (row["unit"] and (len(words(row["text"])), row["unit"]))


@pytest.mark.parametrize("row", ROWS["named"], ids=lambda row: row["text"])
def test_a_text_names_these_units(row):
    assert [unit.name for unit in units_in(row["text"])] == row["units"]


@pytest.mark.parametrize("row", ROWS["factors"], ids=lambda row: f"{row['one']} in {row['other']}")
def test_so_many_of_one_are_one_of_the_other(row):
    wanted = None if row["factor"] is None else Fraction(row["factor"])
    assert factor(UNITS[row["one"]], UNITS[row["other"]]) == wanted


@given(st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)))
def test_there_and_back_is_where_it_began(one, other):
    there, back = factor(UNITS[one], UNITS[other]), factor(UNITS[other], UNITS[one])
    assert (there is None) == (back is None)
    assert there is None or back is None or there * back == 1
