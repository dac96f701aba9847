"""What `bylaw cases` prints, writes and ends with where wrong edits are made: `--mutants`, and behind `--missing`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from bylaw.progress import progress
from ci.commands.appending import write_cases
from ci.coverage.mutants import Told, mutants


def mutating(root: Path, at: date | None, is_writing: bool, as_json: bool) -> int:
    """The exit code: 1 when a wrong edit stays unnoticed. With *is_writing* the cases that notice it are added."""
    with progress() as heard:
        told = mutants(root, at, date.today(), heard)
    click.echo(told.json() if as_json else told.text())
    if is_writing:
        added(root, told.entries(), True)
        return 0
    return 1 if told.survivors else 0


def unnoticed(root: Path, at: date | None) -> Told:
    """What `--missing` names once everything counted is covered: rules, exceptions and bounds that could still go."""
    with progress() as heard:
        return mutants(root, at, date.today(), heard, only_whole=True)


def added(root: Path, entries: Sequence[tuple[str, str]], is_aside: bool) -> None:
    """Write the cases into their files, and say how many."""
    for path, count in write_cases(root, entries).items():
        click.echo(f"added {count} {'case' if count == 1 else 'cases'} to {path}", err=is_aside)
