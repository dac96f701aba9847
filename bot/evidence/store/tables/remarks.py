"""What people say of an answer that was given: feedback, and the words of whoever handled it in place of the bot."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, Connection, Index, String, Table, Text, select

from bot.evidence.store.columns import ID_LENGTH, Json, Moment, insert_new, metadata
from bylaw.canonical import fingerprint

Kind = Literal["feedback", "handled", "assigned"]
Verdict = Literal["positive", "negative"]

remarks = Table(
    "remarks",
    metadata,
    Column("remark_id", String(64), primary_key=True),
    Column("request_id", String(ID_LENGTH), nullable=False),
    Column("actor_id", String(ID_LENGTH), nullable=False),
    Column("at", Moment, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("verdict", String(16)),
    Column("text", Text),
    Column("correction", Json),
    Index(None, "request_id", "at"),
)


def keep(
    connection: Connection,
    request_id: str,
    actor_id: str,
    kind: Kind,
    now: datetime,
    verdict: Verdict | None = None,
    text: str | None = None,
    correction: Mapping[str, Any] | None = None,
) -> bool:
    """Keep the remark. False: the same person said the very same before. Needs a write transaction."""
    said = {"request_id": request_id, "actor_id": actor_id, "kind": kind, "verdict": verdict, "text": text}
    given = None if correction is None else dict(correction)
    row = {**said, "remark_id": fingerprint({**said, "correction": given}), "at": now, "correction": given}
    return insert_new(connection, remarks, row)


def of(connection: Connection, request_id: str) -> list[dict[str, Any]]:
    """What was said of the request, oldest first."""
    found = select(remarks).where(remarks.c.request_id == request_id).order_by(remarks.c.at, remarks.c.remark_id)
    return [dict(row) for row in connection.execute(found).mappings()]
