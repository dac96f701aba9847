"""Where the bot cannot hear what people say to it, in words for who looks after it."""

from __future__ import annotations

from bot.conversation import Actor
from bot.evidence.store.tables import watches
from bot.services import Services


def list_unseen(actor: Actor, services: Services) -> list[str]:
    """What could not be looked through, to a steward; nobody else needs to know of conversations."""
    if not services.index.rules.roles.is_steward(actor.id):
        return []
    with services.store.reading() as connection:
        return list(dict.fromkeys(watches.list_unseen(connection)))
