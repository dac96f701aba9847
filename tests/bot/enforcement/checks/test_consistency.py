"""Rows of answers held against a case, and what a contradiction names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.enforcement.checks import consistency

ROWS = yaml.safe_load(Path(__file__).with_name("consistency.yaml").read_text())
QUERY = ROWS[0]["query"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_what_follows_from_the_case(row: dict[str, Any], drafted: Any) -> None:
    found = consistency.check(drafted(row["query"], row["answer"], row.get("facts")))
    print([violation.message for violation in found.violations])
    assert sorted({violation.kind for violation in found.violations}) == sorted(row["kinds"])


def test_a_contradiction_scores_less_than_what_is_merely_open(drafted: Any) -> None:
    levels = [
        consistency.check(drafted(QUERY, text)).score
        for text in ("You get a full refund.", "You get a full refund if you smile.", "You get store credit.")
    ]
    assert levels == [0.0, 0.65, 1.0]


def test_a_contradiction_names_rule_line_and_facts(drafted: Any) -> None:
    (violation, *_) = consistency.check(drafted(QUERY, "You get a full refund.")).violations
    rule = violation.rule
    assert rule is not None
    assert rule.effect.action == "store_credit"
    assert f"{rule.policy_id}, {rule.source.path}:{rule.source.line}" in violation.message
    assert "the customer has the receipt: no" in violation.message
    line = (Path(__file__).parents[4] / rule.source.path).read_text().splitlines()[rule.source.line - 1]
    assert "fallback" in line


@given(text=st.text(max_size=200))
def test_no_text_breaks_the_check(text: str, drafted: Any) -> None:
    assert consistency.check(drafted(QUERY, text)).score is not None


SAID = "You|get|a|full|refund|store credit|not|no|cannot|if|and|but|.|,|we|give|15 days|the receipt|never|?|$600"
PIECES = tuple(SAID.split("|"))


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=12))
def test_whatever_promises_a_full_refund_and_nothing_else_does_not_hold(pieces: list[str], drafted: Any) -> None:
    text = f"{' '.join(pieces)}. You get a full refund."
    assert consistency.check(drafted(QUERY, text)).score == 0.0
