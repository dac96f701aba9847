"""Which folders hold decision records in Markdown: what `context/decisions/sources.yaml` names, and what that matches.

Links are never followed: what a folder of documents links to may lie anywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ci.findings import Finding, Place

if TYPE_CHECKING:
    from bylaw.authored.decision_sources import DecisionSource

BARE = "context/decisions/sources"
PATHS = tuple(f"{BARE}{suffix}" for suffix in (".yaml", ".yml", ".json"))
SUFFIXES = (".md", ".markdown")

Numbered: TypeAlias = "tuple[int, DecisionSource]"


def sources_in(path: str, content: bytes) -> list[Numbered]:
    """The sources that the file *path* names, each with its place in the list; those that do not fit are left out."""
    from ci.loading.source import Unreadable, read  # YAML, which a check that finds nothing changed does without

    try:
        return sources_of(read(path, content).data)
    except Unreadable:
        return []


def sources_of(data: Any) -> list[Numbered]:
    """The same for a file that is read already."""
    from pydantic import ValidationError

    from bylaw.authored.decision_sources import DecisionSources  # a model that only such a file needs

    listed = data.get("sources") if isinstance(data, dict) else None
    found = []
    for number, one in enumerate(listed if isinstance(listed, list) else ()):
        try:
            (source,) = DecisionSources.model_validate({"sources": [one]}).sources
        except ValidationError:
            continue  # reading the file says what is wrong with it
        found.append((number, source))
    return found


def source_for(path: str, sources: Iterable[Numbered]) -> DecisionSource | None:
    """The source that reads the document at *path*: the first that names its folder."""
    if not path.lower().endswith(SUFFIXES):
        return None
    folder = f"{path.rpartition('/')[0]}/"
    return next((source for _, source in sources if _pattern(source.folder).fullmatch(folder)), None)


def fixed_part(source: DecisionSource) -> str:
    """The folder below which everything lies that the source names."""
    parts = source.folder.split("/")
    first = next((number for number, part in enumerate(parts) if "*" in part), len(parts))
    return "/".join(parts[:first]) if first else "."


def folders_of(root: Path, sources: Sequence[Numbered], path: str = PATHS[0]) -> Iterator[str | Finding]:
    """The folders that are there, each once and in order, and a finding for each source that names none."""
    seen: set[str] = set()
    for number, source in sources:
        found = sorted(set(_walk(root, "", tuple(source.folder.split("/")), set())))
        if not found:
            message = f"no folder of the repository is called `{source.folder}`"
            help = "name a folder of Markdown files, like `docs/adr`; a link to one is not followed"
            yield Finding("dangling-reference", message, Place(path, ("sources", number, "folder")), help=help)
        yield from (folder for folder in found if folder not in seen)
        seen |= set(found)


def named_folders(root: Path) -> list[str]:
    """The folders that the sources of *root* name now; none where there is no such file."""
    for path in PATHS:
        try:
            data = (root / path).read_bytes()
        except OSError:
            continue
        return [one for one in folders_of(root, sources_in(path, data), path) if isinstance(one, str)]
    return []


def _walk(root: Path, at: str, parts: tuple[str, ...], seen: set[tuple[str, int]]) -> Iterator[str]:
    if (at, len(parts)) in seen:
        return
    seen.add((at, len(parts)))
    if not parts:
        yield at
        return
    part, *rest = parts
    if part == "**":
        yield from _walk(root, at, tuple(rest), seen)
    for name in _folders_in(root / at) if "*" in part else (part,):
        inner = f"{at}/{name}" if at else name
        if part == "**":
            yield from _walk(root, inner, parts, seen)
        elif _segment(part).fullmatch(name) and _is_plain_folder(root / inner):
            yield from _walk(root, inner, tuple(rest), seen)


def _folders_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(
                one.name for one in found if not one.name.startswith(".") and one.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []


def _is_plain_folder(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink()


@cache
def _segment(part: str) -> re.Pattern[str]:
    return re.compile("[^/]*".join(re.escape(piece) for piece in part.split("*")))


@cache
def _pattern(folder: str) -> re.Pattern[str]:
    """A pattern of folders, for paths that end in a slash."""
    parts = ("(?:[^/.][^/]*/)*" if part == "**" else f"{_segment(part).pattern}/" for part in folder.split("/"))
    return re.compile("".join(parts))
