"""Candidates: changes that more than a few experienced people proposed, until a steward and a pull request decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from bot.evidence.store.columns import maybe, moment, told
from bot.evidence.store.connection import NOTHING, Connection, among, insert_new, update

# `landed`: its pull request is merged, and what is in service does not say it yet
CandidateStage = Literal["proposed", "opened", "landed", "rejected", "merged"]
WAITING: tuple[CandidateStage, ...] = ("proposed", "opened", "landed")
BY_PULL_REQUEST = "its pull request"  # who reviewed it, where people decided there


@dataclass(frozen=True)
class Candidate:
    """One change for everybody. `members` are the corrections that mean it, `similar` those that may mean it too."""

    candidate_id: str
    structure: str
    proposed_at: datetime
    stage: CandidateStage
    change: Mapping[str, Any]
    domain: str | None
    members: tuple[str, ...]
    similar: tuple[str, ...] = ()
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    reason: str | None = None
    pull_request: str | None = None
    merged_at: datetime | None = None
    followed_at: datetime | None = None


def keep(connection: Connection, candidate: Candidate) -> bool:
    """Keep a new candidate. False: it is known."""
    return insert_new(connection, "candidates", {**candidate.__dict__, "change": dict(candidate.change)})


def load(connection: Connection, candidate_id: str, is_locked: bool = False) -> Candidate | None:
    """The candidate of that id; *is_locked*: nobody else decides it meanwhile."""
    query = "SELECT * FROM candidates WHERE candidate_id = :named"
    row = connection.one(connection.locked(query) if is_locked else query, {"named": candidate_id})
    return None if row is None else _candidate(row)


def all_of(connection: Connection, *stages: CandidateStage) -> tuple[Candidate, ...]:
    """Those in one of these stages (all without), oldest first."""
    chosen, given = among("stage", stages) if stages else ("TRUE", {})
    return _found(connection, f"{chosen} ORDER BY proposed_at, candidate_id", given)


def of_structure(connection: Connection, structure: str) -> tuple[Candidate, ...]:
    """What became of this change before, oldest first."""
    return _found(connection, "structure = :structure ORDER BY proposed_at", {"structure": structure})


def merged(connection: Connection) -> tuple[Candidate, ...]:
    """The last that became shared knowledge, newest first."""
    return _found(connection, f"stage = 'merged' ORDER BY merged_at DESC, candidate_id LIMIT {_MOST_MERGED}")


def to_follow(connection: Connection, now: datetime, every: timedelta, since: datetime) -> tuple[Candidate, ...]:
    """Those whose pull request may have moved and that nobody has looked at for *every*; they count as looked at now.

    Of those that people closed only what was closed *since* then: it may be opened again. Needs a write transaction.
    """
    closed = "stage = 'rejected' AND reviewed_by = :closed AND reviewed_at >= :since"
    due = "pull_request IS NOT NULL AND (followed_at IS NULL OR followed_at <= :old)"
    ordered = f"(stage = 'opened' OR ({closed})) AND {due} ORDER BY proposed_at, candidate_id"
    given = {"closed": BY_PULL_REQUEST, "since": since, "old": now - every}
    query = connection.locked(f"SELECT * FROM candidates WHERE {ordered}", " SKIP LOCKED")
    found = tuple(_candidate(row) for row in connection.all(query, given))
    for one in found:
        change(connection, one.candidate_id, followed_at=now)
    return found


def change(connection: Connection, candidate_id: str, **values: Any) -> None:
    """Write down what became of it."""
    update(connection, "candidates", {"candidate_id": candidate_id}, values)


def _found(connection: Connection, where: str, given: Mapping[str, Any] = NOTHING) -> tuple[Candidate, ...]:
    return tuple(_candidate(row) for row in connection.all(f"SELECT * FROM candidates WHERE {where}", given))


def _candidate(row: Mapping[str, Any]) -> Candidate:
    lists = {name: tuple(told(row[name])) for name in ("members", "similar")}
    moments = {name: maybe(row[name]) for name in ("reviewed_at", "merged_at", "followed_at")}
    others = {"change": told(row["change"]), "proposed_at": moment(row["proposed_at"])}
    return Candidate(**{**row, **lists, **moments, **others})


_MOST_MERGED = 50
