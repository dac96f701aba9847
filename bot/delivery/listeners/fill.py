"""A form was filled in: it is answered as the next utterance of the person it was shown to, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack, Respond

from bot import rights
from bot.analytics.form import from_choices
from bot.delivery.blocks import answer, form, kit
from bot.delivery.listeners import say
from bot.delivery.listeners.clarify import ANSWERED, GONE, NOT_YOURS, said_by
from bot.delivery.listeners.click_payload import Click, read
from bot.delivery.listeners.threads import Threads
from bot.evidence.store import kept
from bot.evidence.store.tables.requests import Standing


def run(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Take what the menus stand at as a filled form."""
    click, state = read(body), body.get("state")
    services = threads.serving.services()
    with services.store.reading() as connection:
        standing = kept.standing(connection, click.value) if click else None
    refused = _refused(click, standing)
    if refused or click is None or standing is None or standing.reply is None:
        ack()
        threads.start(lambda: say.privately(respond, refused or GONE))
        return
    given = from_choices(form.picked(state if isinstance(state, Mapping) else {}))
    is_new = threads.take(said_by(click, standing, standing.question.text, given))
    ack()
    if not is_new:
        threads.start(lambda: say.privately(respond, ANSWERED))
        return
    threads.hand_over(said_by(click, standing, standing.question.text, given))
    told = f"<@{kit.escape(click.user)}> filled in the form"
    shown = answer.closed(standing.reply, rights.rows_shown(services.index), told)
    threads.start(lambda: say.instead(respond, shown))


def _refused(click: Click | None, standing: Standing | None) -> str | None:
    if click is None or standing is None or standing.reply is None or standing.reply.form is None:
        return GONE
    return None if standing.question.actor.id == click.user else NOT_YOURS
