"""Which of Slack's events, actions and forms are answered, by whom. A row is a function; all else is acknowledged."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

from slack_bolt import Ack, App, BoltContext, BoltResponse, Respond

from bot.delivery.blocks import answer, clarify, form
from bot.delivery.blocks import queue as queue_blocks
from bot.delivery.blocks import wrong as wrong_blocks
from bot.delivery.listeners import accept, ask, fill, objection, queue, say, show, wrong
from bot.delivery.listeners import clarify as clarifying
from bot.delivery.listeners.heard import Heard
from bot.delivery.listeners.threads import Threads
from bot.evidence.store.kept import Altered

Read = Callable[[Mapping[str, Any], Threads], Heard | None]
Act = Callable[[Ack, Mapping[str, Any], Respond, Threads], None]
Send = Callable[[Ack, Mapping[str, Any], Threads], None]

EVENTS: Mapping[str, Read] = {
    "app_mention": ask.mention,
    "message": ask.message,
}
ACTIONS: Mapping[str, Act] = {
    answer.ACCEPT: accept.accept,
    answer.SHOW: show.show,
    rf"{clarify.ACTION}(_\d+)?": clarifying.choose,
    form.RUN: fill.run,
    form.OPEN: fill.open_form,
    wrong_blocks.WRONG: wrong.open_form,
    wrong_blocks.WHAT: wrong.choose,
    queue_blocks.ANSWER: objection.look,
    queue_blocks.REVIEW: queue.review,
    queue_blocks.OPEN: queue.open_,
    queue_blocks.REJECT: queue.ask_why,
}
VIEWS: Mapping[str, Send] = {
    form.SENT: fill.send,
    wrong_blocks.WRONG: wrong.send,
    queue_blocks.SETTLED: objection.settle,
    queue_blocks.REJECT: queue.reject,
}

_EVERYTHING = re.compile(r".+", re.DOTALL)
_HEARD = "bylaw_heard"
_log = logging.getLogger("bylaw.slack")


def install(app: App, threads: Threads) -> None:
    """Give *app* its listeners. What no row names is acknowledged too: Slack would send it again and again."""
    for name, read in EVENTS.items():
        app.event(name, middleware=[_keeping(read, threads)])(_handing_over(threads))
    for pattern, act in ACTIONS.items():
        app.action(re.compile(f"^{pattern}$"))(_acting(act, threads))
    for name, send in VIEWS.items():
        app.view(name)(_sending(send, threads))
    app.event(_EVERYTHING)(_nothing)
    app.action(_EVERYTHING)(_acknowledged)
    app.error(_failed)


def _keeping(read: Read, threads: Threads) -> Callable[..., BoltResponse | None]:
    """Bolt acknowledges an event before its listener runs; whatever must not be lost is kept here, before that."""

    def keep(event: dict[str, Any], context: BoltContext, next: Callable[[], None]) -> BoltResponse | None:
        heard = read(event, threads)
        if heard is None or not threads.take(heard):
            return BoltResponse(status=200, body="")
        context[_HEARD] = heard
        next()
        return None

    return keep


def _handing_over(threads: Threads) -> Callable[..., None]:
    def listener(context: BoltContext) -> None:
        threads.hand_over(context[_HEARD])

    return listener


def _acting(act: Act, threads: Threads) -> Callable[..., None]:
    def listener(ack: Ack, body: dict[str, Any], respond: Respond) -> None:
        try:
            act(ack, body, respond, threads)
        except Altered as error:  # nobody is shown what was not answered; who looks after the store is told
            _log.error(error.message)
            ack()
            threads.start(lambda: say.privately(respond, show.GONE))

    return listener


def _sending(send: Send, threads: Threads) -> Callable[..., None]:
    def listener(ack: Ack, body: dict[str, Any]) -> None:
        send(ack, body, threads)

    return listener


def _nothing() -> None:
    """An event nobody here asked for."""


def _acknowledged(ack: Ack) -> None:
    """A click on something that an older version posted."""
    ack()


def _failed(error: Exception) -> None:
    """What could not even be kept is not acknowledged (Bolt answers 500), so that Slack sends it again."""
    _log.error("what Slack sent could not be taken", exc_info=error)
