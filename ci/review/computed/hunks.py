"""What a pull request shows of its files: the lines of the head in its diff, and which of them it changed.

The same lines that GitHub shows, three around each change, since the commit where the branch left its base. A comment
stands on one of them or not on a line at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bylaw.errors import UsageError
from ci.findings import Finding, Place
from ci.loading.commits.git import commit_of, text
from ci.review.computed.document import Shown

_HUNK = re.compile(r"@@ -(?:\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Nothing that the files or somebody's settings say may change how a diff is written: drivers, prefixes, colours.
_DIFF = (
    *("--text", "--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=default"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0", "--relative"),
)
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


@dataclass(frozen=True, slots=True)
class Hunks:
    """Which lines of a file the diff shows, and which of those the change wrote. A deleted file shows none."""

    shown: frozenset[int] = frozenset()
    changed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Diff:
    """The files that a change touches, their paths counted from the policy repository's root."""

    files: Mapping[str, Hunks] = field(default_factory=dict)

    def shows(self, path: str, line: int) -> Shown:
        """How much of a line the pull request shows."""
        hunks = self.files.get(path)
        if hunks is None:
            return "elsewhere"
        return "changed" if line in hunks.changed else "context" if line in hunks.shown else "file"


def forked_at(root: Path, ref: str) -> str:
    """The commit at which the branch that is checked out left *ref*. Raises UsageError where they share none."""
    found = text(root, "merge-base", commit_of(root, ref), "HEAD")
    if not found:
        raise UsageError(
            f"`{ref}` and this branch share no commit", "fetch the whole history: `fetch-depth: 0` in a workflow"
        )
    return found.split()[0]


def diff_since(root: Path, commit: str) -> Diff:
    """What the files under *root* show that *commit* had not. Raises UsageError outside git."""
    told = text(root, "diff", *_DIFF, commit, "--")
    if told is None:
        raise UsageError(f"git gives no diff of `{root}` since {commit}")
    return parsed(told)


def parsed(told: str) -> Diff:
    """The diff that git tells as text. Lines of a hunk are counted, so that none is taken for a heading."""
    rows = iter(told.removesuffix("\n").split("\n"))
    files: dict[str, Hunks] = {}
    path: str | None = None
    for row in rows:
        if row.startswith("diff --git "):
            path = None
        elif row.startswith("+++ "):
            path = _path(row[4:])
            if path is not None:
                files.setdefault(path, Hunks())
        elif (hunk := _HUNK.match(row)) is not None:
            old, start, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            found = _hunk(rows, old, start, new)
            if path is not None:
                files[path] = Hunks(files[path].shown | found.shown, files[path].changed | found.changed)
    return Diff(files)


def _hunk(rows: Iterator[str], old: int, line: int, new: int) -> Hunks:
    """One hunk of *old* lines before and *new* lines after, the first of these at *line*."""
    shown: set[int] = set()
    changed: set[int] = set()
    while old > 0 or new > 0:
        row = next(rows, None)
        if row is None:
            break
        if row.startswith("\\"):
            continue  # "No newline at end of file"
        if not row.startswith("+"):
            old -= 1
        if not row.startswith("-"):
            shown.add(line)
            if row.startswith("+"):
                changed.add(line)
            line += 1
            new -= 1
    return Hunks(frozenset(shown), frozenset(changed))


def _path(told: str) -> str | None:
    """The path behind `+++ `; None for a file that is gone."""
    told = told.removesuffix("\t")  # git ends a name with a space in it so
    name = _unquoted(told[1:-1]) if told.startswith('"') and told.endswith('"') else told
    return name[2:] if name.startswith("b/") else None


def _unquoted(text: str) -> str:
    """A name as git quotes it: letters of C, and bytes in octal."""

    def byte(found: re.Match[str]) -> str:
        said = found[1]
        return chr(int(said, 8) if said.isdigit() else _ESCAPES[said])

    # Every letter is one byte here, quoted or not: names that are not ASCII are quoted whole.
    letters = re.sub(r'\\([0-7]{3}|[abtnvfr"\\])', byte, text)
    return letters.encode("latin-1", "replace").decode("utf-8", "backslashreplace")


# ---- findings on lines ----------------------------------------------------------------------------------------------

_RANK: Mapping[Shown, int] = {"changed": 0, "context": 1, "file": 2, "elsewhere": 3}


def anchored(finding: Finding, diff: Diff) -> Finding:
    """The finding at that of its places which the pull request shows best; its own place is then a related one.

    Its places must carry their lines.
    """
    places = [finding.at, *(place for place, _ in finding.related)]
    ranks = [_rank(place, diff) for place in places]
    best = ranks.index(min(ranks))
    return finding if best == 0 else finding.seen_from(best - 1)


def _rank(place: Place, diff: Diff) -> int:
    return _RANK[diff.shows(place.path, place.line or 1)]
