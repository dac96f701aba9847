"""What was said is taken away for good, wherever it is kept: papers and rows first, the payloads of the chain last.

INVARIANT: whatever ends the work before its last transaction, the chain still names all of it: doing it again ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.evidence.artifacts import Shelf
from bot.evidence.store import erasure
from bot.evidence.store.connection import Connection
from bot.evidence.store.engine import Store
from bot.evidence.store.tables import audit
from bot.evidence.store.tables.audit import Filed
from bylaw.audit.entry import AuditEntry
from bylaw.errors import UsageError
from bylaw.progress import Hear, heard

_AT_ONCE = 500  # requests, or papers, in one transaction: who answers meanwhile waits for no more than one
_IN_HAND = timedelta(hours=1)  # so long a paper that no entry names may be of an answer that is about to be kept
_MOST_NAMED = 5  # later requests


@dataclass(frozen=True)
class Scope:
    """What goes: all of one request, or everything dated before a moment. One of the two is given."""

    request_id: str | None = None
    before: datetime | None = None


@dataclass(frozen=True)
class Redacted:
    """What was taken away. `entry` records it; None where the chain had nothing left to take.

    `fixed_count` entries of an earlier version hold what was said in what is hashed: only their rows and papers went.
    `carried_on` are later requests of the same conversations, whose papers may repeat what was said before.
    """

    entry: AuditEntry | None
    entry_count: int
    request_count: int
    paper_count: int
    fixed_count: int
    carried_on: tuple[str, ...]


@dataclass(frozen=True)
class _Plan:
    """`papers` are those that no entry behind the chain's place `until` was needed for."""

    filed: Sequence[Filed]
    request_ids: Sequence[str]
    papers: Sequence[str]
    until: int
    carried_on: tuple[str, ...]


def redact(
    scope: Scope,
    store: Store,
    shelves: Sequence[Shelf],
    by: str,
    reason: str,
    clock: Callable[[], datetime],
    origin: Mapping[str, str | None] = audit.NOWHERE,
    progress: Hear | None = None,
) -> Redacted:
    """Take away what is in *scope*: from *shelves*, from the rows, from the chain.

    Raises UsageError for a request that nobody knows or that is being answered, ArtifactError where a shelf cannot be
    used; the chain is as it was then.
    """
    with store.reading() as connection:
        plan = _planned(scope, connection, shelves, clock(), progress)
    papers = rows = 0
    for part in _parts("deleting papers", plan.papers, progress):
        with store.reading() as connection:
            unneeded = sorted({*part} - _needed(connection, plan)({*part}))
        papers += sum(shelf.remove(unneeded) for shelf in shelves)
    for part in _parts("deleting rows", plan.request_ids, progress):
        with store.writing() as connection:
            rows += erasure.forget(connection, part)
    for part in _parts("deleting papers in the store", plan.papers, progress):
        with store.writing() as connection:
            papers += sum(shelf.remove_within(connection, part, _needed(connection, plan)) for shelf in shelves)
    with store.writing() as connection:
        audit.lock(connection)
        gone = audit.taken(connection)
        chosen = [one.seq for one in plan.filed if not one.is_fixed and one.seq not in gone]
        entry = audit.redact(connection, chosen, by, reason, clock, origin) if chosen else None
        if scope.before is not None:
            erasure.forget_conversations(connection, scope.before)
    fixed = sum(one.is_fixed for one in plan.filed)
    return Redacted(entry, len(chosen), rows, papers, fixed, plan.carried_on)


def _planned(
    scope: Scope, connection: Connection, shelves: Sequence[Shelf], now: datetime, progress: Hear | None
) -> _Plan:
    found = audit.unredacted(connection, scope.before, scope.request_id)
    filed = list(heard("looking for what goes", found, audit.tail(connection).count, progress))
    request_ids = {one.request_id for one in filed if one.request_id is not None}
    later: Sequence[str] = ()
    if scope.request_id is not None:
        _check(scope.request_id, connection, now)
        request_ids.add(scope.request_id)
        later = erasure.carried_on(connection, sorted(request_ids), _MOST_NAMED)
    named = set().union(*(one.papers for one in filed))
    if scope.before is not None:
        request_ids |= set(erasure.before(connection, scope.before, now))
        moment = min(scope.before, now - _IN_HAND)
        named |= {name for shelf in shelves for name in shelf.older(moment)}
    needed, until = audit.names_elsewhere(connection, named, request_ids) if named else (set(), 0)
    return _Plan(filed, sorted(request_ids), sorted(named - needed), until, tuple(later))


def _check(request_id: str, connection: Connection, now: datetime) -> None:
    if erasure.is_held(connection, request_id, now):
        raise UsageError(f"the request `{request_id}` is being answered right now", "redact it once it is answered")
    if not (audit.about(connection, request_id) or erasure.is_known(connection, request_id)):
        raise UsageError(f"nothing is recorded of a request `{request_id}`", "`bylaw audit export` lists them")


def _needed(connection: Connection, plan: _Plan) -> Callable[[Set[str]], Set[str]]:
    """Which papers an entry names that was not there yet when the work was planned."""

    def needed(names: Set[str]) -> Set[str]:
        return audit.names_elsewhere(connection, names, set(plan.request_ids), plan.until)[0]

    return needed


def _parts(doing: str, names: Sequence[str], progress: Hear | None) -> Iterator[Sequence[str]]:
    for at in range(0, len(names), _AT_ONCE):
        if progress is not None:
            progress(doing, at, len(names))
        yield names[at : at + _AT_ONCE]
