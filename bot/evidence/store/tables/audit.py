"""Where the audit chain is kept: one chain for all processes, extended under one lock; only a redaction updates.

`append` must run in a write transaction. SQLite's IMMEDIATE lock covers the read of the tail and the write after it; on
PostgreSQL an advisory lock that ends with the transaction does.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bot.evidence.store.columns import stamp
from bot.evidence.store.connection import Connection, Local, insert
from bylaw.audit.entry import (
    ARTIFACTS,
    BUNDLE,
    REDACTION,
    START,
    AuditEntry,
    Checkpoint,
    EntryDraft,
    after,
    draft,
    link,
    read,
)
from bylaw.canonical import canonical_json
from bylaw.progress import Hear, heard

if TYPE_CHECKING:
    from bylaw.audit.verify import Ranges, Redaction, Verdict

_LOCK = 0x6279_6C61_7701  # the advisory lock of the chain on PostgreSQL

NOWHERE: Mapping[str, str | None] = {"bundle_etag": None, "commit": None}

_TAIL = "SELECT position, entry_hash FROM audit WHERE position = (SELECT max(position) FROM audit)"


@dataclass(frozen=True, slots=True)
class Filed:
    """An entry as redacting sees it. `is_fixed`: all it says was hashed, so that nothing of it can be taken away."""

    seq: int
    request_id: str | None
    papers: frozenset[str]
    is_fixed: bool


def prepare(body: Mapping[str, Any]) -> EntryDraft:
    """*body* ready to be appended: the work that needs no lock. Its time comes with its place in the chain."""
    return draft(body, secrets.token_hex(16))


def append(
    connection: Connection,
    body: Mapping[str, Any] | EntryDraft,
    at: datetime | Callable[[], datetime],
    request_id: str | None = None,
    rows: Mapping[str, str] | None = None,
) -> AuditEntry:
    """Add one entry, dated *at*, at the end of the chain and return it. It is part of the caller's transaction.

    Given a clock, it is asked once the place in the chain is certain: whoever waited for it is not dated too early.
    *rows* are the marks of the rows that this transaction leaves (`bot.evidence.store.marks`).
    """
    drafted = body if isinstance(body, EntryDraft) else prepare(body)
    end = End.of(connection)
    entry = end.add(drafted, at if isinstance(at, datetime) else at(), request_id, rows)
    end.write(connection)
    return entry


@dataclass
class End:
    """The end of the chain in one transaction: entries are linked here, then written at once."""

    tail: Checkpoint
    _rows: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, connection: Connection) -> End:
        """The end as it is; from here on nobody else extends the chain."""
        lock(connection)
        return cls(tail(connection))

    def add(
        self, drafted: EntryDraft, at: datetime, request_id: str | None, rows: Mapping[str, str] | None = None
    ) -> AuditEntry:
        """Link one entry more, dated *at*."""
        entry = link(self.tail, drafted, stamp(at), rows)
        self.tail = after(entry)
        self._rows.append(
            {
                "position": entry.seq,
                "prev_hash": entry.prev_hash,
                "entry_hash": entry.entry_hash,
                "request_id": request_id,
                "at": at,
                "header": entry.header,
                "payload": entry.payload,
            }
        )
        return entry

    def write(self, connection: Connection) -> None:
        """Write down what was linked."""
        if self._rows:
            insert(connection, "audit", self._rows)
            self._rows = []


def lock(connection: Connection) -> None:
    """Keep everybody else from extending the chain until this transaction ends."""
    if connection.dialect == "postgresql":
        connection.first("SELECT pg_advisory_xact_lock(:key)", {"key": _LOCK})


def tail(connection: Connection) -> Checkpoint:
    """Where the chain stands in this transaction."""
    last = connection.first(_TAIL)
    return START if last is None else Checkpoint(*last)


def entries(connection: Connection, start: Checkpoint = START, hear: Hear | None = None) -> Iterator[AuditEntry]:
    """The chain in its stored order, from what follows *start*."""
    of = 0 if hear is None else tail(connection).count - start.count
    for row in heard("reading the chain", _rows(connection, start), of, hear):
        yield _entry(row)


def verify(connection: Connection, anchors: Iterable[Checkpoint] = (), hear: Hear | None = None) -> Verdict:
    """The verdict over the stored chain. The columns beside the header must say what the header says."""
    from bylaw.audit.verify import Verifier

    verifier = Verifier(anchors)
    elsewhere: tuple[int, int] | None = None
    for row in heard("verifying", _rows(connection, START), 0 if hear is None else tail(connection).count, hear):
        entry = _entry(row)
        if verifier.feed(entry) and (wrong := _misfiled(row, entry)):
            verifier.tell("edited", entry.seq, f"entry {entry.seq} is filed under another {wrong} than was recorded")
        if entry.seq != row["position"] and elsewhere is None:
            elsewhere = entry.seq, row["position"]
    if elsewhere is not None and verifier.is_in_order:
        verifier.tell("edited", elsewhere[0], f"entry {elsewhere[0]} is filed under the number {elsewhere[1]}")
    return verifier.finish()


def about(connection: Connection, request_id: str) -> list[AuditEntry]:
    """The entries of one request, oldest first."""
    query = "SELECT * FROM audit WHERE request_id = :asked ORDER BY position"
    with leniently(connection):
        return [_entry(row) for row in connection.all(query, {"asked": request_id})]


def events(connection: Connection, event: str) -> list[AuditEntry]:
    """The entries that record such an event, oldest first."""
    query = "SELECT * FROM audit WHERE header LIKE :named ORDER BY position"
    with leniently(connection):
        return [_entry(row) for row in connection.all(query, {"named": f'%"event":{canonical_json(event)}%'})]


def hash_at(connection: Connection, position: int) -> str | None:
    """The hash of one entry, None when there is none."""
    found = connection.first("SELECT entry_hash FROM audit WHERE position = :position", {"position": position})
    return None if found is None else found[0]


def follows(connection: Connection, position: int) -> str | None:
    """What the entry behind *position* says that it follows, None when there is none."""
    found = connection.first("SELECT prev_hash FROM audit WHERE position = :position", {"position": position + 1})
    return None if found is None else found[0]


def start_of(connection: Connection, since: datetime | int) -> Checkpoint:
    """What the first entry of that number, or dated then or later, follows. By number: a clock may have gone back."""
    if isinstance(since, int):
        chosen = "position >= :since"
    else:
        chosen = "at >= :since"
    start = f"SELECT position, prev_hash FROM audit WHERE position = (SELECT min(position) FROM audit WHERE {chosen})"
    row = connection.first(start, {"since": since})
    return tail(connection) if row is None else Checkpoint(row[0] - 1, row[1])


def unredacted(
    connection: Connection, before: datetime | None = None, request_id: str | None = None
) -> Iterator[Filed]:
    """The entries that no redaction has taken whole, of one request or dated earlier; redactions themselves stay.

    One that an earlier version redacted is among them: its papers were left.
    """
    gone = taken(connection)
    query = "SELECT position, request_id, header, payload FROM audit WHERE header NOT LIKE :redactions"
    query += "" if before is None else " AND at < :before"
    query += "" if request_id is None else " AND request_id = :asked"
    given = {"redactions": _REDACTIONS, "before": before, "asked": request_id}
    with leniently(connection):
        for row in connection.each(f"{query} ORDER BY position", given):
            if not (row["payload"] is None and row["position"] in gone):
                is_fixed = str(row["header"]).startswith(_FIXED)
                yield Filed(row["position"], row["request_id"], _papers(row), is_fixed)


def taken(connection: Connection) -> Ranges:
    """The numbers of the entries that redactions took together with their papers. Earlier versions left those."""
    from bylaw.audit.verify import Ranges, redaction

    found = [(entry, redaction(entry)) for entry in events(connection, REDACTION)]
    return Ranges(one for entry, said in found if said is not None and ARTIFACTS in entry.body for one in said.ranges)


def names_elsewhere(
    connection: Connection, wanted: Set[str], request_ids: Set[str], since: int = 0
) -> tuple[set[str], int]:
    """Which of *wanted* papers an entry behind *since* names that stays, and where the chain ends.

    An entry stays unless it is of one of these requests, or redacted already.
    """
    query = (
        "SELECT position, request_id, header, payload FROM audit WHERE position > :since"
        " AND (payload IS NOT NULL OR header LIKE :fixed) ORDER BY position"
    )
    found: set[str] = set()
    last = since
    with leniently(connection):
        for row in connection.each(query, {"since": since, "fixed": f"{_FIXED}%"}):
            last = row["position"]
            if row["request_id"] not in request_ids:
                found |= wanted & _papers(row)
    return found, last


def redaction_of(connection: Connection, seq: int) -> Redaction | None:
    """The first redaction that took the payload of entry *seq*."""
    from bylaw.audit.verify import redaction

    for entry in events(connection, REDACTION):
        found = redaction(entry)
        if found is not None and any(first <= seq <= last for first, last in found.ranges):
            return found
    return None


def told(found: Redaction) -> str:
    """Of a redaction, in words: `was redacted by dpo on 2026-11-20 (entry 7): asked for`."""
    return f"was redacted by {found.by or 'nobody named'} on {found.at[:10]} (entry {found.seq}): {found.reason}"


def redact(
    connection: Connection,
    chosen: Sequence[int],
    by: str,
    reason: str,
    at: datetime | Callable[[], datetime],
    origin: Mapping[str, str | None] = NOWHERE,
) -> AuditEntry:
    """Take the payloads of *chosen* away, and record that, by whom and why. Their digests stay in the chain.

    Whatever lies beside the chain is to be gone by now: that the entry has papers of its own, none, says so. *origin*
    are the etag and the commit of the bundle that was in force, null where none is known.
    """
    ranges = list(_ranges(chosen))
    for first, last in ranges:
        taken_away = "UPDATE audit SET payload = NULL WHERE position BETWEEN :first AND :last"
        connection.run(taken_away, {"first": first, "last": last})
    said = {"event": REDACTION, "redacts": ranges, "by": by, "reason": reason}
    return append(connection, {**said, **origin, ARTIFACTS: {}}, at)


_REDACTIONS = f'%"event":"{REDACTION}"%'
_FIXED = '{"body":'  # how a header begins that holds, hashed, all that was said: an earlier version wrote it
_NAME = re.compile(r"[0-9a-f]{64}")


def _papers(row: Mapping[str, Any]) -> frozenset[str]:
    """The papers that an entry names, except the bundle: it says nothing of anybody, and others came from it."""
    try:
        read = json.loads(row["header"])
        where = [read["body"] if "body" in read else read["kept"], json.loads(row["payload"] or "{}")]
        named = [pair for one in where for pair in (one.get(ARTIFACTS) or {}).items()]
        return frozenset(mark for name, mark in named if name != BUNDLE and _NAME.fullmatch(mark))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return frozenset()  # verifying will report it


def _rows(connection: Connection, start: Checkpoint) -> Iterator[dict[str, Any]]:
    """The stored rows after *start*; of the whole chain every row, whatever number somebody gave it."""
    behind = " WHERE position > :since" if start.count else ""
    with leniently(connection):
        yield from connection.each(f"SELECT * FROM audit{behind} ORDER BY position", {"since": start.count})


@contextmanager
def leniently(connection: Connection) -> Iterator[None]:
    """Read whatever stands in the rows: text that is none, as SQLite may hold it, is damage to tell of."""
    if not isinstance(connection, Local):
        yield
        return
    driver = connection.driver
    before, driver.text_factory = driver.text_factory, lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        driver.text_factory = before


def _entry(row: Mapping[str, Any]) -> AuditEntry:
    """The entry of a row. What is no text does not match any hash."""
    prev_hash, entry_hash, header, payload = (
        value if value is None or isinstance(value, str) else repr(value)
        for value in (row["prev_hash"], row["entry_hash"], row["header"], row["payload"])
    )
    return read(prev_hash, str(entry_hash), str(header), payload, row["position"])


def _misfiled(row: Mapping[str, Any], entry: AuditEntry) -> str | None:
    """Which column says something else than the header that was hashed?"""
    if f'"at":"{row["at"]}"' not in entry.header:
        return "time"
    request_id = row["request_id"]
    named = '"request_id":' if request_id is None else f'"request_id":{canonical_json(str(request_id))}'
    return "request" if (named in entry.header) == (request_id is None) else None


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
