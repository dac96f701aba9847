"""Who speaks to the bot: a mention, a direct message, or a word in a thread that goes on from what it said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.conversation import Actor
from bot.delivery.listeners.heard import Heard, hear
from bot.delivery.listeners.threads import Threads
from bot.request.orchestrator import is_addressed


def mention(event: Mapping[str, Any], threads: Threads) -> Heard | None:
    """Somebody named the bot."""
    return hear(event, threads.team, threads.bot_user)


def message(event: Mapping[str, Any], threads: Threads) -> Heard | None:
    """A direct message; elsewhere only what goes on from what the bot said to this person in this thread.

    What mentions the bot arrives as a mention too, under the same key: whichever comes first is answered.
    """
    heard = hear(event, threads.team, threads.bot_user)
    if heard is None or heard.is_direct:
        return heard
    return heard if event.get("thread_ts") and _is_awaited(heard, threads) else None


def _is_awaited(heard: Heard, threads: Threads) -> bool:
    return is_addressed(heard.text, heard.session_id, Actor(id=heard.user), threads.serving.services())
