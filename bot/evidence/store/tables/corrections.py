"""Corrections (seed 004, B.2): what a person said is wrong, as structure, and how far it got.

`is_applied` says whether it shapes the answers of the person who made it; of nobody else, ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from sqlalchemy import Boolean, Column, Connection, Index, String, Table, Text, bindparam, select

from bot.evidence.store.columns import ID_LENGTH, Json, Moment, first_row, insert_new, metadata

CorrectionType = Literal["factual", "gotcha", "permission", "preference"]
Stage = Literal["captured", "localized", "candidate", "promoted", "rejected", "withdrawn"]
TYPES: tuple[CorrectionType, ...] = get_args(CorrectionType)
LAYERS: Mapping[CorrectionType, str] = {  # seed 004, 9.3
    "factual": "context",
    "gotcha": "context",
    "permission": "rules",
    "preference": "memory",
}

corrections = Table(
    "corrections",
    metadata,
    Column("correction_id", String(ID_LENGTH), primary_key=True),
    Column("at", Moment, nullable=False),
    Column("actor_id", String(ID_LENGTH), nullable=False),
    Column("actor_roles", Json, nullable=False),
    Column("request_id", String(ID_LENGTH), nullable=False),
    Column("correction_type", String(16), nullable=False),
    Column("domain", String(ID_LENGTH)),
    Column("object", String(200)),
    Column("field", String(200)),
    Column("old", Json),
    Column("new", Json),
    Column("reason", Text, nullable=False),
    Column("structure", String(64)),
    Column("stage", String(16), nullable=False),
    Column("is_applied", Boolean, nullable=False),
    Column("changed_at", Moment, nullable=False),
    Index(None, "actor_id", "is_applied"),
    Index(None, "object", "field"),
)


@dataclass(frozen=True)
class Correction:
    """One correction by one person. `structure` is the same for all that mean the same change."""

    correction_id: str
    at: datetime
    actor_id: str
    actor_roles: tuple[str, ...]
    request_id: str
    correction_type: CorrectionType
    domain: str | None
    object: str | None
    field: str | None
    old: Any
    new: Any
    reason: str
    structure: str | None
    stage: Stage
    is_applied: bool

    @property
    def target_layer(self) -> str:
        """Where it is routed to."""
        return LAYERS[self.correction_type]


def keep(connection: Connection, correction: Correction) -> bool:
    """Keep a new correction. False: there is one of that id."""
    row = {**correction.__dict__, "actor_roles": list(correction.actor_roles), "changed_at": correction.at}
    return insert_new(connection, corrections, row)


def applied(connection: Connection, actor_id: str) -> tuple[Correction, ...]:
    """What shapes the answers of this person, oldest first."""
    if first_row(connection, _ANY, {"whose": actor_id}) is None:
        return ()
    return _found(connection, _APPLIED.params(whose=actor_id))


def of(connection: Connection, actor_id: str) -> tuple[Correction, ...]:
    """All corrections of this person, oldest first."""
    return _found(connection, _ALL.where(corrections.c.actor_id == actor_id))


def about(connection: Connection, object_: str, field: str) -> tuple[Correction, ...]:
    """Everybody's corrections of one field that still count, oldest first."""
    here = (corrections.c.object == object_, corrections.c.field == field, corrections.c.stage != "withdrawn")
    return _found(connection, _ALL.where(*here))


def named(connection: Connection, correction_ids: Sequence[str]) -> tuple[Correction, ...]:
    """Those of these ids, oldest first."""
    return _found(connection, _ALL.where(corrections.c.correction_id.in_(sorted(correction_ids))))


def in_play(connection: Connection) -> tuple[Correction, ...]:
    """Those that shape somebody's answers or wait for review, oldest first."""
    waiting = corrections.c.stage.in_(("captured", "localized", "candidate", "rejected"))
    return _found(connection, _ALL.where(waiting, corrections.c.structure.is_not(None)))


def move(connection: Connection, correction_ids: Sequence[str], now: datetime, **values: Any) -> int:
    """Change `stage` or `is_applied` of these."""
    changed = corrections.update().where(corrections.c.correction_id.in_(sorted(correction_ids)))
    return connection.execute(changed.values(**values, changed_at=now)).rowcount


def _found(connection: Connection, query: Any) -> tuple[Correction, ...]:
    rows = connection.execute(query).mappings()
    return tuple(
        Correction(**{name: row[name] for name in _NAMES} | {"actor_roles": tuple(row["actor_roles"])}) for row in rows
    )


_NAMES = tuple(Correction.__dataclass_fields__)
# Spelled once: they are asked for with every question.
_ANY = select(corrections.c.correction_id).where(
    corrections.c.actor_id == bindparam("whose"), corrections.c.is_applied.is_(True)
)
_ALL = select(corrections).order_by(corrections.c.at, corrections.c.correction_id)
_APPLIED = _ALL.where(corrections.c.actor_id == bindparam("whose"), corrections.c.is_applied.is_(True))
