"""The person takes the answer as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack, Respond

from bot import rights
from bot.conversation import Actor
from bot.delivery.blocks import answer, kit
from bot.delivery.listeners import say
from bot.delivery.listeners.click_payload import read
from bot.delivery.listeners.threads import Threads
from bot.request import acceptance


def accept(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Record the acceptance, then show it in the place of the button."""
    click = read(body)
    services = threads.serving.services()
    if click is None:
        ack()
        return
    done = acceptance.accept(click.value, Actor(id=click.user), services)
    ack()
    if done.is_accepted and done.reply is not None:
        by = f":white_check_mark: Accepted by <@{kit.escape(done.by)}>"
        shown = answer.closed(done.reply, rights.rows_shown(services.index), by)
        threads.start(lambda: say.instead(respond, shown))
    else:
        threads.start(lambda: say.privately(respond, done.text))
