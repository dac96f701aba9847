"""The verbs that bring a request to its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot import settings
from bot.cli import _BUNDLE, _ROOT, _WAREHOUSE
from bot.commands.verb import JSON, Shown, for_person, open_services, show
from bylaw.errors import UsageError

if TYPE_CHECKING:
    from bot.conversation import Actor
    from bot.evidence.store.tables.requests import Standing
    from bot.services import Services

_ID = click.argument("request_id", metavar="ID")


@click.command()
@_BUNDLE
@_ROOT
@JSON
def tick(bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """Do once what a server does every BYLAW_TICK_SECONDS: settle the answers that nobody accepted in time.

    At level 5 an answer counts as accepted after 24 hours, at level 4 after 48; at level 3 it is abandoned after 72
    hours, and a recommendation expires after 7 days: who asked is told. `rules/autonomy.yaml` has the figures. With
    GITHUB_REPOSITORY and a token, candidates follow their pull requests.

    \b
    bylaw tick
    */5 * * * *  bylaw tick --root /srv/policies        where no server runs
    """
    from bot.memory.opening import following
    from bot.request.scheduler import tick as settle_due

    with open_services(bundle, root) as opened:
        services = replace(opened, pull_request=following(settings.environment()))
        counts = settle_due(services, services.clock())
    show(Shown([f"{name}: {count}" for name, count in counts.items()], counts), as_json)


@click.command()
@_ID
@for_person()
def accept(request_id: str, actor: Actor, services: Services) -> Shown:
    """Take the answer to request ID as it is. Exit code 1 where it does not wait for that.

    \b
    bylaw accept ID --as amara
    """
    from bot.request import acceptance

    done = acceptance.accept(request_id, actor, services)
    said = done.text if done.is_visible else acceptance.UNKNOWN
    return Shown([said], {"request_id": request_id, "accepted": done.is_accepted, "text": said}, done.is_accepted)


@click.command()
@_ID
@click.argument("question")
@_WAREHOUSE
@for_person()
def revise(request_id: str, question: str, actor: Actor, services: Services) -> Shown:
    """Put the question of request ID in other words: the new answer takes the place of the one before.

    \b
    bylaw revise ID "net revenue by region for Q2" --as amara
    """
    from bot.conversation import GIVEN
    from bot.delivery.render import render
    from bot.request.orchestrator import REVISES, handle

    before = _standing(request_id, actor, services).question
    if before.actor.id != actor.id:
        raise _not_given(request_id, actor)
    named = {"asked_at": services.clock(), "request_id": services.new_id(), "options": {REVISES: request_id}}
    reply = handle(before.model_copy(update={"text": question, **named}), services)
    return Shown([render(reply, False)], reply, reply.status in GIVEN)


@click.command()
@_ID
@click.option("--good/--bad", "is_good", required=True, help="Was it what you needed?")
@click.option("--text", metavar="WORDS", help="What was wrong, or what helped.")
@for_person()
def feedback(request_id: str, is_good: bool, text: str | None, actor: Actor, services: Services) -> Shown:
    """Say what you think of the answer to request ID: it is kept with the request.

    \b
    bylaw feedback ID --bad --text "the test shops are in it" --as amara
    """
    from bot.request import acceptance

    standing = _standing(request_id, actor, services)
    is_new = acceptance.say(standing, actor, services, "positive" if is_good else "negative", text)
    told = {"request_id": request_id, "kept": True, "new": is_new}
    return Shown(["Thank you, it is kept with the answer."], told)


def _standing(request_id: str, actor: Actor, services: Services) -> Standing:
    from bot.request import acceptance

    if (found := acceptance.standing_for(request_id, actor, services)) is None:
        raise _not_given(request_id, actor)
    return found


def _not_given(request_id: str, actor: Actor) -> UsageError:
    return UsageError(f"`{actor.id}` was given no answer `{request_id}`", "name who asked with --as")


@click.group()
def requests() -> None:
    """Questions that only a person may answer (level 1): list them, take one, hand it on, answer it.

    Who owns what a question reads sees it, and every steward. It stays open until it is answered.

    \b
    bylaw requests notices --as grace
    bylaw requests undelivered --as grace
    bylaw requests list --as grace
    bylaw requests take ID --as grace
    bylaw requests assign ID ines --as grace
    bylaw requests answer ID "Margin was 41 %; the ledger closed on Friday." --as ines
    """


@requests.command("list", short_help="What waits for you, the longest first.")
@for_person()
def list_waiting(actor: Actor, services: Services) -> Shown:
    """What waits for you, the longest first: what you own or took; a steward sees everything."""
    from bot.request import owners

    found, lines = owners.waiting(actor, services), []
    for one in found:
        taken = f"taken by {one.assigned_to}" if one.assigned_to else f"for {', '.join(one.for_whom) or 'any steward'}"
        lines.append(f"{one.request_id}  {one.asked_at:%Y-%m-%d %H:%M}  {one.asked_by}: {one.text}  ({taken})")
    return Shown(lines or ["nothing waits"], [one.document() for one in found])


@requests.command(short_help="What you have to hear, once: answers of level 4, what timed out, what was handed to you.")
@for_person()
def notices(actor: Actor, services: Services) -> Shown:
    """What you have to hear, and have not heard in Slack yet. What is shown here counts as told."""
    from bot.evidence.store.tables import deliveries

    with services.store.writing() as connection:
        found = deliveries.told(connection, actor.id, services.clock())
    lines = [f"{one['at'][:16].replace('T', ' ')}  {one['text']}" for one in found]
    return Shown(lines or ["nothing new"], found)


@requests.command(short_help="What could not be delivered yet, why, and what to do about it.")
@for_person()
def undelivered(actor: Actor, services: Services) -> Shown:
    """What could not be delivered yet, the longest first: what is for you; a steward sees everything.

    What waits for time is tried again by itself. What waits for a person stays until it is retried or closed.
    """
    from bot.request.listening import list_unseen
    from bot.request.undelivered import list_undelivered

    found, unseen, lines = list_undelivered(actor, services), list_unseen(actor, services), []
    for one in found:
        tried = "once" if one.attempts == 1 else f"{one.attempts} times"
        again = "" if one.next_at is None else f"; next at {one.next_at:%Y-%m-%d %H:%M}"
        whom = one.recipient or "nobody known"
        lines.append(f"{one.delivery_id}  {one.what} for {whom}, {one.since:%Y-%m-%d %H:%M}, tried {tried}")
        lines.append(f"    {one.why or 'not sent'}: {one.advice}{again}")
    lines += [f"not heard: {line}" for line in unseen]
    document = {"undelivered": [one.document() for one in found], "unseen": unseen}
    return Shown(lines or ["nothing waits"], document)


@requests.command(short_help="Send again what waits for a person.")
@click.argument("delivery", metavar="DELIVERY", required=False)
@click.option("--all", "is_all", is_flag=True, help="Everything that waits for a person and that you may see.")
@for_person(has_json=False)
def retry(delivery: str | None, is_all: bool, actor: Actor, services: Services) -> Shown:
    """Have DELIVERY sent again: at once, and then patiently."""
    from bot.request import undelivered

    if (delivery is None) != is_all:
        raise UsageError("name one delivery, or say --all", "`bylaw requests undelivered` names them")
    if delivery is None:
        return Shown([f"{undelivered.retry_all(actor, services)} will be sent again"])
    undelivered.retry(delivery, actor, services)
    return Shown([f"{delivery} will be sent again"])


@requests.command(short_help="End what waits: nobody needs it any more.")
@click.argument("delivery", metavar="DELIVERY")
@click.option("--reason", required=True, help="Why; it is recorded.")
@for_person(has_json=False)
def close(delivery: str, reason: str, actor: Actor, services: Services) -> Shown:
    """Have DELIVERY sent no more."""
    from bot.request import undelivered

    undelivered.close(delivery, reason, actor, services)
    return Shown([f"closed {delivery}"])


@requests.command(short_help="What people say is wrong about answers from rules that you own.")
@for_person()
def objections(actor: Actor, services: Services) -> Shown:
    """What people say is wrong about answers from rules and records that you own; a steward sees everything."""
    from bot.request import objections as objecting

    found, lines = objecting.waiting(actor, services), []
    for one in found:
        lines.append(f"{one.objection_id}  {one.at:%Y-%m-%d %H:%M}  {one.request_id}")
        lines += [f"    {line}" for line in one.lines()]
    lines.append('settle one: bylaw requests settle OBJECTION "…"' if found else "nothing waits")
    return Shown(lines, [one.document() for one in found])


@requests.command(short_help="Answer an objection: who made it is told.")
@click.argument("objection", metavar="OBJECTION")
@click.argument("text")
@for_person(has_json=False)
def settle(objection: str, text: str, actor: Actor, services: Services) -> Shown:
    """Answer OBJECTION with TEXT: who made it is told, and it waits no more."""
    from bot.request import objections as objecting

    found = objecting.settle(objection, text, actor, services)
    return Shown([f"settled {found.objection_id}: {found.by} is told"])


@requests.command(short_help="Answer it yourself: it is yours from now on.")
@_ID
@for_person(has_json=False)
def take(request_id: str, actor: Actor, services: Services) -> Shown:
    """Take question ID: the others see that it is yours."""
    return _assign(request_id, actor.id, actor, services)


@requests.command(short_help="Hand it to somebody else, who is told.")
@_ID
@click.argument("to")
@for_person(has_json=False)
def assign(request_id: str, to: str, actor: Actor, services: Services) -> Shown:
    """Hand question ID to the person TO, who is told."""
    return _assign(request_id, to, actor, services)


def _assign(request_id: str, to: str, actor: Actor, services: Services) -> Shown:
    from bot.request import owners

    owners.assign(request_id, to, actor, services)
    return Shown([f"assigned to {to}"])


@requests.command(short_help="Answer it: who asked is told, and may accept it.")
@_ID
@click.argument("text")
@for_person(has_json=False)
def answer(request_id: str, text: str, actor: Actor, services: Services) -> Shown:
    """Answer question ID with TEXT: who asked is told, and accepts it like any other answer."""
    from bot.request import owners

    owners.answer(request_id, text, actor, services)
    return Shown(["answered"])
