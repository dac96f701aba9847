"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path

import click

from bylaw.roots import root_around

ROOT = click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    callback=lambda _ctx, _param, value: root_around(Path()) if value is None else value,
    show_default="this folder, or the repository around it",
    help="The policy repository.",
)
