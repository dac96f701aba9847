"""What to do on GitHub so that it shows a review: from what it shows now, without asking anybody.

The state is all there. A thread belongs to the finding whose mark its first comment carries; a comment that was told to
be gone says so in a second mark. So a run that was cut off anywhere is finished by the next one, and nothing is said
twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ci.review.words.rendered import Comment, Rendered

SUMMARY = "<!-- bylaw:summary -->"
GONE = "<!-- bylaw:gone -->"
# Only at the very beginning: further down stand words of files, if only in a block of code.
_FINDING = re.compile(r"\A<!-- bylaw:finding ([0-9a-f]{8,64}) -->\s*$", re.MULTILINE)
_SUMMARY = re.compile(rf"\A{re.escape(SUMMARY)}\s*$", re.MULTILINE)
_GONE = re.compile(rf"\A<!-- bylaw:finding [0-9a-f]+ -->\r?\n{re.escape(GONE)}\s*$", re.MULTILINE)
_SUGGESTION = re.compile(r"^(\s*`{3,})suggestion", re.MULTILINE)
LONGEST_BODY = 65_536


# --- what GitHub shows


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread that bylaw began: its first comment, and how it stands. `line` is None on a file, and when outdated."""

    id: str
    comment: int
    body: str
    line: int | None = None
    is_resolved: bool = False
    is_outdated: bool = False
    can_resolve: bool = True
    can_unresolve: bool = True

    @property
    def fingerprint(self) -> str | None:
        found = _FINDING.search(self.body)
        return found[1] if found else None

    @property
    def is_gone(self) -> bool:
        """Did bylaw say here that the finding is gone?"""
        return _GONE.search(self.body) is not None


@dataclass(frozen=True, slots=True)
class Note:
    """A comment below the pull request that bylaw wrote."""

    id: int
    body: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What a pull request shows of bylaw, oldest first. `lines`: path -> the lines of the head in its diff.

    A path whose diff GitHub does not give has no lines; a path that the pull request does not change is not there.
    """

    threads: tuple[Thread, ...] = ()
    notes: tuple[Note, ...] = ()
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)

    @property
    def summary(self) -> Note | None:
        """The one summary: the oldest, should there be two."""
        return next((note for note in self.notes if _SUMMARY.search(note.body)), None)


# --- what to do


@dataclass(frozen=True, slots=True)
class Review:
    """One review with all new comments on lines, in one request."""

    comments: tuple[Comment, ...]


@dataclass(frozen=True, slots=True)
class FileComment:
    """A comment on a file, where its line is not in the diff."""

    comment: Comment


@dataclass(frozen=True, slots=True)
class Edit:
    """Another body for a comment in a thread."""

    comment: int
    body: str


@dataclass(frozen=True, slots=True)
class Resolve:
    """Close a thread, or open it again."""

    thread: str
    is_open: bool = False


Action = Review | FileComment | Edit | Resolve


@dataclass(frozen=True, slots=True)
class Plan:
    """The actions in their order, and the comments that no place of the pull request takes."""

    actions: tuple[Action, ...]
    unplaced: tuple[Comment, ...] = ()


Spot = Literal["line", "file", "nowhere"]


def plan(shown: Shown, rendered: Rendered) -> Plan:
    """What makes *shown* show *rendered*. Empty when it does."""
    threads = _by_finding(shown.threads)
    wanted = {comment.fingerprint: comment for comment in rendered.comments}
    fresh = [comment for print_, comment in wanted.items() if _is_fresh(comment, threads.get(print_, []), shown)]
    spots = {comment.fingerprint: spot(comment, shown.lines) for comment in fresh}
    actions = [*_closing(threads, wanted, set(spots), rendered), *_updating(threads, wanted, set(spots))]
    on_lines = tuple(comment for comment in fresh if spots[comment.fingerprint] == "line")
    if on_lines:
        actions.append(Review(on_lines))
    actions += [FileComment(comment) for comment in fresh if spots[comment.fingerprint] == "file"]
    return Plan(tuple(actions), tuple(comment for comment in fresh if spots[comment.fingerprint] == "nowhere"))


def spot(comment: Comment, lines: Mapping[str, frozenset[int]]) -> Spot:
    """Where GitHub takes *comment*."""
    if comment.path not in lines:
        return "nowhere"
    return "line" if comment.line in lines[comment.path] else "file"


def lines_of(patch: str | None) -> frozenset[int]:
    """The lines of the head that *patch* shows: its hunks, as GitHub gives them for a file."""
    shown: set[int] = set()
    line = 0
    for row in (patch or "").split("\n"):
        if hunk := re.match(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@", row):
            line = int(hunk[1])
        elif row.startswith(("+", " ")):
            shown.add(line)
            line += 1
    return frozenset(shown)


def is_same(one: str, other: str) -> bool:
    """Are two bodies the same but for what GitHub does to line ends?"""
    return _plain(one) == _plain(other)


def gone(body: str, head_sha: str) -> str:
    """*body* of a comment whose finding is gone: told so, folded, with nothing left to apply."""
    mark = _FINDING.search(body)
    assert mark is not None
    old = without_marks(body)
    head = f"{mark[0].strip()}\n{GONE}\nNo longer the case as of {head_sha}.\n\n"
    folded = f"<details><summary>what it was</summary>\n\n{old}\n\n</details>\n"
    return head + folded if len(head) + len(folded) <= LONGEST_BODY else head


def body_at(comment: Comment, line: int | None) -> str:
    """What *comment* says at *line*: what is to be applied to another line must not be applied to this one."""
    return comment.body if line == comment.line else _SUGGESTION.sub(r"\1yaml", comment.body)


def without_marks(body: str) -> str:
    """*body* as it is shown elsewhere than at its line: without its mark, and with nothing to apply."""
    return _SUGGESTION.sub(r"\1yaml", _FINDING.sub("", body)).strip()


def _plain(body: str) -> str:
    return body.replace("\r\n", "\n").strip()


def _by_finding(threads: Iterable[Thread]) -> dict[str, list[Thread]]:
    found: dict[str, list[Thread]] = {}
    for thread in threads:
        if thread.fingerprint is not None:
            found.setdefault(thread.fingerprint, []).append(thread)
    return found


def _current(threads: list[Thread]) -> Thread | None:
    """The thread in which a finding is told: the newest on a line that still stands, else the newest."""
    standing = [thread for thread in threads if not thread.is_outdated]
    return next(reversed(standing or threads), None)


def _is_fresh(comment: Comment, threads: list[Thread], shown: Shown) -> bool:
    """Is a new comment needed? Yes where there is none, or where the old one hangs on a line that is no more."""
    current = _current(threads)
    return current is None or (current.is_outdated and spot(comment, shown.lines) == "line")


def _closing(
    threads: Mapping[str, list[Thread]], wanted: Mapping[str, Comment], fresh: set[str], rendered: Rendered
) -> Iterator[Action]:
    """Findings that are gone, and threads that another one replaces."""
    for print_, held in threads.items():
        if print_ not in wanted and print_ in rendered.standing:
            continue  # told in the summary only: there are too many
        stays = _current(held) if print_ in wanted and print_ not in fresh else None
        for thread in held:
            if thread is stays:
                continue
            if not thread.is_gone:
                yield Edit(thread.comment, gone(thread.body, rendered.head_sha))
            if not thread.is_resolved and thread.can_resolve:
                yield Resolve(thread.id)


def _updating(threads: Mapping[str, list[Thread]], wanted: Mapping[str, Comment], fresh: set[str]) -> Iterator[Action]:
    """Findings that are told already: their words as they are now; open again when they return.

    A thread that a person resolved stays so: it does not say that its finding is gone.
    """
    for print_, comment in wanted.items():
        thread = _current(threads.get(print_, []))
        if thread is None or print_ in fresh:
            continue
        if thread.is_gone and thread.is_resolved and thread.can_unresolve:
            # Before the words: a run cut off between the two must still see that the finding was gone.
            yield Resolve(thread.id, is_open=True)
        body = body_at(comment, thread.line)
        if not is_same(thread.body, body):
            yield Edit(thread.comment, body)
