"""What `bylaw cases --mutants` prints, writes and ends with."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from bylaw.progress import progress
from ci.commands.appending import write_cases
from ci.coverage.mutants import mutants


def mutating(root: Path, at: date | None, is_writing: bool, as_json: bool) -> int:
    """The exit code: 1 when a wrong edit stays unnoticed. With *is_writing* the cases that notice it are added."""
    with progress() as heard:
        told = mutants(root, at, date.today(), heard)
    click.echo(told.json() if as_json else told.text())
    if is_writing:
        for path, count in write_cases(root, told.entries()).items():
            click.echo(f"added {count} {'case' if count == 1 else 'cases'} to {path}", err=True)
        return 0
    return 1 if told.survivors else 0
