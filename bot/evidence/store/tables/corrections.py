"""Corrections (seed 004, B.2): what a person said is wrong, as structure, and how far it got.

`is_applied` says whether it shapes the answers of the person who made it; of nobody else, ever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from bot.evidence.store.columns import Written, moment, told
from bot.evidence.store.connection import NOTHING, Connection, among, insert_new
from bylaw.canonical import canonical_json

CorrectionType = Literal["factual", "gotcha", "permission", "preference"]
Stage = Literal["captured", "localized", "candidate", "promoted", "rejected", "withdrawn"]
TYPES: tuple[CorrectionType, ...] = get_args(CorrectionType)
LAYERS: Mapping[CorrectionType, str] = {  # seed 004, 9.3
    "factual": "context",
    "gotcha": "context",
    "permission": "rules",
    "preference": "memory",
}


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
    either = {"old": _spelled(correction.old), "new": _spelled(correction.new)}
    return insert_new(connection, "corrections", {**correction.__dict__, **either, "changed_at": correction.at})


def applied(connection: Connection, actor_id: str) -> tuple[Correction, ...]:
    """What shapes the answers of this person, oldest first."""
    return _found(connection, "actor_id = :whose AND is_applied", {"whose": actor_id})


def of(connection: Connection, actor_id: str) -> tuple[Correction, ...]:
    """All corrections of this person, oldest first."""
    return _found(connection, "actor_id = :whose", {"whose": actor_id})


def about(connection: Connection, object_: str, field: str) -> tuple[Correction, ...]:
    """Everybody's corrections of one field that still count, oldest first."""
    here = "object = :object AND field = :field AND stage <> 'withdrawn'"
    return _found(connection, here, {"object": object_, "field": field})


def named(connection: Connection, correction_ids: Sequence[str]) -> tuple[Correction, ...]:
    """Those of these ids, oldest first."""
    return _found(connection, *among("correction_id", sorted(correction_ids)))


def in_play(connection: Connection) -> tuple[Correction, ...]:
    """Those that shape somebody's answers or wait for review, oldest first."""
    waiting = "stage IN ('captured', 'localized', 'candidate', 'rejected') AND structure IS NOT NULL"
    return _found(connection, waiting)


def move(connection: Connection, correction_ids: Sequence[str], now: datetime, **values: Any) -> int:
    """Change `stage` or `is_applied` of these."""
    chosen, ids = among("correction_id", sorted(correction_ids))
    changes = {**values, "changed_at": now}
    said = ", ".join(f"{name} = :{name}" for name in changes)
    return connection.run(f"UPDATE corrections SET {said} WHERE {chosen}", {**changes, **ids})


def _found(connection: Connection, where: str, given: Mapping[str, Any] = NOTHING) -> tuple[Correction, ...]:
    rows = connection.all(f"SELECT {_COLUMNS} FROM corrections WHERE {where} ORDER BY at, correction_id", given)
    return tuple(
        Correction(
            **{
                **row,
                "at": moment(row["at"]),
                "actor_roles": tuple(told(row["actor_roles"])),
                "old": _read(row["old"]),
                "new": _read(row["new"]),
                "is_applied": bool(row["is_applied"]),
            }
        )
        for row in rows
    )


# any JSON, a word of its own included, so that it is read as text from every database
_COLUMNS = ", ".join(
    f'CAST("{name}" AS TEXT) AS "{name}"' if name in ("old", "new") else name
    for name in Correction.__dataclass_fields__
)


def _spelled(value: Any) -> Written | None:
    return None if value is None else Written(canonical_json(value))


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)
