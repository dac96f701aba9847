"""What guidance says of a rule that another one goes before, at every door, and of invariants in their own words."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.conversation import Actor, Question
from bot.enforcement.guidance import Guidance, guide, in_words
from bot.index import BundleIndex
from bot.request.cases import read_facts
from bylaw.bundle import parse
from ci import pipeline

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
WORDS = """facts:
  age: {type: integer, unit: years, minimum: 0, label: age}
  height: {type: integer, unit: cm, minimum: 0, label: height}
  is_guest: {type: boolean, label: is a guest}
actions:
  let_in: {outcome: entry, label: let the person in}
  turn_away: {outcome: entry, label: turn the person away}
  give_tour: {outcome: entry, label: give a tour}
outcomes: {entry: {label: who may enter, phrases: [may enter]}}
"""
ADULTS = "POL-HALL-001", "[{type: fact, parameter: age, operator: '>=', value: 16}]", "let_in", ""
SMALL = "POL-HALL-002", "[{type: fact, parameter: height, operator: '<', value: 150}]", "turn_away", "[law]"
GUESTS = "POL-HALL-003", "[{type: boolean_flag, parameter: is_guest, value: true}]", "give_tour", ""


def index_of(root: Path, *policies: tuple[str, str, str, str], formal: str = "") -> BundleIndex:
    (root / "policies/hall").mkdir(parents=True)
    (root / "policies/vocabulary.yaml").write_text(WORDS)
    for name, conditions, action, law in policies:
        (root / f"policies/hall/{name}.yaml").write_text(
            f"policy_id: {name}\nconditions: {conditions}\nactions: [{{type: required, action: {action}}}]\n{formal}"
            f"metadata: {{source: s, owner: Front desk, domain: hall, regulatory_linkage: {law or '[]'}}}\n"
        )
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(root, None, date(2026, 11, 20)))))


def guided(index: BundleIndex, facts: dict[str, Any]) -> Guidance:
    question = Question(text="Who may enter?", actor=Actor(id="anna"), asked_at=NOW, request_id="r")
    return guide(question, index, read_facts(facts, index))


@pytest.mark.parametrize(
    ("policies", "facts", "statuses"),
    [
        ((ADULTS, SMALL), {"age": 20, "height": 140}, ["overruled", "holds"]),
        ((ADULTS, SMALL), {"age": 20, "height": 170}, ["holds", "does not hold"]),
        ((ADULTS, SMALL), {"age": 20}, ["open", "open"]),
        ((ADULTS, SMALL), {"height": 140}, ["open", "holds"]),
        ((ADULTS, GUESTS), {"age": 20, "is_guest": True}, ["open", "open"]),
        ((ADULTS, GUESTS), {"age": 20, "is_guest": False}, ["holds", "does not hold"]),
    ],
)
def test_a_rule_holds_where_the_case_gets_what_it_says(tmp_path, policies, facts, statuses) -> None:
    found = guided(index_of(tmp_path, *policies), facts)
    rules = sorted((rule for policy in found.policies for rule in policy.rules), key=lambda rule: rule.rule_id)
    assert [rule.status for rule in rules] == statuses
    said = [rule.action for rule in rules if rule.status == "holds"]
    assert said == [one for one in [found.outcomes["entry"]["action"]] if one]


def test_who_goes_before_it_is_named_wherever_the_rule_is_told(tmp_path) -> None:
    found = guided(index_of(tmp_path, ADULTS, SMALL), {"age": 20, "height": 140})
    (rule,) = (rule for policy in found.policies for rule in policy.rules if rule.status == "overruled")
    assert rule.overruled_by == "POL-HALL-002"
    assert "[overruled by POL-HALL-002]" in in_words(found)
    texts = json.dumps([layer.text for name, layer in found.layers.items() if name != "system_prompt"])
    assert "let the person in" not in texts or "not in this case: POL-HALL-002 goes before it" in texts
    (step,) = (step for step in found.scaffold["steps"] if "let the person in" in step)
    assert step.endswith("It does not hold in this case: POL-HALL-002 goes before it.")


def test_an_invariant_is_told_in_the_words_of_its_author(tmp_path) -> None:
    formal = (
        "formal: {constraints: [{constraint_id: C-1, expression: 'height <= 250', "
        "natural_language: Nobody is taller than two and a half metres.}]}\n"
    )
    found = guided(index_of(tmp_path, ADULTS, formal=formal), {"age": 20})
    assert found.scaffold["invariants"] == ("ALWAYS Nobody is taller than two and a half metres. (POL-HALL-001).",)
