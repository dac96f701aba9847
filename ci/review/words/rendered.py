"""What a review says, in words and where: the whole of it, before anybody knows what GitHub already shows.

Every body is Markdown whose variable parts are escaped: nothing that a policy file says can mention a person, open
HTML or leave its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Conclusion = Literal["success", "neutral", "failure"]
Level = Literal["failure", "warning", "notice"]


@dataclass(frozen=True, slots=True)
class Comment:
    """One finding at one place. `path` counts from the top of the git repository; `line` is a line of the head.

    Where the pull request does not show the line, it becomes a comment on the file, an annotation, or a row of the
    summary, in this order: whoever posts it decides, because only GitHub knows what it accepts.
    """

    fingerprint: str
    path: str
    line: int | None
    body: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A finding as a check run shows it; plain text."""

    path: str
    line: int
    level: Level
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """The whole review. `comments` are at most as many as may be posted, the worst first; `omitted` counts the rest.

    `standing` are the fingerprints of all findings that stand, told on a line or not: a comment of an earlier run whose
    finding is not among them is gone. `summary` is empty where nothing is to be said: then a summary that exists is
    edited, and none is made. `footer` is one plain line of what differs from run to run (timings): it may be shown in a
    log, and is no reason to edit anything.
    """

    head_sha: str
    conclusion: Conclusion
    title: str
    summary: str
    comments: tuple[Comment, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    omitted: int = 0
    standing: frozenset[str] = frozenset()
    footer: str = ""
