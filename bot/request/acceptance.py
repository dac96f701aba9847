"""What a person makes of an answer (seed 004, 8.2): takes it as it is, by word or by use, or says how it was.

Only who asked may, or who stewards the shared knowledge. Doing it twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot import rights
from bot.conversation import Actor, Reply
from bot.evidence.store import kept, marks
from bot.evidence.store.tables import audit, querylog, remarks
from bot.evidence.store.tables.remarks import Verdict
from bot.evidence.store.tables.requests import Standing
from bot.lifecycle import Outcome, State
from bot.request.settlement import settle
from bot.services import Services
from bylaw.audit.entry import after

UNKNOWN = "I do not know that answer. Ask the question again."
NOT_YOURS = "Only the person who asked, or a steward, can accept this answer."
OVER = "This answer does not wait to be accepted any more. Ask the question again."


@dataclass(frozen=True)
class Acceptance:
    """Did the answer get accepted, now or before, and what to tell the person. `reply` was accepted by `by`.

    Not `is_visible`: whoever tried has no part in it, and over HTTP there is no such request.
    """

    is_accepted: bool
    text: str
    reply: Reply | None = None
    by: str = ""
    is_visible: bool = True


def accept(request_id: str, actor: Actor, services: Services) -> Acceptance:
    """Accept the answer to *request_id* in the name of *actor*."""
    with services.store.writing() as connection:
        standing = kept.standing(connection, request_id)
        if standing is None or standing.reply is None:
            return Acceptance(False, UNKNOWN, is_visible=False)
        if refused := _refused(standing, actor, services):
            return refused
        entry = settle(connection, standing, Outcome.ACCEPTED, actor, services.clock)
    if entry is not None:
        services.anchor(after(entry))
    return Acceptance(True, "Accepted.", standing.reply, actor.id)


def use(standing: Standing, actor: Actor, services: Services) -> bool:
    """The asker fetched the result: where the level lets use count, the answer is accepted. Was it, just now?"""
    reply = standing.reply
    if reply is None or reply.level is None or reply.status != "answered" or standing.state is not State.ACCEPT:
        return False
    counts = "implicit" in services.index.rules.autonomy.level(reply.level).acceptance
    if not counts or actor.id != standing.question.actor.id:
        return False
    with services.store.writing() as connection:
        entry = settle(connection, standing, Outcome.IMPLICIT, actor, services.clock)
    if entry is not None:
        services.anchor(after(entry))
    return entry is not None


def say(
    standing: Standing,
    actor: Actor,
    services: Services,
    verdict: Verdict,
    text: str | None = None,
    correction: Mapping[str, Any] | None = None,
) -> bool:
    """Keep what *actor* thinks of an answer, with what they would correct. False: they said so before."""
    request_id = standing.request_id
    with services.store.writing() as connection:
        now = services.clock()
        if not remarks.keep(connection, request_id, actor.id, "feedback", now, verdict, text, correction):
            return False
        querylog.say(connection, request_id, verdict)
        body = {
            "event": "feedback",
            "request_id": request_id,
            "session_id": standing.question.session_id,
            "actor": actor.model_dump(),
            "verdict": verdict,
            "text": text,
            "bundle_etag": services.bundle_etag,
            "commit": services.commit,
        }
        rows = marks.of_request(connection, request_id, "query_log")
        entry = audit.append(connection, body, services.clock, request_id, rows)
    services.anchor(after(entry))
    return True


def standing_for(request_id: str, actor: Actor, services: Services) -> Standing | None:
    """An answered request that *actor* has a part in; None where there is none for them."""
    with services.store.reading() as connection:
        found = kept.standing(connection, request_id)
    if found is None or found.reply is None:
        return None
    return found if rights.may_accept(actor, found.question.actor, services.index) else None


def _refused(standing: Standing, actor: Actor, services: Services) -> Acceptance | None:
    """Why it cannot be accepted, None when it can be or was."""
    if not rights.may_accept(actor, standing.question.actor, services.index):
        return Acceptance(False, NOT_YOURS, is_visible=False)
    assert standing.reply is not None
    is_taken = standing.state is State.ACCEPT or standing.outcome in (
        Outcome.ACCEPTED,
        Outcome.IMPLICIT,
        Outcome.TIMEOUT,
    )
    return None if standing.reply.level is not None and is_taken else Acceptance(False, OVER)
