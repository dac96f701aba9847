"""Which paths and patterns something in the repository has: looked up for all of them by one walk through its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from bylaw.authored.governing import SPECIAL, Governing

MOST_FILES = 500_000


def present(root: Path, patterns: Iterable[str]) -> frozenset[str]:
    """Those of *patterns* that a file or folder below *root* has. One that leads out of it has none."""
    inside = {one for one in patterns if not one.startswith("/") and ".." not in one.split("/") and "\0" not in one}
    globs = {one for one in inside if SPECIAL.search(one)}
    found = {one for one in inside - globs if one.strip("/") and os.path.lexists(root / one)}
    governing = Governing({one: [one] for one in globs})
    for path in _files(root) if globs else ():
        found |= governing.of(path)
        if globs <= found:
            break
    return frozenset(found)


def _files(root: Path) -> Iterator[str]:
    """The files below *root* by their paths in it, without those of git."""
    count = 0
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(one for one in inner if one != ".git")
        at = PurePosixPath(Path(folder).relative_to(root).as_posix())
        yield from ((at / name).as_posix() for name in names)
        count += len(names)
        if count > MOST_FILES:
            return
