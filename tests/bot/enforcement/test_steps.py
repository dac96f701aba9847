"""The steps of a procedure are kept wherever a fact is asked for, also where `defaults` say which fact is meant."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bot.conversation import Actor, Question
from bot.enforcement.answer import answer
from bot.enforcement.guidance import guide
from bot.index import BundleIndex
from bylaw.bundle import parse
from ci import pipeline

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
STEPS = ["days_open", "amount", "tier", "is_insured"]  # each kind after a kind that is asked later by itself
WORDS = """facts:
  is_insured: {type: boolean, label: is insured, ask: "Is it insured?"}
  tier: {type: enum, values: {gold: [], plain: []}, label: tier, ask: "Which tier?"}
  amount: {type: decimal, unit: USD, minimum: 0, label: amount of the claim}
  days_open: {type: integer, unit: days, minimum: 0, label: days open, ask: "How many days is it open?"}
  has_photo: {type: boolean, label: has a photo, ask: "Is there a photo?"}
actions:
  settle: {outcome: claim, label: settle the claim}
  refuse: {outcome: claim, label: refuse the claim}
outcomes: {claim: {label: what becomes of a claim, phrases: [claim settled], complete: true}}
defaults: {"*": {time_window: days_open, amount_threshold: amount, customer_tier: tier}}
"""
POLICY = """policy_id: POL-CLAIMS-001
conditions:
  - {id: photo, type: boolean_flag, parameter: has_photo, value: true}
  - {id: insured, type: boolean_flag, parameter: is_insured, value: true}
  - {id: tier, type: customer_tier, value: gold}
  - {id: large, type: amount_threshold, value: 100, unit: USD}
  - {id: soon, type: time_window, value: 30, unit: days}
actions:
  - {type: required, action: settle}
  - {type: fallback, action: refuse}
steps: [soon, large, tier, insured]
metadata: {source: Claims manual, owner: Claims, domain: claims}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "policies/claims").mkdir(parents=True)
    (tmp_path / "policies/vocabulary.yaml").write_text(WORDS)
    (tmp_path / "policies/claims/POL-CLAIMS-001.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def index(root: Path) -> BundleIndex:
    run = pipeline.run(root, None, date(2026, 11, 20))
    assert not run.failed
    return BundleIndex(parse(pipeline.bundle_text(run)))


def test_the_bundle_asks_in_that_order(index: BundleIndex) -> None:
    document = json.loads(index.bundle.model_dump_json())
    assert document["decision_nodes"] == [*STEPS, "has_photo"]
    for path in document["compiled_paths"]:
        mine = [step["var"] for step in path["path"]]
        assert mine == [name for name in document["decision_nodes"] if name in mine]
    graph, asked = document["graphs"]["POL-CLAIMS-001"], []
    place = graph["root"]
    while (node := graph["nodes"].get(place)) is not None:
        asked.append(node["test"]["var"])
        place = node["true"] if node["true"] in graph["nodes"] else node["false"]
    assert asked == [*STEPS, "has_photo"]


def test_decide_and_ask_and_guide_ask_for_the_first_step(index: BundleIndex) -> None:
    decided = index.evaluator.decide({}, NOW.date().toordinal())
    assert list(decided.missing_facts) == list(decided.undecided["claim"]) == [*STEPS, "has_photo"]
    question = Question(text="Is my claim settled?", actor=Actor(id="anna"), asked_at=NOW, request_id="r")
    reply = answer(question, {}, index).reply
    assert reply.ask is not None and reply.ask.fact == "days_open"
    found = guide(question, index, {})
    assert [one.fact for one in found.missing] == [*STEPS, "has_photo"]
    named = [step for step in found.scaffold["steps"] if "unknown" in step and "DO NOT assume" in step]
    assert [step.partition(": ")[2].partition(":")[0] for step in named] == [
        "days open", "amount of the claim", "tier", "is insured", "has a photo",
    ]  # fmt: skip
    known = {**index.evaluator.ruleset.variables}
    later = index.evaluator.decide({"days_open": 3, "amount": known["amount"].read(500)}, NOW.date().toordinal())
    assert list(later.missing_facts) == ["tier", "is_insured", "has_photo"]
