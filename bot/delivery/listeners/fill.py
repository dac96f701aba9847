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
from bot.delivery.listeners.click_payload import Click, clicker, part, read
from bot.delivery.listeners.threads import Threads
from bot.evidence.store import kept
from bot.evidence.store.tables.requests import Standing


def run(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Take what the fields of a message stand at as a filled form."""
    click = read(body)
    standing, refused = _asked(click.user, click.value, threads) if click else (None, GONE)
    if refused or click is None or standing is None or standing.reply is None:
        ack()
        threads.start(lambda: say.privately(respond, refused or GONE))
        return
    is_new = _take(click, standing, part(body, "state"), threads)
    ack()
    if not is_new:
        threads.start(lambda: say.privately(respond, ANSWERED))
        return
    told = f"<@{kit.escape(click.user)}> filled in the form"
    shown = answer.closed(standing.reply, rights.rows_shown(threads.serving.services().index), told)
    threads.start(lambda: say.instead(respond, shown))


def open_form(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Show a form that is too large for a message to who was asked."""
    click = read(body)
    ack()
    standing, refused = _asked(click.user, click.value, threads) if click else (None, GONE)
    if refused or click is None or standing is None or standing.reply is None or standing.reply.form is None:
        threads.start(lambda: say.privately(respond, refused or GONE))
        return
    say.open_view(body, form.view(standing.reply.form, f"{click.message}:{click.value}"), respond, threads)


def send(ack: Ack, body: Mapping[str, Any], threads: Threads) -> None:
    """Take a form that was opened and sent."""
    view = part(body, "view")
    message, _, request_id = str(view.get("private_metadata")).partition(":")
    user, team = clicker(body)
    standing, refused = _asked(user, request_id, threads)
    if refused or standing is None:
        ack(response_action="update", view=form.told(refused or GONE))
        return
    channel = standing.question.session_id.split(":")[2]
    click = Click(user=user, team=team, channel=channel, message=message, value=request_id)
    if _take(click, standing, part(view, "state"), threads):
        ack()
    else:
        ack(response_action="update", view=form.told(ANSWERED))


def _take(click: Click, standing: Standing, state: Mapping[str, Any], threads: Threads) -> bool:
    """Keep the filled form and answer it. False: the question was answered already."""
    given = from_choices(form.picked(state))
    heard = said_by(click, standing, standing.question.text, given)
    is_new = threads.take(heard)
    if is_new:
        threads.hand_over(heard)
    return is_new


def _asked(user: str, request_id: str, threads: Threads) -> tuple[Standing | None, str | None]:
    """The question whose form it is; in words why there is none for this person."""
    with threads.serving.services().store.reading() as connection:
        standing = kept.standing(connection, request_id)
    if standing is None or standing.reply is None or standing.reply.form is None:
        return None, GONE
    return standing, None if standing.question.actor.id == user else NOT_YOURS
