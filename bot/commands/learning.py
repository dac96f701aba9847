"""The verbs of what the bot learns from people: an answer corrected, what is remembered of somebody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot import settings
from bot.cli import _BUNDLE, _ROOT, _WAREHOUSE, bundle_path, given_settings, is_compiled_here
from bot.evidence.store.tables.corrections import TYPES

if TYPE_CHECKING:
    from bot.services import Services

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
_AS = click.option("--as", "user", metavar="USER", default="anonymous", help="Who says so; see rules/roles.yaml.")


@click.command()
@click.argument("request_id", metavar="REQUEST")
@click.option(
    "--object", "object_", metavar="NAME", default="", help="What is wrong: metrics/net_revenue and the like."
)
@click.option("--field", default="", help="Which of its fields; of a preference: grain or care.")
@click.option("--new", default="", metavar="VALUE", help="What it should say.")
@click.option("--reason", default="", help="Why; whoever reviews it reads this.")
@click.option("--type", "type_", type=click.Choice(TYPES), help="Only for a permission or a preference.")
@click.option("--source", type=click.IntRange(1), help="Of a policy or decision answer: which of its sources is wrong.")
@click.option("--yes", is_flag=True, help="REQUEST said it in words: what they were read as is what you mean.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def correct(
    request_id: str,
    object_: str,
    field: str,
    new: str,
    reason: str,
    type_: Any,
    source: int | None,
    yes: bool,
    user: str,
    bundle: Path | None,
    root: Path | None,
    as_json: bool,
) -> None:
    """Say what is wrong about the answer to REQUEST. It changes your own answers at once, and nobody else's.

    Without --object, what the answer rests on is listed, with what it says now. When more than three experienced people
    say the same, a steward decides whether it becomes a pull request. `bylaw ask --json` tells the id of an answer.

    A policy or decision answer changes by review alone: with --reason, what you say goes to who owns the rule.

    \b
    bylaw correct REQUEST
    bylaw correct REQUEST --object metrics/order_count --field filter --new "channel = 'online'" \\
          --reason "stores count themselves" --as elif
    bylaw correct REQUEST --source 1 --reason "members have 30 days by now" --as ben
    bylaw correct REQUEST --type permission --reason "I should not see salaries" --as ben
    """
    from bot.conversation import Actor
    from bot.delivery.render import safe
    from bot.memory import corrections, offered
    from bot.request import objections

    with _opened(bundle, root) as services:
        actor = Actor(id=user)
        meant = offered.meant(request_id, actor, services)
        if not (object_ or type_ or yes):
            cited = objections.sources_of(meant.request_id, actor, services)
            if cited and reason:
                at = None if source is None else source - 1
                said = objections.object_to(meant.request_id, reason, actor, services, at)
                click.echo(json.dumps({"request_id": meant.request_id, "text": said}, indent=2) if as_json else said)
                return
            found = offered.of(meant.request_id, actor, services)
            if cited and not as_json:
                click.echo("\n".join(safe(line) for line in objections.in_words(cited, meant.request_id)))
                return
            told = json.dumps(offered.listed(found, meant), indent=2) if as_json else offered.in_words(found, meant)
            click.echo(told)
            return
        given = corrections.Given(meant.request_id, type_, object_, field, new, reason or meant.said)
        given = offered.confirmed(meant) if yes else given
        noted = corrections.correct(given, actor, services)
    click.echo(json.dumps(offered.told(noted), indent=2) if as_json else noted.text)


@contextmanager
def _opened(bundle: Path | None, root: Path | None, warehouse: str | None = None) -> Iterator[Services]:
    from bot import app

    given = given_settings(root, warehouse)
    bot = app.open_bot(given, bundle_path(given, bundle, root), is_compiled_here=is_compiled_here(given, bundle, root))
    try:
        yield bot.services()
    finally:
        bot.close()


_NAME = click.argument("name", metavar="CANDIDATE")


@click.group()
def promote() -> None:
    """What enough experienced people corrected alike, for stewards: look at it, open its pull request, or reject it.

    \b
    bylaw promote list --as grace
    bylaw promote show P-3f2a90bc11-1 --as grace
    bylaw promote open P-3f2a90bc11-1 --as grace --repo acme/policies
    bylaw promote reject P-3f2a90bc11-1 --as grace --reason "the ledger counts it already"
    """


@promote.command("list", short_help="The candidates that wait for a steward.")
@click.option("--all", "is_all", is_flag=True, help="Also those that were rejected or merged.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def list_(is_all: bool, user: str, bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """The candidates that wait for a steward, oldest first."""
    from bot.conversation import Actor
    from bot.memory import queue
    from bot.memory.promotion import waiting

    with _opened(bundle, root) as services:
        found = waiting(Actor(id=user), services, is_all)
    click.echo(json.dumps(queue.listed(found), indent=2) if as_json else queue.in_words(found))


@promote.command(short_help="What its pull request would edit, who agrees, and what would change.")
@_NAME
@_AS
@_BUNDLE
@_ROOT
@_WAREHOUSE
@_JSON
def show(name: str, user: str, bundle: Path | None, root: Path | None, warehouse: str | None, as_json: bool) -> None:
    """What the pull request of CANDIDATE would edit, who agrees, what would change; with --warehouse in figures."""
    from bot.conversation import Actor
    from bot.memory import opening, queue
    from bot.memory.promotion import review

    with _opened(bundle, root, warehouse) as services:
        found = review(name, Actor(id=user), services, opening.editing(root))
    click.echo(json.dumps(queue.shown(found), indent=2) if as_json else queue.told(found))


@promote.command("open", short_help="Open its pull request; people review and merge it.")
@_NAME
@click.option("--repo", metavar="OWNER/NAME", envvar="GITHUB_REPOSITORY", help="The repository on GitHub.")
@click.option("--base", metavar="BRANCH", default="main", show_default=True, help="The branch it is to be merged into.")
@_AS
@_BUNDLE
@_ROOT
@_WAREHOUSE
@_JSON
def open_(
    name: str,
    repo: str | None,
    base: str,
    user: str,
    bundle: Path | None,
    root: Path | None,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Open the pull request of CANDIDATE; asking again changes nothing. It is never merged from here.

    --root is the repository that it edits. GITHUB_TOKEN, or BYLAW_APP_ID and BYLAW_APP_PRIVATE_KEY, say who we are.
    """
    from bot.conversation import Actor
    from bot.memory import opening
    from bot.memory.promotion import open_ as opened

    with _opened(bundle, root, warehouse) as services:
        done = opened(
            name, Actor(id=user), services, opening.editing(root), opening.hub(repo, settings.environment()), base
        )
    told = {
        "state": done.state,
        "number": done.number,
        "url": done.url,
        "did": list(done.did),
        "notes": list(done.notes),
    }
    click.echo(json.dumps(told, indent=2) if as_json else f"{done.state}: {done.url or 'nothing to change'}")
    for note in () if as_json else done.notes:
        click.echo(f"note: {note}")


@promote.command(short_help="Say no, and why: it is not proposed again without new evidence.")
@_NAME
@click.option("--reason", required=True, help="Why; who corrected it is told.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def reject(name: str, reason: str, user: str, bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """Say no to CANDIDATE, and why: it is not proposed again before as many people say it anew."""
    from bot.conversation import Actor
    from bot.memory.candidates import reject as rejected

    with _opened(bundle, root) as services:
        found = rejected(name, reason, Actor(id=user), services)
    told = {"candidate": found.candidate_id, "stage": "rejected", "reason": reason}
    click.echo(json.dumps(told, indent=2) if as_json else f"rejected {found.candidate_id}: who corrected it is told")


@click.group()
def memory() -> None:
    """What the bot remembers of a person: their corrections, how they like answers, what they asked lately.

    \b
    bylaw memory list --as ada
    bylaw memory forget grain --as ada
    bylaw memory forget C-20739a3d3635 --as ada
    """


@memory.command("list", short_help="Everything that is remembered of you.")
@_AS
@_BUNDLE
@_ROOT
@_JSON
def remembered(user: str, bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """Everything that is remembered of you, and what of it shapes your answers."""
    from bot.conversation import Actor
    from bot.memory import own

    with _opened(bundle, root) as services:
        found = own.remembered(Actor(id=user), services)
    click.echo(json.dumps(found, indent=2) if as_json else own.in_words(found))


@memory.command(short_help="Forget one correction or preference of yours.")
@click.argument("name", metavar="NAME")
@_AS
@_BUNDLE
@_ROOT
def forget(name: str, user: str, bundle: Path | None, root: Path | None) -> None:
    """Forget one correction or preference of yours: it shapes no answer any more, and counts for no candidate."""
    from bot.conversation import Actor
    from bot.memory import own

    with _opened(bundle, root) as services:
        own.forget(name, Actor(id=user), services)
    click.echo(f"forgot {name}")
