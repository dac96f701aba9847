"""Times that are over, or not yet: rows of texts. What becomes of them is in the labelled suite."""

from pathlib import Path

import pytest
import yaml

from bot.enforcement.endings import ends, has_ended
from bylaw.language.words import read_words

ROWS = yaml.safe_load(Path(__file__).with_name("endings.yaml").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_it_says_of_a_time_whether_it_is_over(row: dict) -> None:
    words = read_words(row["text"])
    assert [[words[at].text, has_ended(verb)] for at, verb in ends(words)] == row["ends"]
