"""What is worked out once for objects that never change and serve thousands of questions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def remember(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function that remembers what it found for the very same objects, for the last *most* of them.

    As `functools.lru_cache`, but by identity: to compare or hash a vocabulary takes longer than to look it up.
    """

    def remembering(find: Callable[P, T]) -> Callable[P, T]:
        known: dict[tuple[int, ...], tuple[tuple[object, ...], T]] = {}

        @wraps(find)
        def found(*given: P.args, **named: P.kwargs) -> T:
            key = tuple(map(id, given))
            one = known.get(key)
            if one is None:  # what is known lives, so that no other object can have its id
                if len(known) >= most:
                    known.clear()
                one = known[key] = (given, find(*given, **named))
            return one[1]

        return found

    return remembering
