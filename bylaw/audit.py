"""The hash chain of the audit log: each entry is hashed together with its predecessor's hash (seed 001).

Pure: storage belongs to `bot.store.audit`. A chain alone cannot see that its tail was cut off or that it was rewritten
as a whole; a checkpoint kept elsewhere can. The number of an entry is hashed with it, so that a gap shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from bylaw.canonical import canonical_json

BreakKind = Literal["edited", "deleted", "reordered", "inserted", "truncated", "rewritten"]


@dataclass(frozen=True)
class AuditEntry:
    """One link. `payload` is the canonical JSON that was hashed: its `seq` (from 1) and its `body`."""

    seq: int
    prev_hash: str | None
    entry_hash: str
    payload: str

    @property
    def body(self) -> Any:
        """What was recorded."""
        return json.loads(self.payload)["body"]


@dataclass(frozen=True)
class Checkpoint:
    """How long the chain was, and the hash it ended with; kept outside the store that holds the chain."""

    count: int
    head: str | None


@dataclass(frozen=True)
class Break:
    """One place where the chain does not hold, in words."""

    kind: BreakKind
    seq: int
    detail: str


def link(previous: AuditEntry | None, body: Mapping[str, Any]) -> AuditEntry:
    """The entry that records *body* after *previous* (None: the first of its chain)."""
    seq = 1 if previous is None else previous.seq + 1
    prev_hash = None if previous is None else previous.entry_hash
    payload = canonical_json({"seq": seq, "body": body})
    return AuditEntry(seq, prev_hash, _hash(prev_hash, payload), payload)


def read(prev_hash: str | None, entry_hash: str, payload: str, position: int) -> AuditEntry:
    """A stored entry; a payload that cannot be read keeps its *position*, and `verify` reports it as edited."""
    try:
        seq = json.loads(payload)["seq"]
    except (ValueError, KeyError, TypeError):
        seq = position
    return AuditEntry(seq if type(seq) is int else position, prev_hash, entry_hash, payload)


def checkpoint(entries: Sequence[AuditEntry]) -> Checkpoint:
    """Where the chain stands now."""
    return Checkpoint(len(entries), entries[-1].entry_hash if entries else None)


def verify(entries: Iterable[AuditEntry], anchor: Checkpoint | None = None) -> list[Break]:
    """Every break in *entries*, given in their stored order; empty iff the chain holds and reaches *anchor*."""
    stored = list(entries)
    breaks = [
        Break("edited", entry.seq, f"entry {entry.seq} does not match its own hash")
        for entry in stored
        if _hash(entry.prev_hash, entry.payload) != entry.entry_hash
    ]
    edited = {found.seq for found in breaks}
    breaks += _order(stored)
    chain = list({entry.seq: entry for entry in sorted(stored, key=lambda entry: entry.seq)}.values())
    breaks += _links(chain, edited)
    if anchor is not None:
        breaks += _tail(chain, anchor)
    return sorted(breaks, key=lambda found: (found.seq, found.kind))


def _hash(prev_hash: str | None, payload: str) -> str:
    return hashlib.sha256(((prev_hash or "") + payload).encode("utf-8", "surrogatepass")).hexdigest()


def _order(stored: Sequence[AuditEntry]) -> list[Break]:
    """Entries that do not stand where their number says."""
    found: list[Break] = []
    for before, after in pairwise(stored):
        if after.seq == before.seq:
            found.append(Break("inserted", after.seq, f"entry {after.seq} is there twice"))
        elif after.seq < before.seq:
            found.append(Break("reordered", after.seq, f"entry {after.seq} stands after entry {before.seq}"))
    return found


def _links(chain: Sequence[AuditEntry], edited: set[int]) -> list[Break]:
    """Gaps in the numbers, and neighbours whose hashes do not meet; *edited* ones are reported already."""
    found: list[Break] = []
    expected, head = 1, None
    for entry in chain:
        if entry.seq > expected:
            missing = str(expected) if entry.seq == expected + 1 else f"{expected} to {entry.seq - 1}"
            found.append(Break("deleted", expected, f"missing from the chain: {missing}"))
        elif entry.prev_hash != head and not edited & {entry.seq, entry.seq - 1}:
            # Both hashes hold by themselves: the earlier entry was changed and hashed anew.
            changed = max(entry.seq - 1, 1)
            found.append(Break("edited", changed, f"entry {entry.seq} was linked to another entry {changed}"))
        expected, head = entry.seq + 1, entry.entry_hash
    return found


def _tail(chain: Sequence[AuditEntry], anchor: Checkpoint) -> list[Break]:
    """What only a checkpoint can see."""
    if anchor.count == 0:
        return []
    last = chain[-1].seq if chain else 0
    if last < anchor.count:
        detail = f"the chain ends at entry {last}, a checkpoint knew {anchor.count}"
        return [Break("truncated", last + 1, detail)]
    at = next((entry for entry in chain if entry.seq == anchor.count), None)
    if at is not None and at.entry_hash != anchor.head:
        return [Break("rewritten", anchor.count, f"entry {anchor.count} is not the one that the checkpoint knew")]
    return []
