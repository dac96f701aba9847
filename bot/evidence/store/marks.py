"""What an entry of the chain says of the rows that were written with it: a digest of each, in what a redaction leaves.

A mark tells nobody what stood in a row: with the row goes its salt. The last entry that marks a row says what the row
is; `bot.evidence.store.covered` holds all rows against that. A row whose key is a request's id is marked under its
table, by the entry of that request; any other under its table and a digest of its key.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.evidence.store.connection import Connection, update
from bylaw.canonical import spelled

Marks = Mapping[str, str]


@dataclass(frozen=True)
class Covered:
    """What is marked of a table's rows: its `key`, and the columns that decide. `is_by_request`: the key is an id."""

    key: tuple[str, ...]
    columns: tuple[str, ...]
    is_by_request: bool = True

    @property
    def selected(self) -> str:
        """The columns that a mark is made of, as SQL."""
        return ", ".join(f'"{name}"' for name in dict.fromkeys(("salt", *self.key, *self.columns)))


# What reply and question are is told by the fingerprints of their papers (`bot.evidence.store.kept`).
COVERED: Mapping[str, Covered] = {
    "gate_calls": Covered(
        ("decision_id",),
        ("change", "session_id", "actor", "action", "tool", "keys", "facts", "at", "ok", "asked_by", "reserved_until"),
    ),
    "gate_sessions": Covered(("session_id",), ("last_at",), is_by_request=False),
    "requests": Covered(
        ("request_id",),
        (
            *("fingerprint", "session_id", "actor_id", "state", "kind", "bundle_etag", "created_at", "revises"),
            *("clarifies", "due_at", "assigned_to", "settled_at", "outcome"),
        ),
    ),
    "sessions": Covered(
        ("session_id", "actor_id"),
        ("version", "last_kind", "pending", "offered", "states", "updated_at", "last_request"),
        is_by_request=False,
    ),
    "query_log": Covered(
        ("log_id",),
        (
            *("at", "request_id", "actor_id", "session_id", "natural_language", "stated_criticality", "kind"),
            *("matched_entities", "domain", "routing_confidence", "error_likelihood", "expected_cost", "factors"),
            *("autonomy_level", "generated_sql", "execution_time_ms", "status", "user_accepted", "feedback"),
            *("correction_made", "correction_type", "outcome", "settled_at", "revises", "clarifies", "choice"),
            "answer_ms",
        ),
    ),
    "served": Covered(("name",), ("etag", "source_commit", "committed_at", "served_at"), is_by_request=False),
}


def new_salt() -> str:
    """What keeps the mark of a row from telling what stood in it."""
    return secrets.token_hex(16)


def mark(table: str, row: Mapping[str, Any]) -> tuple[str, str]:
    """The name under which *row* is marked, and its mark. Its values are those of the database."""
    covered = COVERED[table]
    key = [row[name] for name in covered.key]
    name = table if covered.is_by_request else f"{table}:{_digest([row['salt'], *key])[:32]}"
    return name, _digest([table, row["salt"], *key, *(_plain(row[column]) for column in covered.columns)])


def of_request(connection: Connection, request_id: str, *tables: str) -> dict[str, str]:
    """The marks of the rows about a request in *tables*, as they stand in this transaction."""
    found: dict[str, str] = {}
    for table in tables:
        found |= of_row(connection, table, {COVERED[table].key[0]: request_id})
    return found


def of_row(connection: Connection, table: str, key: Mapping[str, Any]) -> dict[str, str]:
    """The mark of one row as it stands in this transaction; of one that is not there, none."""
    where = " AND ".join(f"{name} = :{name}" for name in key)
    row = connection.one(f"SELECT {COVERED[table].selected} FROM {table} WHERE {where}", key)
    if row is None:
        return {}
    if row["salt"] is None:
        row["salt"] = new_salt()
        update(connection, table, key, {"salt": row["salt"]})
    return dict([mark(table, row)])


def _plain(value: Any) -> Any:
    """A value as every driver gives it."""
    return int(value) if isinstance(value, bool) else value


def _digest(values: list[Any]) -> str:
    return hashlib.sha256(spelled(values).encode("utf-8", "surrogatepass")).hexdigest()
