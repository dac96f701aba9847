"""Calls of agents that were allowed: reserved, then ended. One row each, found by session and key.

`change` numbers every insert and update in the order in which they were committed: whoever takes them down under the
lock of the chain may follow the table by it, in as many processes as there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Boolean, Column, Connection, Index, String, Table, Text, bindparam, func, select

from bot.evidence.store.columns import ID_LENGTH, first_row, metadata, putting, run
from bylaw.canonical import canonical_json

calls = Table(
    "gate_calls",
    metadata,
    Column("decision_id", String(ID_LENGTH), primary_key=True),
    Column("change", BigInteger, nullable=False, unique=True),
    Column("session_id", String(ID_LENGTH)),
    Column("actor", String(ID_LENGTH)),
    Column("action", String(200), nullable=False),
    Column("tool", String(200)),
    Column("keys", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("ok", Boolean),
    Column("asked_by", String(ID_LENGTH)),  # whose token asked; NULL: the host itself
)

call_keys = Table(
    "gate_keys",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("value", String(400), primary_key=True),
    Column("decision_id", String(ID_LENGTH), primary_key=True),
)

sessions = Table(
    "gate_sessions",
    metadata,
    Column("session_id", String(ID_LENGTH), primary_key=True),
    Column("last_at", BigInteger, nullable=False),
)

Index("ix_gate_keys_decision_id", call_keys.c.decision_id)

_INSERT = calls.insert()
_KEYS = call_keys.insert()
_END = calls.update().where(calls.c.decision_id == bindparam("asked"))
_BEHIND = select(calls).where(calls.c.change > bindparam("asked")).order_by(calls.c.change)
_LAST = select(func.max(calls.c.change))
_OPEN = select(calls.c.ok, calls.c.asked_by).where(calls.c.decision_id == bindparam("asked"))
_OF = (
    select(calls)
    .join(call_keys, call_keys.c.decision_id == calls.c.decision_id)
    .where(call_keys.c.name == bindparam("key"), call_keys.c.value == bindparam("its"))
    .order_by(calls.c.change)
)
_SESSION = select(sessions.c.last_at).where(sessions.c.session_id == bindparam("asked"))


def add(connection: Connection, row: Mapping[str, Any], scopes: list[tuple[str, str]]) -> None:
    """Keep an allowed call, and where it is found."""
    run(connection, _INSERT, {**row, "keys": canonical_json(row["keys"]), "facts": canonical_json(row["facts"])})
    if scopes:
        found = [{"name": name, "value": value, "decision_id": row["decision_id"]} for name, value in scopes]
        run(connection, _KEYS, found)


class Standing(NamedTuple):
    """Does a call still wait for its end, and who asked for it?"""

    is_open: bool
    asked_by: str | None


def standing(connection: Connection, decision_id: str) -> Standing | None:
    """How the allowed call of that decision stands, None where there is none."""
    found = first_row(connection, _OPEN, {"asked": decision_id})
    return None if found is None else Standing(found[0] is None, found[1])


def end(connection: Connection, decision_id: str, ok: bool, change: int) -> None:
    """Say how a call ended."""
    run(connection, _END, {"asked": decision_id, "ok": ok, "change": change})


def last_change(connection: Connection) -> int:
    """The number of the last change."""
    found = first_row(connection, _LAST)
    return 0 if found is None or found[0] is None else int(found[0])


def behind(connection: Connection, change: int) -> Iterator[dict[str, Any]]:
    """The calls that changed since."""
    for row in connection.execute(_BEHIND, {"asked": change}):
        yield _read(row)


def of(connection: Connection, name: str, value: str) -> Iterator[dict[str, Any]]:
    """The calls of one session (no name) or with one value of a key."""
    for row in connection.execute(_OF, {"key": name, "its": value}):
        yield _read(row)


def last_at(connection: Connection, session_id: str) -> int | None:
    """When the session's last decision was."""
    found = first_row(connection, _SESSION, {"asked": session_id})
    return None if found is None else int(found[0])


def move(connection: Connection, last: Mapping[str, int]) -> None:
    """Keep when the *last* decision of each of these sessions was."""
    if last:
        rows = [{"session_id": session_id, "last_at": at} for session_id, at in last.items()]
        run(connection, putting(sessions, connection.dialect.name), rows)


def _read(row: Any) -> dict[str, Any]:
    found = dict(row._mapping)
    return {**found, "keys": json.loads(found["keys"]), "facts": json.loads(found["facts"])}
