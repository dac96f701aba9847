"""How far a long question has come: a bar on stderr, on a terminal only, and only once two seconds have passed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, TypeVar

QUIET_SECONDS = 2.0
REDRAW_SECONDS = 0.1
_EVERY = 500

Hear = Callable[[str, int, int], None]  # what is being done, how far it is, of how much
Part = TypeVar("Part")


@contextmanager
def progress(stream: IO[str] | None = None, quiet: float = QUIET_SECONDS) -> Iterator[Hear | None]:
    """What hears (what, done, of) while the block runs; None where nobody would see a bar."""
    stream = stream if stream is not None else sys.stderr
    if not stream.isatty():
        yield None
        return
    bar = _Bar(stream, quiet)
    try:
        yield bar.hear
    finally:
        bar.close()


def heard(
    doing: str, parts: Iterable[Part], of: int, hear: Hear | None, done: Callable[[], int] | None = None
) -> Iterator[Part]:
    """Many small *parts* one by one; *hear*, unless nobody does, is told after every so many how far it is.

    That is how many there were, or what *done* says: the place in a file whose size *of* is.
    """
    if hear is None:
        yield from parts
        return
    for count, part in enumerate(parts):
        if count % _EVERY == 0:
            hear(doing, count if done is None else done(), of)
        yield part
    hear(doing, of, of)


class _Bar:
    """A bar for what goes on, drawn by rich, which is imported when the first one is due."""

    def __init__(self, stream: IO[str], quiet: float) -> None:
        self._stream = stream
        self._next = time.monotonic() + quiet
        self._drawn: Any = None
        self._tasks: dict[str, Any] = {}

    def hear(self, what: str, done: int, of: int) -> None:
        """Take note of the state, and redraw when it is time."""
        now = time.monotonic()
        if now < self._next and done < of:
            return
        if self._drawn is None:
            if now < self._next:
                return
            self._drawn = self._start()
        self._next = now + REDRAW_SECONDS
        if what not in self._tasks:
            for done_with in self._tasks.values():  # one kind of work after the other: what is told last goes on
                self._drawn.remove_task(done_with)
            self._tasks = {what: self._drawn.add_task(what, total=of)}
        self._drawn.update(self._tasks[what], completed=done, total=of)

    def _start(self) -> Any:
        from rich.console import Console
        from rich.progress import Progress

        drawn = Progress(console=Console(file=self._stream), transient=True)
        drawn.start()
        return drawn

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._drawn is not None:
            self._drawn.stop()
