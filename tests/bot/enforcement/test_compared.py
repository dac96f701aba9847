"""Two facts compared with each other, one or both unknown: nothing is decided, and what is missing is named."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.conversation import Question, Reply
from bot.enforcement.answer import answer
from bot.index import BundleIndex
from bylaw.bundle import parse
from ci import pipeline

TODAY = date(2026, 11, 20)
VOCABULARY = """
schema_version: "1.0"
facts:
  our_price: {type: decimal, minimum: 0, unit: USD, label: our price, ask: What do we ask?}
  their_price:
    {type: decimal, minimum: 0, unit: USD, label: their price, ask: What do they ask?, phrases: ["they ask {value}"]}
actions: {match: {outcome: price_match, label: match the price}, keep: {outcome: price_match, label: keep the price}}
outcomes: {price_match: {label: the price match, complete: true}}
"""
POLICY = """
policy_id: POL-PRICE-001
actions:
  - type: conditional
    action: match
    when: [{{type: fact, parameter: their_price, operator: "{one}", value_of: our_price}}]
  - type: conditional
    action: {other}
    when: [{{type: fact, parameter: their_price, operator: "{two}", value_of: our_price}}]
metadata: {{source: handbook, owner: Desk, domain: price}}
"""


def prices(root: Path, one: str, two: str, other: str) -> BundleIndex:
    (root / "policies/price").mkdir(parents=True)
    (root / "policies/vocabulary.yaml").write_text(VOCABULARY.lstrip())
    (root / "policies/price/POL-PRICE-001.yaml").write_text(POLICY.format(one=one, two=two, other=other).lstrip())
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(root, None, TODAY))))


def talk(index: BundleIndex, *said: str) -> list[Reply]:
    state: dict[str, Any] = {}
    replies = []
    for text in said:
        asked = Question(text=text, asked_at=datetime(2026, 11, 20, 9, tzinfo=UTC), request_id="r1")
        turn = answer(asked, state, index)
        state = json.loads(json.dumps(turn.state))
        replies.append(turn.reply)
    return replies


COMPARED = [("<", ">=", "keep"), ("<", ">=", "match"), ("==", "!=", "match"), ("<=", ">", "keep")]


@pytest.mark.parametrize(("one", "two", "other"), COMPARED)
def test_what_is_unknown_is_named_one_or_both(one: str, two: str, other: str, tmp_path: Path) -> None:
    index = prices(tmp_path, one, two, other)
    for known in ({}, {"our_price": 10}, {"their_price": 10}):
        decision = index.evaluator.decide(known, TODAY.toordinal())
        assert decision.outcomes["price_match"].action is None
        assert set(decision.undecided["price_match"]) == {"our_price", "their_price"} - set(known)
        assert set(decision.missing_facts) == {"our_price", "their_price"} - set(known)


@pytest.mark.parametrize(("one", "two", "other"), COMPARED)
def test_both_are_asked_for_and_then_it_is_decided(one: str, two: str, other: str, tmp_path: Path) -> None:
    index = prices(tmp_path, one, two, other)
    if other == "match":  # whatever the prices are, it is matched: nothing is asked
        (only,) = talk(index, "Can we match the price?")
        assert (only.status, only.ask, only.outcomes["price_match"]["action"]) == ("answered", None, "match")
        return
    first, second, last = talk(index, "Can we match the price?", "12", "10")
    assert first.ask is not None and second.ask is not None
    assert {first.ask.fact, second.ask.fact} == {"our_price", "their_price"}
    assert (first.ask.question in first.text, second.ask.question in second.text) == (True, True)
    case = {first.ask.fact: 12, second.ask.fact: 10}
    holds = {"<": case["their_price"] < case["our_price"], "<=": case["their_price"] <= case["our_price"], "==": False}
    assert last.status == "answered"
    assert last.outcomes["price_match"]["action"] == ("match" if holds[one] else other)


@pytest.mark.parametrize(("one", "two", "other"), [row for row in COMPARED if row[2] != "match"])
def test_who_knows_neither_gets_the_most_restrictive_and_hears_which_two_are_missing(
    one: str, two: str, other: str, tmp_path: Path
) -> None:
    *_, last = talk(prices(tmp_path, one, two, other), "Can we match the price?", "I don't know", "I don't know")
    given = last.outcomes["price_match"]
    assert (last.status, given["action"], set(given["declined"])) == ("answered", other, {"our_price", "their_price"})
    (note,) = last.caveats
    assert "our price and their price" in note or "their price and our price" in note


def test_who_knows_one_hears_of_the_other_alone(tmp_path: Path) -> None:
    index = prices(tmp_path, "<", ">=", "keep")
    first, last = talk(index, "Can we match the price? They ask $10.", "I don't know")
    assert first.ask is not None and first.ask.fact == "our_price"
    assert last.outcomes["price_match"] == {
        "action": "keep",
        "policy_id": "POL-PRICE-001",
        "rule_id": last.outcomes["price_match"]["rule_id"],
        "declined": ["our_price"],
    }
    assert last.caveats == ("Not told: our price. Once it is, the answer may be another.",)
