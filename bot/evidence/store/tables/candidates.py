"""Candidates: changes that more than a few experienced people proposed, until a steward and a pull request decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, Connection, Index, String, Table, Text, select

from bot.evidence.store.columns import ID_LENGTH, Json, Moment, first_row, insert_new, metadata

CandidateStage = Literal["proposed", "opened", "rejected", "merged"]

candidates = Table(
    "candidates",
    metadata,
    Column("candidate_id", String(ID_LENGTH), primary_key=True),
    Column("structure", String(64), nullable=False),
    Column("proposed_at", Moment, nullable=False),
    Column("stage", String(16), nullable=False),
    Column("change", Json, nullable=False),
    Column("domain", String(ID_LENGTH)),
    Column("members", Json, nullable=False),
    Column("similar", Json, nullable=False),
    Column("reviewed_by", String(ID_LENGTH)),
    Column("reviewed_at", Moment),
    Column("reason", Text),
    Column("pull_request", Text),
    Column("merged_at", Moment),
    Index(None, "structure", "stage"),
)


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


def keep(connection: Connection, candidate: Candidate) -> bool:
    """Keep a new candidate. False: it is known."""
    row = candidate.__dict__ | {"members": list(candidate.members), "similar": list(candidate.similar)}
    return insert_new(connection, candidates, row | {"change": dict(candidate.change)})


def load(connection: Connection, candidate_id: str, is_locked: bool = False) -> Candidate | None:
    """The candidate of that id; *is_locked*: nobody else decides it meanwhile."""
    query = select(candidates).where(candidates.c.candidate_id == candidate_id)
    row = connection.execute(query.with_for_update() if is_locked else query).mappings().one_or_none()
    return None if row is None else _candidate(row)


def all_of(connection: Connection, *stages: CandidateStage) -> tuple[Candidate, ...]:
    """Those in one of these stages (all without), oldest first."""
    query = select(candidates).order_by(candidates.c.proposed_at, candidates.c.candidate_id)
    rows = connection.execute(query.where(candidates.c.stage.in_(stages)) if stages else query).mappings()
    return tuple(_candidate(row) for row in rows)


def of_structure(connection: Connection, structure: str) -> tuple[Candidate, ...]:
    """What became of this change before, oldest first."""
    query = select(candidates).where(candidates.c.structure == structure).order_by(candidates.c.proposed_at)
    return tuple(_candidate(row) for row in connection.execute(query).mappings())


def merged(connection: Connection) -> tuple[Candidate, ...]:
    """The last that became shared knowledge, newest first."""
    if first_row(connection, _ANY_MERGED) is None:
        return ()
    return tuple(_candidate(row) for row in connection.execute(_MERGED).mappings())


def change(connection: Connection, candidate_id: str, **values: Any) -> None:
    """Write down what became of it."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    connection.execute(candidates.update().where(candidates.c.candidate_id == candidate_id).values(**values))


def _candidate(row: Mapping[Any, Any]) -> Candidate:
    lists = {"members": tuple(row["members"]), "similar": tuple(row["similar"])}
    return Candidate(**{name: row[name] for name in Candidate.__dataclass_fields__} | lists)


# Spelled once: they are asked for with every question.
_MOST_MERGED = 50
_ANY_MERGED = select(candidates.c.candidate_id).where(candidates.c.stage == "merged")
_MERGED = (
    select(candidates)
    .where(candidates.c.stage == "merged")
    .order_by(candidates.c.merged_at.desc(), candidates.c.candidate_id)
    .limit(_MOST_MERGED)
)
