"""A suggestion is a slip away, or it is not made."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.loading.schema.nearest import did_you_mean, nearest, one_right
from tests.rows import each

RIGHT = yaml.safe_load((Path(__file__).parent / "one_right.yaml").read_text(encoding="utf-8"))
ROWS = yaml.safe_load((Path(__file__).parent / "nearest.yaml").read_text(encoding="utf-8"))


@each("row", ROWS, ids=[f"{row['word']} among {row['choices']}" for row in ROWS])
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


@each("row", RIGHT, ids=[f"{row['word']} among {row['choices']}" for row in RIGHT])
def test_only_a_slip_with_one_meaning_has_a_right_word(row: dict[str, Any]) -> None:
    right = {} if row["right"] is None else {"written": row["word"], "replacement": row["right"]}
    assert one_right(row["word"], row["choices"]) == right


@given(st.text(max_size=10), st.lists(st.text(max_size=10), max_size=5))
def test_a_right_word_is_also_the_one_that_is_suggested(word: str, choices: list[str]) -> None:
    right = one_right(word, choices)
    assert right == one_right(word, reversed(choices))
    if right:
        assert right["replacement"] in choices
        others = [choice for choice in choices if choice != word]
        assert nearest(word, others) == right["replacement"]
