"""How many requests are answered, or wait for it, at once. Who comes beyond that is told to come back, at once.

A line that only grows makes everybody wait longer than anybody does; a short one keeps the answers coming.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class Full(Exception):
    """There is no room."""


@dataclass
class Slots:
    """Slots for *most* at once. Only for the event loop of one process."""

    most: int
    count: int = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for as long as the context lasts. Raises Full."""
        if self.count >= self.most:
            raise Full
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1
