"""Where the audit chain is kept: one chain for all processes, extended under one lock; only a redaction updates.

`append` must run in a write transaction. SQLite's IMMEDIATE lock covers the read of the tail and the write after it; on
PostgreSQL an advisory lock that ends with the transaction does.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    Row,
    String,
    Table,
    Text,
    UniqueConstraint,
    func,
    select,
    text,
    type_coerce,
)

from bot.store.columns import ID_LENGTH, Moment, first_row, metadata, run, stamp
from bylaw.audit.entry import REDACTION, START, AuditEntry, Checkpoint, Draft, draft, link, read
from bylaw.audit.verify import Verdict, Verifier
from bylaw.canonical import canonical_json

audit = Table(
    "audit",
    metadata,
    Column("position", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("prev_hash", String(64)),
    Column("entry_hash", String(64), nullable=False),
    Column("request_id", String(ID_LENGTH), index=True),
    Column("at", Moment, nullable=False),
    Column("header", Text, nullable=False),
    Column("payload", Text),
    # Two entries after one predecessor would be a fork: the database itself refuses it.
    UniqueConstraint("prev_hash"),
    UniqueConstraint("entry_hash"),
)

_LOCK = 0x6279_6C61_7701  # the advisory lock of the chain on PostgreSQL
_BATCH = 1_000  # rows held at a time while the chain is read

_LAST = select(func.max(audit.c.position)).scalar_subquery()
_TAIL = select(audit.c.position, audit.c.entry_hash).where(audit.c.position == _LAST)
_INSERT = audit.insert()


def prepare(body: Mapping[str, Any]) -> Draft:
    """*body* ready to be appended: the work that needs no lock. Its time comes with its place in the chain."""
    return draft(body, secrets.token_hex(16))


def append(
    connection: Connection,
    body: Mapping[str, Any] | Draft,
    at: datetime | Callable[[], datetime],
    request_id: str | None = None,
) -> AuditEntry:
    """Add one entry, dated *at*, at the end of the chain and return it. It is part of the caller's transaction.

    Given a clock, it is asked once the place in the chain is certain: whoever waited for it is not dated too early.
    """
    drafted = body if isinstance(body, Draft) else prepare(body)
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    last = tail(connection)
    dated = at if isinstance(at, datetime) else at()
    entry = link(last, drafted, stamp(dated))
    row = {
        "position": entry.seq,
        "prev_hash": entry.prev_hash,
        "entry_hash": entry.entry_hash,
        "request_id": request_id,
        "at": dated,
        "header": entry.header,
        "payload": entry.payload,
    }
    run(connection, _INSERT, row)
    return entry


def tail(connection: Connection) -> Checkpoint:
    """Where the chain stands in this transaction."""
    last = first_row(connection, _TAIL)
    return START if last is None else Checkpoint(*last)


def entries(connection: Connection, start: Checkpoint = START) -> Iterator[AuditEntry]:
    """The chain in its stored order, from what follows *start*."""
    for row in _rows(connection, start):
        yield _entry(row)


def verify(connection: Connection, anchors: Iterable[Checkpoint] = ()) -> Verdict:
    """The verdict over the stored chain. The columns beside the header must say what the header says."""
    verifier = Verifier(anchors)
    elsewhere: tuple[int, int] | None = None
    for row in _rows(connection, START):
        entry = _entry(row)
        if verifier.feed(entry) and (wrong := _misfiled(row, entry)):
            verifier.tell("edited", entry.seq, f"entry {entry.seq} is filed under another {wrong} than was recorded")
        if entry.seq != row.position and elsewhere is None:
            elsewhere = entry.seq, row.position
    if elsewhere is not None and verifier.is_in_order:
        verifier.tell("edited", elsewhere[0], f"entry {elsewhere[0]} is filed under the number {elsewhere[1]}")
    return verifier.finish()


def about(connection: Connection, request_id: str) -> list[AuditEntry]:
    """The entries of one request, oldest first."""
    query = select(audit).where(audit.c.request_id == request_id).order_by(audit.c.position)
    with _leniently(connection):
        return [_entry(row) for row in connection.execute(query)]


def hash_at(connection: Connection, position: int) -> str | None:
    """The hash of one entry, None when there is none."""
    return connection.execute(select(audit.c.entry_hash).where(audit.c.position == position)).scalar()


def start_of(connection: Connection, since: datetime | int) -> Checkpoint:
    """What the first entry of that number, or dated then or later, follows. By number: a clock may have gone back."""
    if isinstance(since, int):
        chosen = audit.c.position >= since
    else:
        chosen = audit.c.at >= since
    start = select(func.min(audit.c.position)).where(chosen).scalar_subquery()
    row = connection.execute(select(audit.c.position, audit.c.prev_hash).where(audit.c.position == start)).one_or_none()
    return tail(connection) if row is None else Checkpoint(row.position - 1, row.prev_hash)


def positions(connection: Connection, before: datetime | None = None, request_id: str | None = None) -> list[int]:
    """The entries whose payload is still there, of one request or dated earlier; redactions themselves stay."""
    query = select(audit.c.position).where(audit.c.payload.is_not(None)).order_by(audit.c.position)
    if before is not None:
        query = query.where(audit.c.at < before)
    if request_id is not None:
        query = query.where(audit.c.request_id == request_id)
    return list(connection.execute(query.where(audit.c.header.not_like(_REDACTIONS))).scalars())


def redact(
    connection: Connection, chosen: Sequence[int], by: str, reason: str, at: datetime | Callable[[], datetime]
) -> AuditEntry:
    """Take the payloads of *chosen* away, and record that, by whom and why. Their digests stay in the chain."""
    ranges = list(_ranges(chosen))
    for first, last in ranges:
        connection.execute(audit.update().where(audit.c.position.between(first, last)).values(payload=None))
    return append(connection, {"event": REDACTION, "redacts": ranges, "by": by, "reason": reason}, at)


_REDACTIONS = f'%"event":"{REDACTION}"%'


def _rows(connection: Connection, start: Checkpoint) -> Iterator[Row[Any]]:
    """The stored rows after *start*; memory holds a batch of them."""
    query = select(
        audit.c.position,
        audit.c.prev_hash,
        audit.c.entry_hash,
        audit.c.request_id,
        type_coerce(audit.c.at, String).label("at"),
        audit.c.header,
        audit.c.payload,
    ).order_by(audit.c.position)
    if start.count:
        query = query.where(audit.c.position > start.count)
    with _leniently(connection), connection.execution_options(yield_per=_BATCH).execute(query) as rows:
        yield from rows


@contextmanager
def _leniently(connection: Connection) -> Iterator[None]:
    """Read whatever stands in the rows: text that is none, as SQLite may hold it, is damage to tell of."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    before, driver.text_factory = driver.text_factory, lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        driver.text_factory = before


def _entry(row: Row[Any]) -> AuditEntry:
    """The entry of a row. What is no text does not match any hash."""
    prev_hash, entry_hash, header, payload = (
        value if value is None or isinstance(value, str) else repr(value)
        for value in (row.prev_hash, row.entry_hash, row.header, row.payload)
    )
    return read(prev_hash, str(entry_hash), str(header), payload, row.position)


def _misfiled(row: Row[Any], entry: AuditEntry) -> str | None:
    """Which column says something else than the header that was hashed?"""
    if f'"at":"{row.at}"' not in entry.header:
        return "time"
    named = '"request_id":' if row.request_id is None else f'"request_id":{canonical_json(str(row.request_id))}'
    return "request" if (named in entry.header) == (row.request_id is None) else None


def _ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ascending *numbers* as ranges, both ends included."""
    first = last = None
    for number in numbers:
        if first is None or last is None:
            first = last = number
        elif number == last + 1:
            last = number
        else:
            yield first, last
            first = last = number
    if first is not None and last is not None:
        yield first, last
