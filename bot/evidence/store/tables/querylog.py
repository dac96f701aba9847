"""The query log of seed 004, appendix B.1: one row for each request that was answered, for measuring the bot later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Float, Index, Integer, String, Table, Text, select

from bot.conversation import Question, Reply
from bot.evidence.store.columns import ID_LENGTH, Json, Moment, insert_new, metadata
from bot.lifecycle import TAKEN, Outcome

query_log = Table(
    "query_log",
    metadata,
    Column("log_id", String(ID_LENGTH), primary_key=True),
    Column("at", Moment, nullable=False),
    # request
    Column("request_id", String(ID_LENGTH), nullable=False),
    Column("actor_id", String(ID_LENGTH), nullable=False),
    Column("session_id", String(ID_LENGTH), nullable=False),
    Column("natural_language", Text, nullable=False),
    Column("stated_criticality", String(16)),
    # context
    Column("kind", String(16), nullable=False),
    Column("matched_entities", Json),
    Column("domain", String(ID_LENGTH)),
    Column("routing_confidence", Float),
    # risk
    Column("error_likelihood", Float),
    Column("expected_cost", Float),
    Column("factors", Json),
    # execution
    Column("autonomy_level", Integer),
    Column("generated_sql", Text),
    Column("execution_time_ms", Integer),
    # outcome
    Column("status", String(16), nullable=False),
    Column("user_accepted", Boolean),
    Column("feedback", String(16)),
    Column("correction_made", Boolean, nullable=False),
    Column("correction_type", String(32)),
    Column("outcome", String(16)),
    Column("settled_at", Moment),
    Column("revises", String(ID_LENGTH)),
    Column("clarifies", String(ID_LENGTH)),
    Column("choice", Integer),  # which of the offered readings was picked; 0 is the one offered first
    Column("answer_ms", Integer),  # from the question to its reply
    Index(None, "at"),
    Index(None, "actor_id", "at"),
)

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
    }
    insert_new(connection, query_log, {**{key: log[key] for key in sorted(ANSWERED & set(log))}, **known})


def settle(connection: Connection, request_id: str, outcome: Outcome, now: datetime) -> None:
    """Note what became of the answer, and whether it was taken as it is."""
    ended = {"outcome": outcome.value, "settled_at": now, "user_accepted": TAKEN.get(outcome)}
    connection.execute(query_log.update().where(query_log.c.log_id == request_id).values(ended))


def correct(connection: Connection, request_id: str, correction_type: str) -> None:
    """Note that a person corrected the answer."""
    values = {"correction_made": True, "correction_type": correction_type}
    connection.execute(query_log.update().where(query_log.c.log_id == request_id).values(**values))


def say(connection: Connection, request_id: str, verdict: str) -> None:
    """Note what a person thinks of the answer."""
    connection.execute(query_log.update().where(query_log.c.log_id == request_id).values(feedback=verdict))


def by_actor(connection: Connection, actor_id: str, since: datetime) -> list[dict[str, Any]]:
    """What one person asked since then, oldest first."""
    here = (query_log.c.actor_id == actor_id, query_log.c.at >= since)
    found = connection.execute(select(query_log).where(*here).order_by(query_log.c.at)).mappings()
    return [dict(row) for row in found]


def rows(connection: Connection) -> list[dict[str, Any]]:
    """The whole log, oldest first."""
    found = connection.execute(select(query_log).order_by(query_log.c.at, query_log.c.log_id)).mappings()
    return [dict(row) for row in found]
