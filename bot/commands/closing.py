"""The verbs that bring a request to its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot import settings
from bot.cli import bundle_path, given_settings, is_compiled_here
from bylaw.errors import UsageError

if TYPE_CHECKING:
    from bot.services import Services

_ROOT = click.option("--root", type=click.Path(path_type=Path), help="The policy repository; default: this folder.")
_BUNDLE = click.option("--bundle", metavar="FILE", type=click.Path(path_type=Path), help="A bundle, instead of --root.")
_WAREHOUSE = click.option("--warehouse", metavar="URL", help="Where data questions run, as for `bylaw ask`.")
_AS = click.option("--as", "user", metavar="USER", default="anonymous", help="Who you are in rules/roles.yaml.")
_ID = click.argument("request_id", metavar="ID")
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")


@click.command()
@_BUNDLE
@_ROOT
@_JSON
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
    from bot.request.scheduler import tick as done

    with _services(bundle, root) as opened:
        services = replace(opened, pull_request=following(settings.environment()))
        counts = done(services, services.clock())
    if as_json:
        click.echo(json.dumps(counts, indent=2, sort_keys=True))
        return
    for name, count in counts.items():
        click.echo(f"{name}: {count}")


@click.command()
@_ID
@_AS
@_BUNDLE
@_ROOT
@_JSON
@click.pass_context
def accept(
    ctx: click.Context, request_id: str, user: str, bundle: Path | None, root: Path | None, as_json: bool
) -> None:
    """Take the answer to request ID as it is. Exit code 1 where it does not wait for that.

    \b
    bylaw accept ID --as amara
    """
    from bot.conversation import Actor
    from bot.request import acceptance

    with _services(bundle, root) as services:
        done = acceptance.accept(request_id, Actor(id=user), services)
    said = acceptance.UNKNOWN if not done.is_visible else done.text
    told = {"request_id": request_id, "accepted": done.is_accepted, "text": said}
    click.echo(json.dumps(told, indent=2, sort_keys=True) if as_json else said)
    ctx.exit(0 if done.is_accepted else 1)


@click.command()
@_ID
@click.argument("question")
@_AS
@_BUNDLE
@_ROOT
@_WAREHOUSE
@_JSON
@click.pass_context
def revise(
    ctx: click.Context,
    request_id: str,
    question: str,
    user: str,
    bundle: Path | None,
    root: Path | None,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Put the question of request ID in other words: the new answer takes the place of the one before.

    \b
    bylaw revise ID "net revenue by region for Q2" --as amara
    """
    from bot.conversation import GIVEN, Actor, Question
    from bot.delivery.render import render
    from bot.delivery.saving import said
    from bot.request import acceptance
    from bot.request.orchestrator import REVISES, handle

    with _services(bundle, root, warehouse) as services:
        actor = Actor(id=user)
        before = acceptance.standing_for(request_id, actor, services)
        if before is None or before.question.actor.id != user:
            raise UsageError(f"`{user}` was given no answer `{request_id}`", "name who asked with --as")
        asked = Question(
            text=question,
            actor=before.question.actor,
            asked_at=services.clock(),
            session_id=before.question.session_id,
            request_id=services.new_id(),
            options={REVISES: request_id},
        )
        reply = handle(asked, services)
    click.echo(said(reply, "json") if as_json else render(reply, False))
    ctx.exit(0 if reply.status in GIVEN else 1)


@click.command()
@_ID
@click.option("--good/--bad", "is_good", required=True, help="Was it what you needed?")
@click.option("--text", metavar="WORDS", help="What was wrong, or what helped.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def feedback(
    request_id: str,
    is_good: bool,
    text: str | None,
    user: str,
    bundle: Path | None,
    root: Path | None,
    as_json: bool,
) -> None:
    """Say what you think of the answer to request ID: it is kept with the request.

    \b
    bylaw feedback ID --bad --text "the test shops are in it" --as amara
    """
    from bot.conversation import Actor
    from bot.request import acceptance

    with _services(bundle, root) as services:
        standing = acceptance.standing_for(request_id, Actor(id=user), services)
        if standing is None:
            raise UsageError(f"`{user}` was given no answer `{request_id}`", "name who asked with --as")
        is_new = acceptance.say(standing, Actor(id=user), services, "positive" if is_good else "negative", text)
    told = {"request_id": request_id, "kept": True, "new": is_new}
    click.echo(json.dumps(told, indent=2, sort_keys=True) if as_json else "Thank you, it is kept with the answer.")


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
@_AS
@_BUNDLE
@_ROOT
@_JSON
def list_(user: str, bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """What waits for you, the longest first: what you own or took; a steward sees everything."""
    from bot.conversation import Actor
    from bot.delivery.render import safe
    from bot.request import owners

    with _services(bundle, root) as services:
        found = owners.waiting(Actor(id=user), services)
    if as_json:
        click.echo(json.dumps([one.document() for one in found], indent=2, sort_keys=True, ensure_ascii=False))
        return
    for one in found:
        taken = f"taken by {one.assigned_to}" if one.assigned_to else f"for {', '.join(one.for_whom) or 'any steward'}"
        click.echo(safe(f"{one.request_id}  {one.asked_at:%Y-%m-%d %H:%M}  {one.asked_by}: {one.text}  ({taken})"))
    if not found:
        click.echo("nothing waits")


@requests.command(short_help="What you have to hear, once: answers of level 4, what timed out, what was handed to you.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def notices(user: str, bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """What you have to hear, and have not heard in Slack yet. What is shown here counts as told."""
    from bot.delivery.render import safe
    from bot.evidence.store.tables import deliveries

    with _services(bundle, root) as services, services.store.writing() as connection:
        found = deliveries.told(connection, user, services.clock())
    if as_json:
        click.echo(json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False))
        return
    for one in found:
        click.echo(safe(f"{one['at'][:16].replace('T', ' ')}  {one['text']}"))
    if not found:
        click.echo("nothing new")


@requests.command(short_help="What could not be delivered yet, why, and what to do about it.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def undelivered(user: str, bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """What could not be delivered yet, the longest first: what is for you; a steward sees everything.

    What waits for time is tried again by itself. What waits for a person stays until it is retried or closed.
    """
    from bot.conversation import Actor
    from bot.delivery.render import safe
    from bot.request.listening import list_unseen
    from bot.request.undelivered import list_undelivered

    with _services(bundle, root) as services:
        found = list_undelivered(Actor(id=user), services)
        unseen = list_unseen(Actor(id=user), services)
    if as_json:
        told = {"undelivered": [one.document() for one in found], "unseen": unseen}
        click.echo(json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False))
        return
    for one in found:
        tried = "once" if one.attempts == 1 else f"{one.attempts} times"
        again = "" if one.next_at is None else f"; next at {one.next_at:%Y-%m-%d %H:%M}"
        whom = one.recipient or "nobody known"
        click.echo(safe(f"{one.delivery_id}  {one.what} for {whom}, {one.since:%Y-%m-%d %H:%M}, tried {tried}"))
        click.echo(safe(f"    {one.why or 'not sent'}: {one.advice}{again}"))
    for line in unseen:
        click.echo(safe(f"not heard: {line}"))
    if not found and not unseen:
        click.echo("nothing waits")


@requests.command(short_help="Send again what waits for a person.")
@click.argument("delivery", metavar="DELIVERY", required=False)
@click.option("--all", "is_all", is_flag=True, help="Everything that waits for a person and that you may see.")
@_AS
@_BUNDLE
@_ROOT
def retry(delivery: str | None, is_all: bool, user: str, bundle: Path | None, root: Path | None) -> None:
    """Have DELIVERY sent again: at once, and then patiently."""
    from bot.conversation import Actor
    from bot.request import undelivered

    if (delivery is None) != is_all:
        raise UsageError("name one delivery, or say --all", "`bylaw requests undelivered` names them")
    with _services(bundle, root) as services:
        if delivery is None:
            count = undelivered.retry_all(Actor(id=user), services)
        else:
            undelivered.retry(delivery, Actor(id=user), services)
    click.echo(f"{count} will be sent again" if delivery is None else f"{delivery} will be sent again")


@requests.command(short_help="End what waits: nobody needs it any more.")
@click.argument("delivery", metavar="DELIVERY")
@click.option("--reason", required=True, help="Why; it is recorded.")
@_AS
@_BUNDLE
@_ROOT
def close(delivery: str, reason: str, user: str, bundle: Path | None, root: Path | None) -> None:
    """Have DELIVERY sent no more."""
    from bot.conversation import Actor
    from bot.request import undelivered

    with _services(bundle, root) as services:
        undelivered.close(delivery, reason, Actor(id=user), services)
    click.echo(f"closed {delivery}")


@requests.command(short_help="What people say is wrong about answers from rules that you own.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def objections(user: str, bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """What people say is wrong about answers from rules and records that you own; a steward sees everything."""
    from bot.conversation import Actor
    from bot.delivery.render import safe
    from bot.request import objections as objecting

    with _services(bundle, root) as services:
        found = objecting.waiting(Actor(id=user), services)
    if as_json:
        click.echo(json.dumps([one.document() for one in found], indent=2, sort_keys=True, ensure_ascii=False))
        return
    for one in found:
        click.echo(safe(f"{one.objection_id}  {one.at:%Y-%m-%d %H:%M}  {one.request_id}"))
        click.echo("\n".join(f"    {safe(line)}" for line in one.lines()))
    click.echo('settle one: bylaw requests settle OBJECTION "…"' if found else "nothing waits")


@requests.command(short_help="Answer an objection: who made it is told.")
@click.argument("objection", metavar="OBJECTION")
@click.argument("text")
@_AS
@_BUNDLE
@_ROOT
def settle(objection: str, text: str, user: str, bundle: Path | None, root: Path | None) -> None:
    """Answer OBJECTION with TEXT: who made it is told, and it waits no more."""
    from bot.conversation import Actor
    from bot.request import objections as objecting

    with _services(bundle, root) as services:
        found = objecting.settle(objection, text, Actor(id=user), services)
    click.echo(f"settled {found.objection_id}: {found.by} is told")


@requests.command(short_help="Answer it yourself: it is yours from now on.")
@_ID
@_AS
@_BUNDLE
@_ROOT
def take(request_id: str, user: str, bundle: Path | None, root: Path | None) -> None:
    """Take question ID: the others see that it is yours."""
    _assigned(request_id, user, user, bundle, root)


@requests.command(short_help="Hand it to somebody else, who is told.")
@_ID
@click.argument("to")
@_AS
@_BUNDLE
@_ROOT
def assign(request_id: str, to: str, user: str, bundle: Path | None, root: Path | None) -> None:
    """Hand question ID to the person TO, who is told."""
    _assigned(request_id, to, user, bundle, root)


@requests.command(short_help="Answer it: who asked is told, and may accept it.")
@_ID
@click.argument("text")
@_AS
@_BUNDLE
@_ROOT
def answer(request_id: str, text: str, user: str, bundle: Path | None, root: Path | None) -> None:
    """Answer question ID with TEXT: who asked is told, and accepts it like any other answer."""
    from bot.conversation import Actor
    from bot.request import owners

    with _services(bundle, root) as services:
        owners.answer(request_id, text, Actor(id=user), services)
    click.echo("answered")


def _assigned(request_id: str, to: str, user: str, bundle: Path | None, root: Path | None) -> None:
    from bot.conversation import Actor
    from bot.request import owners

    with _services(bundle, root) as services:
        owners.assign(request_id, to, Actor(id=user), services)
    click.echo(f"assigned to {to}")


@contextmanager
def _services(bundle: Path | None, root: Path | None, warehouse: str | None = None) -> Iterator[Services]:
    from bot import app

    given = given_settings(root, warehouse)
    bot = app.open_bot(given, bundle_path(given, bundle, root), is_compiled_here=is_compiled_here(given, bundle, root))
    try:
        yield bot.services()
    finally:
        bot.close()
