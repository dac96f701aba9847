"""The decisions that govern the files of a pull request, for its reviewers: advice, and no finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from bylaw.authored.decisions import Decision, Decisions
from bylaw.authored.governing import Governing
from ci.loading.commits.git import text
from ci.loading.commits.markers import markers_at, named_by
from ci.review.computed.document import MOST_PATHS, GoverningDecision, clipped, escaped_path

# What an author has to know first: what holds, then what was turned down, then what holds no more.
_ORDER = ("accepted", "proposed", "rejected", "superseded", "deprecated", "retired", "deferred")


def changed_paths(root: Path, base: str) -> tuple[str, ...]:
    """The files that differ from *base*, renamed ones by both of their names and deleted ones too."""
    said = text(root, "diff", "--name-status", "-z", "--no-ext-diff", "--find-renames", "--relative", base, "--")
    parts = iter((said or "").split("\0"))
    found: dict[str, None] = {}
    for status in parts:
        for _ in range(2 if status[:1] in ("R", "C") else 1 if status else 0):
            found[next(parts, "")] = None
    return tuple(sorted(path for path in found if path))


def governing(root: Path, base: str, decisions: Decisions) -> list[GoverningDecision]:
    """The decisions on record about the files that changed since *base*, those that hold first."""
    if not decisions.decisions:
        return []
    paths = changed_paths(root, base)
    return found_for(paths, decisions, _marked(root, base, decisions, paths))


def found_for(paths: Iterable[str], decisions: Decisions, marked: dict[str, set[str]]) -> list[GoverningDecision]:
    """The same for files that are known, of which some name a decision themselves."""
    known, touched = (
        Governing({id: one.affects.path for id, one in decisions.decisions.items()}, marked),
        defaultdict[str, list[str]](list),
    )
    for path in paths:
        for id in known.of(path):
            touched[id].append(path)
    ones = (decisions.decisions[id] for id in touched)
    ordered = sorted(ones, key=lambda one: (_ORDER.index(one.status), one.id))
    return [_told(one, touched[one.id], decisions) for one in ordered]


def _marked(root: Path, base: str, decisions: Decisions, paths: Iterable[str]) -> dict[str, set[str]]:
    """The decisions that the changed files name, as they are and as they were."""
    wanted, marked = set(paths), defaultdict[str, set[str]](set)
    for commit in ("HEAD", base):
        for marker, id in named_by(markers_at(root, commit), decisions.decisions).items():
            if id is not None and marker.path in wanted:
                marked[marker.path].add(id)
    return marked


def _told(one: Decision, paths: list[str], decisions: Decisions) -> GoverningDecision:
    return GoverningDecision(
        id=one.id,
        option=clipped(one.option, 300),
        status=one.status,
        decided_on=one.decided_on.isoformat() if one.decided_on else None,
        record=escaped_path(decisions.sources[one.id]),
        superseded_by=one.superseded_by[:10],
        paths=[escaped_path(path) for path in paths[:MOST_PATHS]],
        path_count=len(paths),
    )
