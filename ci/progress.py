"""How far long work has come, told part by part to whoever listens; `bylaw.progress` draws it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Progress = Callable[[str, int, int], None]  # what is being done, how many parts are done, of how many
Part = TypeVar("Part")


def each(doing: str, parts: Sequence[Part], progress: Progress | None) -> Iterator[Part]:
    """The *parts* one by one; *progress*, unless nobody listens, hears of each, and of the end."""
    for done, part in enumerate(parts):
        if progress is not None:
            progress(doing, done, len(parts))
        yield part
    if progress is not None and parts:
        progress(doing, len(parts), len(parts))
