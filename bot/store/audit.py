"""Where the audit chain is kept: one chain for all processes, extended under one lock, never updated.

`append` must run in a write transaction. SQLite's IMMEDIATE lock covers the read of the tail and the write after it; on
PostgreSQL an advisory lock that ends with the transaction does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    select,
    text,
)

from bot.store.columns import ID_LENGTH, Moment, metadata, stamp
from bylaw.audit import AuditEntry, Checkpoint, link, read
from bylaw.canonical import canonical_json, write_atomically

audit = Table(
    "audit",
    metadata,
    Column("position", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("prev_hash", String(64)),
    Column("entry_hash", String(64), nullable=False),
    Column("request_id", String(ID_LENGTH), index=True),
    Column("at", Moment, nullable=False),
    Column("payload", Text, nullable=False),
    # Two entries after one predecessor would be a fork: the database itself refuses it.
    UniqueConstraint("prev_hash"),
    UniqueConstraint("entry_hash"),
)

_LOCK = 0x6279_6C61_7701  # the advisory lock of the chain on PostgreSQL


def append(connection: Connection, body: Mapping[str, Any], at: datetime, request_id: str | None = None) -> AuditEntry:
    """Add one entry at the end of the chain and return it. It is part of the caller's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    tail = connection.execute(select(audit).order_by(audit.c.position.desc()).limit(1)).one_or_none()
    previous = None if tail is None else read(tail.prev_hash, tail.entry_hash, tail.payload, tail.position)
    entry = link(previous, {"at": stamp(at), **body})
    connection.execute(
        audit.insert().values(
            position=1 if tail is None else tail.position + 1,
            prev_hash=entry.prev_hash,
            entry_hash=entry.entry_hash,
            request_id=request_id,
            at=at,
            payload=entry.payload,
        )
    )
    return entry


def entries(connection: Connection) -> Iterator[AuditEntry]:
    """The chain in its stored order."""
    for row in connection.execute(select(audit).order_by(audit.c.position)):
        yield read(row.prev_hash, row.entry_hash, row.payload, row.position)


def about(connection: Connection, request_id: str) -> list[AuditEntry]:
    """The entries of one request, oldest first."""
    rows = connection.execute(select(audit).where(audit.c.request_id == request_id).order_by(audit.c.position))
    return [read(row.prev_hash, row.entry_hash, row.payload, row.position) for row in rows]


def standing(connection: Connection) -> Checkpoint:
    """Length and head of the chain as it is stored now."""
    count = connection.execute(select(func.count()).select_from(audit)).scalar_one()
    head = connection.execute(select(audit.c.entry_hash).order_by(audit.c.position.desc()).limit(1)).scalar()
    return Checkpoint(count, head)


def anchor(path: Path, checkpoint: Checkpoint) -> None:
    """Keep *checkpoint* in a file outside the store."""
    write_atomically(path, canonical_json({"count": checkpoint.count, "head": checkpoint.head}) + "\n")
