"""Who hears what Slack does not let a steward or an owner hear: another steward, else the channel of stewards."""

from __future__ import annotations

from bot.evidence.store.tables import deliveries
from bot.evidence.store.tables.deliveries import Waiting
from bot.memory.corrections import PERMISSION_EVENT
from bot.services import Services

_SHARED = frozenset({"candidate", PERMISSION_EVENT})  # what any steward can see to; all else is one person's alone


def hand_on(delivery_id: str, services: Services) -> str | None:
    """Have somebody else told what *delivery_id* could not tell; whom, None where that is nobody or not needed."""
    with services.store.writing() as connection:
        lost = deliveries.find(connection, delivery_id)
        if lost is None or lost.kind != "notice":
            return None
        about, event, said = (lost.word(name) for name in ("about", "event", "text"))
        if about is None or event is None or said is None:
            return None
        if event.partition(":")[0] not in _SHARED:
            return None
        copies = deliveries.copies(connection, about, event)
        if any(one.blocked_at is None for one in copies):
            return None  # somebody has heard it, or is about to
        to, is_channel = _next(copies, services)
        if to is None:
            return None
        text = f"{said} (This was for {lost.recipient}, whom Slack does not let me write to.)"
        deliveries.notify(connection, to, about, event, text, services.clock(), is_channel)
    return to


def _next(copies: list[Waiting], services: Services) -> tuple[str | None, bool]:
    """Who is told instead, and whether that is a channel."""
    roles, tried = services.index.rules.roles, {one.recipient for one in copies}
    steward = next((one for one in roles.stewards() if one not in tried), None)
    if steward is not None or roles.steward_channel in tried:
        return steward, False
    return roles.steward_channel, True
