"""What may be corrected about an answer, and what became of a correction, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.conversation import CORRECTS, PROPOSED, Actor
from bot.memory.changes import Change
from bot.memory.corrections import GONE, Given, Noted, answered
from bot.memory.structure import Correctable, correctable
from bot.services import Services
from bylaw.errors import UsageError


def of(request_id: str, actor: Actor, services: Services) -> tuple[Correctable, ...]:
    """What *actor* may correct about the answer to the request. Raises UsageError for one they have not seen."""
    with services.store.reading() as connection:
        standing = answered(connection, request_id, actor, services)
    assert standing.reply is not None
    return correctable(standing.reply, services.index.bundle.context)


@dataclass(frozen=True)
class Meant:
    """The answer that is to be corrected, what was said of it, and what that was read as, where it was."""

    request_id: str
    said: str = ""
    change: Change | None = None


def meant(request_id: str, actor: Actor, services: Services) -> Meant:
    """What is to be corrected: words that only say that an answer is wrong name another request than their own."""
    with services.store.reading() as connection:
        standing = answered(connection, request_id, actor, services)
    assert standing.reply is not None
    meta = standing.reply.meta or {}
    if not (named := meta.get(CORRECTS)):
        return Meant(request_id)
    if actor.id != standing.question.actor.id:
        raise UsageError(GONE)  # what somebody objects to, and how, is theirs
    change = Change.model_validate(meta[PROPOSED]) if PROPOSED in meta else None
    return Meant(str(named), standing.question.text, change)


def confirmed(meant: Meant) -> Given:
    """The correction that the person's words were read as, said by them. Raises UsageError where there is none."""
    if meant.change is None:
        raise UsageError("no words about this answer were read as a correction", "say --object, --field and --new")
    return Given(meant.request_id, None, **meant.change.model_dump(), reason=meant.said)


def listed(found: Sequence[Correctable], meant: Meant) -> dict[str, Any]:
    """As JSON: what may be corrected of which answer, and what the person's words were read as."""
    rows = [{"object": one.object, "field": one.field.name, "label": one.label, "now": one.now} for one in found]
    proposed = None if meant.change is None else meant.change.model_dump()
    return {"request_id": meant.request_id, "correctable": rows, "proposed": proposed}


def in_words(found: Sequence[Correctable], meant: Meant) -> str:
    """As lines, with the command that goes on from them."""
    if not found:
        return "This answer rests on no record that can be corrected here. A policy is changed by its own review."
    lines = [f"{one.object}  {one.field.name:<16} {one.field.label}: {one.now or '–'}" for one in found]
    first = f"--object {found[0].object} --field {found[0].field.name}"
    command = f'bylaw correct {meant.request_id} {first} --new "…" --reason "…"'
    return "\n".join([*lines, f"Say which of them, what it should say and why: {command}"])


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
