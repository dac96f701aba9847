"""The queue of a steward: a candidate is looked at, opened as a pull request, or rejected with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack, Respond

from bot.conversation import Actor
from bot.delivery.blocks import queue, wrong
from bot.delivery.listeners import calls, say
from bot.delivery.listeners.click_payload import actor_of, part, value_of
from bot.delivery.listeners.threads import Threads
from bot.evidence.store.tables import corrections
from bot.evidence.store.tables.candidates import Candidate
from bot.memory import candidates as deciding
from bot.memory.queue import spelled
from bot.services import Services
from bylaw.errors import BylawError, UsageError

_WORKING = "The pull request is being written: cases and verified queries are asked before and after."
_ELSEWHERE = "This server cannot write to the repository: `bylaw promote open {name}` does, where it can."


def review(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Show the candidate to a steward."""
    ack()
    services, actor = threads.serving.services(), actor_of(body)
    try:
        shown = _view(value_of(body), actor, services)
    except UsageError as error:
        told = error.message
        threads.start(lambda: say.privately(respond, told))
        return
    say.open_view(body, shown, respond, threads)


def open_(ack: Ack, body: Mapping[str, Any], _respond: Respond, threads: Threads) -> None:
    """Open the pull request, beside the acknowledgement: it takes longer than a click may."""
    ack()
    name, actor, view = value_of(body), actor_of(body), str(part(body, "view").get("id"))
    threads.start(lambda: _opened(name, actor, view, threads))


def ask_why(ack: Ack, body: Mapping[str, Any], _respond: Respond, threads: Threads) -> None:
    """Ask a steward for the reason of a no, on top of the candidate."""
    ack()
    try:
        threads.client.views_push(trigger_id=str(body.get("trigger_id")), view=queue.no(value_of(body)))
    except calls.FAILED as error:
        calls.noted(error)  # the button is still there


def reject(ack: Ack, body: Mapping[str, Any], threads: Threads) -> None:
    """Write the no down; who corrected it is told."""
    view, services, actor = part(body, "view"), threads.serving.services(), actor_of(body)
    name = str(view.get("private_metadata"))
    try:
        deciding.reject(name, wrong.filled(part(view, "state")).get(queue.WHY, ""), actor, services)
    except UsageError as error:
        ack(response_action="errors", errors={queue.WHY: error.message[:150]})
        return
    ack(response_action="clear")


def _opened(name: str, actor: Actor, view: str, threads: Threads) -> None:
    services = threads.serving.services()
    try:
        if services.promoting is None:
            deciding.check_steward(actor, services)
            told = _ELSEWHERE.format(name=name)
        else:
            _update(view, _view(name, actor, services, _WORKING), threads)
            told = f"The pull request is open: {services.promoting(name, actor, services)}"
    except BylawError as error:
        told = error.message if error.help is None else f"{error.message}: {error.help}"
    _update(view, queue.candidate(name, told, [], ""), threads)


def _update(view: str, shown: Mapping[str, Any], threads: Threads) -> None:
    try:
        threads.client.views_update(view_id=view, view=dict(shown))
    except calls.FAILED as error:
        calls.noted(error)  # what counts is written down


def _view(name: str, actor: Actor, services: Services, told: str | None = None) -> dict[str, Any]:
    with services.store.reading() as connection:
        found: Candidate = deciding.held(connection, name, actor, services)
        members = corrections.named(connection, found.members)
    reasons = [f"{', '.join(one.actor_roles)}, {one.at.date().isoformat()}: {one.reason}" for one in members]
    return queue.candidate(name, spelled(found), reasons, told)
