"""What people say of an answer that was given: feedback, objections, and the words of who handled or settled it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from bot.evidence.store.columns import moment, told
from bot.evidence.store.connection import Connection, insert_new
from bylaw.canonical import fingerprint

Kind = Literal["feedback", "handled", "assigned", "objected", "settled"]
Verdict = Literal["positive", "negative"]


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
    return insert_new(connection, "remarks", row)


def of(connection: Connection, request_id: str) -> list[dict[str, Any]]:
    """What was said of the request, oldest first."""
    rows = connection.all(
        "SELECT * FROM remarks WHERE request_id = :asked ORDER BY at, remark_id", {"asked": request_id}
    )
    return [_read(row) for row in rows]


def of_kind(connection: Connection, kind: Kind, most: int) -> list[dict[str, Any]]:
    """The newest remarks of that kind, at most so many, oldest first."""
    query = "SELECT * FROM remarks WHERE kind = :kind ORDER BY at DESC, remark_id LIMIT :most"
    return [_read(row) for row in reversed(connection.all(query, {"kind": kind, "most": most}))]


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "at": moment(row["at"]), "correction": told(row["correction"])}
