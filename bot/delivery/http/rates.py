"""How fast one caller may ask: a moment for each, up to which what was asked is paid for (GCRA).

The moments stand in memory that all processes of a server share, two for each caller, of which the earlier counts: so
memory does not grow with the callers, and two that meet in one place do not slow each other down. Which places are a
caller's nobody outside can know.
"""

from __future__ import annotations

import mmap
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from math import ceil

_PLACES = 65_536
_NEARLY = 1e-6  # seconds that are lost in adding up
_BURST_SECONDS = 2.0  # of its rate a caller may ask at once


def _moments() -> memoryview[float]:
    return memoryview(mmap.mmap(-1, 8 * _PLACES)).cast("d")


@dataclass(frozen=True)
class Rates:
    """What callers have used up; made before processes are forked."""

    clock: Callable[[], float] = time.monotonic
    _paid: memoryview[float] = field(default_factory=_moments, repr=False)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)

    def wait(self, caller: str, rate: float) -> int:
        """After how many seconds *caller* may ask, at *rate* requests a second; 0: now, and it has."""
        now, places = self.clock(), self._places(caller)
        paid = max(now, min(self._paid[place] for place in places))
        beyond = paid + 1 / rate - now - max(_BURST_SECONDS, 1 / rate)
        if beyond > _NEARLY:
            return ceil(beyond)
        for place in places:
            self._paid[place] = max(self._paid[place], paid + 1 / rate)
        return 0

    def _places(self, caller: str) -> tuple[int, int]:
        found = int.from_bytes(blake2b(caller.encode("utf-8", "replace"), key=self._key, digest_size=4).digest(), "big")
        return found % _PLACES, (found >> 16) % _PLACES
