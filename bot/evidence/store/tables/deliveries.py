"""Deliveries: what was said to the bot where people talk, kept before it is acknowledged, and where it was answered.

One row a message, by its own id: however often and through however many processes a message arrives, one of them
answers it. Who works on it holds a lease; a row that is neither closed nor leased waits to be taken up again. A notice
goes the other way: something the bot has to tell a person, kept with what it tells of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.evidence.store.columns import maybe
from bot.evidence.store.connection import Connection, insert_new, update
from bot.evidence.store.lazily import schema, sql
from bylaw.canonical import fingerprint


@dataclass(frozen=True)
class Held:
    """The right to answer one message. `attempts` counts, this one included.

    `is_begun`: an attempt before began to send what could not be looked for afterwards.
    """

    delivery_id: str
    owner: str
    attempts: int
    is_begun: bool = False


def keep(connection: Connection, delivery_id: str, letter: Mapping[str, Any], now: datetime) -> bool:
    """Write down that a message came; is it the first time? Needs a write transaction."""
    row = {"delivery_id": delivery_id, "letter": dict(letter), "attempts": 0, "created_at": now}
    return insert_new(connection, "deliveries", row)


def notify(connection: Connection, recipient: str, about: str, event: str, text: str, now: datetime) -> bool:
    """Have *recipient* told *text* of the request *about*, once for each *event*. Needs a write transaction."""
    named = fingerprint({"to": recipient, "about": about, "event": event})[-40:]
    row = {
        "delivery_id": f"notice:{named}",
        "letter": {"to": recipient, "about": about, "event": event, "text": text},
        "attempts": 0,
        "created_at": now,
        "kind": "notice",
        "recipient": recipient,
        "about": about,
    }
    return insert_new(connection, "deliveries", row)


def claim(connection: Connection, delivery_id: str, owner: str, now: datetime, lease: timedelta) -> Held | None:
    """Take the message to answer it; None when it is closed or somebody else has it."""
    asked = connection.locked("SELECT * FROM deliveries WHERE delivery_id = :named")
    row = connection.one(asked, {"named": delivery_id})
    if row is None or row["closed_at"] is not None:
        return None
    until, attempts = maybe(row["leased_until"]), row["attempts"] + 1
    if until is not None and until > now:
        return None
    taken = {"owner": owner, "leased_until": now + lease, "attempts": attempts}
    update(connection, "deliveries", {"delivery_id": delivery_id}, taken)
    return Held(delivery_id, owner, attempts, row["place"] is not None)


def begin(connection: Connection, held: Held, place: Mapping[str, Any] | None) -> bool:
    """The answer is about to be sent to *place*, or after all was not (None). False: somebody else took it over."""
    return _change(connection, held, place=None if place is None else dict(place))


def close(
    connection: Connection, held: Held, now: datetime, place: Mapping[str, Any] | None, failure: str | None = None
) -> bool:
    """The message was answered at *place*, or will not be because of *failure*. False: somebody else took it over."""
    done = {"place": None if place is None else dict(place), "failure": failure, "closed_at": now}
    return _release(connection, held, **done, leased_until=None)


def postpone(connection: Connection, held: Held, until: datetime, failure: str) -> bool:
    """Let the message wait for another attempt."""
    return _release(connection, held, failure=failure, leased_until=until)


def notices(connection: Connection, now: datetime) -> list[tuple[str, Mapping[str, Any]]]:
    """The notices that nobody works on, by their names, oldest first."""
    column = schema.deliveries.c
    rows = connection.execute(
        sql.select(column.delivery_id, column.letter)
        .where(column.kind == "notice", column.closed_at.is_(None))
        .where(sql.or_(column.leased_until.is_(None), column.leased_until <= now))
        .order_by(column.created_at, column.delivery_id)
    )
    return [(row.delivery_id, row.letter) for row in rows]


def told(connection: Connection, recipient: str, now: datetime) -> list[Mapping[str, Any]]:
    """The notices of *recipient* that nobody is telling now, from now on told. Needs a write transaction."""
    column = schema.deliveries.c
    rows = connection.execute(
        sql.select(column.delivery_id, column.letter, column.created_at)
        .where(column.kind == "notice", column.recipient == recipient, column.closed_at.is_(None))
        .where(sql.or_(column.leased_until.is_(None), column.leased_until <= now))
        .order_by(column.created_at, column.delivery_id)
        .with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        values = {"closed_at": now, "leased_until": None, "place": {"shown": True}}
        update(connection, "deliveries", {"delivery_id": row.delivery_id}, values)
    return [{**row.letter, "at": row.created_at.isoformat()} for row in rows]


def waiting(connection: Connection, now: datetime, patience: timedelta) -> list[Mapping[str, Any]]:
    """The letters nobody works on: their time has come again, or nobody took them up for so long. Oldest first."""
    column = schema.deliveries.c
    forgotten = sql.and_(column.leased_until.is_(None), column.created_at <= now - patience)
    rows = connection.execute(
        sql.select(schema.deliveries)
        .where(column.closed_at.is_(None), column.kind == "message", sql.or_(forgotten, column.leased_until <= now))
        .order_by(column.created_at, column.delivery_id)
    )
    return [row.letter for row in rows]


def load(connection: Connection, delivery_id: str) -> Mapping[str, Any] | None:
    """The whole row, None for a message that never came."""
    found = connection.execute(
        sql.select(schema.deliveries).where(schema.deliveries.c.delivery_id == delivery_id)
    ).mappings()
    row = found.one_or_none()
    return None if row is None else dict(row)


def _release(connection: Connection, held: Held, **values: Any) -> bool:
    return _change(connection, held, owner=None, **values)


def _change(connection: Connection, held: Held, **values: Any) -> bool:
    return update(connection, "deliveries", {"delivery_id": held.delivery_id, "owner": held.owner}, values) == 1
