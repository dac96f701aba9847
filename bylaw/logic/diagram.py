"""Which unknown facts change a result: every completion at once, as a decision diagram over a few boxes.

A node asks one fact and leads on by the values that tell the boxes apart; equal ends are one node. A fact matters iff
some node that asks it leads to two ends that differ. Exact, where it does not give up for its size.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from operator import or_
from typing import Generic, TypeVar

from bylaw.logic.boxes import Box, Cut, Region, domain
from bylaw.logic.ir import Variable

_End = TypeVar("_End", bound=Hashable)

MAX_STATES = 150  # beyond that many different situations on the way the question is left to others


class TooWide(Exception):
    """The diagram would need too many states."""


@dataclass(frozen=True, slots=True)
class Diagram(Generic[_End]):
    """All completions of a case. `nodes`: for each the position of the fact it asks, and where its cells lead.

    A number that is no node is an end; one below 0 leads to no completion that exists.
    """

    facts: Sequence[str]
    ends: Mapping[int, _End]
    nodes: Mapping[int, tuple[int, tuple[int, ...]]]
    is_partial: bool  # some completions do not exist

    def turning(self, part: Callable[[_End], Hashable]) -> list[str]:
        """The facts that alone can change *part* of the result; if it only changes with several, all of those."""
        first: dict[Hashable, int] = {}
        parts = {n: first.setdefault(part(end), n) for n, end in self.ends.items()}
        return self._turned(parts) if len(first) > 1 else []

    def _turned(self, parts: Mapping[int, int]) -> list[str]:
        asked = {depth for depth, _ in self.nodes.values()}
        if not self.is_partial and len(set(parts.values())) == len(parts):  # no two nodes are alike
            return [self.facts[depth] for depth in sorted(asked)]
        seen: dict[tuple[int, int], bool] = {}

        def differ(a: int, b: int) -> bool:
            """Do two existing completions that end beyond *a* and *b*, alike but for that, differ?"""
            if a == b or a < 0 or b < 0:
                return False
            if (a, b) not in seen:
                one, two = self.nodes.get(a), self.nodes.get(b)
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
            for depth, leads in self.nodes.values()
            if any(differ(a, b) for a, b in combinations(dict.fromkeys(leads), 2))
        }
        return [self.facts[depth] for depth in sorted(found or asked)]


def drawn(
    boxes: Sequence[Box],
    groups: Sequence[int],
    existing: Sequence[Box],
    variables: Mapping[str, Variable],
    result: Callable[[int], _End],
    budget: int = MAX_STATES,
) -> Diagram[_End]:
    """The diagram of some *boxes*, which speak of unknown facts only and are exact; so are those of *existing*.

    Boxes of one group (a number from 0) are alike: *result* says what holds when exactly those groups (as bits) have a
    box that holds. Completions outside every box of *existing* do not exist; with none given, all do. Raises TooWide
    beyond *budget* situations.
    """
    if len(boxes) == 1 and not existing:
        return _of_one(boxes[0], variables, result)
    drawing = _Drawing(boxes, groups, existing, variables, result, budget)
    return Diagram(drawing.facts, drawing.ends, drawing.inner, bool(existing))


def _of_one(box: Box, variables: Mapping[str, Variable], result: Callable[[int], _End]) -> Diagram[_End]:
    """One box needs no search: a row of questions, each of which leads out of it."""
    outside, inside = result(0), result(1)
    if outside == inside:
        return Diagram((), {0: inside}, {}, False)
    facts = sorted(var for var, where in box.regions.items() if where != domain(variables[var]))
    if not facts:
        return Diagram((), {1: inside}, {}, False)
    last = len(facts) - 1
    nodes = {depth + 2: (depth, (depth + 3 if depth < last else 1, 0)) for depth in range(len(facts))}
    return Diagram(facts, {0: outside, 1: inside}, nodes, False)


class _Drawing(Generic[_End]):
    """What is needed while a diagram is drawn."""

    def __init__(
        self,
        boxes: Sequence[Box],
        groups: Sequence[int],
        existing: Sequence[Box],
        variables: Mapping[str, Variable],
        result: Callable[[int], _End],
        budget: int,
    ) -> None:
        members = [box.regions for box in (*boxes, *existing)]
        self._count, self._budget, self._result = len(members), budget, result
        self._existing = (1 << len(members)) - (1 << len(boxes)) if existing else 0
        spoken: dict[str, int] = {}
        for n, regions in enumerate(members):
            for var in regions:
                spoken[var] = spoken.get(var, 0) | 1 << n
        parts_of = {var: len({regions[var] for regions in members if var in regions}) for var in spoken}
        self.facts = sorted(spoken, key=lambda var: (-spoken[var].bit_count(), parts_of[var], var))
        self._spoken = [spoken[var] for var in self.facts]
        self._groups = groups
        self._alike = [sum(1 << n for n, other in enumerate(groups) if other == group) for group in groups]
        left = (1 << len(boxes)) - 1
        self._whole = [left & ~reduce(or_, self._spoken[depth:], 0) for depth in range(len(self.facts) + 1)]
        everyone = (1 << len(members) + len(boxes)) - 1
        self._cells = [
            cells(variables[var], {n: regions[var] for n, regions in enumerate(members) if var in regions}, everyone)
            for var in self.facts
        ]
        self.ends: dict[int, _End] = {}  # node → what holds there
        self.inner: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._nodes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._known: dict[tuple[int, int], int] = {}
        self._end_of: dict[_End, int] = {}
        self._draw(0, (1 << len(members)) - 1)

    def _draw(self, depth: int, alive: int) -> int:
        """The node from which the facts from *depth* on are asked, when *alive* are possible: members, then groups."""
        if self._existing and not alive & self._existing:
            return -1
        asked = depth, alive
        while whole := alive & self._whole[depth]:  # such a box holds, and others of its group say nothing more
            n = whole.bit_length() - 1
            alive = alive & ~self._alike[n] | 1 << self._count + self._groups[n]
        while depth < len(self.facts) and not alive & self._spoken[depth]:
            depth += 1
        known = self._known
        found = known.get((depth, alive))
        if found is None:
            self._budget -= 1
            if self._budget < 0:
                raise TooWide
            if depth == len(self.facts):
                found = self._end(self._result(alive >> self._count))
            else:
                leads, below = list[int](), depth + 1
                for cell in self._cells[depth]:
                    lead = known.get((below, alive & cell))
                    leads.append(self._draw(below, alive & cell) if lead is None else lead)
                found = self._node(depth, tuple(leads))
        known[asked] = known[depth, alive] = found
        return found

    def _end(self, result: _End) -> int:
        if result not in self._end_of:
            self._end_of[result] = len(self.ends) + len(self.inner)
            self.ends[self._end_of[result]] = result
        return self._end_of[result]

    def _node(self, depth: int, leads: tuple[int, ...]) -> int:
        if len(set(leads)) == 1:
            return leads[0]
        found = self._nodes.get((depth, leads))
        if found is None:
            found = self._nodes[depth, leads] = len(self.ends) + len(self.inner)
            self.inner[found] = (depth, leads)
        return found


def cells(variable: Variable, spoken: Mapping[int, Region], everyone: int) -> list[int]:
    """The different sets of members that the values of a fact allow; *spoken* gives the regions of those who care."""
    if len(spoken) == 1:
        ((n, where),) = spoken.items()
        return [everyone] if where == domain(variable) else [everyone & ~(1 << n), everyone]
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
    turns: dict[Cut, int] = {cut: 0 for span in whole for cut in span}
    for n, where in spoken.items():
        assert isinstance(where, tuple)
        for span in where:
            for cut in span:
                turns[cut] = turns.get(cut, 0) ^ 1 << n
    now = silent
    for one, two in pairwise(sorted(turns)):
        now ^= turns[one]
        yield ((one, two),), now
