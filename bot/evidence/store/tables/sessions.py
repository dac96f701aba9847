"""Sessions: what a conversation carries from turn to turn, for one person in one session.

A session id alone is not enough: two people in one thread, or the many who never name a session, must not answer
each other's questions. `version` lets two processes notice that they worked on the same turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.conversation import Actor, Choice
from bot.evidence.store.columns import moment, told
from bot.evidence.store.connection import Connection, insert_new, update
from bot.evidence.store.marks import new_salt
from bot.lifecycle import State

_PLANS = ("pending", "recommended")
GOES_ON = timedelta(minutes=30)  # with a person's last conversation, where they begin none of their own


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
    row = connection.one(_LOAD, {"asked": session_id, "asker": actor.id})
    if row is None:
        return Session(session_id, actor.id)
    is_over = now is not None and life is not None and moment(row["updated_at"]) + life <= now
    if is_over and row["pending"] not in _PLANS:
        return Session(session_id, actor.id, row["version"])
    known = (row["version"], row["last_kind"], row["pending"], _offered(row), told(row["states"]), row["last_request"])
    return Session(session_id, actor.id, *known, row["state"] == State.ACCEPT)


def go_on(connection: Connection, session: Session, beside: str, now: datetime) -> Session:
    """*session*, of which nothing is kept yet, with what the last conversation of the same person carries that begins
    with *beside* and was gone on with no more than `GOES_ON` before *now*.

    No answer of that one is taken or objected to here, and a plan that waits there for a yes waits there alone.
    """
    known = {"asker": session.actor_id, "beside": beside, "size": len(beside), "since": now - GOES_ON, "until": now}
    row = connection.one(_LAST, known)
    if session.version or row is None:
        return session
    found = replace(session, last_kind=row["last_kind"], states=told(row["states"]))
    if row["pending"] in _PLANS:
        return found
    return replace(found, pending=row["pending"], offered=_offered(row))


def _offered(row: Mapping[str, Any]) -> tuple[Choice, ...]:
    return tuple(Choice.model_validate(choice) for choice in told(row["offered"]))


def moved_at(connection: Connection, session_id: str, actor: Actor) -> datetime | None:
    """When the person's side of the conversation was last gone on with; None where it never was."""
    found = connection.first(
        "SELECT updated_at FROM sessions WHERE session_id = :asked AND actor_id = :asker",
        {"asked": session_id, "asker": actor.id},
    )
    return None if found is None else moment(found[0])


def carried(session: Session) -> dict[str, Any]:
    """What *session* brought into a turn, as JSON."""
    offered = [choice.model_dump() for choice in session.offered]
    known = {"last_kind": session.last_kind, "pending": session.pending, "offered": offered}
    last = {"last_request": session.last_request, "is_open": session.is_open}
    return {**known, **last, "states": dict(session.states)}


def resumed(session_id: str, actor: Actor, carried: Mapping[str, Any]) -> Session:
    """The session that `carried` told of."""
    offered = tuple(Choice.model_validate(choice) for choice in carried["offered"])
    last = (carried.get("last_request"), carried.get("is_open", False))
    return Session(session_id, actor.id, 0, carried["last_kind"], carried["pending"], offered, carried["states"], *last)


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
        return insert_new(connection, "sessions", {**key, **values, "salt": new_salt()})
    return update(connection, "sessions", {**key, "version": session.version}, values) == 1


_LOAD = (
    "SELECT sessions.*, requests.state FROM sessions"
    " LEFT OUTER JOIN requests ON requests.request_id = sessions.last_request"
    " WHERE sessions.session_id = :asked AND sessions.actor_id = :asker"
)
_LAST = (
    "SELECT last_kind, pending, offered, states FROM sessions"
    " WHERE actor_id = :asker AND substr(session_id, 1, :size) = :beside"
    " AND updated_at >= :since AND updated_at <= :until ORDER BY updated_at DESC, session_id DESC LIMIT 1"
)
