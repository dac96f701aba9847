"""How far a long question has come: a bar on stderr, on a terminal only, and only once two seconds have passed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

QUIET_SECONDS = 2.0
REDRAW_SECONDS = 0.1

Hear = Callable[[str, int, int], None]


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
