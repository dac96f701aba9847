"""What the bot could not deliver, for people: why it waits, what to do about it, and the two things that can be done.

Who it is for sees it, and every steward; only who it is for reads what it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.conversation import Actor
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import audit, deliveries
from bot.evidence.store.tables.deliveries import Waiting
from bot.request.refusals import advise
from bot.services import Services
from bylaw.audit.entry import AuditEntry, after
from bylaw.errors import UsageError

LONGEST_REASON = 1_000
_MOST = 1_000  # that are looked through
_FRESH = timedelta(minutes=1)  # a message that came just now is being answered
_GIVEN_UP = "an earlier version gave it up: retry sends it"


@dataclass(frozen=True)
class Undelivered:
    """One delivery that waits. `text` is null for whoever it is not for; `next_at` says when it is tried again.

    `recipient` is null where the row says nobody: only stewards see it.
    """

    delivery_id: str
    what: str
    recipient: str | None
    about: str
    since: datetime
    attempts: int
    why: str | None
    next_at: datetime | None
    advice: str
    text: str | None
    is_blocked: bool

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "delivery": self.delivery_id,
            "what": self.what,
            "for": self.recipient,
            "about": self.about,
            "since": self.since.isoformat(),
            "attempts": self.attempts,
            "why": self.why,
            "next_at": None if self.next_at is None else self.next_at.isoformat(),
            "waits_for": "a person" if self.is_blocked else "time",
            "advice": self.advice,
            "text": self.text,
        }


def list_undelivered(actor: Actor, services: Services) -> list[Undelivered]:
    """What waits, for *actor* or, to a steward, for anybody; the longest first."""
    now = services.clock()
    with services.store.reading() as connection:
        found = deliveries.list_undelivered(connection, now, _MOST)
    return [_show(one, actor) for one in found if _is_late(one, now) and _may_see(one, actor, services)]


def retry(delivery_id: str, actor: Actor, services: Services) -> None:
    """Have it sent again: now, and then patiently. Raises UsageError."""
    with services.store.writing() as connection:
        waiting = _waiting(connection, delivery_id, actor, services)
        if not deliveries.retry(connection, delivery_id, services.clock()):
            raise _over(delivery_id)
        entry = _record(connection, "delivery retried", waiting, actor, services)
    services.anchor(after(entry))


def retry_all(actor: Actor, services: Services) -> int:
    """Have everything sent again that waits for a person and that *actor* sees; how much that was."""
    blocked = [one for one in list_undelivered(actor, services) if one.is_blocked]
    for one in blocked:
        retry(one.delivery_id, actor, services)
    return len(blocked)


def close(delivery_id: str, reason: str, actor: Actor, services: Services) -> None:
    """Have it sent no more, and say why. Raises UsageError."""
    reason = " ".join(reason.split())
    if not reason or len(reason) > LONGEST_REASON:
        raise UsageError(f"the reason takes 1 to {LONGEST_REASON} characters", "say why nobody needs it any more")
    with services.store.writing() as connection:
        waiting = _waiting(connection, delivery_id, actor, services)
        if not deliveries.end(connection, delivery_id, actor.id, services.clock()):
            raise _over(delivery_id)
        entry = _record(connection, "delivery closed", waiting, actor, services, reason=reason)
    services.anchor(after(entry))


def may_see(delivery_id: str, actor: Actor, services: Services) -> bool:
    """Is there such a delivery for *actor*?"""
    with services.store.reading() as connection:
        found = deliveries.find(connection, delivery_id)
    return found is not None and _may_see(found, actor, services)


def _waiting(connection: Connection, delivery_id: str, actor: Actor, services: Services) -> Waiting:
    """The delivery, for somebody who may see it. Raises UsageError for everybody else: to them there is none."""
    found = deliveries.find(connection, delivery_id)
    if found is None or not _may_see(found, actor, services):
        help = "`bylaw requests undelivered` names those that do"
        raise UsageError(f"no delivery `{delivery_id}` waits that `{actor.id}` may see", help)
    return found


def _over(delivery_id: str) -> UsageError:
    return UsageError(f"the delivery `{delivery_id}` does not wait any more, or is being sent right now")


def _may_see(one: Waiting, actor: Actor, services: Services) -> bool:
    return bool(services.index.rules.roles.is_steward(actor.id)) or _is_for(one, actor)


def _is_for(one: Waiting, actor: Actor) -> bool:
    return one.recipient is not None and actor.id == one.recipient


def _is_late(one: Waiting, now: datetime) -> bool:
    return one.attempts > 0 or one.blocked_at is not None or one.outcome is not None or one.created_at <= now - _FRESH


def _show(one: Waiting, actor: Actor) -> Undelivered:
    is_given_up = one.outcome is not None
    is_blocked = is_given_up or one.blocked_at is not None
    return Undelivered(
        delivery_id=one.delivery_id,
        what="a notice" if one.kind == "notice" else "an answer",
        recipient=one.recipient,
        about=_about(one),
        since=one.created_at,
        attempts=one.attempts,
        why=one.failure,
        next_at=None if is_blocked else one.next_at,
        advice=_GIVEN_UP if is_given_up else advise(one.cause, one.failure, one.attempts),
        text=one.word("text") if _is_for(one, actor) else None,
        is_blocked=is_blocked,
    )


def _about(one: Waiting) -> str:
    """The request that it answers, or what a notice tells of."""
    return (one.word("about") if one.kind == "notice" else None) or one.delivery_id


def _record(
    connection: Connection, event: str, waiting: Waiting, actor: Actor, services: Services, **said: str
) -> AuditEntry:
    about = _about(waiting)
    body = {
        "event": event,
        "delivery": waiting.delivery_id,
        "request_id": about,
        "actor": actor.model_dump(),
        "bundle_etag": services.bundle_etag,
        "commit": services.commit,
        **said,
    }
    return audit.append(connection, body, services.clock, about)
