"""What is remembered of a person beside their corrections: how they like their answers (seed 004, 9.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from bot.evidence.store.columns import moment, told
from bot.evidence.store.connection import Connection, insert_new

MemoryType = Literal["preference", "relationship"]


@dataclass(frozen=True)
class Memory:
    """One thing that is remembered of one person, and the request in which it was said."""

    actor_id: str
    memory_type: MemoryType
    name: str
    content: Mapping[str, Any]
    request_id: str | None
    at: datetime


def retain(connection: Connection, memory: Memory) -> None:
    """Remember it, in the place of what was remembered under this name."""
    forget(connection, memory.actor_id, memory.memory_type, memory.name)
    insert_new(connection, "memories", {**memory.__dict__, "content": dict(memory.content)})


def of(connection: Connection, actor_id: str) -> tuple[Memory, ...]:
    """Everything that is remembered of this person, by type and name."""
    rows = connection.all(
        "SELECT * FROM memories WHERE actor_id = :whose ORDER BY memory_type, name", {"whose": actor_id}
    )
    return tuple(Memory(**{**row, "content": told(row["content"]), "at": moment(row["at"])}) for row in rows)


def forget(connection: Connection, actor_id: str, memory_type: MemoryType, name: str) -> bool:
    """Forget one thing. False: it was not remembered."""
    gone = "DELETE FROM memories WHERE actor_id = :whose AND memory_type = :type AND name = :name"
    return connection.run(gone, {"whose": actor_id, "type": memory_type, "name": name}) > 0
