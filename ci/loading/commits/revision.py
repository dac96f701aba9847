"""Which commit a folder shows, asked of git: the id, the day it was made, and whether the files differ from it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from ci.loading.commits.git import text
from ci.loading.files import FOLDERS
from ci.loading.limits import MAX_BYTES
from ci.loading.records.sources import PATHS as SOURCES
from ci.loading.records.sources import fixed_part, sources_in


@dataclass(frozen=True, slots=True)
class Revision:
    """`commit` carries `-dirty` when a file of ours differs from it; all are None outside git.

    `committed_at` is the moment in UTC as ISO text: which of two bundles is the older one is read from it.
    """

    commit: str | None = None
    commit_date: date | None = None
    committed_at: str | None = None


def revision(root: Path) -> Revision:
    """The revision that *root* shows; a root may be a subfolder of its repository.

    Only the folders that are read count: a bundle written beside them does not make the next one differ.
    """
    head = text(root, "log", "-1", "--no-show-signature", "--format=%H %cs %ct", "HEAD")
    if head is None:
        return Revision()
    commit, day, seconds = head.split()
    shown = date.fromisoformat(day), _moment(int(seconds))
    changed = text(root, "status", "--porcelain", "--ignore-submodules", "--", *FOLDERS, *_documents(root))
    if changed is None:
        return Revision()
    if not changed.strip():
        # A folder that git ignores shows no change either, but the commit does not hold it.
        return Revision(commit, *shown) if text(root, "ls-tree", "HEAD", "--", *FOLDERS) else Revision()
    return Revision(f"{commit}-dirty", *shown)


def _documents(root: Path) -> list[str]:
    """The folders beside FOLDERS that are read: those that hold decision records."""
    for path in SOURCES:
        try:
            with (root / path).open("rb") as stream:
                return sorted({fixed_part(source) for _, source in sources_in(path, stream.read(MAX_BYTES + 1))})
        except OSError:
            continue
    return []


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def folder(root: Path) -> str:
    """The way from the top of the git repository to *root*, ending in a slash; empty at the top and outside git."""
    return (text(root, "rev-parse", "--show-prefix") or "").rstrip("\n")
