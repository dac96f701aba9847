"""The verbs of what the bot learns from people: an answer corrected, what is remembered of somebody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli import _BUNDLE, _ROOT, bundle_path, given_settings, is_compiled_here
from bot.store.corrections import TYPES

if TYPE_CHECKING:
    from bot.services import Services

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
_AS = click.option("--as", "user", metavar="USER", default="anonymous", help="Who says so; see rules/roles.yaml.")


@click.command()
@click.argument("request_id", metavar="REQUEST")
@click.option(
    "--object", "object_", metavar="NAME", default="", help="What is wrong: metrics/net_revenue and the like."
)
@click.option("--field", default="", help="Which of its fields; of a preference: grain or confirm.")
@click.option("--new", default="", metavar="VALUE", help="What it should say.")
@click.option("--reason", default="", help="Why; whoever reviews it reads this.")
@click.option("--type", "type_", type=click.Choice(TYPES), help="Only for a permission or a preference.")
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
    user: str,
    bundle: Path | None,
    root: Path | None,
    as_json: bool,
) -> None:
    """Say what is wrong about the answer to REQUEST. It changes your own answers at once, and nobody else's.

    Without --object, what the answer rests on is listed, with what it says now. When more than three experienced people
    say the same, a steward decides whether it becomes a pull request. `bylaw ask --json` tells the id of an answer.

    \b
    bylaw correct REQUEST
    bylaw correct REQUEST --object metrics/order_count --field filter --new "channel = 'online'" \\
          --reason "stores count themselves" --as elif
    bylaw correct REQUEST --type permission --reason "I should not see salaries" --as ben
    """
    from bot.conversation import Actor
    from bot.memory import corrections, offered

    with _opened(bundle, root) as services:
        actor = Actor(id=user)
        if not (object_ or type_):
            found = offered.of(request_id, actor, services)
            click.echo(json.dumps(offered.listed(found), indent=2) if as_json else offered.in_words(found))
            return
        given = corrections.Given(request_id, type_, object_, field, new, reason)
        noted = corrections.correct(given, actor, services)
    click.echo(json.dumps(offered.told(noted), indent=2) if as_json else noted.text)


@contextmanager
def _opened(bundle: Path | None, root: Path | None) -> Iterator[Services]:
    from bot import app

    given = given_settings(root, None)
    bot = app.open_bot(given, bundle_path(given, bundle, root), is_compiled_here=is_compiled_here(given, bundle, root))
    try:
        yield bot.services()
    finally:
        bot.close()
