"""The marks by which code says which decision governs it: `@` and `decision`, then the id, alias or number of one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bylaw.authored.decisions import Decision, Decisions, snapshot_etag, spelled
from ci.loading.commits.git import text

_MARK = "@decision[ :]+[A-Za-z0-9#][A-Za-z0-9_#-]*"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*[-_][a-z0-9_-]*[a-z0-9]|[A-Z]{2,8}-\d+|#\d+")
_UNREAD = (".md", ".markdown", ".lock")  # prose may speak of marks


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark: the file and line, and the decision that it names."""

    path: str
    line: int
    name: str


def markers_at(root: Path, commit: str = "HEAD") -> tuple[Marker, ...]:
    """The marks in the text files of *commit* under *root*, found by one call; none outside git."""
    said = text(root, "grep", "-I", "-n", "-z", "-o", "-E", "-e", _MARK, commit, "--", ".")
    return tuple(_parsed(said or "", f"{commit}:"))


def _parsed(said: str, head: str) -> Iterator[Marker]:
    for row in said.split("\n"):
        path, _, rest = row.removeprefix(head).partition("\0")
        line, _, words = rest.partition("\0")
        name = words.removeprefix("@decision").lstrip(" :").rstrip("-_")
        if line.isdigit() and _NAME.fullmatch(name) and not path.lower().endswith(_UNREAD):
            yield Marker(path, int(line), name)


def with_marked_files(decisions: Decisions, root: Path) -> Decisions:
    """*decisions*, each governing also the files that name it in the commit that *root* shows."""
    if not decisions.decisions:
        return decisions
    marked: dict[str, set[str]] = {}
    for marker, id in named_by(markers_at(root), decisions.decisions).items():
        if id is not None:
            marked.setdefault(id, set()).add(marker.path)
    if not marked:
        return decisions
    known = {id: _governing(one, marked.get(id, set())) for id, one in decisions.decisions.items()}
    etag = snapshot_etag(known, decisions.events, decisions.transitions)
    return decisions.model_copy(update={"decisions": known, "snapshot_etag": etag})


def _governing(one: Decision, paths: set[str]) -> Decision:
    own = one.affects.path
    more = sorted(paths - set(own))
    return one.model_copy(update={"affects": one.affects.model_copy(update={"path": [*own, *more]})}) if more else one


def named_by(markers: tuple[Marker, ...], decisions: Mapping[str, Decision]) -> dict[Marker, str | None]:
    """The decision that each mark names, by id, alias or number; None where there is none, or more than one."""
    called: dict[str, set[str]] = {}
    for id, one in decisions.items():
        for name in one.names_beside_id():
            called.setdefault(spelled(name), set()).add(id)
    found: dict[Marker, str | None] = {}
    for marker in markers:
        meant = called.get(spelled(marker.name), set())
        found[marker] = marker.name if marker.name in decisions else next(iter(meant)) if len(meant) == 1 else None
    return found
