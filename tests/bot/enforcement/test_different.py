"""What would have to be different: a part of its own beside the answer, true when it is tried, within one's rights."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation import Actor, Question, Reply
from bot.enforcement.answer import answer, visible
from bot.index import BundleIndex
from bylaw.bundle import parse
from ci import pipeline

TODAY = date(2026, 11, 20)
VOCABULARY = """
schema_version: "1.0"
facts:
  days_late: {type: integer, minimum: 0, maximum: 99, unit: days, label: days late, phrases: ["{value} days late"]}
actions:
  fee: {outcome: late_fee, label: a late fee}
  no_fee: {outcome: late_fee, label: no fee}
  waived: {outcome: late_fee, label: a waived fee}
outcomes:
  late_fee: {label: the late fee}
"""
FEES = """
policy_id: POL-LOAN-001
actions:
  - {type: conditional, action: fee, when: [{type: fact, parameter: days_late, operator: ">", value: 7}]}
  - {type: fallback, action: no_fee}
metadata: {source: handbook, owner: Desk, domain: loan}
"""
WAIVERS = """
policy_id: POL-LOAN-002
audience: [lead]
conditions:
  - {type: fact, parameter: days_late, between: [8, 9]}
actions: [{type: required, action: waived}]
overrides: [POL-LOAN-001]
reason: The leads may waive what is hardly late.
metadata: {source: handbook, owner: Desk, domain: loan}
"""
ROLES = "roles: {lead: {}, clerk: {}}\nusers: {lea: [lead]}\ndefault_role: clerk\n"


def library(root: Path, vocabulary: str = VOCABULARY, trials: int = 200) -> BundleIndex:
    files = {
        "policies/vocabulary.yaml": vocabulary,
        "policies/loan/POL-LOAN-001.yaml": FEES,
        "policies/loan/POL-LOAN-002.yaml": WAIVERS,
        "rules/roles.yaml": ROLES,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.lstrip())
    told = (Path(__file__).parents[3] / "ci/loading/defaults/rules/enforcement.yaml").read_text()
    (root / "rules/enforcement.yaml").write_text(told.replace("different_trials: 2000", f"different_trials: {trials}"))
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(root, None, TODAY))))


@pytest.fixture
def loans(tmp_path: Path) -> BundleIndex:
    return library(tmp_path)


def say(text: str, index: BundleIndex, actor: str = "carl", papers: dict[str, Any] | None = None) -> Reply:
    asked_at = datetime(2026, 11, 20, 9, tzinfo=UTC)
    turn = answer(Question(text=text, actor=Actor(id=actor), asked_at=asked_at, request_id="r1"), {}, index)
    if papers is not None:
        papers.update(turn.artifacts)
    return turn.reply


def test_the_smallest_change_is_told_as_data_and_in_words(loans: BundleIndex) -> None:
    (found,) = say("It is 10 days late. What is the late fee?", loans).different
    assert found.text == "It would be no fee (POL-LOAN-001) if days late is at most 7 days (now 10 days)."
    assert (found.outcome, found.action, found.policy_id, found.is_sure) == ("late_fee", "no_fee", "POL-LOAN-001", True)
    (change,) = found.changes
    assert (change.fact, change.before, change.after) == ("days_late", 10, 7)


def test_no_change_is_told_through_a_rule_the_asker_may_not_be_answered_from(loans: BundleIndex) -> None:
    text = "It is 10 days late. What is the late fee?"
    (known,) = say(text, loans, "lea").different
    assert (known.action, known.changes[0].after) == ("waived", 9)
    hidden = say(text, loans, "carl")
    assert {one.action for one in hidden.different} == {"no_fee"}
    assert "waived" not in hidden.model_dump_json() and "POL-LOAN-002" not in hidden.model_dump_json()


def test_what_would_be_is_not_what_the_answer_says(loans: BundleIndex) -> None:
    papers: dict[str, Any] = {}
    reply = say("It is 10 days late. What is the late fee?", loans, papers=papers)
    assert reply.different and reply.different[0].text not in reply.text
    assert "no fee" not in papers["verdict"]["llm_response"] and papers["verdict"]["violations"] == []


@pytest.mark.parametrize("text", ["What is the late fee?", "late fee? 10 days late, open the vault?", "Good morning"])
def test_only_what_is_decided_can_be_different(text: str, loans: BundleIndex) -> None:
    reply = say(text, loans, "lea")
    assert {one.outcome for one in reply.different} <= set(reply.outcomes)
    assert reply.status == "answered" or not reply.different


def test_nothing_worse_is_offered_where_the_vocabulary_says_what_is(tmp_path: Path) -> None:
    ordered = VOCABULARY.replace(
        "late_fee: {label: the late fee}", "late_fee: {label: the late fee, restrictive: ORDER}"
    )
    told = {}
    for order in ("[fee, no_fee, waived]", "[no_fee, fee, waived]"):
        index = library(tmp_path / order, ordered.replace("ORDER", order))
        told[order] = {one.action for one in say("It is 10 days late. What is the late fee?", index).different}
    assert told == {"[fee, no_fee, waived]": {"no_fee"}, "[no_fee, fee, waived]": set()}


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    reply = say("It is 10 days late. What is the late fee?", library(tmp_path, trials=0))
    assert reply.status == "answered" and reply.different == ()


FACTS = {
    "product_category": st.sampled_from(["a TV", "a shirt", "a gift card", ""]),
    "receipt": st.sampled_from(["with a receipt", "no receipt", "lost the receipt", ""]),
    "days": st.one_of(st.just(""), st.integers(0, 90).map(lambda n: f"bought {n} days ago")),
    "tier": st.sampled_from(["", "I am VIP", "a standard customer"]),
}


@given(said=st.fixed_dictionaries(FACTS))
@settings(max_examples=60, deadline=None)
def test_the_changed_case_gets_what_was_told(said: dict[str, str], shop: BundleIndex) -> None:
    reply = say(f"{', '.join(part for part in said.values() if part)}. Can I get a refund?", shop, "anna")
    read = {name: shop.ruleset.variables[name].read(value) for name, value in reply.facts.items()}
    for one in reply.different:
        changed = {c.fact: shop.ruleset.variables[c.fact].read(c.after) for c in one.changes}
        decision = visible("anna", shop).decide({**read, **changed}, TODAY.toordinal())
        assert decision.outcomes[one.outcome].action == one.action != reply.outcomes[one.outcome]["action"]
        assert all(reply.facts.get(c.fact) == c.before != c.after for c in one.changes)
        assert all(c.before is not None for c in one.changes)
