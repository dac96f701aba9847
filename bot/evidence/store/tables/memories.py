"""What is remembered of a person beside their corrections: how they like their answers (seed 004, 9.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, Connection, String, Table, bindparam, delete, select

from bot.evidence.store.columns import ID_LENGTH, Json, Moment, first_row, insert_new, metadata

MemoryType = Literal["preference", "relationship"]

memories = Table(
    "memories",
    metadata,
    Column("actor_id", String(ID_LENGTH), primary_key=True),
    Column("memory_type", String(16), primary_key=True),
    Column("name", String(ID_LENGTH), primary_key=True),
    Column("content", Json, nullable=False),
    Column("request_id", String(ID_LENGTH)),
    Column("at", Moment, nullable=False),
)


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
    insert_new(connection, memories, {**memory.__dict__, "content": dict(memory.content)})


def of(connection: Connection, actor_id: str) -> tuple[Memory, ...]:
    """Everything that is remembered of this person, by type and name."""
    if first_row(connection, _ANY, {"whose": actor_id}) is None:
        return ()
    rows = connection.execute(_ALL, {"whose": actor_id}).mappings()
    return tuple(Memory(**{name: row[name] for name in Memory.__dataclass_fields__}) for row in rows)


def forget(connection: Connection, actor_id: str, memory_type: MemoryType, name: str) -> bool:
    """Forget one thing. False: it was not remembered."""
    here = (memories.c.actor_id == actor_id, memories.c.memory_type == memory_type, memories.c.name == name)
    return connection.execute(delete(memories).where(*here)).rowcount > 0


# Spelled once: they are asked for with every question.
_ANY = select(memories.c.name).where(memories.c.actor_id == bindparam("whose"))
_ALL = (
    select(memories).where(memories.c.actor_id == bindparam("whose")).order_by(memories.c.memory_type, memories.c.name)
)
