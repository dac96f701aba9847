"""What one statement may take, held from outside it: its time, its rows, their bytes, and a stop by another thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from bylaw.warehouses.port import WarehouseError

STATEMENT_SECONDS = 30
RESULT_BYTES = 64 * 1024 * 1024  # of all cells of one result
_FIRST_BATCH, _BATCH = 16, 1_024  # rows fetched at once: few until it is seen how large they are
_BATCH_BYTES = 1024 * 1024
_LOOKS_SECONDS = 0.02  # how often a running statement is looked at
_FIXED = (bool, int, float, Decimal, date)
_WORD = 8  # bytes that a number, a date or a null counts


@dataclass(slots=True)
class Watch:
    """Why a statement was interrupted; None while nobody did."""

    interrupted: Literal["time", "stop"] | None = None

    def error(self, seconds: float) -> WarehouseError:
        """What to tell who waits for the statement."""
        if self.interrupted == "stop":
            return WarehouseError("the statement was stopped because nobody waits for it any more")
        return WarehouseError(f"the statement was stopped after {seconds:g} seconds")


@contextmanager
def watched(interrupt: Callable[[], object], seconds: float, *stops: threading.Event) -> Iterator[Watch]:
    """Call *interrupt* when the time is up or one of *stops* is set, and again until the block ends.

    Again, because an interruption that comes before the statement has begun is lost.
    """
    watch, done = Watch(), threading.Event()
    deadline = time.monotonic() + seconds

    def look() -> None:
        while not done.wait(_LOOKS_SECONDS):
            if any(stop.is_set() for stop in stops):
                watch.interrupted = watch.interrupted or "stop"
            elif time.monotonic() >= deadline:
                watch.interrupted = watch.interrupted or "time"
            if watch.interrupted is not None:
                interrupt()

    if any(stop.is_set() for stop in stops):
        raise Watch("stop").error(seconds)
    guard = threading.Thread(target=look, name="bylaw-statement", daemon=True)
    guard.start()
    try:
        yield watch
    finally:
        done.set()
        guard.join()


def collected(
    fetch: Callable[[int], Sequence[Sequence[Any]]], rows: int, result_bytes: int
) -> tuple[tuple[tuple[Any, ...], ...], bool]:
    """The first *rows* rows that `fetch(n)` hands out, no more than *result_bytes* of them; and whether more are left.

    Raises WarehouseError where the first row alone is larger.
    """
    found: list[tuple[Any, ...]] = []
    used, batch = 0, _FIRST_BATCH
    while True:
        fetched = fetch(min(batch, rows + 1 - len(found)))
        if not fetched:
            return tuple(found), False
        for row in fetched:
            used += sum(map(size, row))
            if used > result_bytes and not found:
                raise WarehouseError(f"one row of the result is larger than {result_bytes} bytes")
            if used > result_bytes or len(found) == rows:
                return tuple(found), True
            found.append(tuple(row))
        batch = max(1, min(_BATCH, _BATCH_BYTES * len(found) // max(1, used)))


def size(cell: Any) -> int:
    """About how many bytes a cell takes."""
    if cell is None or isinstance(cell, _FIXED):
        return _WORD
    if isinstance(cell, str | bytes | memoryview):
        return _WORD + len(cell)
    if isinstance(cell, dict):
        return _WORD + sum(size(key) + size(value) for key, value in cell.items())
    if isinstance(cell, list | tuple | set):
        return _WORD + sum(map(size, cell))
    return 2 * _WORD
