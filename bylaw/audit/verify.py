"""Is a chain whole? Reads it entry by entry, in its stored order, and says of each damage which kind it is.

Memory grows with the damage, and by eight bytes an entry. A chain alone cannot see that its tail was cut off or that it
was rewritten as a whole; a checkpoint kept elsewhere can.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bylaw.audit.entry import REDACTION, START, AuditEntry, Checkpoint, digest, entry_hash, parsed

BreakKind = Literal[
    "edited", "deleted", "reordered", "inserted", "forked", "erased", "truncated", "rewritten", "torn",
    "altered", "missing", "unrecorded",
]  # fmt: skip

MAX_TOLD = 1_000  # breaks in words; all of them are counted
_RECENT = 1_024  # entries whose hashes are remembered, to tell a fork from a copy


@dataclass(frozen=True, slots=True)
class Break:
    """One place where the chain does not hold, in words."""

    kind: BreakKind
    seq: int
    detail: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """An entry that says which payloads were taken away, when, by whom and why."""

    seq: int
    at: str
    ranges: tuple[tuple[int, int], ...]
    by: str
    reason: str


@dataclass(frozen=True)
class Verdict:
    """What verifying found. `standing` is where the chain ends; `backward_count` entries are dated before the last.

    `redactions` are those that hold: whoever can write the store can also redact, so somebody should know each of them.
    """

    entry_count: int
    standing: Checkpoint
    redacted_count: int
    backward_count: int
    checkpoint_count: int
    breaks: tuple[Break, ...]
    break_counts: Mapping[str, int]
    redactions: tuple[Redaction, ...] = ()
    notes: tuple[str, ...] = ()  # what nobody can tell, in words

    @property
    def is_intact(self) -> bool:
        """Does everything hold?"""
        return not self.break_counts

    def with_breaks(self, more: Iterable[Break]) -> Verdict:
        """The verdict with what was found beside the chain."""
        told, counts = list(self.breaks), Counter(self.break_counts)
        for one in more:
            counts[one.kind] += 1
            if len(told) < MAX_TOLD:
                told.append(one)
        return replace(self, breaks=tuple(told), break_counts=dict(sorted(counts.items())))

    def noted(self, notes: Iterable[str]) -> Verdict:
        """The verdict with what nobody can tell."""
        return replace(self, notes=(*self.notes, *notes))


@dataclass(slots=True)
class _Run:
    """Entries without a gap: the first one's link backwards, and the hash of the last (several where it forks)."""

    first: int
    last: int
    link: str | None
    heads: set[str | None]


@dataclass(frozen=True, slots=True)
class _Header:
    """What verifying needs of a header."""

    payload: str | None
    at: str
    redacts: tuple[tuple[int, int], ...]


class Verifier:
    """Takes the entries one by one; `finish` gives the verdict. *start* is where what is read follows on."""

    def __init__(self, anchors: Iterable[Checkpoint] = (), start: Checkpoint = START) -> None:
        """Hold what is read against *anchors*, whatever their order."""
        self._anchors = sorted((anchor for anchor in anchors if anchor.count), key=lambda anchor: anchor.count)
        self._wanted = {anchor.count for anchor in self._anchors}
        self._met: dict[int, set[str | None]] = {start.count: {start.head}}
        self._start = start
        self._runs = [_Run(1, start.count, None, {start.head})]
        self._recent: OrderedDict[int, set[str]] = OrderedDict()
        self._marks = array("Q")  # the beginning of each entry's hash that stood where it should, from the start on
        self._faulty: set[int] = set()
        self._bare: list[list[int]] = []  # runs of entries without a payload
        self._redacted: list[tuple[int, int]] = []
        self._redactions: list[Redaction] = []
        self._told: list[Break] = []
        self._counts: Counter[str] = Counter()
        self._entries = self._backward = 0
        self._before = start.count
        self._at = ""

    def feed(self, entry: AuditEntry) -> bool:
        """Take the next stored entry; does it match its own hash?"""
        self._entries += 1
        header = _header(entry.header)
        holds = header is not None and entry_hash(entry.prev_hash, entry.header) == entry.entry_hash
        if header is not None:
            holds = holds and self._payload(entry, header.payload)
            self._backward += header.at < self._at
            self._at = header.at
            # what was taken away after it no redaction could know
            self._redacted += [(first, min(last, entry.seq - 1)) for first, last in header.redacts]
        if header is not None and header.redacts and holds:
            self._redactions.append(_redaction(entry, header))
        if not holds:
            self.tell("edited", entry.seq, f"entry {entry.seq} does not match its own hash")
            self._faulty.add(entry.seq)
        self._place(entry)
        if entry.seq in self._wanted:
            self._met.setdefault(entry.seq, set()).add(entry.entry_hash)
        self._remember(entry)
        self._before = entry.seq
        return holds

    def tell(self, kind: BreakKind, seq: int, detail: str) -> None:
        """Record a break that whoever reads the entries saw."""
        self._counts[kind] += 1
        if len(self._told) < MAX_TOLD:
            self._told.append(Break(kind, seq, detail))

    @property
    def standing(self) -> Checkpoint:
        """Where the chain ends, as far as it was read."""
        last = self._runs[-1]
        return Checkpoint(last.last, max(last.heads, key=lambda head: head or ""))

    @property
    def is_in_order(self) -> bool:
        """Did every entry stand behind those before it, as far as they were read?"""
        return not self._counts.keys() & {"reordered", "inserted", "forked"}

    def finish(self) -> Verdict:
        """The verdict over everything that was taken."""
        for before, behind in zip(self._runs, self._runs[1:], strict=False):
            self.tell("deleted", before.last + 1, f"missing from the chain: {_span(before.last + 1, behind.first - 1)}")
        bare = _uncovered(self._bare, self._redacted)
        for first, last in bare:
            self.tell("erased", first, f"the payload is gone and no redaction says so: {_span(first, last)}")
        self._hold_against_anchors()
        missing = sum(last - first + 1 for first, last in self._bare) - sum(last - first + 1 for first, last in bare)
        return Verdict(
            self._entries,
            self.standing,
            missing,
            self._backward,
            len(self._anchors),
            tuple(sorted(self._told, key=lambda found: (found.seq, found.kind))),
            dict(sorted(self._counts.items())),
            tuple(self._redactions),
        )

    # ---- one entry --------------------------------------------------------------------------------------------------

    def _payload(self, entry: AuditEntry, expected: str | None) -> bool:
        """Is the payload the one that the header knows, or gone?"""
        if expected is None:
            return True
        if entry.payload is not None:
            return digest(entry.payload) == expected
        if self._bare and self._bare[-1][1] == entry.seq - 1:
            self._bare[-1][1] = entry.seq
        else:
            self._bare.append([entry.seq, entry.seq])
        return True

    def _place(self, entry: AuditEntry) -> None:
        """Put the entry where its number says, and say where it stood instead."""
        last = self._runs[-1]
        if entry.seq == last.last + 1:  # as it should be
            if entry.seq == self._start.count + len(self._marks) + 1:
                self._marks.append(_mark(entry.entry_hash))
            self._follows(last.heads, entry.prev_hash, entry.seq)
            last.last, last.heads = entry.seq, {entry.entry_hash}
            return
        near = _run_before(self._runs, entry.seq)
        run = self._runs[near]
        if run.first <= entry.seq <= run.last:
            self._twice(entry, run)
            return
        if entry.seq < self._before:
            self.tell("reordered", entry.seq, f"entry {entry.seq} stands after entry {self._before}")
        if entry.seq == run.last + 1:
            self._follows(run.heads, entry.prev_hash, entry.seq)
            run.last, run.heads = entry.seq, {entry.entry_hash}
        else:
            near += 1
            run = _Run(entry.seq, entry.seq, entry.prev_hash, {entry.entry_hash})
            self._runs.insert(near, run)
        behind = self._runs[near + 1] if near + 1 < len(self._runs) else None
        if behind is not None and behind.first == run.last + 1:
            self._follows(run.heads, behind.link, behind.first)
            run.last, run.heads = behind.last, behind.heads
            del self._runs[near + 1]

    def _follows(self, heads: set[str | None], prev_hash: str | None, seq: int) -> None:
        """Do two neighbours meet? One that is reported already is not reported again."""
        if prev_hash in heads or self._faulty & {seq, seq - 1}:
            return
        # Both hashes hold by themselves: the earlier entry was changed and hashed anew.
        changed = max(seq - 1, 1)
        self.tell("edited", changed, f"entry {seq} was linked to another entry {changed}")

    def _twice(self, entry: AuditEntry, run: _Run) -> None:
        """A second entry of one number: a copy, another branch, or a stranger."""
        known, before = self._known(entry.seq, entry.entry_hash), self._known(entry.seq - 1, entry.prev_hash)
        if entry.seq in self._faulty and entry.entry_hash not in known:
            return  # reported as edited
        if entry.entry_hash in known:
            self.tell("inserted", entry.seq, f"entry {entry.seq} is there twice")
        elif entry.prev_hash in before or (entry.seq == 1 and entry.prev_hash is None):
            if len(before) < 2 and not self._is_beside(entry.seq - 1, entry.prev_hash):
                # else it goes on with a branch that is reported already
                detail = f"two different entries {entry.seq} follow the same entry: the chain was continued twice"
                self.tell("forked", entry.seq, detail)
            if entry.seq == run.last:
                run.heads.add(entry.entry_hash)
        else:
            detail = f"a second entry {entry.seq} stands after entry {self._before}; it follows no entry before it"
            self.tell("inserted", entry.seq, detail)

    def _known(self, seq: int, hash_: str | None) -> set[str]:
        """The hashes of the entries of that number, as far as they are remembered: is *hash_* that of the first?"""
        found = set(self._recent.get(seq, ()))
        place = seq - self._start.count - 1
        if hash_ is not None and 0 <= place < len(self._marks) and self._marks[place] == _mark(hash_):
            found.add(hash_)
        return found

    def _is_beside(self, seq: int, hash_: str | None) -> bool:
        """Is it known that another entry of that number came first?"""
        place = seq - self._start.count - 1
        return hash_ is not None and 0 <= place < len(self._marks) and self._marks[place] != _mark(hash_)

    def _remember(self, entry: AuditEntry) -> None:
        self._recent.setdefault(entry.seq, set()).add(entry.entry_hash)
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    # ---- the whole --------------------------------------------------------------------------------------------------

    def _hold_against_anchors(self) -> None:
        last, held = self._runs[-1].last, self._start.count
        beyond = [anchor for anchor in self._anchors if anchor.count > last]
        for anchor in self._anchors:
            met = self._met.get(anchor.count)
            if met is None:
                continue  # before the start, behind the end, or deleted
            if anchor.head not in met and held:
                detail = (
                    f"entry {anchor.count} is not the one that the checkpoint knew; up to entry {held} it is: from "
                    "there on the chain was continued twice, in two copies or by rewriting it"
                )
                self.tell("forked", anchor.count, detail)
                return
            if anchor.head not in met:
                detail = f"entry {anchor.count} is not the one that the checkpoint knew: the chain was rewritten"
                self.tell("rewritten", anchor.count, detail)
                return
            held = anchor.count
        if beyond:
            known = beyond[-1].count
            self.tell("truncated", last + 1, f"the chain ends at entry {last}, a checkpoint knew {known}")


def verify(entries: Iterable[AuditEntry], anchors: Iterable[Checkpoint] = (), start: Checkpoint = START) -> Verdict:
    """The verdict over *entries*, given in their stored order."""
    verifier = Verifier(anchors, start)
    for entry in entries:
        verifier.feed(entry)
    return verifier.finish()


def _header(text: str) -> _Header | None:
    """What the header says; None for one that no version wrote."""
    try:
        read = parsed(text)
        kept, payload = (read["body"], None) if "body" in read else (read["kept"], read["payload"])
        at = kept.get("at", "")
        redacts = tuple(_ranges(kept)) if kept.get("event") == REDACTION else ()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return _Header(payload, at if isinstance(at, str) else "", redacts)


def _mark(hash_: str) -> int:
    """The first 64 bits of a hash: none, where it is no hash."""
    try:
        return int(hash_[:16], 16)
    except ValueError:
        return 0


def redaction(entry: AuditEntry) -> Redaction | None:
    """What *entry* says that was taken away; None where it is no redaction."""
    header = _header(entry.header)
    return None if header is None or not header.redacts else _redaction(entry, header)


def _redaction(entry: AuditEntry, header: _Header) -> Redaction:
    try:
        told = json.loads(entry.payload or "{}")
        by, reason = str(told.get("by", "")), str(told.get("reason", ""))
    except (ValueError, AttributeError, RecursionError):
        by, reason = "", ""
    return Redaction(entry.seq, header.at, header.redacts, by, reason)


class Ranges:
    """Numbers given as ranges, both ends included, asked for one by one."""

    def __init__(self, given: Iterable[tuple[int, int]]) -> None:
        """Those of all *given* ranges, which may overlap."""
        self._joined = _joined(given)
        self._firsts = [first for first, _ in self._joined]

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number)
        return at > 0 and number <= self._joined[at - 1][1]


def _ranges(kept: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    for first, last in kept["redacts"]:
        if not (type(first) is type(last) is int):
            raise TypeError("the number of an entry is whole")
        yield first, last


def _run_before(runs: Sequence[_Run], seq: int) -> int:
    """The place of the last run that begins at *seq* or before it."""
    low, high = 0, len(runs)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if runs[middle].first <= seq else (low, middle)
    return low


def _uncovered(runs: Iterable[Sequence[int]], covers: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What of *runs* no cover names."""
    left: list[tuple[int, int]] = []
    waiting = deque(_joined(covers))
    for first, last in sorted((run[0], run[1]) for run in runs):
        at = first
        while at <= last:
            while waiting and waiting[0][1] < at:
                waiting.popleft()
            if not waiting or waiting[0][0] > last:
                left.append((at, last))
                break
            if waiting[0][0] > at:
                left.append((at, waiting[0][0] - 1))
            at = waiting[0][1] + 1
    return left


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same numbers in ranges that do not meet, in order."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        elif first <= last:
            found.append((first, last))
    return found


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"
