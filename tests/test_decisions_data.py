"""The repository's own decisions: they ingest clean, are linked, and answer the questions that people ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bot.ask.matcher.match import match
from bot.ask.recorded import index_records
from bot.decisions.asked import assemble
from bylaw.authored.decisions import KINDS, Decisions
from bylaw.authored.machines.intents import Intents
from bylaw.canonical import canonical_json
from bylaw.hold.hold import Ground, hold
from bylaw.hold.values import Clock
from ci.loading.decision_records import SEED_LENGTHS, Sourced, ingest
from ci.loading.rules import load_defaults
from ci.loading.source import read
from tests.rows import each

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for path in (ROOT / "context" / "decisions").rglob("*.yaml"))
DATA = {path: read(path.name, path.read_bytes()) for path in FILES}
ADR = "/bylaw/"

QUESTIONS = {
    "why did we leave plasma?": "leave-plasma-tv-2014",
    "Why did we move the return window to 30 days?": "return-window-30-days-2025",
    "why do electronics have a shorter return window?": "electronics-15-days-2025",
    "when did we drop Northline?": "end-northline-contract-2024",
    "who ended the carrier contract": "end-northline-contract-2024",
    "why did we start the subscription plan?": "start-plus-plan-2023",
    "why can members cancel Plus online?": "cancel-plus-online-2025",
    "why did we open a web shop?": "open-web-shop-2016",
    "why is the bundle the only artifact?": "one-bundle-between-the-wings",
    "why does the signature lie inside the bundle?": "signature-inside-the-bundle",
    "why boxes before Z3?": "boxes-before-z3",
    "why a declared vocabulary?": "declared-vocabulary",
    "why do unknown facts stay unknown?": "unknown-facts-stay-unknown",
    "why is there no language model in the merge gate?": "no-model-in-the-merge-gate",
    "why do we have our own YAML loader?": "strict-yaml-loader",
    "why is DuckDB locked down?": "duckdb-locked-down",
}


def _kind(path: Path) -> str:
    return path.parent.name.removesuffix("s")


def _sourced() -> Iterator[Sourced]:
    for path in FILES:
        model: Any = KINDS[_kind(path)].model_validate(DATA[path].data)  # type: ignore[index]  # the folder's name
        yield Sourced(model, path.relative_to(ROOT).as_posix())


SNAPSHOT, FINDINGS = ingest(list(_sourced()))


def test_they_ingest_clean() -> None:
    assert not FINDINGS
    assert not [source.path for source in DATA.values() if source.duplicates]


def test_there_are_enough_of_both_kinds() -> None:
    own = [id for id in SNAPSHOT.decisions if ADR in SNAPSHOT.sources[id]]
    assert len(own) >= 4
    assert len(SNAPSHOT.decisions) - len(own) >= 4
    assert SNAPSHOT.relation_catalogue.keys() == {"BASED_ON", "CAUSAL_PRECEDES", "LED_TO"}


def test_only_one_event_waits_for_its_decision() -> None:
    assert [id for id, event in SNAPSHOT.events.items() if not event.led_to] == ["phone-returns-rise-2026"]


def test_every_decision_is_linked() -> None:
    for id, decision in SNAPSHOT.decisions.items():
        assert decision.supported_by or decision.based_on, id
        assert decision.decision_maker, id
        assert decision.tags, id


def test_causes_come_before_their_effects() -> None:
    for transition in SNAPSHOT.transitions.values():
        earlier, later = SNAPSHOT.decisions[str(transition.from_)], SNAPSHOT.decisions[str(transition.to)]
        assert earlier.timestamp <= later.timestamp, transition.id
    for id, event in SNAPSHOT.events.items():
        assert all(event.timestamp <= SNAPSHOT.decisions[decision].timestamp for decision in event.led_to), id


def test_the_two_histories_do_not_mix() -> None:
    for transition in SNAPSHOT.transitions.values():
        ends = {ADR in SNAPSHOT.sources[str(end)] for end in (transition.from_, transition.to)}
        assert len(ends) == 1, transition.id


@each("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_named_after_its_id_and_points_its_editor_at_the_schema(path: Path) -> None:
    assert DATA[path].data["id"] == path.stem
    first = path.read_text(encoding="utf-8").splitlines()[0]
    match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert match is not None
    schema = (path.parent / match[1]).resolve()
    assert schema == ROOT / "bylaw" / "schemas" / f"{_kind(path)}.schema.json"


@each("path", FILES, ids=lambda path: path.stem)
def test_a_file_fits_the_schema_that_editors_use(path: Path) -> None:
    schema = KINDS[_kind(path)].model_json_schema()  # type: ignore[index]  # the folder's name
    assert [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(DATA[path].data)] == []


@each("path", FILES, ids=lambda path: path.stem)
def test_nothing_that_people_wrote_is_clipped(path: Path) -> None:
    bounds = {"rationale": SEED_LENGTHS.rationale, "reason": SEED_LENGTHS.reason}
    bounds |= {"summary": SEED_LENGTHS.summary, "snippet": SEED_LENGTHS.summary}
    for field, bound in bounds.items():
        assert len(DATA[path].data.get(field, "")) <= bound, field


@pytest.mark.parametrize(("question", "anchor"), QUESTIONS.items(), ids=lambda value: value)
def test_people_find_what_they_ask_for(question: str, anchor: str) -> None:
    rules = Intents.model_validate(load_defaults()["intents"])
    ground = Ground("decision", index_records(SNAPSHOT, rules), Clock(date(2026, 11, 28)))
    asked = assemble(hold(question, match(question, ground), ground, "matcher"), SNAPSHOT)
    assert asked.intent is not None
    assert (asked.anchors, asked.residue) == ((anchor,), ())


def test_the_decisions_survive_a_bundle() -> None:
    assert Decisions.model_validate_json(canonical_json(SNAPSHOT)) == SNAPSHOT
