"""Decisions, events and transitions as people write them: rows in decisions.yaml."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bylaw.authored.decisions import KINDS, Decision, Decisions, Event, Transition, clipped, slug_of, snapshot_etag
from bylaw.canonical import canonical_json, plain
from ci.loading.source import read
from tests.rows import each

TABLE = read("decisions.yaml", Path(__file__).with_name("decisions.yaml").read_bytes()).data


def _record(row: dict[str, Any]) -> dict[str, Any]:
    base = TABLE["base"][row.get("model", "decision")]
    kept = {key: value for key, value in base.items() if key not in row.get("without", ())}
    return {**kept, **row.get("record", {})}


@each("row", [row for row in TABLE["rows"] if "reads" in row], ids=lambda row: row["title"])
def test_a_record_reads_as(row: dict[str, Any]) -> None:
    model = KINDS[row.get("model", "decision")].model_validate(_record(row))
    days = {name: date.fromisoformat(str(row["reads"][name])) for name in row.get("days", ())}
    assert {name: getattr(model, name) for name in row["reads"]} == {**row["reads"], **days}
    if "options" in row:
        assert [[one.option, one.pros] for one in model.options] == row["options"]  # type: ignore[attr-defined]
    assert type(model).model_validate_json(canonical_json(model)) == model


@each("row", [row for row in TABLE["rows"] if "refused" in row], ids=lambda row: row["title"])
def test_a_record_is_refused_where_it_is_wrong(row: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as raised:
        KINDS[row.get("model", "decision")].model_validate(_record(row))
    error = raised.value.errors()[0]
    expected = row["refused"]
    assert expected["says"] in error["msg"]
    assert list(error["loc"]) == expected.get("at", [])
    if "route" in expected:
        assert error["ctx"]["route"] == expected["route"]
        assert error["ctx"]["help"] or "give it" in error["msg"], "nothing says what to do next"


@each("row", [row for row in TABLE["rows"] if "reads" in row], ids=lambda row: row["title"])
def test_the_schema_for_editors_takes_what_the_model_takes(row: dict[str, Any]) -> None:
    schema = KINDS[row.get("model", "decision")].model_json_schema()
    problems = [problem.message for problem in jsonschema.Draft202012Validator(schema).iter_errors(plain(_record(row)))]
    # Editors are stricter in harmless ways: no nulls, no empty list for a link of its own, our own word for a status.
    assert all(
        "is not of type" in problem or "valid under any" in problem or "is not one of" in problem
        for problem in problems
    )
    if "title" in row.get("record", {}):
        assert problems == []


@each("name", ["id", "title", "rationale"])
def test_a_lone_surrogate_is_an_error_not_a_crash(name: str) -> None:
    record = {"id": "leave-plasma", "title": "Leave", "rationale": "Losses", "timestamp": "2012-04-30", name: "\ud800"}
    with pytest.raises(ValidationError):
        Decision.model_validate(record)


@each("extra", [{"a": "\ud800"}, {"\udfff": 1}, {"a": float("nan")}, {"a": object()}])
def test_x_extra_holds_only_what_json_can_say(extra: dict[str, Any]) -> None:
    record = {"id": "leave-plasma", "option": "Leave", "rationale": "Losses", "timestamp": "2012-04-30"}
    with pytest.raises(ValidationError):
        Decision.model_validate({**record, "x-extra": extra})


def test_the_bundle_says_from_and_x_extra() -> None:
    transition = Transition.model_validate(
        {"id": "trans-1", "from": "aaaa", "relation": "causal", "reason": "so", "timestamp": "2012-04-30"}
    )
    text = canonical_json(Decisions(transitions={"trans-1": transition}))
    assert '"from":"aaaa"' in text
    assert '"x-extra":{}' in text
    assert "from_" not in text
    assert "x_extra" not in text


def test_a_container_makes_an_exact_round_trip() -> None:
    decision = Decision.model_validate({**TABLE["base"]["decision"], "x-extra": {"deep": [{"a": None}, True, 1]}})
    event = Event.model_validate(TABLE["base"]["event"])
    container = Decisions(
        decisions={decision.id: decision},
        events={event.id: event},
        field_catalogue={"option": ["option", "title"]},
        relation_catalogue={"LED_TO": ["in"]},
        sources={decision.id: "context/decisions/decisions/a.yaml"},
        snapshot_etag=snapshot_etag({decision.id: decision}, {event.id: event}, {}),
    )
    again = Decisions.model_validate_json(canonical_json(container))
    assert again == container
    assert canonical_json(again) == canonical_json(container)


def test_an_empty_container_names_its_own_content() -> None:
    assert Decisions().snapshot_etag == snapshot_etag({}, {}, {})
    assert Decisions().snapshot_etag.startswith("sha256:")


def test_a_record_is_found_by_its_id_whatever_it_is() -> None:
    event = Event.model_validate(TABLE["base"]["event"])
    container = Decisions(events={event.id: event})
    assert container.record("pan-e4") == event
    assert container.record("pan-e5") is None


@each(
    ("text", "joint", "slug"),
    [
        ("Panasonic – Exit Plasma, 2012!", "-", "panasonic-exit-plasma-2012"),
        ("  portfolio_rationalization ", "_", "portfolio_rationalization"),
        ("M & A", "_", "m_a"),
        ("ﬁnance__risk -- x", "_", "finance_risk_x"),
        ("ÜBERPRÜFUNG", "-", "überprüfung"),
        ("!!!", "-", ""),
    ],
)
def test_a_slug_is_spelt_one_way(text: str, joint: str, slug: str) -> None:
    assert slug_of(text, joint) == slug


@given(st.text(max_size=80))
def test_a_slug_of_a_slug_is_itself(text: str) -> None:
    assert slug_of(slug_of(text)) == slug_of(text)


@given(st.text(max_size=200), st.integers(min_value=2, max_value=60))
def test_a_clipped_text_keeps_its_bound(text: str, bound: int) -> None:
    short = clipped(text, bound)
    assert len(short) <= bound
    assert short == text or short.endswith("…")


def test_a_text_is_clipped_between_words() -> None:
    assert clipped("Declining demand and heavy losses", 20) == "Declining demand…"
    assert clipped("Unbreakablesingleword", 10) == "Unbreakab…"
