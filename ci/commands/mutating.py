"""What `bylaw cases` prints, writes and ends with: `--mutants`, also behind `--missing`, and `--accept`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from bylaw.progress import progress
from ci.commands.accepting import accepted, write
from ci.commands.appending import write_cases
from ci.commands.fix import in_colour
from ci.coverage.mutants import Mutants, mutants


def mutating(root: Path, at: date | None, is_writing: bool, as_json: bool) -> int:
    """The exit code: 1 when a wrong edit stays unnoticed. With *is_writing* the cases that notice it are added."""
    with progress() as heard:
        told = mutants(root, at, date.today(), heard)
    click.echo(told.json() if as_json else told.text())
    if is_writing:
        added(root, told.entries(), True)
        return 0
    return 1 if told.survivors else 0


def unnoticed(root: Path, at: date | None) -> Mutants:
    """What `--missing` names once everything counted is covered: rules, exceptions and bounds that could still go."""
    with progress() as heard:
        return mutants(root, at, date.today(), heard, only_whole=True)


def accepting(root: Path, at: date | None, is_writing: bool, as_json: bool) -> int:
    """The exit code: 1 when a failing case is left to people. With *is_writing* the others expect what is decided."""
    found = accepted(root, at, date.today())
    if is_writing:
        write(root, found)
    if as_json:
        document = {"count": found.count, "left": list(found.left), "difference": found.difference}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return 1 if found.left else 0
    click.echo(in_colour(found.difference), nl=False)
    verb = "expects" if found.count == 1 else "expect"
    said = f"{found.count} {'case' if found.count == 1 else 'cases'} {verb} what is decided now"
    click.echo(f"{said}{': read them' if found.count else ''}{'' if is_writing else ' (nothing is written: --write)'}")
    for name in found.left:
        click.echo(f"left to you, for something contradicts or is unknown there: {name}")
    return 1 if found.left else 0


def added(root: Path, entries: Sequence[tuple[str, str]], is_aside: bool) -> None:
    """Write the cases into their files, and say how many."""
    for path, count in write_cases(root, entries).items():
        click.echo(f"added {count} {'case' if count == 1 else 'cases'} to {path}", err=is_aside)
