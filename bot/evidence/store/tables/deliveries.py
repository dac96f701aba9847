"""Deliveries: what was said to the bot where people talk, kept before it is acknowledged, and where it was answered.

One row a message, by its own id: however often and through however many processes a message arrives, one of them
answers it. Who works on it holds a lease; a row that is neither closed nor leased waits to be taken up again. A notice
goes the other way: something the bot has to tell a person, kept with what it tells of. A row is closed when it was
delivered, when something newer took its place, or by a person; until then it waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from bot.evidence.store.columns import maybe, moment
from bot.evidence.store.columns import told as parsed
from bot.evidence.store.connection import Connection, insert_new, update
from bylaw.canonical import fingerprint

# `given up` is what an earlier version did after three attempts
Outcome = Literal["delivered", "shown", "superseded", "closed", "given up"]
# why the last attempt failed: nobody answered, too many calls, the installation lacks something, or this one is refused
Cause = Literal["outage", "limit", "installation", "refused", "busy"]
_PASSING: tuple[Cause, ...] = ("outage", "installation")  # what ends for all at once
_DUE = "(leased_until IS NULL OR leased_until <= :now)"
_OLDEST = "ORDER BY created_at, delivery_id"
_OPEN = "closed_at IS NULL AND (owner IS NULL OR leased_until IS NULL OR leased_until <= :now)"


@dataclass(frozen=True)
class Held:
    """The right to answer one message. `attempts` counts, this one included.

    `is_doubtful`: an attempt before began to send it, and nobody knows whether it is there. `cause` is why the last one
    failed.
    """

    delivery_id: str
    owner: str
    attempts: int
    created_at: datetime
    is_doubtful: bool = False
    cause: Cause | None = None


@dataclass(frozen=True)
class Waiting:
    """One delivery that is not where it belongs. `letter` is what was said, or what a notice says: as it was written,
    by whatever version, so that any of its words may be missing.
    """

    delivery_id: str
    kind: Literal["message", "notice"]
    letter: Mapping[str, Any]
    attempts: int
    created_at: datetime
    next_at: datetime | None
    blocked_at: datetime | None
    cause: Cause | None
    failure: str | None
    outcome: Outcome | None

    @property
    def recipient(self) -> str | None:
        """Whom it is for; None where nothing says so."""
        return self.word("to" if self.kind == "notice" else "user")

    def word(self, name: str) -> str | None:
        """What the letter says under a name; None where that is no text."""
        found = self.letter.get(name)
        return found if isinstance(found, str) and found else None


def keep(connection: Connection, delivery_id: str, letter: Mapping[str, Any], now: datetime) -> bool:
    """Write down that a message came; is it the first time? Needs a write transaction."""
    row = {"delivery_id": delivery_id, "letter": dict(letter), "attempts": 0, "created_at": now}
    return insert_new(connection, "deliveries", row)


def notify(
    connection: Connection,
    recipient: str,
    about: str,
    event: str,
    text: str,
    now: datetime,
    is_channel: bool = False,
) -> bool:
    """Have *recipient* told *text* of the request *about*, once for each *event*. Needs a write transaction.

    *is_channel*: it is told in a channel, to who reads there.
    """
    letter: dict[str, Any] = {"to": recipient, "about": about, "event": event, "text": text}
    named = fingerprint({"to": recipient, "about": about, "event": event})[-40:]
    row = {
        "delivery_id": f"notice:{named}",
        "letter": {**letter, "is_channel": True} if is_channel else letter,
        "attempts": 0,
        "created_at": now,
        "kind": "notice",
        "recipient": recipient,
        "about": about,
    }
    return insert_new(connection, "deliveries", row)


def claim(connection: Connection, delivery_id: str, owner: str, now: datetime, lease: timedelta) -> Held | None:
    """Take the message to answer it; None when it is closed, waits for a person, or somebody else has it."""
    asked = connection.locked("SELECT * FROM deliveries WHERE delivery_id = :named")
    row = connection.one(asked, {"named": delivery_id})
    if row is None or row["closed_at"] is not None or row["blocked_at"] is not None:
        return None
    until, attempts = maybe(row["leased_until"]), row["attempts"] + 1
    if until is not None and until > now:
        return None
    taken = {"owner": owner, "leased_until": now + lease, "attempts": attempts}
    update(connection, "deliveries", {"delivery_id": delivery_id}, taken)
    return Held(
        delivery_id=delivery_id,
        owner=owner,
        attempts=attempts,
        created_at=moment(row["created_at"]),
        is_doubtful=bool(row["is_doubtful"]),
        cause=row["cause"],
    )


def renew(connection: Connection, held: Held, now: datetime, lease: timedelta) -> bool:
    """It is about to be sent, and so may be there from now on. False: somebody else took it over."""
    return _change(connection, held, leased_until=now + lease, is_doubtful=True)


def close(connection: Connection, held: Held, now: datetime, place: Mapping[str, Any]) -> bool:
    """The message was answered at *place*. False: somebody else took it over."""
    done = {"place": dict(place), "failure": None, "cause": None, "closed_at": now, "outcome": "delivered"}
    return _release(connection, held, **done, leased_until=None)


def postpone(
    connection: Connection, held: Held, until: datetime, failure: str, cause: Cause, is_doubtful: bool = True
) -> bool:
    """Let the message wait for another attempt; unless *is_doubtful* it is certain that it is not there."""
    return _release(connection, held, failure=failure, cause=cause, leased_until=until, is_doubtful=is_doubtful)


def block(connection: Connection, held: Held, now: datetime, failure: str) -> bool:
    """Let the message wait for a person: trying it again would end as it did."""
    return _release(connection, held, failure=failure, cause="refused", blocked_at=now, leased_until=None)


def hasten(connection: Connection, now: datetime) -> int:
    """What ended for one has ended for all: try again at once what waits for the same; how many there are."""
    which = "closed_at IS NULL AND owner IS NULL AND blocked_at IS NULL AND leased_until > :now"
    causes = ", ".join(f"'{cause}'" for cause in _PASSING)
    hastened = f"UPDATE deliveries SET leased_until = :now WHERE {which} AND cause IN ({causes})"
    return connection.run(hastened, {"now": now})


def supersede(connection: Connection, about: str, event: str, now: datetime) -> int:
    """End the notices about *about* that nobody has heard and that hold no longer; how many there were.

    Theirs is every event that begins with *event*.
    """
    rows = connection.all(f"SELECT * FROM deliveries WHERE about = :about AND {_OPEN}", {"about": about, "now": now})
    old = [row for row in rows if str(parsed(row["letter"]).get("event", "")).startswith(event)]
    for row in old:
        _end(connection, row["delivery_id"], now, "superseded")
    return len(old)


def end(connection: Connection, delivery_id: str, by: str, now: datetime) -> bool:
    """A person wants it sent no more. False: it is being sent right now, or closed."""
    given = {"named": delivery_id, "now": now}
    found = connection.one(connection.locked(f"SELECT 1 FROM deliveries WHERE delivery_id = :named AND {_OPEN}"), given)
    if found is not None:
        _end(connection, delivery_id, now, "closed", closed_by=by)
    return found is not None


def retry(connection: Connection, delivery_id: str, now: datetime) -> bool:
    """A person wants it sent, from now on and patiently. False: it is being sent right now, or closed for good."""
    given = {"named": delivery_id, "now": now}
    which = f"delivery_id = :named AND (({_OPEN}) OR outcome = 'given up')"
    found = connection.one(connection.locked(f"SELECT 1 FROM deliveries WHERE {which}"), given)
    if found is None:
        return False
    fresh = {"closed_at": None, "outcome": None, "blocked_at": None, "cause": None, "owner": None, "attempts": 0}
    update(connection, "deliveries", {"delivery_id": delivery_id}, {**fresh, "leased_until": now})
    return True


def notices(connection: Connection, now: datetime, most: int = 1_000) -> list[tuple[str, Mapping[str, Any]]]:
    """The notices whose turn it is, by their names, oldest first."""
    which = f"kind = 'notice' AND closed_at IS NULL AND blocked_at IS NULL AND {_DUE}"
    query = f"SELECT delivery_id, letter FROM deliveries WHERE {which} {_OLDEST} LIMIT :most"
    rows = connection.all(query, {"now": now, "most": most})
    return [(row["delivery_id"], _letter(row["letter"])) for row in rows]


def told(connection: Connection, recipient: str, now: datetime) -> list[Mapping[str, Any]]:
    """The notices of *recipient* that nobody is telling now, from now on told. Needs a write transaction."""
    which = f"kind = 'notice' AND recipient = :recipient AND {_OPEN}"
    query = f"SELECT delivery_id, letter, created_at FROM deliveries WHERE {which} {_OLDEST}"
    rows = connection.all(connection.locked(query, " SKIP LOCKED"), {"recipient": recipient, "now": now})
    for row in rows:
        _end(connection, row["delivery_id"], now, "shown", place={"shown": True})
    found = [(moment(row["created_at"]), _letter(row["letter"])) for row in rows]
    return [{"about": "", "text": "", **letter, "at": at.isoformat()} for at, letter in found]


def waiting(
    connection: Connection, now: datetime, patience: timedelta, most: int = 1_000
) -> list[tuple[str, Mapping[str, Any]]]:
    """The messages nobody works on, by their names: their time has come again, or nobody took them up for so long.

    Oldest first.
    """
    due = "(leased_until IS NULL AND created_at <= :long_ago) OR leased_until <= :now"
    which = f"kind = 'message' AND closed_at IS NULL AND blocked_at IS NULL AND ({due})"
    query = f"SELECT delivery_id, letter FROM deliveries WHERE {which} {_OLDEST} LIMIT :most"
    rows = connection.all(query, {"now": now, "long_ago": now - patience, "most": most})
    return [(row["delivery_id"], _letter(row["letter"])) for row in rows]


def list_undelivered(connection: Connection, now: datetime, most: int) -> list[Waiting]:
    """What waits and is not being sent right now, and what an earlier version gave up; oldest first."""
    which = f"({_OPEN}) OR outcome = 'given up'"
    query = f"SELECT * FROM deliveries WHERE {which} ORDER BY created_at, delivery_id LIMIT {most}"
    return [_waiting(row) for row in connection.all(query, {"now": now})]


def find(connection: Connection, delivery_id: str) -> Waiting | None:
    """The delivery of that id, however it stands; None where there is none."""
    row = connection.one("SELECT * FROM deliveries WHERE delivery_id = :named", {"named": delivery_id})
    return None if row is None else _waiting(row)


def copies(connection: Connection, about: str, event: str) -> list[Waiting]:
    """Every notice of *event* about *about*, whoever it is for, oldest first."""
    query = "SELECT * FROM deliveries WHERE about = :about AND kind = 'notice' ORDER BY created_at, delivery_id"
    found = [_waiting(row) for row in connection.all(query, {"about": about})]
    return [one for one in found if one.letter.get("event") == event]


def _waiting(row: Mapping[str, Any]) -> Waiting:
    return Waiting(
        delivery_id=row["delivery_id"],
        kind=row["kind"],
        letter=_letter(row["letter"]),
        attempts=row["attempts"],
        created_at=moment(row["created_at"]),
        next_at=maybe(row["leased_until"]) if row["owner"] is None else None,
        blocked_at=maybe(row["blocked_at"]),
        cause=row["cause"],
        failure=row["failure"],
        outcome=row["outcome"],
    )


def _letter(value: Any) -> Mapping[str, Any]:
    """The letter of a row; an empty one where there stands something else."""
    found = parsed(value)
    return found if isinstance(found, Mapping) else {}


def _end(connection: Connection, delivery_id: str, now: datetime, outcome: Outcome, **others: Any) -> None:
    values = {"closed_at": now, "leased_until": None, "owner": None, "outcome": outcome, **others}
    update(connection, "deliveries", {"delivery_id": delivery_id}, values)


def _release(connection: Connection, held: Held, **values: Any) -> bool:
    return _change(connection, held, owner=None, **values)


def _change(connection: Connection, held: Held, **values: Any) -> bool:
    return update(connection, "deliveries", {"delivery_id": held.delivery_id, "owner": held.owner}, values) == 1
