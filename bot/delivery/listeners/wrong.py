"""The button "Wrong…": a form about the answer, what it says now, and the correction that is sent with it.

Slack lets a form be opened only within three seconds of the click, so nothing slow is done before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slack_bolt import Ack, Respond

from bot.conversation import Actor, Citation
from bot.delivery.blocks import wrong
from bot.delivery.listeners import calls, say
from bot.delivery.listeners.click_payload import actor_of, part, read
from bot.delivery.listeners.threads import Threads
from bot.delivery.render import place
from bot.memory import offered
from bot.memory.corrections import Given, correct
from bot.memory.structure import Correctable
from bot.request import objections
from bylaw.errors import UsageError

_VALUE = 150  # characters of an option's value


def open_form(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """Show the form about the answer that was clicked on."""
    click = read(body)
    ack()
    if click is None:
        return
    try:
        actor, services = Actor(id=click.user), threads.serving.services()
        meant = offered.meant(click.value, actor, services)
        found = offered.of(meant.request_id, actor, services)
        cited = objections.sources_of(meant.request_id, actor, services)
    except UsageError as error:
        told = error.message
        threads.start(lambda: say.privately(respond, told))
        return
    now, given = filled_in(meant, found)
    say.open_view(body, wrong.form(meant.request_id, sources(cited) or options(found), now, given), respond, threads)


def choose(ack: Ack, body: Mapping[str, Any], respond: Respond, threads: Threads) -> None:
    """What the chosen field says now, in the form."""
    ack()
    view = body.get("view")
    if not isinstance(view, Mapping):
        return
    request_id, given = str(view.get("private_metadata")), wrong.filled(part(view, "state"))
    chosen = given.get(wrong.WHAT, "")
    try:
        found = offered.of(request_id, actor_of(body), threads.serving.services())
        cited = objections.sources_of(request_id, actor_of(body), threads.serving.services())
    except UsageError:
        return  # sending the form says why
    now = next((one.now for one in found if value(one) == chosen), None)
    if (number := _place(chosen)) is not None and number < len(cited):
        now = cited[number].text
    shown = wrong.form(request_id, sources(cited) or options(found), now, given)
    try:
        threads.client.views_update(view_id=str(view.get("id")), hash=str(view.get("hash")), view=shown)
    except calls.FAILED as error:
        calls.noted(error)  # the form goes without it


def send(ack: Ack, body: Mapping[str, Any], threads: Threads) -> None:
    """Keep what the form says; what cannot be kept is said on its field."""
    view = body.get("view")
    if not isinstance(view, Mapping):
        ack()
        return
    given = wrong.filled(part(view, "state"))
    request_id, actor, services = str(view.get("private_metadata")), actor_of(body), threads.serving.services()
    try:
        if (number := _place(given.get(wrong.WHAT, ""))) is not None:
            text = objections.object_to(request_id, given.get(wrong.REASON, ""), actor, services, number)
        else:
            text = correct(_given(request_id, given), actor, services).text
    except UsageError as error:
        told = error.message if error.help is None else f"{error.message}: {error.help}"
        ack(response_action="errors", errors={_field(error.message): told[:150]})
        return
    ack(response_action="update", view=wrong.done(text))


def filled_in(meant: offered.Meant, found: Sequence[Correctable]) -> tuple[str | None, dict[str, str]]:
    """What the field says now, and what the form opens with: the person's words, and what they were read as."""
    given = {wrong.REASON: meant.said} if meant.said else {}
    change = meant.change
    about = next(
        (one for one in found if change and (one.object, one.field.name) == (change.object, change.field)), None
    )
    if change is None or about is None:
        return None, given
    return about.now, {**given, wrong.WHAT: value(about), wrong.NEW: change.new}


def options(found: Sequence[Correctable]) -> list[tuple[str, str]]:
    """The fields that may be corrected, for a menu."""
    return [(value(one), one.label) for one in found if len(value(one)) <= _VALUE]


def sources(cited: Sequence[Citation]) -> list[tuple[str, str]]:
    """The rules and records that an answer cites, for a menu: each with its line and its words."""
    return [
        (f"{wrong.SOURCE}{n}", " ".join(part for part in (one.id, place(one), one.text or "") if part))
        for n, one in enumerate(cited)
    ]


def _place(chosen: str) -> int | None:
    """Which of the sources was chosen; None where it is something else."""
    number = chosen.removeprefix(wrong.SOURCE) if chosen.startswith(wrong.SOURCE) else ""
    return int(number) if number.isascii() and number.isdigit() and len(number) < 6 else None


def value(one: Correctable) -> str:
    """What a menu sends back for a field."""
    return f"{one.object}#{one.field.name}"


def _given(request_id: str, given: Mapping[str, str]) -> Given:
    chosen, new, reason = (given.get(name, "") for name in (wrong.WHAT, wrong.NEW, wrong.REASON))
    if chosen == wrong.PERMISSION:
        return Given(request_id, "permission", reason=reason)
    if chosen in wrong.PREFERENCES:
        return Given(request_id, "preference", field=chosen.partition("/")[2], new=new, reason=reason)
    object_, _, field = chosen.partition("#")
    return Given(request_id, None, object_, field, new, reason)


def _field(message: str) -> str:
    """The field of the form that an error is about."""
    return wrong.REASON if message.startswith("the reason") else wrong.NEW
