"""What was said, taken out of every table but the chain: the rows about requests, and what a conversation carries.

In the order in which whoever answers takes the rows, so that nobody waits in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.evidence.store.connection import Connection, among

# a table, and its column that names the request
_ABOUT = (
    ("request_steps", "request_id"),
    ("requests", "request_id"),
    ("query_log", "request_id"),
    ("remarks", "request_id"),
    ("deliveries", "delivery_id"),
    ("deliveries", "about"),
    ("corrections", "request_id"),
    ("memories", "request_id"),
)
# what only waits to be sent again has a time and no owner
_WORKING = (
    "SELECT 1 FROM requests WHERE request_id = :asked AND leased_until > :now",
    "SELECT 1 FROM deliveries WHERE delivery_id = :asked AND leased_until > :now AND owner IS NOT NULL",
)
_ENDED = "NOT EXISTS (SELECT 1 FROM audit WHERE audit.request_id = {} AND audit.at >= :moment)"
_BEFORE = (
    "SELECT request_id AS named FROM requests WHERE updated_at < :moment"
    f" AND (leased_until IS NULL OR leased_until <= :now) AND {_ENDED.format('requests.request_id')}",
    f"SELECT request_id AS named FROM query_log WHERE at < :moment AND {_ENDED.format('query_log.request_id')}",
    f"SELECT delivery_id AS named FROM deliveries WHERE closed_at < :moment AND {_ENDED.format('delivery_id')}",
)


def is_known(connection: Connection, request_id: str) -> bool:
    """Does any row speak of the request?"""
    queries = (f"SELECT 1 FROM {table} WHERE {column} = :asked" for table, column in _ABOUT)
    return any(connection.first(query, {"asked": request_id}) is not None for query in queries)


def is_held(connection: Connection, request_id: str, now: datetime) -> bool:
    """Is somebody answering it right now?"""
    given = {"asked": request_id, "now": now}
    return any(connection.first(query, given) is not None for query in _WORKING)


def before(connection: Connection, moment: datetime, now: datetime) -> list[str]:
    """The requests whose rows were last touched before *moment*, and of which the chain says nothing later.

    What somebody is working on, and a message that still waits for its answer, stay.
    """
    given = {"moment": moment, "now": now}
    return sorted({str(row["named"]) for query in _BEFORE for row in connection.each(query, given)})


def carried_on(connection: Connection, request_ids: Sequence[str], most: int) -> list[str]:
    """Later requests of the same conversations that stay: what was said before may stand in their papers too."""
    chosen, given = among("request_id", request_ids)
    earlier = (
        f"SELECT 1 FROM (SELECT session_id, actor_id, created_at FROM requests WHERE {chosen}) AS gone"
        " WHERE gone.session_id = requests.session_id AND gone.actor_id = requests.actor_id"
        " AND gone.created_at < requests.created_at"
    )
    query = (
        f"SELECT request_id FROM requests WHERE EXISTS ({earlier}) AND NOT ({chosen})"
        " ORDER BY created_at, request_id LIMIT :most"
    )
    return [str(row["request_id"]) for row in connection.each(query, {**given, "most": most})]


def forget(connection: Connection, request_ids: Sequence[str]) -> int:
    """Delete the rows about these requests, and what their conversations carry; how many requests had a row."""
    chosen, given = among("request_id", request_ids)
    # who answers one of them now goes on first, or finds it gone
    held = f"SELECT session_id, actor_id FROM requests WHERE {chosen} ORDER BY request_id"
    rows = connection.all(connection.locked(held), given)
    for session_id, actor_id in sorted({(row["session_id"], row["actor_id"]) for row in rows}):
        whose = {"session": session_id, "actor": actor_id}
        connection.run("DELETE FROM sessions WHERE session_id = :session AND actor_id = :actor", whose)
    for table, column in _ABOUT:
        chosen, given = among(column, request_ids)
        connection.run(f"DELETE FROM {table} WHERE {chosen}", given)
    return len(rows)


def forget_conversations(connection: Connection, moment: datetime) -> None:
    """Delete what conversations carry that nobody went on with since *moment*."""
    connection.run("DELETE FROM sessions WHERE updated_at < :moment", {"moment": moment})
