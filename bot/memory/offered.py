"""What may be corrected about an answer, and what became of a correction, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.conversation import CORRECTS, Actor
from bot.memory.corrections import Noted, answered
from bot.memory.structure import Correctable, correctable
from bot.services import Services


def of(request_id: str, actor: Actor, services: Services) -> tuple[Correctable, ...]:
    """What *actor* may correct about the answer to the request. Raises UsageError for one they have not seen."""
    with services.store.reading() as connection:
        standing = answered(connection, request_id, actor, services)
    assert standing.reply is not None
    return correctable(standing.reply, services.index.bundle.context)


def meant(request_id: str, actor: Actor, services: Services) -> tuple[str, str]:
    """The answer that is to be corrected, and what was said of it: words that only say so name another one."""
    with services.store.reading() as connection:
        standing = answered(connection, request_id, actor, services)
    assert standing.reply is not None
    named = (standing.reply.meta or {}).get(CORRECTS)
    return (str(named), standing.question.text) if named else (request_id, "")


def listed(found: Sequence[Correctable]) -> dict[str, Any]:
    """As JSON."""
    rows = [{"object": one.object, "field": one.field.name, "label": one.label, "now": one.now} for one in found]
    return {"correctable": rows}


def in_words(found: Sequence[Correctable]) -> str:
    """As lines."""
    if not found:
        return "This answer rests on no record that can be corrected here. A policy is changed by its own review."
    lines = [f"{one.object}  {one.field.name:<16} {one.field.label}: {one.now or '–'}" for one in found]
    return "\n".join([*lines, "Say --object, --field, --new and --reason."])


def told(noted: Noted) -> dict[str, Any]:
    """What became of a correction (seed 004, B.2), as JSON."""
    one = noted.correction
    return {
        "correction_id": one.correction_id,
        "correction_type": one.correction_type,
        "object": one.object,
        "field": one.field,
        "original": one.old,
        "corrected": one.new,
        "routing": {"target_layer": one.target_layer, "stage": one.stage},
        "personal_memory": {"applied_to_user": one.is_applied},
        "is_new": noted.is_new,
        "text": noted.text,
    }
