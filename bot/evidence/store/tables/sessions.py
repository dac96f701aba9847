"""Sessions: what a conversation carries from turn to turn, for one person in one session.

A session id alone is not enough: two people in one thread, or the many who never name a session, must not answer
each other's questions. `version` lets two processes notice that they worked on the same turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, Connection, Integer, String, Table, bindparam, select

from bot.conversation import Actor, Choice
from bot.evidence.store.columns import ID_LENGTH, Json, Moment, first_row, insert_new, metadata, run
from bot.evidence.store.tables.requests import requests
from bot.lifecycle import State

_PLANS = ("pending", "recommended")

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", String(ID_LENGTH), primary_key=True),
    Column("actor_id", String(ID_LENGTH), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("last_kind", String(16)),
    Column("pending", String(16)),
    Column("offered", Json, nullable=False),
    Column("states", Json, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("last_request", String(ID_LENGTH)),
)


@dataclass(frozen=True)
class Session:
    """One person's side of a conversation. `version` 0: nothing is stored yet.

    `pending` is the status of a reply that waits for the person (`needs_fact`, `needs_choice`), `offered` the choices
    it named, `states` the JSON each kind of answer left behind. `last_request` is the request that was answered last;
    is it open, its answer still waits to be accepted.
    """

    session_id: str
    actor_id: str
    version: int = 0
    last_kind: str | None = None
    pending: str | None = None
    offered: tuple[Choice, ...] = ()
    states: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    last_request: str | None = None
    is_open: bool = False


def load(
    connection: Connection, session_id: str, actor: Actor, now: datetime | None = None, life: timedelta | None = None
) -> Session:
    """The session as it stands; a fresh one when nothing was said yet, or nothing *now* for as long as its *life*.

    A plan that waits for a yes keeps it alive: it has a time of its own.
    """
    named = {"asked": session_id, "asker": actor.id}
    if first_row(connection, _VERSION, named) is None:
        return Session(session_id, actor.id)
    row = connection.execute(_LOAD, named).one()
    if now is not None and life is not None and row.updated_at + life <= now and row.pending not in _PLANS:
        return Session(session_id, actor.id, row.version)
    offered = tuple(Choice.model_validate(choice) for choice in row.offered)
    is_open = row.state == State.ACCEPT
    known = (row.version, row.last_kind, row.pending, offered, row.states, row.last_request)
    return Session(session_id, actor.id, *known, is_open)


def carried(session: Session) -> dict[str, Any]:
    """What *session* brought into a turn, as JSON."""
    offered = [choice.model_dump() for choice in session.offered]
    told = {"last_kind": session.last_kind, "pending": session.pending, "offered": offered}
    last = {"last_request": session.last_request, "is_open": session.is_open}
    return {**told, **last, "states": dict(session.states)}


def resumed(session_id: str, actor: Actor, told: Mapping[str, Any]) -> Session:
    """The session that `carried` told of."""
    offered = tuple(Choice.model_validate(choice) for choice in told["offered"])
    last = (told.get("last_request"), told.get("is_open", False))
    return Session(session_id, actor.id, 0, told["last_kind"], told["pending"], offered, told["states"], *last)


def save(connection: Connection, session: Session, now: datetime) -> bool:
    """Keep *session* if nobody saved it since it was loaded. False: it moved on meanwhile, nothing was written."""
    values = {
        "version": session.version + 1,
        "last_kind": session.last_kind,
        "pending": session.pending,
        "offered": [choice.model_dump() for choice in session.offered],
        "states": dict(session.states),
        "updated_at": now,
        "last_request": session.last_request,
    }
    key = {"session_id": session.session_id, "actor_id": session.actor_id}
    if session.version == 0:
        return insert_new(connection, sessions, {**key, **values})
    known = {"asked": session.session_id, "asker": session.actor_id, "known": session.version}
    return run(connection, _UPDATE, {**known, **values}) == 1


# Spelled once: a statement that is built anew for each request costs more than it does.
_HERE = (sessions.c.session_id == bindparam("asked"), sessions.c.actor_id == bindparam("asker"))
_VERSION = select(sessions.c.version).where(*_HERE)
_LOAD = (
    select(sessions, requests.c.state)
    .outerjoin(requests, requests.c.request_id == sessions.c.last_request)
    .where(*_HERE)
)
_UPDATE = sessions.update().where(*_HERE, sessions.c.version == bindparam("known"))
