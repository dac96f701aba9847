"""What an answer may rest on: the neighbours, the ids, and what goes first when there is too much."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.decisions.contract import Evidence
from bot.decisions.evidence import Gathered, gather, plan, size_of
from bylaw.authored.decisions import KINDS, Decisions
from bylaw.authored.machines.intents import Intents
from ci.loading.decision_records import Sourced, ingest

TIME = "2012-04-30T09:00:00Z"
PLASMA = "panasonic-exit-plasma-2012"


def _gather(decisions: Decisions, rules: Intents, anchor: str = PLASMA, intent: str = "why_decision") -> Gathered:
    of = rules.intents[intent]
    return gather(plan(anchor, of, rules), "why did we leave plasma?", decisions, of, rules)


def _ids(evidence: Evidence) -> Iterator[str]:
    yield evidence.anchor.id
    yield from (event.id for event in evidence.events)
    yield from (one.id for one in (*evidence.transitions.preceding, *evidence.transitions.succeeding))


def _many(events: int, **more: Any) -> Decisions:
    """A decision with that many events, a year apart, the later ones nearer to it."""
    decision = {
        "id": "the-anchor",
        "option": "Leave plasma",
        "rationale": "Losses in plasma",
        "timestamp": TIME,
        **more,
    }
    records = [("decision", decision)]
    for i in range(events):
        happened = f"{2012 - i % 60}-01-01"
        summary = f"Event number {i} happened"
        event = {"id": f"event-{i:05d}", "summary": summary, "timestamp": happened, "led_to": ["the-anchor"]}
        records.append(("event", event))
    return _ingested(records)


def _ingested(records: list[tuple[str, dict[str, Any]]]) -> Decisions:
    snapshot, findings = ingest(
        [Sourced(KINDS[kind].model_validate(record), f"{record['id']}.yaml") for kind, record in records]
    )  # type: ignore[index, arg-type]
    assert not findings
    return snapshot


def test_a_plan_names_the_edges_of_its_intent(intents: Intents) -> None:
    assert plan("leave-plasma", intents.intents["why_decision"], intents).document() == {
        "from": "decision:leave-plasma",
        "k": 1,
        "out": [
            {"rel": "LED_TO", "type": "event"},
            {"rel": "CAUSAL_PRECEDES", "dir": "in", "type": "transition"},
            {"rel": "CAUSAL_PRECEDES", "dir": "out", "type": "transition"},
        ],
        "prompt_budget": {"max_prompt_bytes": 8192, "selector_truncation_enabled": True},
    }


def test_why_gathers_events_and_transitions_on_both_sides(panasonic: Decisions, intents: Intents) -> None:
    found = _gather(panasonic, intents)
    assert list(_ids(found.evidence)) == [
        PLASMA,
        "pan-e2",
        "trans-pan-2010-2012",
        "trans-pan-2012-2014",
        "panasonic-solar-exit-2021--based-on--panasonic-exit-plasma-2012",
    ]
    assert found.evidence.allowed_ids == tuple(_ids(found.evidence))
    assert not found.is_truncated
    assert found.neighbours_found == 4


def test_who_gathers_events_only(panasonic: Decisions, intents: Intents) -> None:
    found = _gather(panasonic, intents, intent="who_decided")
    assert list(_ids(found.evidence)) == [PLASMA, "pan-e2"]


def test_chains_walk_further_than_one_step(panasonic: Decisions, intents: Intents) -> None:
    found = _gather(panasonic, intents, "panasonic-tesla-battery-partnership-2010", "chains")
    assert [one.id for one in found.evidence.transitions.succeeding] == [
        "trans-pan-2010-2012",
        "trans-pan-2012-2014",
        "panasonic-solar-exit-2021--based-on--panasonic-exit-plasma-2012",
    ]
    assert found.evidence.transitions.preceding == ()


def test_an_event_that_led_to_much_names_only_the_anchor(intents: Intents) -> None:
    decision = {"option": "Do it", "rationale": "So", "timestamp": TIME}
    others = [("decision", {"id": f"other-{i}", **decision}) for i in range(50)]
    event = {"id": "busy", "summary": "Everything changes", "timestamp": TIME, "led_to": [id["id"] for _, id in others]}
    snapshot = _ingested([*others, ("event", event)])
    (shown,) = _gather(snapshot, intents, "other-7").evidence.events
    assert shown.led_to == ("other-7",)


def test_a_standalone_decision_is_its_own_evidence(intents: Intents) -> None:
    found = _gather(_many(0), intents, "the-anchor")
    assert found.evidence.document() == {
        "anchor": {
            "id": "the-anchor",
            "option": "Leave plasma",
            "rationale": "Losses in plasma",
            "timestamp": TIME,
            "tags": [],
        },
        "events": [],
        "transitions": {"preceding": [], "succeeding": []},
        "allowed_ids": ["the-anchor"],
    }


def test_alternatives_and_open_ends_are_not_causes(intents: Intents) -> None:
    decision = {"option": "Do it", "rationale": "So", "timestamp": TIME}
    transition = {"reason": "so", "timestamp": TIME}
    snapshot = _ingested(
        [
            ("decision", {"id": "first", **decision}),
            ("decision", {"id": "second", "transitions": ["nowhere"], **decision}),
            ("transition", {"id": "rather", "from": "first", "to": "second", "relation": "alternative", **transition}),
            ("transition", {"id": "nowhere", "relation": "causal", **transition}),
        ]
    )
    assert list(_ids(_gather(snapshot, intents, "second").evidence)) == ["second"]


def test_a_circle_of_decisions_is_walked_once(intents: Intents) -> None:
    decision = {"option": "Do it", "rationale": "So", "timestamp": TIME}
    pairs = [("aaaa", "bbbb"), ("bbbb", "cccc"), ("cccc", "aaaa")]
    edge = {"relation": "causal", "reason": "so", "timestamp": TIME}
    snapshot = _ingested(
        [("decision", {"id": id, **decision}) for id, _ in pairs]
        + [("transition", {"id": f"{one}-{two}", "from": one, "to": two, **edge}) for one, two in pairs]
    )
    found = _gather(snapshot, intents, "aaaa", "chains")
    assert found.evidence.allowed_ids == ("aaaa", "aaaa-bbbb", "bbbb-cccc", "cccc-aaaa", "cccc", "bbbb")
    assert found.neighbours_found == 3


def test_huge_evidence_is_cut_to_the_budget_and_says_so(intents: Intents) -> None:
    found = _gather(_many(2_000), intents, "the-anchor")
    assert found.is_truncated
    assert found.neighbours_found == 2_000
    assert found.size_bytes == size_of(found.evidence) <= intents.prompt.max_prompt_bytes
    assert len(json.dumps(found.evidence.document())) == found.size_bytes
    assert found.evidence.allowed_ids == tuple(_ids(found.evidence))
    assert len(found.dropped_ids) + len(found.evidence.events) == 2_000
    # Nothing is dropped that would still have fitted.
    assert found.size_bytes > intents.prompt.max_prompt_bytes - 250


def test_what_stays_is_near_in_time_or_about_the_question(intents: Intents) -> None:
    snapshot = _many(200)
    telling = {
        "id": "old-but-telling",
        "summary": "Losses in plasma",
        "timestamp": "1950-01-01",
        "led_to": ["the-anchor"],
    }
    records = [Sourced(model, "x.yaml") for model in (*snapshot.decisions.values(), *snapshot.events.values())]
    snapshot, _ = ingest([*records, Sourced(KINDS["event"].model_validate(telling), "y.yaml")])  # type: ignore[arg-type]
    found = _gather(snapshot, intents, "the-anchor")
    kept = {event.id for event in found.evidence.events}
    assert "old-but-telling" in kept
    years = {event.timestamp[:4] for event in found.evidence.events if event.id != "old-but-telling"}
    assert min(years) > "1990"


def test_one_item_stays_even_where_nothing_fits(intents: Intents) -> None:
    tiny = intents.model_copy(update={"prompt": intents.prompt.model_copy(update={"max_prompt_bytes": 10})})
    found = _gather(_many(5), tiny, "the-anchor")
    assert len(found.evidence.events) == tiny.prompt.min_evidence_items == 1
    assert found.size_bytes > 10


def test_the_anchor_stays_whatever_its_size(intents: Intents) -> None:
    snapshot = _many(3, tags=[f"a_rather_long_tag_{i:04d}" for i in range(600)])
    found = _gather(snapshot, intents, "the-anchor")
    assert len(found.evidence.anchor.tags) == 600
    assert len(found.evidence.events) == 1
    assert found.is_truncated


def test_two_runs_gather_the_same(intents: Intents) -> None:
    assert _gather(_many(300), intents, "the-anchor") == _gather(_many(300), intents, "the-anchor")


@settings(max_examples=60, deadline=None)
@given(
    events=st.integers(0, 40),
    before=st.integers(0, 15),
    after=st.integers(0, 15),
    limit=st.integers(200, 9_000),
    word=st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and text.isprintable()),
)
def test_allowed_ids_are_always_exactly_the_ids_in_the_evidence(
    events: int, before: int, after: int, limit: int, word: str, intents: Intents
) -> None:
    decision = {"option": "Do it", "rationale": "So", "timestamp": TIME}
    records: list[tuple[str, dict[str, Any]]] = [("decision", {"id": "the-anchor", **decision})]
    records += [("decision", {"id": f"decision-{i}", **decision}) for i in range(before + after)]
    for i in range(events):
        event = {"id": f"event-{i}", "summary": f"x {word}", "timestamp": TIME, "led_to": ["the-anchor"]}
        records.append(("event", event))
    for i in range(before + after):
        ends = (
            {"from": f"decision-{i}", "to": "the-anchor"}
            if i < before
            else {"from": "the-anchor", "to": f"decision-{i}"}
        )
        edge = {"id": f"trans-{i}", "relation": "causal", "reason": f"x {word}", "timestamp": TIME, **ends}
        records.append(("transition", edge))
    rules = intents.model_copy(update={"prompt": intents.prompt.model_copy(update={"max_prompt_bytes": limit})})
    found = _gather(_ingested(records), rules, "the-anchor")
    ids = list(_ids(found.evidence))
    assert sorted(found.evidence.allowed_ids) == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert found.neighbours_found == events + before + after
    assert set(found.dropped_ids).isdisjoint(ids)
    assert len(ids) - 1 + len(found.dropped_ids) == found.neighbours_found
    assert found.size_bytes == size_of(found.evidence)
    assert found.size_bytes <= limit or len(ids) - 1 <= rules.prompt.min_evidence_items


@pytest.fixture
def wide(snapshot: Callable[[dict[str, list[dict[str, Any]]]], Decisions]) -> Decisions:
    """A decision whose neighbours carry every optional field."""
    return snapshot(
        {
            "decisions": [
                {
                    "id": "aaaa",
                    "option": "A",
                    "rationale": "So",
                    "timestamp": TIME,
                    "decision_maker": "Mei",
                    "tags": ["t"],
                }
            ],
            "events": [
                {"id": "bbbb", "summary": "B", "description": "Long. Story.", "timestamp": TIME, "led_to": ["aaaa"]}
            ],
        }
    )


def test_evidence_shows_the_fields_of_the_contract_and_no_others(wide: Decisions, intents: Intents) -> None:
    document = _gather(wide, intents, "aaaa").evidence.document()
    assert set(document) == {"anchor", "events", "transitions", "allowed_ids"}
    assert document["anchor"] == {
        "id": "aaaa",
        "option": "A",
        "rationale": "So",
        "timestamp": TIME,
        "decision_maker": "Mei",
        "tags": ["t"],
    }
    assert document["events"] == [
        {"id": "bbbb", "summary": "B", "timestamp": TIME, "led_to": ["aaaa"], "snippet": "Long.", "tags": []}
    ]
