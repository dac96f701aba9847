"""Whose turn it is to take the next connection, among the processes that listen at one address.

Left to the system, who happens to be awake takes them: one process may end up with six of eight clients. Here the one
that has the fewest connections open takes the next; when it does not come soon, whoever sees it does. How many each
has open stands in memory that all of them share.
"""

from __future__ import annotations

import mmap
import time
from dataclasses import dataclass
from socket import socket
from typing import Any, Self

NOBODY = 2**30  # who does not listen has so many open: it is not his turn
PATIENCE_SECONDS = 0.02  # how long a connection waits for the one whose turn it is
_PAUSE_SECONDS = 0.0002  # between two looks, in which others may compute


class Board:
    """How many connections each of *count* processes has open; made before they are forked."""

    def __init__(self, count: int) -> None:
        self._open = memoryview(mmap.mmap(-1, 4 * count)).cast("i")
        for place in range(count):
            self.clear(place)

    def clear(self, place: int) -> None:
        """The process at *place* does not listen, or no longer."""
        self._open[place] = NOBODY

    def seat(self, place: int) -> Seat:
        """What the process at *place* knows of it."""
        return Seat(self._open, place)


@dataclass(frozen=True)
class Seat:
    """One process among those that listen."""

    open: memoryview
    place: int

    def take(self) -> None:
        """Listen from now on."""
        self.add(-NOBODY)

    def add(self, count: int) -> None:
        """So many connections more are open."""
        self.open[self.place] += count

    @property
    def is_next(self) -> bool:
        """Has nobody fewer open?"""
        return self.open[self.place] <= min(self.open)

    @property
    def standing(self) -> bytes:
        """How many everybody has open."""
        return self.open.tobytes()


class Listening(socket):
    """A bound socket that takes a connection when it is its turn."""

    _seat: Seat
    _since = _seen = 0.0
    _standing = b""

    @classmethod
    def taking(cls, bound: socket, seat: Seat) -> Self:
        """*bound*, which is given up, for the process on *seat*."""
        found = cls(bound.family, bound.type, bound.proto, bound.detach())
        found._seat = seat
        return found

    def accept(self) -> tuple[socket, Any]:
        """The next connection. Raises BlockingIOError where there is none, or it is for another process."""
        if not self._seat.is_next and not self._is_late():
            time.sleep(_PAUSE_SECONDS)
            raise BlockingIOError
        taken, address = super().accept()
        self._seat.add(1)
        return _Counted.of(taken, self._seat), address

    def _is_late(self) -> bool:
        """Has one connection been seen here, over and over, for too long?"""
        now, standing = time.monotonic(), self._seat.standing
        if now - self._seen > PATIENCE_SECONDS or standing != self._standing:
            self._since = now  # another one: in between there was nothing to be seen, or somebody took one
        self._seen, self._standing = now, standing
        return now - self._since > PATIENCE_SECONDS


class _Counted(socket):
    """A connection that is counted until it is closed."""

    _seat: Seat | None = None

    @classmethod
    def of(cls, taken: socket, seat: Seat) -> Self:
        found = cls(taken.family, taken.type, taken.proto, taken.detach())
        found._seat = seat
        return found

    def close(self) -> None:
        seat, self._seat = self._seat, None
        super().close()
        if seat is not None:
            seat.add(-1)
