"""A suggestion is a slip away, or it is not made."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.nearest import did_you_mean, nearest

ROWS = yaml.safe_load((Path(__file__).parent / "nearest.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['word']} among {row['choices']}" for row in ROWS])
def test_the_nearest_word_is_suggested_or_none(row: dict[str, Any]) -> None:
    assert nearest(row["word"], row["choices"]) == row["nearest"]


def test_the_help_says_the_word_and_where_words_are_declared() -> None:
    assert did_you_mean("fact", ["facts"]) == "did you mean `facts`?"
    assert did_you_mean("fact", ["facts"], "see there") == "did you mean `facts`? see there"
    assert did_you_mean("zzz", ["facts"], "see there") == "see there"
    assert did_you_mean("zzz", ["facts"]) is None


@given(st.text(max_size=10), st.lists(st.text(max_size=10), max_size=5))
def test_a_suggestion_is_one_of_the_choices_whatever_their_order(word: str, choices: list[str]) -> None:
    found = nearest(word, choices)
    assert found is None or found in choices
    assert found == nearest(word, reversed(choices))
