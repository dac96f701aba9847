"""Files that somebody names on the command line, and the findings that are about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from bylaw.errors import UsageError
from ci.findings import Finding, Place


def within(root: Path, files: Iterable[Path]) -> frozenset[str]:
    """*files* as paths from *root*. Raises UsageError for one that is not there, or lies outside."""
    return frozenset(_within(root.resolve(), file) for file in files)


def _within(root: Path, file: Path) -> str:
    if not file.exists():
        raise UsageError(f"there is no file `{file}`")
    if not file.resolve().is_relative_to(root):
        raise UsageError(f"`{file}` lies outside the repository `{root}`", "name its repository with --root")
    return file.resolve().relative_to(root).as_posix()


def about(findings: Sequence[Finding], paths: Collection[str]) -> tuple[Finding, ...]:
    """The findings with a place in one of *paths*, or below one that is a folder; all of them without paths."""
    if not paths:
        return tuple(findings)
    return tuple(one for one in findings if any(_is_in(place.path, paths) for place in _places(one)))


def _places(finding: Finding) -> list[Place]:
    return [finding.at, *(place for place, _ in finding.related)]


def _is_in(path: str, paths: Collection[str]) -> bool:
    return path in paths or any(path.startswith(f"{folder}/") for folder in paths)
