"""A verdict leaves its papers and one entry of the chain; the anchor hears of it like of any other entry."""

from __future__ import annotations

from datetime import timedelta

from bot.claims.models import Reading
from bot.enforcement.judged.verdict import Broken, ComplianceDecision, Escalated
from bot.evidence.artifacts import shelf
from bot.evidence.recording import Notebook, record
from bot.evidence.store.engine import connect
from bot.evidence.store.migrate import upgrade
from bot.evidence.store.tables import audit
from bylaw.audit.entry import Checkpoint
from tests.fakes.frame import ETAG, NOON, question

FOUND = ComplianceDecision(
    score=0.1,
    action="escalate",
    verdict="invalid",
    reading=Reading(by="plain"),
    reason="it promises",
    llm_response="You get everything.",
    violations=(Broken(kind="pii", check="pattern", message="m"), Broken(kind="pii", check="pattern", message="n")),
    escalation=Escalated(owners=("Desk",), reason="it promises"),
    domain="refund",
    bundle_etag=ETAG,
)


def test_an_entry_says_what_was_judged_and_how_and_its_papers_are_on_the_shelf(tmp_path):
    store = connect("sqlite:///store.db", tmp_path)
    upgrade(store)
    heard: list[Checkpoint] = []
    book = Notebook(store, shelf("artifacts", tmp_path), lambda: NOON, heard.append)
    json_of_verdict = record(FOUND, question("r1"), book, NOON - timedelta(seconds=2), {"model_1": {"said": "0.1"}})
    assert json_of_verdict["llm_response"] == "You get everything."
    with store.reading() as connection:
        (entry,) = audit.about(connection, "r1")
        assert heard == [audit.tail(connection)] == [Checkpoint(1, entry.entry_hash)]
        assert audit.verify(connection).is_intact
    store.close()
    body = entry.body
    told = ("event", "actor", "final_action", "violations", "owners", "duration_ms", "at", "bundle_etag")
    assert [body[name] for name in told] == [
        "enforce", {"id": "ana", "type": "human"}, "escalate", ["pii"], ["Desk"], 2000,
        "2026-11-20T12:00:00.000000Z", ETAG,
    ]  # fmt: skip
    assert book.artifacts.get(body["artifacts"]["verdict"]) == json_of_verdict
    assert book.artifacts.get(body["artifacts"]["model_1"]) == {"said": "0.1"}


def test_what_was_answered_is_in_no_entry_but_on_the_shelf_alone(tmp_path):
    store = connect("sqlite:///store.db", tmp_path)
    upgrade(store)
    record(FOUND, question("r1"), Notebook(store, shelf("artifacts", tmp_path), lambda: NOON), NOON)
    with store.reading() as connection:
        (entry,) = audit.about(connection, "r1")
    store.close()
    assert "You get everything" not in f"{entry.header}{entry.payload}"
