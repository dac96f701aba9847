"""Calls of agents that were allowed: reserved, then ended. One row each, found by session and key.

`change` numbers every insert and update in the order in which they were committed: whoever takes them down under the
lock of the chain may follow the table by it, in as many processes as there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bot.evidence.store.connection import Connection, insert, inserting, update
from bot.evidence.store.marks import mark, new_salt
from bylaw.canonical import canonical_json

_BEHIND = "SELECT * FROM gate_calls WHERE change > :asked ORDER BY change"
_OF = (
    "SELECT gate_calls.* FROM gate_calls JOIN gate_keys ON gate_keys.decision_id = gate_calls.decision_id"
    " WHERE gate_keys.name = :key AND gate_keys.value = :its ORDER BY gate_calls.change"
)
_PUTTING = (
    f"{inserting('gate_sessions', ('session_id', 'last_at', 'salt'))}"
    " ON CONFLICT (session_id) DO UPDATE SET last_at = excluded.last_at, salt = excluded.salt"
)


def add(connection: Connection, row: Mapping[str, Any]) -> dict[str, str]:
    """Keep an allowed call, and where it is found; its mark."""
    spelled = {
        **row,
        "keys": canonical_json(row["keys"]),
        "facts": canonical_json(row["facts"]),
        "salt": new_salt(),
        "reserved_until": None,
    }
    insert(connection, "gate_calls", spelled)
    scopes = scopes_of(spelled)
    if scopes:
        found = [{"name": name, "value": value, "decision_id": row["decision_id"]} for name, value in scopes]
        insert(connection, "gate_keys", found)
    return dict([mark("gate_calls", spelled)])


def scopes_of(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where the call of a stored row is found: by its session, and by each key."""
    try:
        keys = json.loads(row["keys"])
        named = [(str(name), str(value)) for name, value in keys.items()]
    except (ValueError, TypeError, AttributeError):
        return []
    return named if row["session_id"] is None else [("", row["session_id"]), *named]


def stored(connection: Connection, decision_id: str) -> dict[str, Any] | None:
    """The row of the allowed call of that decision as it is stored, None where there is none."""
    return connection.one("SELECT * FROM gate_calls WHERE decision_id = :asked", {"asked": decision_id})


def change(connection: Connection, row: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
    """Change *values* of a stored row; its mark since."""
    kept = {**values} if row["salt"] is not None else {**values, "salt": new_salt()}
    update(connection, "gate_calls", {"decision_id": row["decision_id"]}, kept)
    return dict([mark("gate_calls", {**row, **kept})])


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


class Last(NamedTuple):
    """When a session's last decision was, and the salt of its mark."""

    at: int
    salt: str

    def mark(self, session_id: str) -> dict[str, str]:
        """What the chain says of it."""
        return dict([mark("gate_sessions", {"session_id": session_id, "last_at": self.at, "salt": self.salt})])


def last_of(connection: Connection, session_id: str) -> Last | None:
    """When the session's last decision was."""
    found = connection.first("SELECT last_at, salt FROM gate_sessions WHERE session_id = :asked", {"asked": session_id})
    return None if found is None else Last(int(found[0]), found[1] or new_salt())


def move(connection: Connection, last: Mapping[str, Last]) -> None:
    """Keep when the *last* decision of each of these sessions was."""
    if last:
        rows = [{"session_id": name, "last_at": one.at, "salt": one.salt} for name, one in last.items()]
        connection.run(_PUTTING, rows)


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    ok = None if row["ok"] is None else bool(row["ok"])
    return {**row, "ok": ok, "keys": json.loads(row["keys"]), "facts": json.loads(row["facts"])}
