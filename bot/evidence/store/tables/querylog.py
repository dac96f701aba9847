"""The query log of seed 004, appendix B.1: one row for each request that was answered, for measuring the bot later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.conversation import Question, Reply
from bot.evidence.store.columns import maybe, told
from bot.evidence.store.connection import Connection, insert_new, update
from bot.evidence.store.marks import new_salt
from bot.lifecycle import TAKEN, Outcome

# what an answerer may fill in through `Turn.log`; everything else the orchestrator knows itself
ANSWERED = frozenset(
    {
        "stated_criticality",
        "matched_entities",
        "domain",
        "error_likelihood",
        "expected_cost",
        "factors",
        "execution_time_ms",
    }
)


def record(
    connection: Connection,
    question: Question,
    reply: Reply,
    log: Mapping[str, Any],
    routing_confidence: float,
    at: datetime,
    frame: Mapping[str, Any] | None = None,
) -> None:
    """Log one answered request; a request is logged once, whatever happens. Unknown names in *log* are left out.

    *frame* is what the frame knows besides: what it revises or clarifies, which choice was picked, how long it took.
    """
    known = {
        **(frame or {}),
        "log_id": question.request_id,
        "at": at,
        "request_id": question.request_id,
        "actor_id": question.actor.id,
        "session_id": question.session_id,
        "natural_language": question.text,
        "kind": reply.kind,
        "routing_confidence": routing_confidence,
        "autonomy_level": reply.level,
        "generated_sql": reply.sql,
        "status": reply.status,
        "correction_made": False,
        "salt": new_salt(),
    }
    insert_new(connection, "query_log", {**{key: log[key] for key in sorted(ANSWERED & set(log))}, **known})


def settle(connection: Connection, request_id: str, outcome: Outcome, now: datetime) -> None:
    """Note what became of the answer, and whether it was taken as it is."""
    ended = {"outcome": outcome.value, "settled_at": now, "user_accepted": TAKEN.get(outcome)}
    update(connection, "query_log", {"log_id": request_id}, ended)


def correct(connection: Connection, request_id: str, correction_type: str) -> None:
    """Note that a person corrected the answer."""
    values = {"correction_made": True, "correction_type": correction_type}
    update(connection, "query_log", {"log_id": request_id}, values)


def say(connection: Connection, request_id: str, verdict: str) -> None:
    """Note what a person thinks of the answer."""
    update(connection, "query_log", {"log_id": request_id}, {"feedback": verdict})


def by_actor(connection: Connection, actor_id: str, since: datetime) -> list[dict[str, Any]]:
    """What one person asked since then, oldest first."""
    found = "SELECT * FROM query_log WHERE actor_id = :whose AND at >= :since ORDER BY at"
    return [_row(row) for row in connection.all(found, {"whose": actor_id, "since": since})]


def rows(connection: Connection) -> list[dict[str, Any]]:
    """The whole log, oldest first."""
    return [_row(row) for row in connection.all("SELECT * FROM query_log ORDER BY at, log_id")]


def _row(row: dict[str, Any]) -> dict[str, Any]:
    documents = {name: told(row[name]) for name in ("matched_entities", "factors")}
    times = {name: maybe(row[name]) for name in ("at", "settled_at")}
    claims = {name: None if row[name] is None else bool(row[name]) for name in ("user_accepted", "correction_made")}
    return {**row, **documents, **times, **claims}
