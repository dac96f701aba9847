"""What a negation reaches: rows."""

from pathlib import Path

import pytest
import yaml

from bylaw.language.negation import MAX_REACH, read_negations

ROWS = yaml.safe_load(Path(__file__).with_name("negation.yaml").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.get("title", row["text"]))[:60])
def test_a_negation_reaches_to_the_end_of_its_clause(row: dict) -> None:
    spans = read_negations(row["text"])
    assert [span.words for span in spans] == row["scopes"]
    assert all(row["text"][span.start : span.end] == span.words for span in spans)


def test_a_scope_without_end_is_cut() -> None:
    (span,) = read_negations("never " + "word " * 10_000)
    assert len(span.words.split()) == MAX_REACH + 1
