"""Up to when what people say was listened to, by conversation: who listens holds a lease, and goes on from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.evidence.store.columns import maybe, moment
from bot.evidence.store.connection import Connection, insert_new, update


@dataclass(frozen=True)
class Watch:
    """One place. `unseen` says in words what of it could not be seen; `owner` listens to it now."""

    name: str
    seen_until: datetime
    attempts: int
    unseen: str | None
    owner: str | None = None
    leased_until: datetime | None = None


def begin(connection: Connection, name: str, since: datetime) -> bool:
    """From *since* on the place is listened to. False: it is already. Needs a write transaction."""
    return insert_new(connection, "watches", {"name": name, "seen_until": since, "attempts": 0})


def claim(
    connection: Connection, name: str, owner: str, now: datetime, every: timedelta, lease: timedelta
) -> Watch | None:
    """The right to look what was said there; None where that is not due, or somebody else is at it."""
    row = connection.one(connection.locked("SELECT * FROM watches WHERE name = :name"), {"name": name})
    if row is None or (found := _watch(row)).seen_until > now - every:
        return None
    if found.leased_until is not None and found.leased_until > now:
        return None
    taken = {"owner": owner, "leased_until": now + lease, "attempts": found.attempts + 1}
    update(connection, "watches", {"name": name}, taken)
    return Watch(name, found.seen_until, found.attempts + 1, found.unseen, owner, now + lease)


def settle(connection: Connection, watch: Watch, seen_until: datetime, unseen: str | None) -> bool:
    """Everything up to then was looked at. False: somebody else took it over."""
    done = {"seen_until": seen_until, "unseen": unseen, "owner": None, "leased_until": None, "attempts": 0}
    return _change(connection, watch, done)


def renew(connection: Connection, watch: Watch, until: datetime) -> bool:
    """It takes longer, until then at most. False: somebody else took it over."""
    return _change(connection, watch, {"leased_until": until})


def postpone(connection: Connection, watch: Watch, until: datetime, unseen: str | None) -> bool:
    """It could not be looked at: later once more, from where it was."""
    return _change(connection, watch, {"owner": None, "leased_until": until, "unseen": unseen})


def end(connection: Connection, watch: Watch) -> bool:
    """The place is no more, or the bot is not in it."""
    chosen = "name = :name AND owner = :owner"
    return connection.run(f"DELETE FROM watches WHERE {chosen}", {"name": watch.name, "owner": watch.owner}) == 1


def load(connection: Connection, name: str) -> Watch | None:
    """How far the place was listened to; None where it is not."""
    row = connection.one("SELECT * FROM watches WHERE name = :name", {"name": name})
    return None if row is None else _watch(row)


def due(connection: Connection, prefix: str, now: datetime, every: timedelta, most: int) -> list[str]:
    """The places whose names begin with *prefix* and whose time has come, the longest first."""
    query = (
        "SELECT name FROM watches WHERE substr(name, 1, :length) = :prefix AND seen_until <= :old"
        f" AND (leased_until IS NULL OR leased_until <= :now) ORDER BY seen_until, name LIMIT {most}"
    )
    given = {"length": len(prefix), "prefix": prefix, "old": now - every, "now": now}
    return [row["name"] for row in connection.all(query, given)]


def count(connection: Connection, prefix: str) -> int:
    """How many places there are whose names begin with *prefix*."""
    given = {"length": len(prefix), "prefix": prefix}
    found = connection.first("SELECT count(*) FROM watches WHERE substr(name, 1, :length) = :prefix", given)
    return 0 if found is None else int(found[0])


def list_unseen(connection: Connection) -> list[str]:
    """What could not be seen, in words."""
    rows = connection.all("SELECT unseen FROM watches WHERE unseen IS NOT NULL ORDER BY name")
    return [line for row in rows for line in str(row["unseen"]).splitlines()]


def _change(connection: Connection, watch: Watch, values: Mapping[str, Any]) -> bool:
    return update(connection, "watches", {"name": watch.name, "owner": watch.owner}, values) == 1


def _watch(row: Mapping[str, Any]) -> Watch:
    return Watch(
        name=row["name"],
        seen_until=moment(row["seen_until"]),
        attempts=row["attempts"],
        unseen=row["unseen"],
        owner=row["owner"],
        leased_until=maybe(row["leased_until"]),
    )
