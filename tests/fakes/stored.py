"""Everything that a store holds, to look for what should not be there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import inspect

from bot.evidence.store.columns import maybe
from bot.evidence.store.columns import told as parsed
from bot.evidence.store.connection import Connection


def every_row(connection: Connection) -> list[str]:
    """The rows of each table, as text."""
    names = sorted(inspect(connection.full).get_table_names())
    return [str(connection.all(f'SELECT * FROM "{name}"')) for name in names]


def delivery(connection: Connection, delivery_id: str) -> Mapping[str, Any] | None:
    """The whole row, None for a message that never came."""
    row = connection.one("SELECT * FROM deliveries WHERE delivery_id = :named", {"named": delivery_id})
    if row is None:
        return None
    times = {name: maybe(row[name]) for name in ("leased_until", "created_at", "closed_at", "blocked_at")}
    documents = {name: parsed(row[name]) for name in ("letter", "place")}
    return {**row, **times, **documents, "is_doubtful": bool(row["is_doubtful"])}


def unfinished(connection: Connection, now: datetime) -> list[str]:
    """Requests without a reply that nobody works on: their processes died or broke down. Oldest first."""
    rows = connection.all(
        "SELECT request_id FROM requests WHERE reply IS NULL AND (leased_until IS NULL OR leased_until <= :now)"
        " ORDER BY created_at, request_id",
        {"now": now},
    )
    return [row["request_id"] for row in rows]
