"""Who brought what a finding on the main branch is about: for each file the merge, or the commit, that last changed it.

Two pull requests can each be clean and contradict each other once both are merged. Then nobody's review has said so,
and the finding has to name both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bylaw.github.text import code, quiet
from ci.loading.commits.git import text
from ci.review.computed.document import FoundItem

# What GitHub writes into the subject of a merge, and behind that of a squash.
_PULL = re.compile(r"^Merge pull request #(\d+) |\(#(\d+)\)$")
_MOST_FINDINGS = 25
_MOST_FILES = 10


@dataclass(frozen=True, slots=True)
class Brought:
    """The last change of a file on the first line of history: where a merge counts as one change."""

    path: str
    sha: str
    subject: str
    pull: int | None


def brought(root: Path, paths: Sequence[str]) -> Iterator[Brought]:
    """The last change of each of *paths*, which count from *root*; nothing for a file that git does not know."""
    for path in paths:
        told = text(root, "log", "-1", "--first-parent", "-m", "--no-show-signature", "--format=%H%x00%s", "--", path)
        sha, _, subject = (told or "").strip().split("\n")[0].partition("\0")
        if sha:
            found = _PULL.search(subject)
            yield Brought(path, sha, subject, int(found[1] or found[2]) if found else None)


def told(root: Path, findings: Sequence[FoundItem], slug: str | None) -> str:
    """What to add below the summary, as Markdown: each new error that is about several files, and who brought those."""
    rows = [row for finding in findings[:_MOST_FINDINGS] if (row := _row(root, finding, slug))]
    return "\n".join(["### Who brought it", "", *rows, ""]) if rows else ""


def _row(root: Path, finding: FoundItem, slug: str | None) -> str | None:
    paths = list(dict.fromkeys([finding.at.path, *(spot.path for spot in finding.related)]))
    if len(paths) < 2:
        return None
    changes = list(brought(root, paths[:_MOST_FILES]))
    whom = "; ".join(f"{code(one.path)} by {_change(one, slug)}" for one in changes)
    about = " and ".join(quiet(policy) for policy in finding.policies[:_MOST_FILES]) or quiet(finding.id)
    return f"- **{about}** ({code(finding.id)}): {whom}"


def _change(one: Brought, slug: str | None) -> str:
    which = code(one.sha[:10])
    if one.pull is None:
        return f"commit {which}, {quiet(one.subject)}"
    # A number is linked by hand: a subject is somebody's text, and quiet.
    number = f"pull request {one.pull}" if slug is None else f"pull request {slug}#{one.pull}"
    return f"{number} ({which})"
