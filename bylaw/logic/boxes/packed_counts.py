"""Sets and counts of facts as one integer: each fact has a lane of bits, in the order in which facts are asked for.

A set has the lowest bit of some lanes. Counts are added lane by lane with one addition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class PackedCounts:
    """The lanes of some facts, wide enough to count up to *most*."""

    def __init__(self, facts: Sequence[str], most: int) -> None:
        self.facts = facts
        self._width = most.bit_length() or 1
        self.size = self._width * len(facts)
        self.of = {var: 1 << n * self._width for n, var in enumerate(facts)}

    def among(self, facts: Iterable[str]) -> int:
        """The set of these facts."""
        return sum([self.of[var] for var in set(facts)])

    def ordered(self, facts: int, counts: int) -> tuple[str, ...]:
        """The facts of a set (or those with a count), the one with the highest of *counts* first."""
        width, count, every = self._width, len(self.facts), (1 << self._width) - 1
        found = list[int]()
        while facts:
            place = ((facts & -facts).bit_length() - 1) // width
            end = (place + 1) * width
            found.append(place - (counts >> end - width & every) * count)
            facts = facts >> end << end
        return tuple([self.facts[place % count] for place in sorted(found)])
