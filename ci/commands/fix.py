"""`bylaw check --fix`: write the one right fix of every finding that has one, and show what changed.

The repository is read, fixed and read again in memory until nothing more can be fixed, because one typo may hide
another; only then are the files written, each whole. Nothing but the fixed words of a line changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from pathlib import Path

import click

from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from ci import pipeline
from ci.findings import Finding
from ci.fixes import Fix, applied, difference, fixes
from ci.loading.commits.revision import Revision, revision
from ci.loading.files import Content
from ci.loading.load import Workspace, files_of, read

ROUNDS = 20  # readings at most: each fixes at least one line, and what is left then is told by the check


@dataclass(frozen=True, slots=True)
class Fixed:
    """The files that change: their text before and after."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def difference(self) -> str:
        """Every change as one unified diff."""
        return "".join(difference(path, self.before[path], text) for path, text in sorted(self.after.items()))


def fix(root: Path, at: date | None, today: date, only: Collection[str] = (), dry_run: bool = False) -> Fixed:
    """Fix the files of *root*, or *only* some of them (paths relative to it); with *dry_run* nothing is written.

    Raises UsageError where a file cannot be written; the ones before it are then written whole.
    """
    day = at or revision(root).commit_date or today
    contents = list(files_of(root))
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for _ in range(ROUNDS):
        found = list(_offered(read(root, contents, Revision(), day), day, only))
        if not found:
            break
        old = {one.path: one.data for one in contents if isinstance(one, Content)}
        for path, lines in groupby(sorted(found, key=lambda one: one.path), key=lambda one: one.path):
            text = old[path].decode("utf-8")
            before.setdefault(path, text)
            after[path] = applied(text, lines)
        contents = [_now(one, after) for one in contents]
    if not dry_run:
        for path, text in sorted(after.items()):
            _write(root / path, text)
    return Fixed(before, after)


def in_colour(difference: str) -> str:
    """A unified diff with its lines in the usual colours, for `click.echo` to keep or strip."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "".join(click.style(row, fg=colours.get(row[:1])) for row in difference.splitlines(keepends=True))


def _offered(workspace: Workspace, day: date, only: Collection[str]) -> list[Fix]:
    """The fixes of one reading, in the order of the findings."""
    found = [_located(one, workspace) for one in pipeline.check(workspace, day).findings]
    texts = {path: source.text for path, source in workspace.sources.items() if not only or path in only}
    return list(fixes(found, texts))


def _located(finding: Finding, workspace: Workspace) -> Finding:
    line, column = workspace.position(finding.at)
    return replace(finding, at=replace(finding.at, line=line, column=column))


def _now(content: Content | Finding, after: Mapping[str, str]) -> Content | Finding:
    is_changed = isinstance(content, Content) and content.path in after
    return (
        Content(content.path, after[content.path].encode()) if is_changed and isinstance(content, Content) else content
    )


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path.resolve(), text)  # a link stays one
    except OSError as error:
        raise UsageError(f"cannot write `{path}`: {error.strerror or error}") from None
