"""Which entities can be reached from one without multiplying its rows, and over which columns.

Only `many_to_one` and `one_to_one` are walked. A way that exists only against a many-to-one would count rows twice:
it is refused by name, never taken.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from bylaw.authored.context import Context, Relationship
from bylaw.semantic.query import Unanswerable


@dataclass(frozen=True, slots=True)
class Step:
    """One join: a row of `left` finds at most one row of `right`."""

    left: str
    right: str
    columns: tuple[tuple[str, str], ...]


class Joins:
    """The graph of one context, built once; ways from an entity are found when they are first asked for."""

    def __init__(self, context: Context) -> None:
        self._edges: dict[str, dict[str, list[Step]]] = defaultdict(lambda: defaultdict(list))
        for name, entity in sorted(context.entities.items()):
            for relationship in entity.relationships:
                if relationship.right_entity in context.entities:
                    self._add(name, relationship)
        self._ways: dict[str, dict[str, tuple[Step, ...]]] = {}

    def _add(self, left: str, relationship: Relationship) -> None:
        """A many-to-one is walked forwards, a one-to-many backwards, a one-to-one both ways."""
        pairs = tuple((pair.left_column, pair.right_column) for pair in relationship.relationship_columns)
        right = relationship.right_entity
        steps = []
        if relationship.relationship_type in ("many_to_one", "one_to_one"):
            steps.append(Step(left, right, pairs))
        if relationship.relationship_type in ("one_to_many", "one_to_one"):
            steps.append(Step(right, left, tuple((b, a) for a, b in pairs)))
        for step in steps:
            if step not in self._edges[step.left][step.right]:
                self._edges[step.left][step.right].append(step)

    def reachable(self, base: str) -> dict[str, tuple[Step, ...]]:
        """Every entity that can be joined to *base* safely, with the shortest way; *base* itself with an empty one."""
        known = self._ways.get(base)
        if known is not None:
            return known
        ways: dict[str, tuple[Step, ...]] = {base: ()}
        queue = deque([base])
        while queue:
            current = queue.popleft()
            for right, steps in sorted(self._edges.get(current, {}).items()):
                if right not in ways:
                    ways[right] = (*ways[current], steps[0])
                    queue.append(right)
        self._ways[base] = ways
        return ways

    def way(self, base: str, target: str) -> tuple[Step, ...]:
        """The joins from *base* to *target*. Raises Unanswerable where there is none, or two between the same two."""
        found = self.reachable(base).get(target)
        if found is None:
            between = self._between(base, target)
            if between is not None:
                raise Unanswerable(
                    f"one row of `{base}` has many of `{target}`, so the answer would count `{base}` several times",
                    f"ask for a metric of `{between}` instead",
                )
            raise Unanswerable(
                f"`{base}` and `{target}` are not connected in the catalogue",
                "a relationship between them would have to be declared",
            )
        for step in found:
            count = len(self._edges[step.left][step.right])
            if count > 1:
                raise Unanswerable(
                    f"`{step.left}` is connected with `{step.right}` in {count} ways, none is the default"
                )
        return found

    def _between(self, base: str, target: str) -> str | None:
        """The entity whose rows lead to one of *base* and one of *target*: *target* itself, or one that links them."""
        for name in (target, *sorted(set(self._edges) - {target, base})):
            ways = self.reachable(name)
            if base in ways and target in ways:
                return name
        return None

    def is_plain(self, base: str, target: str) -> bool:
        """Is there exactly one way to walk?"""
        found = self.reachable(base).get(target)
        return found is not None and all(len(self._edges[step.left][step.right]) == 1 for step in found)
