"""How an answered request ends: moved, logged and chained in one transaction, once, by whoever comes first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from bot.conversation import Actor
from bot.evidence.store import marks
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import audit, querylog, requests
from bot.evidence.store.tables.requests import Standing
from bot.lifecycle import Outcome
from bylaw.audit.entry import AuditEntry

TIME = Actor(id="time", type="agent")  # who settles what nobody said anything about


def settle(
    connection: Connection,
    standing: Standing,
    outcome: Outcome,
    by: Actor,
    clock: Callable[[], datetime],
    note: str = "",
    told: Mapping[str, Any] | None = None,
) -> AuditEntry | None:
    """End the request as *outcome* says; its entry of the chain, None where it has ended already or nothing is to end.

    *told* is what the entry says besides; *note* stands with the step, by default who settled it. Needs a write
    transaction; whoever commits it anchors the entry.
    """
    now = clock()
    if not requests.settle(connection, standing.request_id, outcome, note or f"{outcome} by {by.id}", now):
        return None
    querylog.settle(connection, standing.request_id, outcome, now)
    assert standing.reply is not None  # a request that can be settled has one
    body = {
        "event": outcome.value,
        "request_id": standing.request_id,
        "session_id": standing.question.session_id,
        "actor": by.model_dump(),
        "bundle_etag": standing.reply.bundle_etag,
        "commit": standing.reply.commit,
        "artifacts": dict(standing.artifacts),
        **(told or {}),
    }
    rows = marks.of_request(connection, standing.request_id, "requests", "query_log")
    return audit.append(connection, body, clock, standing.request_id, rows)
