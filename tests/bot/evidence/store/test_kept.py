"""What lies beside the chain is what the chain recorded: replies, questions and papers, on each database."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from sqlalchemy import text

from bot.conversation import Actor
from bot.evidence.store import kept
from bot.evidence.store.kept import Altered
from bot.evidence.store.tables.papers import Papers
from bot.operate.trace import trace
from bot.request.acceptance import accept
from bot.request.orchestrator import handle
from tests.fakes.frame import question, services

MILLION = "You get ONE MILLION."


@pytest.fixture
def served(store_url, store, tmp_path):
    """Three answers."""
    found = services(tmp_path, store_url)
    found = replace(found, artifacts=Papers(found.store))
    for name in ("r1", "r2", "r3"):
        handle(question(name, "revenue", session_id=name), found)
    yield found
    found.store.close()


def breaks(served):
    with served.store.reading() as connection:
        return [(one.kind, one.seq) for one in kept.breaks(connection, [served.artifacts])]


def change(served, column, row, value):
    """Put *value* into a row's JSON, as somebody who can write the store would."""
    with served.store.writing() as connection:
        cast = "CAST(:value AS JSONB)" if connection.dialect == "postgresql" else ":value"
        query = text(f"UPDATE requests SET {column} = {cast} WHERE request_id = :row")
        connection.execute(query, {"value": json.dumps(value), "row": row})


def stored(served, column, row):
    with served.store.reading() as connection:
        found = connection.execute(
            text(f"SELECT {column} FROM requests WHERE request_id = :row"), {"row": row}
        ).scalar()
    return json.loads(found) if isinstance(found, str) else found


def paper_of(served, name, row="r2"):
    return stored(served, "artifacts", row)[name]


def test_what_nobody_touched_holds(served):
    assert breaks(served) == []
    assert handle(question("r2", "revenue", session_id="r2"), served).request_id == "r2"


def test_an_edited_reply_is_found_and_not_served(served):
    change(served, "reply", "r2", {**stored(served, "reply", "r2"), "text": MILLION})
    assert breaks(served) == [("altered", 2)]
    with pytest.raises(Altered, match="altered after it was recorded"):
        handle(question("r2", "revenue", session_id="r2"), served)
    with pytest.raises(Altered):
        accept("r2", Actor(id="ana"), served)
    told = trace("r2", served.store, served.artifacts)
    assert MILLION not in json.dumps(told.document())
    assert "altered" in told.unreadable["reply"]


def test_an_edited_question_is_found(served):
    change(served, "question", "r2", {**stored(served, "question", "r2"), "text": "what did I not ask?"})
    assert breaks(served) == [("altered", 2)]


@pytest.mark.parametrize("paper", ["reply", "request"])
def test_an_edited_paper_is_found(served, paper):
    name = paper_of(served, paper)
    with served.store.writing() as connection:
        connection.execute(text("UPDATE papers SET text = :t WHERE name = :n"), {"t": '{"text":"no"}', "n": name})
    assert breaks(served) == [("altered", 2)]


@pytest.mark.parametrize("paper", ["reply", "request"])
def test_a_paper_that_is_gone_is_found(served, paper):
    name = paper_of(served, paper)
    with served.store.writing() as connection:
        connection.execute(text("DELETE FROM papers WHERE name = :n"), {"n": name})
    assert breaks(served) == [("missing", 2)]


def test_a_reply_with_its_paper_edited_alike_is_found(served):
    forged = {**stored(served, "reply", "r2"), "text": MILLION}
    change(served, "reply", "r2", forged)
    with served.store.writing() as connection:
        change_ = text("UPDATE papers SET text = :t WHERE name = :n")
        connection.execute(change_, {"t": json.dumps(forged), "n": paper_of(served, "reply")})
    assert set(breaks(served)) == {("altered", 2)}
    with pytest.raises(Altered):
        handle(question("r2", "revenue", session_id="r2"), served)


def test_a_row_that_is_gone_is_found(served):
    with served.store.writing() as connection:
        connection.execute(text("DELETE FROM request_steps WHERE request_id = 'r2'"))
        connection.execute(text("DELETE FROM requests WHERE request_id = 'r2'"))
    assert breaks(served) == [("missing", 2)]


def test_a_reply_that_nobody_gave_is_found_and_not_served(served):
    with served.store.writing() as connection:
        columns = "fingerprint, session_id, actor_id, question, state, attempts, reply, created_at, updated_at"
        copied = f"SELECT 'r9', {columns} FROM requests WHERE request_id = 'r2'"
        connection.execute(text(f"INSERT INTO requests (request_id, {columns}) {copied}"))
    assert breaks(served) == [("unrecorded", 3)]
    with pytest.raises(Altered, match="knows nothing of"):
        accept("r9", Actor(id="ana"), served)


def test_an_entry_that_was_edited_to_fit_vouches_for_nothing(served):
    change(served, "reply", "r2", {**stored(served, "reply", "r2"), "text": MILLION})
    with served.store.writing() as connection:
        connection.execute(text("UPDATE audit SET payload = NULL WHERE position = 2"))
    with pytest.raises(Altered, match="redacted"):
        handle(question("r2", "revenue", session_id="r2"), served)
