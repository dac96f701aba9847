"""The whole trip of a decision question: intent, anchor, evidence, answer, and what the next turn finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.conversation import Question, Reply, spoken, spoken_json
from bot.decisions import answer as module
from bot.decisions.answer import answer, prepare, topics
from bot.decisions.contract import DecisionAnswer
from bot.decisions.recognise import is_decision_question
from bot.decisions.templater import Rendered
from bot.index import BundleIndex
from bylaw.authored.decisions import Decisions
from bylaw.canonical import canonical_json, fingerprint
from ci.loading.source import read

PLASMA = "panasonic-exit-plasma-2012"
ROWS = read("questions.yaml", Path(__file__).with_name("questions.yaml").read_bytes()).data
Ask = Callable[..., Question]
META = {"policy_id", "prompt_id", "retries", "latency_ms", "prompt_fingerprint", "snapshot_etag", "fallback_used"}


@pytest.fixture(scope="module")
def served(panasonic: Decisions, index: Callable[[Decisions], BundleIndex]) -> BundleIndex:
    """A bundle with the seed's examples."""
    return index(panasonic)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_a_text_reads_like_a_decision_question(row: dict[str, Any], served: BundleIndex) -> None:
    assert float(row.get("from", 0)) <= is_decision_question(row["text"], served) <= float(row.get("to", 1))


def test_without_decisions_nothing_is_a_decision_question(index: Callable[[Decisions], BundleIndex]) -> None:
    assert is_decision_question("why did we decide to leave plasma?", index(Decisions())) == 0.0


def test_the_reply_carries_the_whole_contract(served: BundleIndex, ask: Ask) -> None:
    reply = answer(ask("Why did Panasonic exit plasma TV production?"), {}, served).reply
    assert (reply.kind, reply.status, reply.intent) == ("decision", "answered", "why_decision")
    assert reply.evidence is not None
    assert reply.answer is not None
    assert reply.meta is not None
    assert reply.completeness_flags == {"has_preceding": True, "has_succeeding": True, "event_count": 1}
    assert set(reply.meta) >= META
    assert reply.meta["snapshot_etag"] == served.bundle.decisions.snapshot_etag
    assert reply.meta["request_id"] == reply.request_id == "req-1"
    assert reply.text == reply.answer["short_answer"]
    assert set(reply.answer["supporting_ids"]) <= set(reply.evidence["allowed_ids"])
    assert (reply.bundle_etag, reply.commit) == (served.etag, "c0ffee")


def test_every_citation_names_a_file_a_line_and_the_commit(served: BundleIndex, ask: Ask) -> None:
    reply = answer(ask("Why did Panasonic exit plasma TV production?"), {}, served).reply
    first = reply.citations[0]
    assert first.id == PLASMA
    assert first.path == "context/decisions/decisions/panasonic-exit-plasma-2012.yaml"
    assert (first.line, first.commit) == (1, "c0ffee")
    assert first.text == "Exit plasma TV production"
    assert all(citation.path and citation.line == 1 and citation.text for citation in reply.citations)


def test_the_fingerprints_are_those_of_the_artifacts(served: BundleIndex, ask: Ask) -> None:
    turn = answer(ask("Why did Panasonic exit plasma TV production?"), {}, served)
    assert turn.reply.meta is not None
    assert turn.reply.meta["prompt_fingerprint"] == fingerprint(turn.artifacts["envelope"])
    assert turn.reply.meta["plan_fingerprint"] == fingerprint(turn.artifacts["plan"])
    assert turn.reply.meta["bundle_fingerprint"] == fingerprint(turn.artifacts["evidence"])
    assert turn.artifacts["validation"] == {"is_valid": True, "reasons": []}
    assert turn.artifacts["resolution"]["anchor"] == PLASMA
    assert turn.log == {"matched_entities": [PLASMA]}


def test_two_runs_say_the_same_bytes(panasonic: Decisions, index: Callable[[Decisions], BundleIndex], ask: Ask) -> None:
    question = ask("Why did Panasonic exit plasma TV production?")
    one, other = answer(question, {}, index(panasonic)), answer(question, {}, index(panasonic))
    assert spoken_json(one.reply) == spoken_json(other.reply)
    assert canonical_json(one.artifacts) == canonical_json(other.artifacts)


def test_the_reply_is_the_same_after_a_trip_through_json(served: BundleIndex, ask: Ask) -> None:
    turn = answer(ask("Why did Panasonic exit plasma TV production?"), {}, served)
    assert spoken(turn.reply) == turn.reply
    assert Reply.model_validate_json(spoken_json(turn.reply)) == turn.reply
    assert json.loads(json.dumps(turn.state)) == turn.state


def test_latency_is_measured_only_with_a_clock(served: BundleIndex, ask: Ask) -> None:
    ticks: Iterator[float] = iter([10.0, 10.25])
    timed = answer(ask("Why did Panasonic exit plasma?"), {}, served, lambda: next(ticks))
    plain = answer(ask("Why did Panasonic exit plasma?"), {}, served)
    assert timed.reply.meta is not None
    assert plain.reply.meta is not None
    assert timed.reply.meta["latency_ms"] == 250
    assert plain.reply.meta == {**timed.reply.meta, "latency_ms": 0}


def test_a_conversation_keeps_its_decision(served: BundleIndex, ask: Ask) -> None:
    state: dict[str, Any] = {}
    heard = []
    for text in (
        "Why did Panasonic exit plasma?",
        "who decided that?",
        "and when?",
        "why did we enter the cloud market?",
        "who?",
    ):
        turn = answer(ask(text), state, served)
        state = turn.state
        heard.append((turn.reply.intent, state["anchor"]))
    assert heard == [
        ("why_decision", PLASMA),
        ("who_decided", PLASMA),
        ("when_decided", PLASMA),
        ("why_decision", "initial-cloud-decision-2024"),
        ("who_decided", "initial-cloud-decision-2024"),
    ]


def test_a_picked_choice_is_answered_with_the_intent_that_was_asked(served: BundleIndex, ask: Ask) -> None:
    asked = answer(ask("Who decided to stop production?"), {}, served)
    assert asked.reply.status == "needs_choice"
    assert asked.reply.text == "Several decisions are called so. Which one do you mean?"
    assert [choice.value for choice in asked.reply.choices] == ["panasonic-solar-exit-2021", PLASMA]
    assert asked.reply.choices[1].label == "Exit plasma TV production (Accepted on 30 April 2012)"
    picked = answer(ask(asked.reply.choices[1].value), asked.state, served)
    assert (picked.reply.status, picked.reply.intent) == ("answered", "who_decided")
    assert picked.state["anchor"] == PLASMA


def test_a_failed_search_keeps_the_decision_spoken_of(served: BundleIndex, ask: Ask) -> None:
    state = answer(ask("Why did Panasonic exit plasma?"), {}, served).state
    lost = answer(ask("why did we go to Mars?"), state, served)
    assert lost.reply.status == "refused"
    assert answer(ask("who decided that?"), lost.state, served).state["anchor"] == PLASMA


def test_nothing_found_is_an_anchor_not_found(served: BundleIndex, ask: Ask) -> None:
    reply = answer(ask("Why did we fly to Mars?"), {}, served).reply
    assert reply.meta is not None
    error = reply.meta["error"]
    assert (error["code"], error["request_id"]) == ("ANCHOR_NOT_FOUND", "req-1")
    assert error["details"]["candidates"] == [choice.value for choice in reply.choices]
    assert reply.status == "refused"
    assert reply.text.startswith("Nothing on record is about “fly” and “Mars”. Please ask ")
    assert reply.meta["uncovered"]["words"] == ["fly", "Mars"]
    assert reply.evidence is reply.answer is None


def test_a_question_about_nothing_is_asked_back_with_the_latest_decisions(served: BundleIndex, ask: Ask) -> None:
    reply = answer(ask("who decided that?"), {}, served).reply
    assert (reply.status, reply.text) == ("needs_choice", "Which decision do you mean?")
    assert reply.choices[0].value == "initial-cloud-decision-2024"


def test_without_decisions_the_bot_says_so(index: Callable[[Decisions], BundleIndex], ask: Ask) -> None:
    reply = answer(ask("Why did Panasonic exit plasma?"), {}, index(Decisions())).reply
    assert (reply.status, reply.text, reply.choices) == ("refused", "No decisions are on record yet.", ())


def test_options_name_intent_and_decision_outright(served: BundleIndex, ask: Ask) -> None:
    question = ask("tell me", intent="when_decided", decision_ref="initial-cloud-decision-2024")
    reply = answer(question, {"anchor": PLASMA}, served).reply
    assert reply.intent == "when_decided"
    assert reply.citations[0].id == "initial-cloud-decision-2024"
    assert reply.meta is not None
    assert reply.meta["resolved_by"] == "slug"


@pytest.mark.parametrize("options", [{"intent": "drop_table"}, {"intent": 7}, {"intent": ["why_decision"]}])
def test_an_unknown_intent_in_the_options_is_not_followed(
    options: dict[str, Any], served: BundleIndex, ask: Ask
) -> None:
    assert answer(ask("who decided to exit plasma?", **options), {}, served).reply.intent == "who_decided"


@pytest.mark.parametrize(
    "reference", ["../../etc/passwd", "{{ 7 }}", "nobody-knows-this", "\0", "x" * 5_000, {"a": 1}, 7]
)
def test_a_hostile_reference_finds_nothing(reference: Any, served: BundleIndex, ask: Ask) -> None:
    reply = answer(ask("why?", decision_ref=reference), {}, served).reply
    assert reply.status in ("needs_choice", "refused")
    assert reply.evidence is None


@pytest.mark.parametrize(
    "state",
    [{}, {"anchor": None}, {"anchor": 7}, {"anchor": "gone"}, {"anchor": ["x"], "intent": ["y"]}, {"intent": "gone"}],
)
def test_a_state_of_another_bundle_does_no_harm(state: dict[str, Any], served: BundleIndex, ask: Ask) -> None:
    assert answer(ask("who decided that?"), state, served).reply.status == "needs_choice"
    assert answer(ask(PLASMA), state, served).reply.intent == "why_decision"


def test_an_id_with_an_intents_words_in_it_is_still_an_id(
    snapshot: Callable[[dict[str, Any]], Decisions], index: Callable[[Decisions], BundleIndex], ask: Ask
) -> None:
    record = {"id": "why-we-left-plasma", "option": "Leave", "rationale": "Losses", "timestamp": "2012-04-30"}
    turn = answer(ask("who decided why-we-left-plasma?"), {}, index(snapshot({"decisions": [record]})))
    assert (turn.reply.intent, turn.state["anchor"]) == ("who_decided", "why-we-left-plasma")
    picked = answer(ask("why-we-left-plasma"), {"intent": "when_decided"}, index(snapshot({"decisions": [record]})))
    assert picked.reply.intent == "when_decided"


def test_dropped_evidence_is_told_and_not_cited(
    snapshot: Callable[[dict[str, Any]], Decisions], index: Callable[[Decisions], BundleIndex], ask: Ask
) -> None:
    decision = {"id": "leave-plasma", "option": "Leave plasma", "rationale": "Losses", "timestamp": "2012-04-30"}
    events = [
        {"id": f"event-{i:03d}", "summary": f"Event {i}", "timestamp": "2012-01-01", "led_to": ["leave-plasma"]}
        for i in range(300)
    ]
    reply = answer(
        ask("why did we leave plasma?"), {}, index(snapshot({"decisions": [decision], "events": events}))
    ).reply
    assert reply.meta is not None
    assert reply.evidence is not None
    assert reply.completeness_flags is not None
    assert reply.meta["selector_truncation"] is True
    assert reply.meta["total_neighbors_found"] == 300
    assert reply.meta["final_evidence_count"] == reply.completeness_flags["event_count"]
    assert reply.meta["dropped_evidence_count"] == 300 - reply.meta["final_evidence_count"]
    assert len(reply.meta["dropped_evidence_ids"]) == 20
    assert reply.meta["bundle_size_bytes"] <= reply.meta["max_prompt_bytes"] == 8192
    assert {citation.id for citation in reply.citations} <= set(reply.evidence["allowed_ids"])


def test_an_answer_that_does_not_validate_is_replaced_by_the_plain_option(
    served: BundleIndex, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = Rendered(DecisionAnswer(short_answer="Because.", supporting_ids=("somebody-else",)), "Because.")
    monkeypatch.setattr(module, "render", lambda *_: wrong)
    turn = answer(ask("Why did Panasonic exit plasma?"), {}, served)
    assert turn.reply.meta is not None
    assert turn.reply.meta["fallback_used"] is True
    assert turn.reply.text == "Accepted on 30 April 2012: Exit plasma TV production"
    assert "somebody-else" not in [citation.id for citation in turn.reply.citations]
    assert turn.artifacts["validation"]["is_valid"] is False
    assert turn.artifacts["validation"]["reasons"][0] == "unsupported_ids:somebody-else"


def test_the_latest_decisions_are_what_can_be_asked_about(served: BundleIndex) -> None:
    assert topics(served) == ["Enter cloud market", "End solar cell production", "Acquire AU Automotive"]


def test_the_search_can_be_built_before_anyone_waits(served: BundleIndex) -> None:
    prepare(served)
    assert is_decision_question("why did we leave plasma?", served) > 0.6


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=300), anchor=st.none() | st.text(max_size=10))
def test_no_question_breaks_the_answerer(text: str, anchor: str | None, served: BundleIndex, ask: Ask) -> None:
    turn = answer(ask(text), {"anchor": anchor}, served)
    assert 0.0 <= is_decision_question(text, served) <= 1.0
    assert turn.reply.status in ("answered", "needs_choice", "refused")
    assert turn.reply.text
