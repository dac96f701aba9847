"""The opposite of a clause, in English that can be read aloud."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bylaw.logic.words.negation import is_clause, negate_clause

ROWS = yaml.safe_load(Path(__file__).with_name("negation.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=[row["clause"] for row in ROWS])
def test_the_opposite_is_said(row: dict[str, str]) -> None:
    assert negate_clause(row["clause"]) == row["not"]


@given(st.text())
def test_whatever_is_denied_no_word_is_lost_but_an_article_and_the_form_of_the_verb(clause: str) -> None:
    said = negate_clause(clause)
    assert said != clause and ("not" in said or "no" in said)


@pytest.mark.parametrize(
    ("label", "tells"),
    [
        ("the rider is a member", True),
        ("the guardian agrees", True),
        ("has a receipt", False),
        ("comes with an adult", False),
        ("late again", False),
    ],
)
def test_a_clause_names_what_it_speaks_of(label: str, tells: bool) -> None:
    assert is_clause(label) is tells
