"""What people are told of records of every state: how each stands first, and what the question had wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.conversation import Question, Reply
from bot.decisions.answer import answer
from bot.index import BundleIndex
from bylaw.authored.decisions import Decisions
from ci.loading.source import read
from tests.rows import each

TOLD = read("told.yaml", Path(__file__).with_name("told.yaml").read_bytes()).data

Ask = Callable[..., Question]


@pytest.fixture(scope="module")
def records(snapshot: Callable[[Any], Decisions], index: Callable[[Decisions], BundleIndex]) -> BundleIndex:
    return index(snapshot(TOLD["records"]))


@each("row", TOLD["rows"], ids=lambda row: row["text"])
def test_people_are_told(row: dict[str, Any], records: BundleIndex, ask: Ask) -> None:
    turn = answer(ask(row["text"]), {}, records)
    reply = turn.reply
    assert (reply.intent, reply.status) == (row["intent"], "answered"), reply.text
    assert reply.citations[0].id == row["cites"]
    assert turn.artifacts["validation"]["reasons"] == []
    at = 0
    for said in row["says"]:
        found = reply.text.find(said, at)
        assert found >= 0, (said, reply.text)
        assert at or found == 0, reply.text
        at = found + len(said)
    assert reply.answer is not None
    assert len(reply.answer["short_answer"]) <= 320


@each("text", TOLD["strange"])
def test_nothing_is_told_of_what_is_not_on_record(text: str, records: BundleIndex, ask: Ask) -> None:
    reply = answer(ask(text), {}, records).reply
    assert reply.status in ("refused", "needs_choice")
    assert reply.evidence is reply.answer is None
    assert reply.text.startswith("Nothing on record ")
    assert _uncovered(reply)["words"]


def test_what_is_offered_says_how_it_stands(records: BundleIndex, ask: Ask) -> None:
    reply = answer(ask("Why did we move DNS to Cloudflare?"), {}, records).reply
    assert "ADR-4: DNS definitions for hosts and services (Superseded by ADR-15 on 6 March 2018)" in [
        choice.label for choice in reply.choices
    ]
    assert _uncovered(reply)["owners"]


def test_a_form_or_a_caller_may_say_what_is_asked(records: BundleIndex, ask: Ask) -> None:
    items = [
        {"kind": "asks", "name": "when_decided", "quote": "since when"},
        {"kind": "anchor", "name": "adr-0021-queue", "quote": "RabbitMQ"},
    ]
    reply = answer(ask("since when RabbitMQ?", items=items), {}, records).reply
    assert (reply.intent, reply.citations[0].id) == ("when_decided", "adr-0021-queue")
    assert reply.reading is not None
    assert reply.reading["by"] == "given"
    wrong = [{"kind": "anchor", "name": "adr-0020-kafka", "quote": "RabbitMQ"}]
    refused = answer(ask("since when RabbitMQ?", items=wrong), {}, records).reply
    assert refused.evidence is None


def test_a_record_for_others_is_not_there(
    snapshot: Callable[[Any], Decisions], index: Callable[[Decisions], BundleIndex], ask: Ask
) -> None:
    secret = {
        "id": "secret-deal",
        "option": "Buy Northline",
        "rationale": "Cheap.",
        "timestamp": "2020-01-01",
        "audience": ["board"],
    }
    known = index(snapshot({"decisions": [secret, *TOLD["records"]["decisions"][2:3]]}))
    for text in ("Why did we buy Northline?", "secret-deal", "What was decided in 2020?"):
        reply = answer(ask(text), {}, known).reply
        assert reply.evidence is None
        assert "Cheap" not in reply.text


def _uncovered(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = (reply.meta or {})["uncovered"]
    return found
