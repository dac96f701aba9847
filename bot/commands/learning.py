"""The verbs of what the bot learns from people: an answer corrected, what is remembered of somebody."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot import settings
from bot.cli import _BUNDLE, _ROOT, _WAREHOUSE
from bot.commands.verb import AS, JSON, Shown, for_person, open_services, show
from bot.evidence.store.tables.corrections import TYPES

if TYPE_CHECKING:
    from bot.conversation import Actor
    from bot.services import Services


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
@for_person()
def correct(
    request_id: str,
    object_: str,
    field: str,
    new: str,
    reason: str,
    type_: Any,
    source: int | None,
    yes: bool,
    actor: Actor,
    services: Services,
) -> Shown:
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
    from bot.memory import corrections, offered
    from bot.request import objections

    meant = offered.meant(request_id, actor, services)
    if object_ or type_ or yes:
        given = corrections.Given(meant.request_id, type_, object_, field, new, reason or meant.said)
        noted = corrections.correct(offered.confirmed(meant) if yes else given, actor, services)
        return Shown([noted.text], offered.told(noted))
    cited = objections.sources_of(meant.request_id, actor, services)
    if cited and reason:
        at = None if source is None else source - 1
        said = objections.object_to(meant.request_id, reason, actor, services, at)
        return Shown([said], {"request_id": meant.request_id, "text": said})
    found = offered.of(meant.request_id, actor, services)
    lines = list(objections.in_words(cited, meant.request_id)) if cited else [offered.in_words(found, meant)]
    return Shown(lines, offered.listed(found, meant))


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
@for_person()
def list_candidates(is_all: bool, actor: Actor, services: Services) -> Shown:
    """The candidates that wait for a steward, oldest first."""
    from bot.memory import queue
    from bot.memory.promotion import waiting

    found = waiting(actor, services, is_all)
    return Shown([queue.in_words(found)], queue.listed(found))


@promote.command("show", short_help="What its pull request would edit, who agrees, and what would change.")
@_NAME
@AS
@_BUNDLE
@_ROOT
@_WAREHOUSE
@JSON
def show_candidate(
    name: str, user: str, bundle: Path | None, root: Path | None, warehouse: str | None, as_json: bool
) -> None:
    """What the pull request of CANDIDATE would edit, who agrees, what would change; with --warehouse in figures."""
    from bot.conversation import Actor
    from bot.memory import opening, queue
    from bot.memory.promotion import review

    with open_services(bundle, root, warehouse) as services:
        found = review(name, Actor(id=user), services, opening.editing(root))
    show(Shown([queue.told(found)], queue.shown(found)), as_json)


@promote.command("open", short_help="Open its pull request; people review and merge it.")
@_NAME
@click.option("--repo", metavar="OWNER/NAME", envvar="GITHUB_REPOSITORY", help="The repository on GitHub.")
@click.option("--base", metavar="BRANCH", default="main", show_default=True, help="The branch it is to be merged into.")
@AS
@_BUNDLE
@_ROOT
@_WAREHOUSE
@JSON
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
    from bot.memory.promotion import open_ as open_request

    hub = opening.hub(repo, settings.environment())
    with open_services(bundle, root, warehouse) as services:
        done = open_request(name, Actor(id=user), services, opening.editing(root), hub, base)
    told = {"state": done.state, "number": done.number, "url": done.url, "did": done.did, "notes": done.notes}
    lines = [f"{done.state}: {done.url or 'nothing to change'}", *(f"note: {note}" for note in done.notes)]
    show(Shown(lines, told), as_json)


@promote.command(short_help="Say no, and why: it is not proposed again without new evidence.")
@_NAME
@click.option("--reason", required=True, help="Why; who corrected it is told.")
@for_person()
def reject(name: str, reason: str, actor: Actor, services: Services) -> Shown:
    """Say no to CANDIDATE, and why: it is not proposed again before as many people say it anew."""
    from bot.memory import candidates

    found = candidates.reject(name, reason, actor, services)
    told = {"candidate": found.candidate_id, "stage": "rejected", "reason": reason}
    return Shown([f"rejected {found.candidate_id}: who corrected it is told"], told)


@click.group()
def memory() -> None:
    """What the bot remembers of a person: their corrections, how they like answers, what they asked lately.

    \b
    bylaw memory list --as ada
    bylaw memory forget grain --as ada
    bylaw memory forget C-20739a3d3635 --as ada
    """


@memory.command("list", short_help="Everything that is remembered of you.")
@for_person()
def list_memories(actor: Actor, services: Services) -> Shown:
    """Everything that is remembered of you, and what of it shapes your answers."""
    from bot.memory import own

    found = own.remembered(actor, services)
    return Shown([own.in_words(found)], found)


@memory.command(short_help="Forget one correction or preference of yours.")
@click.argument("name", metavar="NAME")
@for_person(has_json=False)
def forget(name: str, actor: Actor, services: Services) -> Shown:
    """Forget one correction or preference of yours: it shapes no answer any more, and counts for no candidate."""
    from bot.memory import own

    own.forget(name, actor, services)
    return Shown([f"forgot {name}"])
