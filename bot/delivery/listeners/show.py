"""The asker does not see the answer that was offered: it is put in the place of the button."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack, Respond

from bot import rights
from bot.delivery.blocks import answer, kit
from bot.delivery.listeners import say
from bot.delivery.listeners.click_payload import read
from bot.delivery.listeners.threads import PRIVATE, Threads
from bot.evidence.store import kept

GONE = "I do not have that answer any more. Ask the question again."


def show(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Show the answer once more, to who asked and nobody else."""
    click = read(body)
    services = threads.serving.services()
    with services.store.reading() as connection:
        standing = kept.standing(connection, click.value) if click else None
    ack()
    if click is None or standing is None or standing.reply is None or standing.question.actor.id != click.user:
        threads.start(lambda: say.privately(respond, GONE))
        return
    shown = answer.answer(standing.reply, rights.rows_shown(services.index))
    whole = kit.Message(shown.text, (*shown.blocks[: kit.BLOCKS - 1], kit.context(PRIVATE)))
    threads.start(lambda: say.instead(respond, whole))
