"""The day on which a file came into its repository: the day of a record that says none of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from bylaw.authored.decisions import Decision
from bylaw.authored.moments import on
from ci.loading.commits.git import text
from ci.loading.decision_records import Sourced

_MARK = "\x01"
MOST_FOLDERS = 1_000  # that files came from


def dated(records: Sequence[Sourced], root: Path) -> list[Sourced]:
    """*records*, those without a day with that of the first commit of their file, where git knows it."""
    undated = {one.path for one in records if isinstance(one.model, Decision) and one.model.dated_by == "nothing"}
    days = first_days(root, undated) if undated else {}
    return [_dated(one, days[one.path]) if one.path in undated and one.path in days else one for one in records]


def _dated(one: Sourced, day: date) -> Sourced:
    known = {"decided_on": day, "timestamp": on(day).utc, "dated_by": "first_commit"}
    return replace(one, model=one.model.model_copy(update=known))


def first_days(root: Path, paths: Iterable[str]) -> Mapping[str, date]:
    """The day of the first commit of every file of *paths*, under whatever name, as its author counted days.

    One look at the history of their folders; another one for each time that some came from a folder beside these.
    Empty outside git and in a clone that is cut off: there the oldest commit that is known is not the first.
    """
    shallow = text(root, "rev-parse", "--is-shallow-repository")
    if shallow is None or shallow.strip() != "false":
        return {}
    days: dict[str, date] = {}
    named = {path: {path} for path in paths}  # a name in history -> the files of today that had it
    looked: set[str] = set()
    while named and len(looked) < MOST_FOLDERS:
        folders = {_folder(path) for path in named} - looked
        looked |= folders
        for status, day, old, new in _changes(root, folders):
            if status == "R" and new in named:
                named.setdefault(old, set()).update(named.pop(new))
            elif status == "A":
                days.update(dict.fromkeys(named.get(new, ()), day))  # the newest comes first: the oldest stays
        named = {name: files for name, files in named.items() if _folder(name) not in looked}
    return days


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _changes(root: Path, folders: Iterable[str]) -> Iterator[tuple[str, date, str, str]]:
    """What commits that touched *folders* added (A) and renamed (R), the newest first: how, day, old and new name."""
    how = ("--no-show-signature", "--full-diff", "--find-renames", "--diff-filter=AR", "--relative", "--name-status")
    said = text(root, "log", *how, "-z", f"--format={_MARK}%as", "HEAD", "--", *sorted(folders))
    parts = iter((said or "").split("\0"))
    day: date | None = None
    for part in parts:
        status = part.removeprefix("\n")
        if status.startswith(_MARK):
            day = date.fromisoformat(status[1:11])
        elif status[:1] in ("A", "R") and day is not None:
            old = next(parts, "")
            yield status[:1], day, old, next(parts, "") if status[:1] == "R" else old
