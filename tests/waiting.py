"""Waiting for what must come, however slow the machine is; what never comes fails its test instead of holding it up."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

T = TypeVar("T")


def wait_until(happened: Callable[[], T], is_possible: Callable[[], bool] = lambda: True, seconds: float = 60) -> T:
    """What *happened* gives once that is true. It fails after so many seconds, or once it *is_possible* no more."""
    until = monotonic() + seconds
    while not (found := happened()):
        assert is_possible(), "it cannot happen any more"
        assert monotonic() < until, f"it has not happened in {seconds} seconds"
        sleep(0.02)
    return found
