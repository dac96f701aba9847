"""One round over what waits to be sent: the oldest alone, then a few at a time, none while nobody answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

from bot.evidence.store.tables.deliveries import Cause

MOST = 50  # in one round
_TOGETHER = 4
Job = Callable[[], Cause | None]
Start = Callable[[Job], Future[Any]]
_FOR_ALL: frozenset[Cause] = frozenset({"outage", "limit", "installation"})  # the others would fare no better


def run_round(jobs: Sequence[Job], start: Start) -> int:
    """Run *jobs*, and return once they are done, or once one says that now is not the time; how many were run."""
    waves = [jobs[:1], *(jobs[at : at + _TOGETHER] for at in range(1, len(jobs), _TOGETHER))]
    done = 0
    for wave in waves:
        ends = [_end(begun) for begun in [start(job) for job in wave]]
        done += len(ends)
        if any(end in _FOR_ALL for end in ends):
            break
    return done


def _end(begun: Future[Any]) -> Cause | None:
    """How it ended; what broke down, or was never begun, says that now is not the time."""
    try:
        if begun.exception() is not None:
            return "outage"
    except CancelledError:
        return "outage"
    found: Cause | None = begun.result()
    return found
