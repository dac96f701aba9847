"""The branches of a sentence: rows of texts. What becomes of them is in the labelled suite."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.enforcement.branches import branches
from bot.enforcement.facts import Reading, read_text
from bot.enforcement.sentences import sentence_of
from bot.index import BundleIndex

ROWS = yaml.safe_load(Path(__file__).with_name("branches.yaml").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.get('before', '')} {row['text']}")
def test_each_branch_says_of_which_cases_it_speaks(row: dict, companies: dict[str, BundleIndex]) -> None:
    index = companies["own"]

    def read(text: str) -> Reading:
        return read_text(text, index.vocabulary, index.evaluator.ruleset.variables, date(2026, 11, 20))

    before = sentence_of(row["before"]) if "before" in row else None
    found = [
        {"says": part.sentence.text.strip()} | ({"cases": [list(case) for case in part.cases]} if part.cases else {})
        for part in branches(sentence_of(row["text"]), before, read)
    ]
    assert found == row["parts"]
