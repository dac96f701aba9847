"""Requests: one row for each, and one for each step it took. A row outlives the process that works on it.

Who works on a request holds a lease. Nobody else may finish it while the lease runs; when it has run out (the process
died), the next one who asks with the same request id takes the work over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.conversation import Question, Reply
from bot.evidence.store.columns import Written, maybe, moment, told
from bot.evidence.store.connection import Connection, insert, insert_new, update
from bot.evidence.store.marks import new_salt
from bot.lifecycle import ENDS, TRANSITIONS, Outcome, State, step
from bylaw.canonical import fingerprint, is_text
from bylaw.errors import UsageError


class RequestConflict(UsageError):
    """One request id for two different questions."""


@dataclass(frozen=True)
class Claim:
    """The right to answer a request. `owner` names this attempt; `attempts` counts them, this one included."""

    request_id: str
    owner: str
    attempts: int


@dataclass(frozen=True)
class Busy:
    """Somebody else is answering this request right now."""

    request_id: str


@dataclass(frozen=True)
class Links:
    """The requests before this one that it puts right, or whose question back it answers."""

    revises: str | None = None
    clarifies: str | None = None

    def columns(self) -> dict[str, str | None]:
        """As they stand in the row."""
        return {"revises": self.revises, "clarifies": self.clarifies}


NO_LINKS = Links()


@dataclass(frozen=True)
class Standing:
    """What is known of a request."""

    request_id: str
    state: State
    kind: str | None
    question: Question
    reply: Reply | None
    artifacts: Mapping[str, str]
    failure: str | None
    attempts: int
    leased_until: datetime | None
    created_at: datetime
    updated_at: datetime
    revises: str | None = None
    clarifies: str | None = None
    due_at: datetime | None = None
    assigned_to: str | None = None
    settled_at: datetime | None = None
    outcome: Outcome | None = None

    def is_held(self, now: datetime) -> bool:
        """Is somebody working on it?"""
        return self.leased_until is not None and self.leased_until > now


def identity(question: Question) -> str:
    """What makes two requests the same: who asks what, where. Not when: a retry comes later."""
    return _identity(question.model_dump(mode="json"))


def _identity(said: Mapping[str, Any]) -> str:
    return fingerprint({name: said[name] for name in ("text", "actor", "session_id", "options")})


def claim(
    connection: Connection,
    question: Question,
    owner: str,
    now: datetime,
    lease: timedelta,
    begun: Sequence[State] = (State.INTAKE,),
    kind: str | None = None,
) -> Claim | Busy | Reply:
    """Take the request over, or say who has it, or give the reply it already has. Needs a write transaction.

    *begun* are the steps it has taken when it is kept, *kind* the answer it goes to, as far as that is known. Raises
    RequestConflict when the request id was used for another question.
    """
    row = {**_new_row(question, begun[-1], kind, now), "owner": owner, "leased_until": now + lease}
    if insert_new(connection, "requests", row):
        _record(connection, question.request_id, 0, begun, now, None)
        return Claim(question.request_id, owner, 1)
    found = _locked(connection, question.request_id)
    assert found is not None  # nothing is deleted while somebody writes
    if found["fingerprint"] != identity(question):
        raise RequestConflict(
            f"the request id `{question.request_id}` was used for another question", "give every question its own id"
        )
    if found["reply"] is not None:
        return Reply.model_validate(told(found["reply"]))
    until, attempts = maybe(found["leased_until"]), found["attempts"] + 1
    if until is not None and until > now:
        return Busy(question.request_id)
    taken = {"owner": owner, "leased_until": now + lease, "attempts": attempts, "updated_at": now}
    known = {"state": begun[-1].value, "kind": found["kind"] if kind is None else kind, "failure": None}
    _update(connection, question.request_id, {**taken, **known})
    _record(connection, question.request_id, found["last"], begun, now, f"attempt {attempts}")
    return Claim(question.request_id, owner, attempts)


def finish(
    connection: Connection,
    held: Claim,
    reply: Reply,
    road: tuple[State, ...],
    artifacts: Mapping[str, str],
    now: datetime,
    told: Written | None = None,
    links: Links = NO_LINKS,
) -> bool:
    """Keep the reply, as it was `spoken`, for good, walking *road* to its end; *told* is its JSON where that is known.

    False: the lease was lost, nothing was written.
    """
    stands = _held(connection, held)
    if stands is None:
        return False
    state, last = stands
    for onward in road:
        state = step(state, onward)
    _record(connection, held.request_id, last, road, now, None)
    done = _answered(state, reply, artifacts, reply.model_dump() if told is None else told, now)
    _update(
        connection,
        held.request_id,
        {**done, **links.columns(), "owner": None, "leased_until": None, "failure": None, "updated_at": now},
    )
    return True


def keep(
    connection: Connection,
    question: Question,
    reply: Reply,
    begun: Sequence[State],
    road: tuple[State, ...],
    artifacts: Mapping[str, str],
    now: datetime,
    told: Written,
    links: Links = NO_LINKS,
) -> bool:
    """Keep a request that nobody claimed together with its reply, as `claim` and `finish` would leave it.

    False: the request id is taken, nothing was written.
    """
    state = begun[-1]
    for onward in road:
        state = step(state, onward)
    row = {
        **_new_row(question, state, reply.kind, now),
        **_answered(state, reply, artifacts, told, now),
    } | links.columns()
    if not insert_new(connection, "requests", row):
        return False
    _record(connection, question.request_id, 0, (*begun, *road), now, None)
    return True


def fail(connection: Connection, held: Claim, failure: str, now: datetime) -> bool:
    """Record that answering broke down; the lease ends, so that the question may be asked again at once."""
    stands = _held(connection, held)
    if stands is None:
        return False
    state, last = stands
    state = step(state, State.ESCALATED)
    _record(connection, held.request_id, last, [state], now, failure)
    done = {"state": state.value, "failure": failure, "owner": None, "leased_until": None, "updated_at": now}
    _update(connection, held.request_id, done)
    return True


def settle(connection: Connection, request_id: str, outcome: Outcome, note: str, now: datetime) -> bool:
    """End an answered request as *outcome* says. False: it does not stand where that is possible, or has ended."""
    found = _locked(connection, request_id)
    to = ENDS[outcome]
    if found is None or found["reply"] is None or to not in TRANSITIONS[State(found["state"])]:
        return False
    ended = {"state": to.value, "outcome": outcome.value, "settled_at": now, "due_at": None, "updated_at": now}
    _update(connection, request_id, ended)
    _record(connection, request_id, found["last"], [to], now, note)
    return True


def due(connection: Connection, now: datetime, most: int) -> list[Standing]:
    """Answers whose time is up, the longest first, at most so many. Others leave them to this transaction.

    Needs a write transaction. What another one is settling now is passed over.
    """
    found = "SELECT * FROM requests WHERE due_at <= :until ORDER BY due_at, request_id LIMIT :most"
    rows = connection.all(connection.locked(found, " SKIP LOCKED"), {"until": now, "most": most})
    return [_standing(row) for row in rows]


def orphaned(connection: Connection, now: datetime, most: int) -> list[Standing]:
    """Requests that somebody began to answer and holds no longer, the longest left first, at most so many.

    One whose answering broke down is none of them: that was written down, and it is asked again by whoever wants to.
    """
    rows = connection.all(_ORPHANED, {"until": now, "most": most})
    return [_standing(row) for row in rows]


def escalated(connection: Connection, most: int) -> list[Standing]:
    """Answers that only a person may give, the longest waiting first, at most so many."""
    rows = connection.all(
        "SELECT * FROM requests WHERE state = :state AND reply IS NOT NULL ORDER BY created_at, request_id LIMIT :most",
        {"state": State.ESCALATED.value, "most": most},
    )
    return [_standing(row) for row in rows]


def assign(connection: Connection, request_id: str, to: str, note: str, now: datetime) -> bool:
    """Give the escalated request to *to*. False: it does not wait for a person any more."""
    found = _locked(connection, request_id)
    if found is None or found["reply"] is None or found["state"] != State.ESCALATED:
        return False
    _update(connection, request_id, {"assigned_to": to, "updated_at": now})
    _record(connection, request_id, found["last"], [State.ESCALATED], now, note)
    return True


def hand_in(connection: Connection, request_id: str, note: str, now: datetime) -> bool:
    """A person has answered the escalated request: it waits to be accepted. False: it does not wait for one."""
    found = _locked(connection, request_id)
    if found is None or found["reply"] is None or found["state"] != State.ESCALATED:
        return False
    onward = (State.DELIVER, State.ACCEPT)
    _update(connection, request_id, {"state": onward[-1].value, "updated_at": now})
    _record(connection, request_id, found["last"], onward, now, note)
    return True


def keep_open(connection: Connection, request_id: str) -> None:
    """Let no time settle the request any more."""
    _update(connection, request_id, {"due_at": None})


def load(connection: Connection, request_id: str) -> Standing | None:
    """What is known of the request, None when it was never asked: also where its name is no text."""
    if not is_text(request_id):
        return None
    row = connection.one("SELECT * FROM requests WHERE request_id = :asked", {"asked": request_id})
    return None if row is None else _standing(row)


def _standing(row: Mapping[str, Any]) -> Standing:
    return Standing(
        request_id=row["request_id"],
        state=State(row["state"]),
        kind=row["kind"],
        question=Question.model_validate(told(row["question"])),
        reply=None if row["reply"] is None else Reply.model_validate(told(row["reply"])),
        artifacts=told(row["artifacts"]) or {},
        failure=row["failure"],
        attempts=row["attempts"],
        leased_until=maybe(row["leased_until"]),
        created_at=moment(row["created_at"]),
        updated_at=moment(row["updated_at"]),
        revises=row["revises"],
        clarifies=row["clarifies"],
        due_at=maybe(row["due_at"]),
        assigned_to=row["assigned_to"],
        settled_at=maybe(row["settled_at"]),
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
    )


def steps(connection: Connection, request_id: str) -> list[tuple[State, datetime, str | None]]:
    """The road the request took: state, when, and a note."""
    rows = connection.all(
        "SELECT state, at, note FROM request_steps WHERE request_id = :asked ORDER BY n", {"asked": request_id}
    )
    return [(State(row["state"]), moment(row["at"]), row["note"]) for row in rows]


def answered(connection: Connection, kind: str, since: datetime, most: int) -> list[tuple[str, Mapping[str, str]]]:
    """The requests of that kind answered since then and the papers kept of each, the newest first."""
    rows = connection.all(
        "SELECT request_id, artifacts FROM requests WHERE kind = :kind AND created_at >= :since"
        " AND reply IS NOT NULL ORDER BY created_at DESC, request_id LIMIT :most",
        {"kind": kind, "since": since, "most": most},
    )
    return [(row["request_id"], told(row["artifacts"]) or {}) for row in rows]


def _new_row(question: Question, state: State, kind: str | None, now: datetime) -> dict[str, Any]:
    said = question.model_dump(mode="json")
    return {
        "request_id": question.request_id,
        "fingerprint": _identity(said),
        "session_id": question.session_id,
        "actor_id": question.actor.id,
        "question": said,
        "state": state.value,
        "kind": kind,
        "attempts": 1,
        "salt": new_salt(),
        "created_at": now,
        "updated_at": now,
    }


def _answered(
    state: State, reply: Reply, artifacts: Mapping[str, str], told: Written | dict[str, Any], now: datetime
) -> dict[str, Any]:
    minutes = reply.acceptance.timeout_minutes if state is State.ACCEPT and reply.acceptance is not None else None
    return {
        "state": state.value,
        "kind": reply.kind,
        "bundle_etag": reply.bundle_etag,
        "reply": told,
        "artifacts": dict(artifacts),
        "due_at": None if minutes is None else now + timedelta(minutes=minutes),
    }


_LAST = "(SELECT coalesce(max(n), 0) FROM request_steps WHERE request_steps.request_id = requests.request_id) AS last"
_BROKEN_OFF = ", ".join(f"'{state.value}'" for state in State if State.ESCALATED in TRANSITIONS[state])
_ORPHANED = (
    f"SELECT * FROM requests WHERE state IN ({_BROKEN_OFF}) AND reply IS NULL AND leased_until <= :until"
    " ORDER BY leased_until, request_id LIMIT :most"
)


def _locked(connection: Connection, request_id: str) -> dict[str, Any] | None:
    """The row of the request, kept from others, and the number of its last step."""
    found = f"SELECT requests.*, {_LAST} FROM requests WHERE request_id = :asked"
    return connection.one(connection.locked(found), {"asked": request_id})


def _held(connection: Connection, held: Claim) -> tuple[State, int] | None:
    """Where the request stands and how many steps it took, when the lease is still this attempt's."""
    asked = f"SELECT state, {_LAST} FROM requests WHERE request_id = :asked AND owner = :holder"
    found = connection.first(connection.locked(asked), {"asked": held.request_id, "holder": held.owner})
    return None if found is None else (State(found[0]), found[1])


def _update(connection: Connection, request_id: str, values: Mapping[str, Any]) -> None:
    update(connection, "requests", {"request_id": request_id}, values)


def _record(
    connection: Connection, request_id: str, last: int, states: Sequence[State], at: datetime, note: str | None
) -> None:
    """Write down that the request took these steps, one after the other, behind its *last*."""
    rows = [
        {"request_id": request_id, "n": n, "state": state.value, "at": at, "note": note}
        for n, state in enumerate(states, last + 1)
    ]
    if rows:
        insert(connection, "request_steps", rows)
