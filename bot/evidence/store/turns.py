"""Taking turns at writing: SQLite has one writer, and so the threads of a process queue here and not at its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from bot.evidence.store.connection import Local

Begin = Callable[[Local | None], Local]  # given the one that rests since the last turn


class TooMany(Exception):
    """A turn did not come in time."""


class Turns:
    """The turns of one process at the one writer that SQLite has."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._rested: Local | None = None  # to open one takes as long as to write

    @contextmanager
    def turn(self, begin: Begin, patience: float) -> Iterator[Local]:
        """The transaction that *begin* opens, committed when it ends well. Raises TooMany after *patience* seconds."""
        if not self._turn.acquire(timeout=patience):
            raise TooMany
        try:
            rested, self._rested = self._rested, None
            connection = begin(rested)
            try:
                yield connection
                connection.commit()
            except BaseException:
                connection.end()
                raise
            self._rested = connection
        finally:
            self._turn.release()

    def close(self) -> None:
        """Let go of the connection that rests."""
        rested, self._rested = self._rested, None
        if rested is not None:
            rested.end()
