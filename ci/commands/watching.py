"""`bylaw watch`: check again whenever a file of the repository changes, until it is stopped.

The folder is looked at, not listened to: that works on every disk, in containers and over networks alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ci.loading.files import FOLDERS, SUFFIXES
from ci.loading.records.sources import SUFFIXES as DOCUMENTS
from ci.loading.records.sources import named_folders

Stamp = tuple[tuple[str, int, int], ...]


def stamp(root: Path) -> Stamp:
    """What the files look like from outside: path, size and time of each, sorted."""
    return tuple(sorted(_entries(root)))


def _entries(root: Path) -> Iterator[tuple[str, int, int]]:
    for folder in FOLDERS:
        for where, _, names in os.walk(root / folder):
            yield from _stamped(where, names, SUFFIXES)
    for document_folder in named_folders(root):
        where = os.path.join(root, document_folder)  # noqa: PTH118
        try:
            names = os.listdir(where)  # noqa: PTH208
        except OSError:
            continue
        yield from _stamped(where, names, DOCUMENTS)


def _stamped(where: str, names: Iterable[str], suffixes: tuple[str, ...]) -> Iterator[tuple[str, int, int]]:
    for name in names:
        if name.lower().endswith(suffixes) and not name.startswith("."):
            path = os.path.join(where, name)  # noqa: PTH118 - called for every file, twice a second
            try:
                found = os.stat(path)  # noqa: PTH116
            except OSError:  # it is being replaced just now: the next look sees it
                continue
            yield path, found.st_size, found.st_mtime_ns


def watch(root: Path, look: Callable[[], None], wait: Callable[[], bool]) -> None:
    """Call *look* now, and again after every change; *wait* passes the time between two looks at the folder.

    It ends when *wait* says False. A change that is still going on is waited for: one look for many saved files.
    """
    seen = stamp(root)
    look()
    changed = False
    while wait():
        now = stamp(root)
        if now != seen:
            seen, changed = now, True
        elif changed:
            changed = False
            look()
