"""How far one entity is from another: steps to one row are near, a step to many rows is far."""

from __future__ import annotations

import heapq
from collections import defaultdict

from bylaw.authored.context import Context

_MANY = 100  # no chain of steps to one row is as long


class Nearness:
    """The entities of one context as a graph.

    A way goes down to the many rows that belong to one, and then from each up to one row of something else: from
    papers to their authors over who wrote what. Any other way mixes rows that have nothing to do with each other.
    """

    def __init__(self, context: Context) -> None:
        self._edges: dict[str, dict[str, int]] = defaultdict(dict)
        for name, entity in sorted(context.entities.items()):
            for relationship in entity.relationships:
                other = relationship.right_entity
                if other not in context.entities:
                    continue
                kind = relationship.relationship_type
                self._add(name, other, 1 if kind.endswith("_to_one") else _MANY)
                self._add(other, name, 1 if kind.startswith("one_to") else _MANY)
        self._known: dict[str, dict[str, int]] = {}

    def _add(self, left: str, right: str, cost: int) -> None:
        self._edges[left][right] = min(cost, self._edges[left].get(right, cost))

    def distance(self, base: str, target: str) -> int | None:
        """The cost of the cheapest way; None without one. Below 100 every row of *base* leads to at most one."""
        return self._from(base).get(target)

    def leads_to_one(self, base: str, target: str) -> bool:
        """Does every row of *base* lead to at most one of *target*?"""
        distance = self.distance(base, target)
        return distance is not None and distance < _MANY

    def _from(self, base: str) -> dict[str, int]:
        known = self._known.get(base)
        if known is not None:
            return known
        found = {base: 0}
        queue = [(0, base)]
        while queue:
            cost, current = heapq.heappop(queue)
            if cost > found[current]:
                continue
            for other, step in sorted(self._edges.get(current, {}).items()):
                if step == _MANY and cost % _MANY:
                    continue  # from one row down to many others: two things that only share an owner
                if cost + step < found.get(other, cost + step + 1):
                    found[other] = cost + step
                    heapq.heappush(queue, (cost + step, other))
        self._known[base] = found
        return found
