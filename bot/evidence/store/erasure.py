"""What was said, taken out of every table but the chain: the rows about requests, and what a conversation carries.

In the order in which whoever answers takes the rows, so that nobody waits in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Column, ColumnElement, Table, delete, exists, or_, select

from bot.evidence.store.connection import Connection
from bot.evidence.store.schema import (
    audit,
    corrections,
    deliveries,
    memories,
    query_log,
    remarks,
    request_steps,
    requests,
    sessions,
)

# a table, and its column that names the request
_ABOUT: tuple[tuple[Table, Column[str]], ...] = (
    (request_steps, request_steps.c.request_id),
    (requests, requests.c.request_id),
    (query_log, query_log.c.request_id),
    (remarks, remarks.c.request_id),
    (deliveries, deliveries.c.delivery_id),
    (deliveries, deliveries.c.about),
    (corrections, corrections.c.request_id),
    (memories, memories.c.request_id),
)


def is_known(connection: Connection, request_id: str) -> bool:
    """Does any row speak of the request?"""
    return any(connection.execute(select(exists().where(named == request_id))).scalar() for _, named in _ABOUT)


def is_held(connection: Connection, request_id: str, now: datetime) -> bool:
    """Is somebody answering it right now?"""
    # what only waits to be sent again has a time and no owner
    working = (
        (requests.c.request_id == request_id, requests.c.leased_until > now),
        (
            deliveries.c.delivery_id == request_id,
            deliveries.c.leased_until > now,
            deliveries.c.owner.is_not(None),
        ),
    )
    return any(connection.execute(select(exists().where(*one))).scalar() for one in working)


def before(connection: Connection, moment: datetime, now: datetime) -> list[str]:
    """The requests whose rows were last touched before *moment*, and of which the chain says nothing later.

    What somebody is working on, and a message that still waits for its answer, stay.
    """
    named, until = requests.c.request_id, requests.c.leased_until
    found = (
        select(named).where(requests.c.updated_at < moment, or_(until.is_(None), until <= now), _ended(named, moment)),
        select(query_log.c.request_id).where(query_log.c.at < moment, _ended(query_log.c.request_id, moment)),
        select(deliveries.c.delivery_id).where(
            deliveries.c.closed_at < moment, _ended(deliveries.c.delivery_id, moment)
        ),
    )
    return sorted({name for query in found for name in connection.execute(query).scalars()})


def carried_on(connection: Connection, request_ids: Sequence[str], most: int) -> list[str]:
    """Later requests of the same conversations that stay: what was said before may stand in their papers too."""
    gone = requests.alias("gone")
    same = (gone.c.session_id == requests.c.session_id, gone.c.actor_id == requests.c.actor_id)
    query = (
        select(requests.c.request_id)
        .where(exists().where(*same, gone.c.request_id.in_(request_ids), gone.c.created_at < requests.c.created_at))
        .where(requests.c.request_id.not_in(request_ids))
        .order_by(requests.c.created_at, requests.c.request_id)
        .limit(most)
    )
    return list(connection.execute(query).scalars())


def forget(connection: Connection, request_ids: Sequence[str]) -> int:
    """Delete the rows about these requests, and what their conversations carry; how many requests had a row."""
    named = requests.c.request_id.in_(request_ids)
    # who answers one of them now goes on first, or finds it gone
    held = select(requests.c.session_id, requests.c.actor_id).where(named).order_by(requests.c.request_id)
    rows = connection.execute(held.with_for_update()).all()
    for one in sorted({(row.session_id, row.actor_id) for row in rows}):
        connection.execute(delete(sessions).where(sessions.c.session_id == one[0], sessions.c.actor_id == one[1]))
    for table, column in _ABOUT:
        connection.execute(delete(table).where(column.in_(request_ids)))
    return len(rows)


def forget_conversations(connection: Connection, moment: datetime) -> None:
    """Delete what conversations carry that nobody went on with since *moment*."""
    connection.execute(delete(sessions).where(sessions.c.updated_at < moment))


def _ended(named: Column[str], moment: datetime) -> ColumnElement[bool]:
    return ~exists().where(audit.c.request_id == named, audit.c.at >= moment)
