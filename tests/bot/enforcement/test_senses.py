"""Words and idioms that say the same."""

from pathlib import Path

import pytest
import yaml

from bot.enforcement.senses import in_plain_words, sense
from bylaw.language.words import read_words

ROWS = yaml.safe_load(Path(__file__).with_name("senses.yaml").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_an_idiom_is_read_as_what_it_means(row: dict) -> None:
    words = in_plain_words(read_words(row["text"]))
    assert " ".join(word.text for word in words) == row["plain"]
    assert all(0 <= word.start < word.end <= len(row["text"]) for word in words)


@pytest.mark.parametrize(
    ("one", "other"),
    [("reimbursed", "refund"), ("complimentary", "free"), ("suspended", "pause"), ("replacement", "replaced")],
)
def test_words_of_one_sense_are_one_name(one: str, other: str) -> None:
    assert sense(one) == sense(other) is not None


def test_what_differs_keeps_its_sense() -> None:
    senses = [sense(word) for word in ("lock", "pause", "close", "erase", "hold", "repair", "replace", "refund")]
    assert len(set(senses)) == len(senses)
    assert sense("the") is None
