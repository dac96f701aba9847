"""Which decisions govern a file: the paths and patterns under their `affects`, looked up for many files at once."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

SPECIAL = re.compile(r"[*?]")


class Governing:
    """The *paths* by the id they belong to. A folder stands for everything in it; `*` is any name, `**` any number of
    folders.

    A path without `*` is looked up. A pattern is tried only on files that have a folder or name of it, or its ending:
    thousands of patterns and thousands of files would be millions of trials.
    """

    def __init__(self, paths: Mapping[str, Iterable[str]], marked: Mapping[str, Iterable[str]] | None = None) -> None:
        self._exact: dict[str, set[str]] = defaultdict(set)
        self._patterns: dict[str, dict[str, set[str]]] = defaultdict(dict)
        for id, patterns in paths.items():
            for path in patterns:
                self._enter(path.strip("/"), id)
        for path, ids in (marked or {}).items():
            self._exact[path].update(id for id in ids if id in paths)

    def of(self, path: str) -> frozenset[str]:
        """The ids of those that govern the file at *path*."""
        found: set[str] = set()
        for folder in _upwards(path):
            found |= self._exact.get(folder, set())
        names = path.split("/")
        for key in {"", *names, *(_ending(name) for name in names)}:
            for pattern, ids in self._patterns.get(key, {}).items():
                if not ids <= found and _compiled(pattern).fullmatch(path):
                    found |= ids
        return frozenset(found)

    def _enter(self, path: str, id: str) -> None:
        if SPECIAL.search(path) is None:
            self._exact[path].add(id)
        else:
            self._patterns[_key(path)].setdefault(path, set()).add(id)


def _key(pattern: str) -> str:
    """What a file has to have for *pattern* to match: its last whole name, else the ending of its last part."""
    parts = pattern.split("/")
    whole = next((part for part in reversed(parts) if part and not SPECIAL.search(part)), "")
    return whole or _ending(parts[-1])


def _ending(name: str) -> str:
    """The ending of a file's name with its dot; none where it is not written out."""
    _, dot, ending = name.rpartition(".")
    return "" if not dot or SPECIAL.search(ending) else f".{ending}"


def _upwards(path: str) -> Iterator[str]:
    """The path itself and each folder around it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


@lru_cache(maxsize=20_000)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = pattern.split("/")
    ending = "(?:/.*)?" if parts[-1] != "**" else ""
    said = []
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "**":
            said.append(".*" if is_last else "(?:[^/]+/)*")
        else:
            pieces = re.split(r"(\*|\?)", part)
            words = "".join({"*": "[^/]*", "?": "[^/]"}.get(piece) or re.escape(piece) for piece in pieces)
            said.append(words if is_last else f"{words}/")
    return re.compile("".join(said) + ending, re.DOTALL)
