"""How a person likes their answers: a few declared choices, theirs alone, until they change or forget them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from bot.store import memories
from bot.store.corrections import Correction
from bot.store.memories import Memory
from bylaw.errors import UsageError

KNOWN: Mapping[str, tuple[str, ...]] = {
    "grain": ("day", "week", "month", "quarter", "year"),
    "confirm": ("always", "never"),
}
LABELS: Mapping[str, str] = {
    "grain": "Figures over time by default",
    "confirm": "Show the plan before it runs",
}


def checked(name: str, value: str) -> tuple[str, str]:
    """The preference in its one spelling. Raises UsageError for one that is none."""
    name, value = name.strip().casefold(), value.strip().casefold()
    if name not in KNOWN:
        raise UsageError(f"`{name}` is no preference", f"use one of {', '.join(KNOWN)}")
    if value not in KNOWN[name]:
        raise UsageError(f"`{value}` is no value of `{name}`", f"use one of {', '.join(KNOWN[name])}")
    return name, value


def set_(connection: Connection, made: Correction, now: datetime) -> None:
    """Remember what *made* says its author prefers."""
    content = {"value": str(made.new), "correction_id": made.correction_id}
    memories.retain(connection, Memory(made.actor_id, "preference", str(made.field), content, made.request_id, now))
