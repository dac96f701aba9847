"""Are the rows that decide what the chain says of them? Recorded calls, sessions, requests, the log of questions, and
which bundle was served: each row against the last entry that marked it.

What the chain says is laid down in a database of its own on the disk while it is read, so that a store of any size is
held against it. Rows from before there were marks are those that an upgrade anchored.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from bot.evidence.store.connection import Connection
from bot.evidence.store.marks import COVERED, mark
from bot.evidence.store.tables import audit
from bylaw.audit.entry import AuditEntry, parsed
from bylaw.audit.verify import Break
from bylaw.progress import Hear, heard

ANCHORED = "anchored"  # the name under which an upgrade marks all rows that were there before
_MAKING = (
    "CREATE TABLE said (name TEXT PRIMARY KEY, mark TEXT, seq INTEGER, is_gone INTEGER, is_met INTEGER) WITHOUT ROWID"
)
_SAYING = (
    "INSERT INTO said VALUES (?, ?, ?, ?, 0) ON CONFLICT (name)"
    " DO UPDATE SET mark = excluded.mark, seq = excluded.seq, is_gone = max(is_gone, excluded.is_gone)"
)
_TELLS: Mapping[str, str] = {
    "gate_calls": "a recorded call",
    "gate_sessions": "the time of a session's last decision",
    "requests": "a request",
    "sessions": "a conversation",
    "query_log": "a row of the query log",
    "served": "which bundle was served",
}
_MAY_GO = frozenset({"requests", "sessions", "query_log"})  # with what was redacted
_STRAY_KEYS = (
    "SELECT gate_keys.decision_id FROM gate_keys LEFT OUTER JOIN gate_calls"
    " ON gate_calls.decision_id = gate_keys.decision_id WHERE gate_calls.decision_id IS NULL"
    " ORDER BY gate_keys.decision_id"
)


def breaks(connection: Connection, hear: Hear | None = None) -> Iterator[Break]:
    """Every row that was edited, deleted or put in since the chain recorded it."""
    with closing(sqlite3.connect("")) as said:  # a file that nobody else sees, gone with the connection
        said.execute(_MAKING)
        for entry in audit.entries(connection):
            yield from _take_down(connection, said, entry)
        for table in COVERED:
            yield from _held(connection, said, table, hear)
        for name, seq in said.execute("SELECT name, seq FROM said WHERE NOT is_met ORDER BY seq, name"):
            table = name.partition(":")[0]
            is_gone = said.execute("SELECT is_gone FROM said WHERE name = ?", (name,)).fetchone()[0]
            if not (is_gone and table in _MAY_GO):
                yield Break("missing", seq, f"{_TELLS[table]} is gone that entry {seq} recorded")
    yield from _strays(connection)


def uncovered(connection: Connection) -> Iterator[str]:
    """What nobody can tell of rows that were written before there were marks, in words."""
    for entry in audit.events(connection, "upgrade"):
        if ANCHORED in _marks(entry):
            kept = parsed(entry.header)["kept"]
            count = connection.first("SELECT count(*) FROM row_anchors")
            rows = 0 if count is None else count[0]
            yield (
                f"{rows} row{'' if rows == 1 else 's'} beside the chain, of an earlier version: not covered before "
                f"{str(kept.get('at'))[:10]} (entry {entry.seq})"
            )


def _take_down(connection: Connection, said: sqlite3.Connection, entry: AuditEntry) -> Iterator[Break]:
    marks = _marks(entry)
    if not marks:
        return
    for name, value in marks.items():
        if name == ANCHORED:
            if _digest_of_anchors(connection) != value:
                yield Break("altered", entry.seq, f"the marks of rows from before are not those of entry {entry.seq}")
            rows = connection.each("SELECT name, mark FROM row_anchors ORDER BY name")
            said.executemany(_SAYING, ((row["name"], row["mark"], entry.seq, 0) for row in rows))
            continue
        table, _, key = name.partition(":")
        request_id = parsed(entry.header)["kept"].get("request_id")
        if table in COVERED and (key or request_id is not None):
            said.execute(_SAYING, (f"{table}:{key or request_id}", value, entry.seq, int(entry.is_redacted)))


def _held(connection: Connection, said: sqlite3.Connection, table: str, hear: Hear | None) -> Iterator[Break]:
    covered, last = COVERED[table], audit.tail(connection).count
    more = ", reply" if table == "requests" else ""
    order = ", ".join(covered.key)
    query = f"SELECT {covered.selected}{more} FROM {table} ORDER BY {order}"
    with audit.leniently(connection):
        for row in heard(f"holding {table}", connection.each(query), 0, hear):
            name, value = mark(table, row)
            known = said.execute("SELECT mark, seq FROM said WHERE name = ?", (name_of(table, row, name),)).fetchone()
            if known is None:
                if table != "requests" or row["reply"] is not None:  # what is being answered is not recorded yet
                    what = f"{_TELLS[table]} is kept that no entry records: {_named(covered, row)}"
                    yield Break("unrecorded", last, what)
                continue
            said.execute("UPDATE said SET is_met = 1 WHERE name = ?", (name_of(table, row, name),))
            if known[0] != value:
                what = f"{_TELLS[table]} is not as entry {known[1]} recorded it: {_named(covered, row)}"
                yield Break("altered", known[1], what)
            if table == "gate_calls":
                yield from _keys(connection, row, known[1])


def name_of(table: str, row: Mapping[str, Any], name: str) -> str:
    """The name of a row among all rows."""
    return name if ":" in name else f"{table}:{row[COVERED[table].key[0]]}"


def _keys(connection: Connection, row: Mapping[str, Any], seq: int) -> Iterator[Break]:
    """Is the call found by its own keys and session, and by nothing else?"""
    from bot.evidence.store.tables.calls import scopes_of

    found = connection.all(
        "SELECT name, value FROM gate_keys WHERE decision_id = :asked", {"asked": row["decision_id"]}
    )
    if sorted((one["name"], one["value"]) for one in found) != sorted(scopes_of(row)):
        yield Break("altered", seq, f"the keys of the recorded call `{row['decision_id']}` are not its own")


def _strays(connection: Connection) -> Iterator[Break]:
    last = audit.tail(connection).count
    for row in connection.each(_STRAY_KEYS):
        yield Break("unrecorded", last, f"a key is kept of a call that is not: `{row['decision_id']}`")


def digest_of(anchors: Iterator[tuple[str, str]]) -> str:
    """One digest of the marks of all rows that were there before, in the order of their names."""
    found = hashlib.sha256()
    for name, value in anchors:
        found.update(f"{name} {value}\n".encode())
    return found.hexdigest()


def _digest_of_anchors(connection: Connection) -> str:
    rows = connection.each("SELECT name, mark FROM row_anchors ORDER BY name")
    return digest_of((str(row["name"]), str(row["mark"])) for row in rows)


def _marks(entry: AuditEntry) -> Mapping[str, str]:
    try:
        found = parsed(entry.header)["kept"].get("rows", {})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}  # the chain's own verdict says so
    return found if isinstance(found, Mapping) else {}


def _named(covered: Any, row: Mapping[str, Any]) -> str:
    return ", ".join(f"`{row[name]}`" for name in covered.key)
