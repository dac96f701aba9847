"""A person takes an answer as it is (seed 004, 8.2): explicit acceptance, for answers whose level waits for it.

Only who asked may accept, or who stewards the shared knowledge. Accepting twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot import rights
from bot.conversation import Actor, Reply
from bot.lifecycle import Outcome, State
from bot.services import Services
from bot.settlement import settle
from bot.store import kept
from bot.store.requests import Standing
from bylaw.audit.entry import after


@dataclass(frozen=True)
class Acceptance:
    """Did the answer get accepted, now or before, and what to tell the person. `reply` was accepted by `by`."""

    is_accepted: bool
    text: str
    reply: Reply | None = None
    by: str = ""


def accept(request_id: str, actor: Actor, services: Services) -> Acceptance:
    """Accept the answer to *request_id* in the name of *actor*."""
    with services.store.writing() as connection:
        standing = kept.standing(connection, request_id)
        if standing is None or standing.reply is None:
            return Acceptance(False, "I do not know that answer. Ask the question again.")
        if refused := _refused(standing, actor, services):
            return refused
        entry = settle(connection, standing, Outcome.ACCEPTED, actor, services.clock)
    if entry is not None:
        services.anchor(after(entry))
    return Acceptance(True, "Accepted.", standing.reply, actor.id)


def _refused(standing: Standing, actor: Actor, services: Services) -> Acceptance | None:
    """Why it cannot be accepted, None when it can be or was."""
    if not rights.may_accept(actor, standing.question.actor, services.index):
        return Acceptance(False, "Only the person who asked, or a steward, can accept this answer.")
    assert standing.reply is not None
    if standing.reply.level is None or standing.state not in (State.ACCEPT, State.CLOSE):
        return Acceptance(False, "This answer does not wait to be accepted any more. Ask the question again.")
    return None
