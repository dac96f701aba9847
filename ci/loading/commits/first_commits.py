"""The day on which a file came into its repository: the day of a record that says none of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from bylaw.authored.decisions import Decision
from bylaw.authored.moments import on
from ci.loading.commits.git import text
from ci.loading.decision_records import Sourced

_MARK = "\x01"


def dated(records: Sequence[Sourced], root: Path) -> list[Sourced]:
    """*records*, those without a day with that of the first commit of their file, where git knows it."""
    undated = {one.path for one in records if isinstance(one.model, Decision) and one.model.dated_by == "nothing"}
    days = first_days(root, (path.rpartition("/")[0] or "." for path in undated)) if undated else {}
    return [_dated(one, days[one.path]) if one.path in undated and one.path in days else one for one in records]


def _dated(one: Sourced, day: date) -> Sourced:
    known = {"decided_on": day, "timestamp": on(day).utc, "dated_by": "first_commit"}
    return replace(one, model=one.model.model_copy(update=known))


def first_days(root: Path, folders: Iterable[str]) -> Mapping[str, date]:
    """The day of the first commit of every file below *folders*, as its author counted days, by one look at history.

    Empty outside git and in a clone that is cut off: there the oldest commit that is known is not the first.
    """
    shallow = text(root, "rev-parse", "--is-shallow-repository")
    if shallow is None or shallow.strip() != "false":
        return {}
    said = text(
        root,
        "log",
        "--no-show-signature",
        "--diff-filter=A",
        "--no-renames",
        "--relative",
        "--name-only",
        "-z",
        f"--format={_MARK}%as",
        "HEAD",
        "--",
        *sorted(set(folders)),
    )
    days: dict[str, date] = {}
    day: date | None = None
    for part in (said or "").replace("\n", "\0").split("\0"):
        if part.startswith(_MARK):
            day = date.fromisoformat(part[1:])
        elif part and day is not None:
            days[part] = day  # the newest comes first: what stays is the oldest
    return days
