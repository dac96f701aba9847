"""The queue of what only a person may answer (level 1): owners of what is read, and stewards, take and answer it.

A question stays open until somebody answers it. Its answer goes to who asked, who accepts it like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.conversation import Actor
from bot.evidence.store import kept, marks
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import audit, deliveries, remarks, requests
from bot.evidence.store.tables.requests import Standing
from bot.lifecycle import State
from bot.services import Services
from bylaw.audit.entry import AuditEntry, after
from bylaw.errors import UsageError

_WAITS, _ASSIGNED = "answered", "assigned"  # what the notices that a question waits begin with
_MOST = 200  # open questions that are listed


@dataclass(frozen=True)
class Open:
    """One question that waits for a person, and who has taken it."""

    request_id: str
    text: str
    asked_by: str
    asked_at: datetime
    assigned_to: str | None
    for_whom: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "request_id": self.request_id,
            "text": self.text,
            "asked_by": self.asked_by,
            "asked_at": self.asked_at.isoformat(),
            "assigned_to": self.assigned_to,
            "for": list(self.for_whom),
        }


def waiting(actor: Actor, services: Services) -> list[Open]:
    """What waits for *actor*, the longest first: what they own or took, everything for a steward."""
    with services.store.reading() as connection:
        found = requests.escalated(connection, _MOST)
    return [
        Open(
            one.request_id,
            one.question.text,
            one.question.actor.id,
            one.created_at,
            one.assigned_to,
            _handlers(one, services),
        )
        for one in found
        if _may_handle(one, actor, services)
    ]


def assign(request_id: str, to: str, actor: Actor, services: Services) -> None:
    """Hand the question to *to*, who is told; *actor* may take it themselves. Raises UsageError."""
    if not services.index.rules.roles.people(to) == (to,):
        raise UsageError(f"`{to}` is nobody whom rules/roles.yaml lists", "a question is handed to a person it names")
    with services.store.writing() as connection:
        standing = _handled(connection, request_id, actor, services)
        now = services.clock()
        if not requests.assign(connection, request_id, to, f"assigned to {to} by {actor.id}", now):
            raise _over(request_id)
        deliveries.supersede(connection, request_id, _ASSIGNED, now)
        if to != actor.id:
            text = f"{actor.id} handed you a question of {standing.question.actor.id}: “{standing.question.text}”."
            event = f"{_ASSIGNED} to {to} at {now.isoformat()}"
            deliveries.notify(connection, to, request_id, event, f"{text} `bylaw requests list`", now)
        entry = _recorded(connection, standing, actor, services, {"event": "assigned", "to": to})
    services.anchor(after(entry))


def answer(request_id: str, text: str, actor: Actor, services: Services) -> None:
    """Answer the question in the place of the bot: who asked is told, and may accept it. Raises UsageError."""
    if not text.strip():
        raise UsageError("the answer is empty", "say what you found out")
    with services.store.writing() as connection:
        standing = _handled(connection, request_id, actor, services)
        now = services.clock()
        if not requests.hand_in(connection, request_id, f"answered by {actor.id}", now):
            raise _over(request_id)
        remarks.keep(connection, request_id, actor.id, "handled", now, text=text)
        for event in (_WAITS, _ASSIGNED):
            deliveries.supersede(connection, request_id, event, now)
        told = f"{actor.id} answers your question “{standing.question.text}”: {text}"
        accepted = f"Is that what you need? `bylaw accept {request_id}`"
        deliveries.notify(connection, standing.question.actor.id, request_id, "handled", f"{told}\n{accepted}", now)
        entry = _recorded(connection, standing, actor, services, {"event": "handled", "text": text})
    services.anchor(after(entry))


def _handled(connection: Connection, request_id: str, actor: Actor, services: Services) -> Standing:
    """The question, for somebody who may handle it. Raises UsageError for everybody else: to them there is none."""
    standing = kept.standing(connection, request_id)
    if standing is None or standing.reply is None or not _may_handle(standing, actor, services):
        raise UsageError(f"no question `{request_id}` waits for `{actor.id}`", "`bylaw requests list` shows what does")
    if standing.state is not State.ESCALATED:
        raise _over(request_id)
    return standing


def _over(request_id: str) -> UsageError:
    return UsageError(f"the question `{request_id}` does not wait for a person any more", "see `bylaw trace`")


def _may_handle(standing: Standing, actor: Actor, services: Services) -> bool:
    roles = services.index.rules.roles
    return bool(roles.is_steward(actor.id)) or actor.id in (standing.assigned_to, *_handlers(standing, services))


def _handlers(standing: Standing, services: Services) -> tuple[str, ...]:
    """Who can take it over, as the answer said: owners and stewards, as far as the roles know them."""
    risk = None if standing.reply is None else standing.reply.risk
    named = () if risk is None else risk.escalation_path
    people = services.index.rules.roles.people
    return tuple(sorted({user for name in named for user in people(name)}))


def _recorded(
    connection: Connection, standing: Standing, actor: Actor, services: Services, told: Mapping[str, Any]
) -> AuditEntry:
    body = {
        **told,
        "request_id": standing.request_id,
        "session_id": standing.question.session_id,
        "actor": actor.model_dump(),
        "bundle_etag": services.bundle_etag,
        "commit": services.commit,
    }
    rows = marks.of_request(connection, standing.request_id, "requests")
    return audit.append(connection, body, services.clock, standing.request_id, rows)
