"""The queue of an owner: what somebody says is wrong about a rule's answer is looked at and answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack, Respond

from bot.conversation import Actor
from bot.delivery.blocks import queue, wrong
from bot.delivery.listeners import say
from bot.delivery.listeners.click_payload import clicker, part, read
from bot.delivery.listeners.threads import Threads
from bot.request import objections
from bylaw.errors import UsageError

_GONE = "It does not wait for you: somebody answered it already, or it is not yours."


def look(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Show the objection to who may settle it."""
    click = read(body)
    ack()
    user, name = (click.user, click.value) if click else ("", "")
    waiting = objections.waiting(Actor(id=user), threads.serving.services()) if user else []
    found = next((one for one in waiting if one.objection_id == name), None)
    if found is None:
        threads.start(lambda: say.privately(respond, _GONE))
        return
    say.open_view(body, queue.objection(name, found.lines()), respond, threads)


def settle(ack: Ack, body: Mapping[str, Any], threads: Threads) -> None:
    """Keep the answer; who objected is told."""
    view = part(body, "view")
    words = wrong.filled(part(view, "state")).get(queue.WORDS, "")
    user, _ = clicker(body)
    try:
        objections.settle(str(view.get("private_metadata")), words, Actor(id=user), threads.serving.services())
    except UsageError as error:
        ack(response_action="errors", errors={queue.WORDS: error.message[:150]})
        return
    ack(response_action="update", view=wrong.done("Sent. Who said so is told."))
