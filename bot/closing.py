"""The verbs that bring a request to its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot import settings
from bot.cli import bundle_path, is_compiled_here

if TYPE_CHECKING:
    from bot.services import Services

_ROOT = click.option("--root", type=click.Path(path_type=Path), help="The policy repository; default: this folder.")
_BUNDLE = click.option("--bundle", metavar="FILE", type=click.Path(path_type=Path), help="A bundle, instead of --root.")
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")


@click.command()
@_BUNDLE
@_ROOT
@_JSON
def tick(bundle: Path | None, root: Path | None, as_json: bool) -> None:
    """Do once what a server does every BYLAW_TICK_SECONDS: settle the answers that nobody accepted in time.

    At level 5 an answer counts as accepted after 24 hours, at level 4 after 48; at level 3 it is abandoned after 72
    hours, and a recommendation expires after 7 days: who asked is told. `rules/autonomy.yaml` has the figures.

    \b
    bylaw tick
    */5 * * * *  bylaw tick --root /srv/policies        where no server runs
    """
    from bot.scheduler import tick as done

    with _services(bundle, root) as services:
        counts = done(services, services.clock())
    if as_json:
        click.echo(json.dumps(counts, indent=2, sort_keys=True))
        return
    for name, count in counts.items():
        click.echo(f"{name}: {count}")


@contextmanager
def _services(bundle: Path | None, root: Path | None) -> Iterator[Services]:
    from bot import app

    given = settings.read(root or Path())
    bot = app.open_bot(given, bundle_path(given, bundle, root), is_compiled_here=is_compiled_here(given, bundle, root))
    try:
        yield bot.services()
    finally:
        bot.close()
