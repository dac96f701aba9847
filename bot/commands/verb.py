"""What the verbs of one person share: who they are, the open bot that they speak to, and how a result is shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli import _BUNDLE, _ROOT, bundle_path, given_settings, is_compiled_here

if TYPE_CHECKING:
    from bot.services import Services

JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
AS = click.option("--as", "user", metavar="USER", default="anonymous", help="Who you are in rules/roles.yaml.")


@dataclass(frozen=True)
class Shown:
    """What a verb has to say: as *lines* for people, or as one *document*; exit code 1 unless it *is_done*."""

    lines: Sequence[str]
    document: Any = None
    is_done: bool = True


def for_person(has_json: bool = True) -> Callable[[Callable[..., Shown]], Callable[..., None]]:
    """A verb of one person: the function gets `services` and the `actor`, its `--as`, `--bundle`, `--root` are read."""

    def declare(function: Callable[..., Shown]) -> Callable[..., None]:
        @wraps(function)
        def run(
            user: str,
            bundle: Path | None,
            root: Path | None,
            warehouse: str | None = None,
            as_json: bool = False,
            **given: Any,
        ) -> None:
            from bot.conversation import Actor

            with open_services(bundle, root, warehouse) as services:
                shown = function(services=services, actor=Actor(id=user), **given)
            show(shown, as_json)

        return AS(_BUNDLE(_ROOT(JSON(run) if has_json else run)))

    return declare


def show(shown: Shown, as_json: bool) -> None:
    """Print the document, or the lines without what a terminal would obey; end with its exit code."""
    from bot.conversation import sayable
    from bot.delivery.render import safe

    if as_json:
        click.echo(json.dumps(sayable(shown.document), indent=2, sort_keys=True, ensure_ascii=False))
    else:
        click.echo(safe("\n".join(shown.lines)))
    click.get_current_context().exit(0 if shown.is_done else 1)


@contextmanager
def open_services(bundle: Path | None, root: Path | None, warehouse: str | None = None) -> Iterator[Services]:
    """The services of a bot on that bundle, or on the repository at *root*, for as long as the block lasts."""
    from bot import app

    given = given_settings(root, warehouse)
    bot = app.open_bot(given, bundle_path(given, bundle, root), is_compiled_here=is_compiled_here(given, bundle, root))
    try:
        yield bot.services()
    finally:
        bot.close()
