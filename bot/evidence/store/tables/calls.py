"""Calls of agents that were allowed: reserved, then ended. One row each, found by session and key.

`change` numbers every insert and update in the order in which they were committed: whoever takes them down under the
lock of the chain may follow the table by it, in as many processes as there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bot.evidence.store.connection import Connection, insert, inserting, update
from bylaw.canonical import canonical_json

_BEHIND = "SELECT * FROM gate_calls WHERE change > :asked ORDER BY change"
_OF = (
    "SELECT gate_calls.* FROM gate_calls JOIN gate_keys ON gate_keys.decision_id = gate_calls.decision_id"
    " WHERE gate_keys.name = :key AND gate_keys.value = :its ORDER BY gate_calls.change"
)
_PUTTING = (
    f"{inserting('gate_sessions', ('session_id', 'last_at'))}"
    " ON CONFLICT (session_id) DO UPDATE SET last_at = excluded.last_at"
)


def add(connection: Connection, row: Mapping[str, Any], scopes: list[tuple[str, str]]) -> None:
    """Keep an allowed call, and where it is found."""
    spelled = {"keys": canonical_json(row["keys"]), "facts": canonical_json(row["facts"])}
    insert(connection, "gate_calls", {**row, **spelled})
    if scopes:
        found = [{"name": name, "value": value, "decision_id": row["decision_id"]} for name, value in scopes]
        insert(connection, "gate_keys", found)


class Standing(NamedTuple):
    """Does a call still wait for its end, and who asked for it?"""

    is_open: bool
    asked_by: str | None


def standing(connection: Connection, decision_id: str) -> Standing | None:
    """How the allowed call of that decision stands, None where there is none."""
    found = connection.first("SELECT ok, asked_by FROM gate_calls WHERE decision_id = :asked", {"asked": decision_id})
    return None if found is None else Standing(found[0] is None, found[1])


def end(connection: Connection, decision_id: str, ok: bool, change: int) -> None:
    """Say how a call ended."""
    update(connection, "gate_calls", {"decision_id": decision_id}, {"ok": ok, "change": change})


def last_change(connection: Connection) -> int:
    """The number of the last change."""
    found = connection.first("SELECT max(change) FROM gate_calls")
    return 0 if found is None or found[0] is None else int(found[0])


def behind(connection: Connection, change: int) -> Iterator[dict[str, Any]]:
    """The calls that changed since."""
    for row in connection.each(_BEHIND, {"asked": change}):
        yield _read(row)


def of(connection: Connection, name: str, value: str) -> Iterator[dict[str, Any]]:
    """The calls of one session (no name) or with one value of a key."""
    for row in connection.each(_OF, {"key": name, "its": value}):
        yield _read(row)


def last_at(connection: Connection, session_id: str) -> int | None:
    """When the session's last decision was."""
    found = connection.first("SELECT last_at FROM gate_sessions WHERE session_id = :asked", {"asked": session_id})
    return None if found is None else int(found[0])


def move(connection: Connection, last: Mapping[str, int]) -> None:
    """Keep when the *last* decision of each of these sessions was."""
    if last:
        rows = [{"session_id": session_id, "last_at": at} for session_id, at in last.items()]
        connection.run(_PUTTING, rows)


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    ok = None if row["ok"] is None else bool(row["ok"])
    return {**row, "ok": ok, "keys": json.loads(row["keys"]), "facts": json.loads(row["facts"])}
