"""Decision records become one snapshot: rows in ingest.yaml, and what must hold for any records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.authored.decisions import KINDS, Decision, Decisions, Event, Transition, snapshot_etag
from bylaw.canonical import canonical_json
from ci.loading.decision_records import SEED_LENGTHS, Sourced, ingest, kind_of
from ci.loading.load import load
from ci.loading.rules import load_defaults
from ci.loading.source import read
from tests.rows import each

ROWS = read("ingest.yaml", Path(__file__).with_name("ingest.yaml").read_bytes()).data
NAMED = sorted(Path(__file__).with_name("seed").glob("*.json"))  # the validator fixtures of seed 002, by its names
ROWS += [json.loads(path.read_text(encoding="utf-8")) for path in NAMED]

FILLED: dict[str, dict[str, Any]] = {
    "decision": {"timestamp": "2012-04-30T09:00:00Z"},
    "event": {"summary": "Something happened", "timestamp": "2012-01-01T00:00:00Z"},
    "transition": {"relation": "causal", "reason": "One led to the other", "timestamp": "2012-04-30T09:00:00Z"},
}


def _sourced(kind: str, record: dict[str, Any]) -> Sourced:
    filled = {**FILLED[kind], **record}
    if kind == "decision":
        filled = {"option": f"Option of {record['id']}", "rationale": f"Reasons of {record['id']}", **filled}
    return Sourced(KINDS[kind].model_validate(filled), f"{record['id']}.yaml")  # type: ignore[index, arg-type]  # rows


def _records(row: dict[str, Any]) -> list[Sourced]:
    return [_sourced(kinds[:-1], record) for kinds, records in row["records"].items() for record in records]


@each("row", ROWS, ids=lambda row: row["title"])
def test_records_become(row: dict[str, Any]) -> None:
    snapshot, findings = ingest(_records(row))
    for name, value in row.get("expect", {}).items():
        id, field = name.split(".")
        assert getattr(snapshot.record(id), field) == value, name
    told = row.get("findings", [])
    assert [finding.id for finding in findings] == [expected["id"] for expected in told]
    for finding, expected in zip(findings, told, strict=True):
        assert [finding.at.path, *finding.at.route] == expected["at"]
        assert expected["says"] in finding.message
        assert expected.get("help", "") in (finding.help or "")


@each("row", ROWS, ids=lambda row: row["title"])
def test_the_order_of_the_records_changes_nothing(row: dict[str, Any]) -> None:
    records = _records(row)
    one, other = ingest(records), ingest(records[::-1])
    assert canonical_json(one[0]) == canonical_json(other[0])
    assert one[1] == other[1]


def test_the_first_file_keeps_an_id_that_two_files_claim() -> None:
    one, other = _sourced("decision", {"id": "plasma"}), _sourced("event", {"id": "plasma"})
    snapshot, findings = ingest([Sourced(other.model, "b/plasma.yaml"), Sourced(one.model, "a/plasma.yaml")])
    assert list(snapshot.decisions) == ["plasma"]
    assert not snapshot.events
    assert findings[0].at.path == "b/plasma.yaml"
    assert findings[0].related[0][0].path == "a/plasma.yaml"
    assert findings[0].related[0][1] == "first declared here, as a decision"


@each(
    ("kind", "field", "bound"),
    [
        ("decision", "rationale", 600),
        ("transition", "reason", 280),
        ("event", "summary", 120),
        ("event", "snippet", 120),
    ],
)
def test_long_texts_are_kept_whole_and_a_notice_says_what_evidence_shows(kind: str, field: str, bound: int) -> None:
    snapshot, (told,) = ingest([_sourced(kind, {"id": "long-one", field: "word " * 500})])
    assert getattr(snapshot.record("long-one"), field) == ("word " * 500).strip()
    assert (told.id, told.at.route) == ("long-text", (field,))
    assert told.message.endswith(f"has 2,499 characters; the evidence of an answer shows the first {bound}")


def test_the_lengths_of_the_rules_hold_for_the_notice() -> None:
    lengths = SEED_LENGTHS.model_copy(update={"rationale": 40})
    record = _sourced("decision", {"id": "long-one", "rationale": "word " * 10})
    assert [finding.id for finding in ingest([record], lengths)[1]] == ["long-text"]
    assert not ingest([record])[1]


def test_a_text_stays_as_it_is_when_it_is_ingested_again() -> None:
    once, _ = ingest([_sourced("decision", {"id": "long-one", "rationale": "word " * 500})])
    again, _ = ingest([Sourced(once.decisions["long-one"], "long-one.yaml")])
    assert again == once


def test_a_repaired_summary_has_its_own_bound() -> None:
    snapshot, _ = ingest([_sourced("event", {"id": "long-one", "summary": None, "description": "word " * 500})])
    assert 86 < len(snapshot.events["long-one"].summary or "") <= 96


def test_the_bounds_in_the_code_are_those_of_the_rules() -> None:
    assert SEED_LENGTHS.model_dump() == load_defaults()["intents"]["lengths"]


def test_every_record_keeps_the_file_it_stands_in() -> None:
    records = [
        _sourced("decision", {"id": "tesla-deal"}),
        _sourced("decision", {"id": "exit-plasma", "based_on": ["tesla-deal"]}),
    ]
    snapshot, _ = ingest(records)
    assert snapshot.sources == {
        "tesla-deal": "tesla-deal.yaml",
        "exit-plasma": "exit-plasma.yaml",
        "exit-plasma--based-on--tesla-deal": "exit-plasma.yaml",
    }


def test_a_derived_transition_never_takes_an_id_that_is_in_use() -> None:
    snapshot, findings = ingest(
        [
            _sourced("decision", {"id": "tesla-deal"}),
            _sourced("decision", {"id": "exit-plasma", "based_on": ["tesla-deal"]}),
            _sourced("event", {"id": "exit-plasma--based-on--tesla-deal"}),
        ]
    )
    assert not findings
    (derived,) = snapshot.transitions
    assert derived.startswith("based-on-")
    assert snapshot.decisions["tesla-deal"].transitions == [derived]


def test_ids_of_any_length_can_be_based_on_one_another() -> None:
    long, longer = "a" * 254, "a" * 255
    snapshot, _ = ingest(
        [_sourced("decision", {"id": long}), _sourced("decision", {"id": longer, "based_on": [long[:200]]})]
    )
    assert not snapshot.transitions
    first, second = "b" * 150, "b" * 151
    snapshot, findings = ingest(
        [_sourced("decision", {"id": first}), _sourced("decision", {"id": second, "based_on": [first]})]
    )
    assert not findings
    assert len(snapshot.transitions) == 1


def test_the_etag_names_the_content_and_not_the_files() -> None:
    record = _sourced("decision", {"id": "exit-plasma"})
    one, _ = ingest([record])
    moved, _ = ingest([Sourced(record.model, "elsewhere.yaml")])
    changed, _ = ingest([_sourced("decision", {"id": "exit-plasma", "tags": ["new"]})])
    assert one.snapshot_etag == moved.snapshot_etag == snapshot_etag(one.decisions, {}, {})
    assert one.snapshot_etag != changed.snapshot_etag
    assert ingest([])[0] == Decisions()


def test_a_new_field_appears_in_the_catalogue_without_code() -> None:
    decision = KINDS["decision"].model_validate(
        {"id": "exit-plasma", "title": "Exit", "why": "Losses", "date": "2012", "x-extra": {"phase_label": "pilot"}}
        | {"date": "2012-04-30"}
    )
    snapshot, _ = ingest([Sourced(decision, "a.yaml")])  # type: ignore[arg-type]  # the table is typed by the base
    assert snapshot.field_catalogue == {
        "id": ["id"],
        "option": ["option", "title"],
        "decided_on": ["decided_on"],
        "phase_label": ["x-extra.phase_label"],
        "rationale": ["rationale", "why"],
        "timestamp": ["timestamp", "date"],
    }


def test_a_transition_end_is_catalogued_under_the_word_people_write() -> None:
    records = [_sourced("decision", {"id": id}) for id in ("aaaa", "bbbb")]
    snapshot, _ = ingest([*records, _sourced("transition", {"id": "trans-1", "from": "aaaa", "to": "bbbb"})])
    assert snapshot.field_catalogue["from"] == ["from"]
    assert "from_" not in snapshot.field_catalogue


def test_the_relation_catalogue_lists_the_edges_that_exist() -> None:
    decisions = [_sourced("decision", {"id": id}) for id in ("aaaa", "bbbb")]
    event = _sourced("event", {"id": "cccc", "led_to": ["aaaa"]})
    chain = _sourced("transition", {"id": "dddd", "from": "aaaa", "to": "bbbb", "relation": "chain_next"})
    open_ended = _sourced("transition", {"id": "eeee", "from": "aaaa", "relation": "alternative"})
    assert ingest(decisions)[0].relation_catalogue == {}
    assert ingest([*decisions, event])[0].relation_catalogue == {"LED_TO": ["in"]}
    snapshot, _ = ingest([*decisions, event, chain, open_ended])
    assert snapshot.relation_catalogue == {"CHAIN_NEXT": ["in", "out"], "LED_TO": ["in"]}


def test_a_snapshot_makes_an_exact_round_trip() -> None:
    for row in ROWS:
        snapshot, _ = ingest(_records(row))
        assert Decisions.model_validate_json(canonical_json(snapshot)) == snapshot


def test_a_link_to_a_file_that_does_not_fit_is_told_once() -> None:
    snapshot, findings = ingest([_sourced("decision", {"id": "exit-plasma", "based_on": ["broken"]})], lost={"broken"})
    assert not findings
    assert snapshot.decisions["exit-plasma"].based_on == []


def test_many_wrong_names_cost_a_bounded_number_of_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci.loading.decision_records.COMPARISONS", 10)
    records = [_sourced("event", {"id": f"event-{i}"}) for i in range(4)]
    wrong = [_sourced("decision", {"id": f"decision-{i}", "supported_by": [f"event-x{i}"]}) for i in range(4)]
    _, findings = ingest([*records, *wrong])
    assert ["did you mean" in (finding.help or "") for finding in findings] == [True, True, False, False]


DECISION_IDS = [f"decision-{i}" for i in range(5)]
EVENT_IDS = [f"event-{i}" for i in range(4)]
TRANSITION_IDS = [f"trans-{i}" for i in range(4)]


def _some(ids: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([*ids, "missing-one"]), max_size=4)


@st.composite
def _corpora(draw: st.DrawFn) -> list[Sourced]:
    decisions = [
        {
            "id": id,
            "supported_by": draw(_some(EVENT_IDS)),
            "based_on": [other for other in draw(_some(DECISION_IDS)) if other != id],
            "transitions": draw(_some(TRANSITION_IDS)),
        }
        for id in DECISION_IDS
    ]
    events = [{"id": id, "led_to": draw(_some(DECISION_IDS))} for id in EVENT_IDS]
    transitions = []
    for id in TRANSITION_IDS:
        start, end = draw(st.sampled_from([*DECISION_IDS, ""])), draw(st.sampled_from([*DECISION_IDS, ""]))
        relation = draw(st.sampled_from(["causal", "alternative", "chain_next"]))
        transitions.append({"id": id, "from": start, "to": "" if start == end else end, "relation": relation})
    tagged = [("decision", decisions), ("event", events), ("transition", transitions)]
    return [_sourced(kind, record) for kind, records in tagged for record in records]


@settings(max_examples=80, deadline=None)
@given(_corpora())
def test_in_any_snapshot_every_link_resolves_and_points_both_ways(records: list[Sourced]) -> None:
    snapshot, _ = ingest(records)
    for id, decision in snapshot.decisions.items():
        assert all(id in snapshot.events[event].led_to for event in decision.supported_by)
        for prior in decision.based_on:
            shared = set(decision.transitions) & set(snapshot.decisions[prior].transitions)
            assert any(snapshot.transitions[name].from_ == prior for name in shared)
        for name in decision.transitions:
            transition = snapshot.transitions[name]
            assert id in (transition.from_, transition.to) or (transition.from_ is None and transition.to is None)
    for id, event in snapshot.events.items():
        assert all(id in snapshot.decisions[decision].supported_by for decision in event.led_to)
    for id, transition in snapshot.transitions.items():
        ends = [end for end in (transition.from_, transition.to) if end is not None]
        assert all(id in snapshot.decisions[end].transitions for end in ends)
        if transition.relation == "causal" and len(ends) == 2:
            assert ends[0] in snapshot.decisions[ends[1]].based_on


@settings(max_examples=40, deadline=None)
@given(_corpora())
def test_a_snapshot_that_is_ingested_again_is_itself(records: list[Sourced]) -> None:
    snapshot, _ = ingest(records)
    written: list[Decision | Event | Transition] = [
        *snapshot.decisions.values(),
        *snapshot.events.values(),
        *snapshot.transitions.values(),
    ]
    again, findings = ingest([Sourced(model, snapshot.sources[model.id]) for model in written])
    assert not findings
    assert again == snapshot


def test_a_record_knows_its_kind() -> None:
    assert [kind_of(_sourced(kind, {"id": "some-id"}).model) for kind in KINDS] == list(KINDS)


@each(
    ("key", "help"),
    [("decider_maker", "did you mean `decision_maker`?"), ("phase_label", "write it under `x-extra`")],
)
def test_a_key_that_is_no_field_is_kept_and_told_at_its_place(tmp_path: Path, key: str, help: str) -> None:
    folder = tmp_path / "context/decisions/decisions"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"id: exit-plasma\noption: Exit\nrationale: Losses\ndecided_on: 2012-04-30\n{key}: pilot\n"
    (folder / "exit-plasma.yaml").write_text(text, encoding="utf-8")
    workspace = load(tmp_path)
    (told,) = workspace.findings
    assert (told.id, workspace.position(told.at)) == ("extra-field", (5, 1))
    assert help in (told.help or "")
    assert workspace.decisions.decisions["exit-plasma"].x_extra == {key: "pilot"}
    assert workspace.decisions.field_catalogue[key] == [f"x-extra.{key}"]


def test_a_record_that_does_not_fit_brings_one_finding_and_takes_no_other_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "context/decisions/decisions"
    folder.mkdir(parents=True)
    text = "id: {}\noption: Exit\nrationale: Losses\n{}"
    (folder / "bad-one.yaml").write_text(text.format("bad-one", "decided_on: someday\n"), encoding="utf-8")
    (folder / "good-one.yaml").write_text(
        text.format("good-one", "decided_on: 2012-04-30\nbased_on: [bad-one]\n"), encoding="utf-8"
    )
    workspace = load(tmp_path)
    assert [(one.id, one.at.path.rpartition("/")[2]) for one in workspace.findings] == [("schema", "bad-one.yaml")]
    assert list(workspace.decisions.decisions) == ["good-one"]
