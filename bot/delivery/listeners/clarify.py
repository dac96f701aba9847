"""A choice was made: the same as if the asker had typed it in the thread, once for each question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack, Respond

from bot import rights
from bot.conversation import Choice
from bot.delivery.blocks import answer, clarify, kit
from bot.delivery.listeners import say
from bot.delivery.listeners.click_payload import Click, read
from bot.delivery.listeners.heard import Heard, is_direct, said_at
from bot.delivery.listeners.threads import Threads
from bot.evidence.store import kept
from bot.evidence.store.tables import sessions
from bot.evidence.store.tables.requests import Standing
from bot.services import Services
from bylaw.canonical import fingerprint

NOT_YOURS = "Only the person who asked can choose. Ask the question yourself and I will ask you."
ANSWERED = "That question was answered already."
GONE = "I do not know that question any more. Ask it again."


def choose(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Take the choice as the next utterance of the person who was asked."""
    click = read(body)
    named = clarify.read_value(click.value) if click else None
    services = threads.serving.services()
    with services.store.reading() as connection:
        standing = kept.standing(connection, named[0]) if named else None
    picked = _picked(standing, named[1]) if named else None
    if click is None or standing is None or picked is None:
        ack()
        threads.start(lambda: say.privately(respond, GONE))
        return
    if standing.question.actor.id != click.user:
        ack()
        threads.start(lambda: say.privately(respond, NOT_YOURS))
        return
    heard = said_by(click, standing, picked.value)
    is_new = _is_open(standing, picked, services) and threads.take(heard)
    ack()
    if is_new:
        threads.hand_over(heard)
        assert standing.reply is not None  # it offered the choice
        shown = answer.closed(standing.reply, rights.rows_shown(services.index), _chosen(click.user, picked))
        threads.start(lambda: say.instead(respond, shown))
    else:
        threads.start(lambda: say.privately(respond, ANSWERED))


def _is_open(standing: Standing, picked: Choice, services: Services) -> bool:
    """Does the conversation still wait for this choice? An answer may have been typed meanwhile."""
    question = standing.question
    with services.store.reading() as connection:
        session = sessions.load(connection, question.session_id, question.actor)
    return picked in session.offered


def _picked(standing: Standing | None, number: int) -> Choice | None:
    if standing is None or standing.reply is None:
        return None
    offered = clarify.offered(standing.reply)
    return offered[number] if number < len(offered) else None


def said_by(click: Click, standing: Standing, text: str, form: Mapping[str, Any] | None = None) -> Heard:
    """The click as an utterance. Its key is of the question, not of the choice: whoever clicks twice chose once."""
    question = standing.question
    return Heard(
        key=f"slack:{fingerprint({'answers': standing.request_id})[-40:]}",
        text=text,
        user=click.user,
        team=click.team,
        channel=click.channel,
        thread=question.session_id.rpartition(":")[2],
        session_id=question.session_id,
        said_at=said_at(click.message),
        is_direct=is_direct(click.channel),
        form=None if form is None else dict(form),
    )


def _chosen(user: str, picked: Choice) -> str:
    return f"<@{kit.escape(user)}> chose: {kit.escape(kit.clipped(picked.label, kit.BUTTON))}"
