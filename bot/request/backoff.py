"""How long a delivery that failed waits before it is tried again: twice as long each time, up to hours."""

from __future__ import annotations

from datetime import timedelta

FIRST = timedelta(seconds=30)
MOST = timedelta(hours=4)
_DOUBLINGS = 12  # beyond them it is MOST anyway


def wait_after(attempts: int, chance: float, told: timedelta | None = None) -> timedelta:
    """The wait after that many attempts, and never less than the other side *told*.

    *chance* from 0 to 1 spreads what failed together over half of the time, so that it does not come again together.
    """
    if told is not None:
        return told * (1 + chance / 10)
    doubled: int = 1 << min(max(attempts - 1, 0), _DOUBLINGS)
    longest = min(FIRST * doubled, MOST)
    return longest * (1 + chance) / 2
