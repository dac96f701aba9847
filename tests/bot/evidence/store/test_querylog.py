"""The query log has one row for each answered request, with the columns of its specification."""

from __future__ import annotations

from bot.evidence.store.tables import querylog
from tests.fakes.frame import NOON, question, reply


def record(store, asked, said, log=(), confidence=0.9):
    with store.writing() as connection:
        querylog.record(connection, asked, said, dict(log), confidence, NOON)


def rows(store):
    with store.reading() as connection:
        return querylog.rows(connection)


def test_a_row_holds_what_was_asked_how_it_was_read_and_what_came_of_it(store):
    log = {"matched_entities": ["orders"], "domain": "sales", "error_likelihood": 0.2, "factors": {"novelty": 0.1}}
    record(store, question("r1", "revenue?"), reply("r1", kind="data", sql="SELECT 1", level=5), log)
    (row,) = rows(store)
    expected = {
        "log_id": "r1",
        "at": NOON,
        "request_id": "r1",
        "actor_id": "ana",
        "session_id": "s1",
        "natural_language": "revenue?",
        "stated_criticality": None,
        "kind": "data",
        "matched_entities": ["orders"],
        "domain": "sales",
        "routing_confidence": 0.9,
        "error_likelihood": 0.2,
        "expected_cost": None,
        "factors": {"novelty": 0.1},
        "autonomy_level": 5,
        "generated_sql": "SELECT 1",
        "status": "answered",
        "user_accepted": None,
        "correction_made": False,
    }
    assert {key: row[key] for key in expected} == expected


def test_a_request_is_logged_once(store):
    record(store, question(), reply())
    record(store, question(), reply(text="again"))
    assert len(rows(store)) == 1


def test_an_answerer_cannot_log_under_another_name(store):
    record(store, question(), reply(), {"actor_id": "somebody else", "request_id": "r9", "unheard_of": 1})
    assert [(row["actor_id"], row["request_id"]) for row in rows(store)] == [("ana", "r1")]
