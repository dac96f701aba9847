"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bylaw.errors import UsageError
from bylaw.roots import root_around

ROOT = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    callback=lambda _ctx, _param, value: root_around(Path()) if value is None else value,
    show_default="this folder, or the repository around it",
    help="The policy repository.",
)


class Nearest(click.Choice[str]):
    """One of a few names; whoever writes another one hears the name that comes nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name. Raises UsageError for one that is none of them."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            from ci.loading.schema.nearest import did_you_mean  # only whoever errs waits for it

            help = did_you_mean(str(value), self.choices) or f"name one of {', '.join(self.choices)}"
            raise UsageError(f"there is no kind `{str(value)[:60]}`", help) from None
