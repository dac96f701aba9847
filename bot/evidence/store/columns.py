"""How values stand in the columns of a store, whatever keeps it.

A moment is ISO text in UTC of fixed width, so that the order of the texts is the order in time on every database. JSON
is canonical text; on PostgreSQL it is kept as its own JSONB, and comes back as the value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from bot.conversation import Question
from bylaw.canonical import canonical_json
from bylaw.errors import UsageError

ID_LENGTH = 128


class Written(str):
    """JSON that is spelled already."""

    __slots__ = ()


@lru_cache(maxsize=64)  # one moment stands in many rows
def stamp(moment: datetime) -> str:
    """*moment* in UTC with microseconds; raises ValueError without a timezone."""
    if moment.tzinfo is UTC:  # as the clock gives it
        return f"{moment.isoformat(timespec='microseconds')[:-6]}Z"
    if moment.tzinfo is None:
        raise ValueError("a moment needs a timezone")
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def written(value: Any) -> Any:
    """*value* as the driver takes it: moments and JSON as text, all else as it is."""
    match value:
        case datetime():
            return stamp(value)
        case dict() | list() | tuple():
            return canonical_json(value)
        case Decimal():
            return float(value)
    return value


def moment(value: str) -> datetime:
    """The moment that stands there as text."""
    return datetime.fromisoformat(value)


def maybe(value: str | None) -> datetime | None:
    """Like `moment`, where there may be none."""
    return None if value is None else moment(value)


def told(value: Any) -> Any:
    """The JSON, a list or an object, that stands there as text, or that the driver has read already."""
    return json.loads(value) if isinstance(value, str) else value


def check_ids(question: Question) -> None:
    """Raise UsageError where a name that is kept with *question* is none."""
    named: Mapping[str, str] = {
        "request id": question.request_id,
        "session id": question.session_id,
        "user": question.actor.id,
    }
    for name, value in named.items():
        if not value.strip() or len(value) > ID_LENGTH or not value.isprintable():
            raise UsageError(f"the {name} must have 1 to {ID_LENGTH} printable characters")
