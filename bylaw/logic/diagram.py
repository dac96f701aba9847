"""Which unknown facts change a result: every completion at once, as a decision diagram over a few boxes.

A node asks one fact and leads on by the values that tell the boxes apart; equal ends are one node. A fact matters iff
some node that asks it leads to two ends that differ. Exact, where it does not give up for its size.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from bylaw.logic.boxes import Box, Cut, Region, domain
from bylaw.logic.ir import Variable

MAX_STATES = 150  # beyond that many different situations on the way the question is left to others


class TooWide(Exception):
    """The diagram would need too many states."""


class Diagram:
    """All completions of a case. *boxes* speak of unknown facts only and are exact; so do *existing*.

    `result` says what holds when exactly those boxes (by number, as bits) hold. Completions outside every box of
    *existing* do not exist; with none given, all do.
    """

    def __init__(
        self,
        boxes: Sequence[Box],
        existing: Sequence[Box],
        variables: Mapping[str, Variable],
        result: Callable[[int], Hashable],
        budget: int = MAX_STATES,
    ) -> None:
        members = [box.regions for box in (*boxes, *existing)]
        self._count, self._budget, self._result = len(boxes), budget, result
        self._existing = (1 << len(members)) - (1 << len(boxes)) if existing else 0
        spoken: dict[str, int] = {}
        for n, regions in enumerate(members):
            for var in regions:
                spoken[var] = spoken.get(var, 0) | 1 << n
        self.facts = sorted(spoken, key=lambda var: (-spoken[var].bit_count(), var))
        self._spoken = [spoken[var] for var in self.facts]
        everyone = (1 << len(members)) - 1
        self._cells = [
            cells(variables[var], {n: regions[var] for n, regions in enumerate(members) if var in regions}, everyone)
            for var in self.facts
        ]
        self.ends: dict[int, Hashable] = {}  # node → what holds there
        self._nodes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._inner: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._known: dict[tuple[int, int], int] = {}
        self._end_of: dict[Hashable, int] = {}
        self._build(0, everyone)

    def _build(self, depth: int, alive: int) -> int:
        if self._existing and not alive & self._existing:
            return -1
        while depth < len(self.facts) and not alive & self._spoken[depth]:
            depth += 1
        found = self._known.get((depth, alive))
        if found is not None:
            return found
        if len(self._known) >= self._budget:
            raise TooWide
        if depth == len(self.facts):
            found = self._end(self._result(alive & ((1 << self._count) - 1)))
        else:
            found = self._node(depth, tuple(self._build(depth + 1, alive & cell) for cell in self._cells[depth]))
        self._known[depth, alive] = found
        return found

    def _end(self, result: Hashable) -> int:
        if result not in self._end_of:
            self._end_of[result] = len(self.ends) + len(self._inner)
            self.ends[self._end_of[result]] = result
        return self._end_of[result]

    def _node(self, depth: int, leads: tuple[int, ...]) -> int:
        if len(set(leads)) == 1:
            return leads[0]
        found = self._nodes.get((depth, leads))
        if found is None:
            found = self._nodes[depth, leads] = len(self.ends) + len(self._inner)
            self._inner[found] = (depth, leads)
        return found

    def turning(self, part: Callable[[Hashable], Hashable]) -> list[str]:
        """The facts that alone can change *part* of the result; if it only changes with several, all of those."""
        parts = {n: part(end) for n, end in self.ends.items()}
        if len(set(parts.values())) < 2:
            return []
        seen: dict[tuple[int, int], bool] = {}

        def differ(a: int, b: int) -> bool:
            """Do two existing completions that end beyond *a* and *b*, alike but for that, differ?"""
            if a == b or a < 0 or b < 0:
                return False
            if (a, b) not in seen:
                one, two = self._inner.get(a), self._inner.get(b)
                if one is None and two is None:
                    seen[a, b] = parts[a] != parts[b]
                elif two is None or (one is not None and one[0] < two[0]):
                    assert one is not None
                    seen[a, b] = any(differ(x, b) for x in one[1])
                elif one is None or two[0] < one[0]:
                    seen[a, b] = any(differ(a, y) for y in two[1])
                else:
                    seen[a, b] = any(differ(x, y) for x, y in zip(one[1], two[1], strict=True))
            return seen[a, b]

        found = {
            depth
            for depth, leads in self._inner.values()
            if any(differ(a, b) for a, b in combinations(dict.fromkeys(leads), 2))
        }
        return [self.facts[depth] for depth in sorted(found or {depth for depth, _ in self._inner.values()})]


def cells(variable: Variable, spoken: Mapping[int, Region], everyone: int) -> list[int]:
    """The different sets of members that the values of a fact allow; *spoken* gives the regions of those who care."""
    return list(dict.fromkeys(allowed for _, allowed in parts(variable, spoken, everyone)))


def parts(variable: Variable, spoken: Mapping[int, Region], everyone: int) -> Iterator[tuple[Region, int]]:
    """The domain of a fact cut where a region of *spoken* begins or ends, with who allows each part."""
    silent = everyone & ~sum(1 << n for n in spoken)
    whole = domain(variable)
    if isinstance(whole, frozenset):
        order = variable.values if variable.kind == "enum" else (False, True)
        for value in order:
            yield frozenset((value,)), silent | sum(1 << n for n, where in spoken.items() if value in where)
        return
    cuts = {cut for span in whole for cut in span}
    turns: dict[Cut, int] = {}
    for n, where in spoken.items():
        assert isinstance(where, tuple)
        for span in where:
            for cut in span:
                cuts.add(cut)
                turns[cut] = turns.get(cut, 0) ^ 1 << n
    now = silent
    for one, two in pairwise(sorted(cuts)):
        now ^= turns.get(one, 0)
        yield ((one, two),), now
