"""Which entities can be reached from one: without multiplying its rows (`way`), or at all (`chain`).

A way walks `many_to_one` and `one_to_one` only. Of several shortest ways the one over a `default` relationship is
taken, or the one that a place names: `airports@flights_to_destination` is the airport that this relationship leads
to. A chain may also go from one row to many; who walks it counts distinct rows, or asks only whether there is one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bylaw.authored.context import Context, Relationship
from bylaw.semantic.query import Unanswerable, UnknownName

_ENOUGH = 8  # ways that are told apart; more are as ambiguous


@dataclass(frozen=True, slots=True)
class Step:
    """One join: a row of `left` finds at most one row of `right`, or many of them.

    `condition` holds for the rows of `owner`, one of the two, which may have partners.
    """

    left: str
    right: str
    columns: tuple[tuple[str, str], ...]
    is_many: bool = False
    condition: str | None = None
    owner: str = ""
    name: str = field(default="", compare=False)
    is_default: bool = field(default=False, compare=False)
    is_inner: bool = field(default=False, compare=False)  # rows without a partner are in no group

    @property
    def back(self) -> Step:
        """The same join, walked from the other side."""
        return replace(self, left=self.right, right=self.left, columns=tuple((b, a) for a, b in self.columns))


Way = tuple[Step, ...]


class Joins:
    """The graph of one context, built once; ways from an entity are found when they are first asked for."""

    def __init__(self, context: Context) -> None:
        self._edges: dict[str, dict[str, list[Step]]] = {}
        self._many: dict[str, dict[str, list[Step]]] = {}
        self._names: dict[str, Step] = {}
        for name, entity in sorted(context.entities.items()):
            for relationship in entity.relationships:
                if relationship.right_entity in context.entities:
                    self._add(name, relationship)
        self._ways: dict[str, dict[str, list[Way]]] = {}
        self._chains: dict[tuple[str, str], list[Way]] = {}

    def _add(self, left: str, relationship: Relationship) -> None:
        """A many-to-one is walked forwards, a one-to-many backwards, a one-to-one both ways."""
        kind = relationship.relationship_type
        pairs = tuple((pair.left_column, pair.right_column) for pair in relationship.relationship_columns)
        back = tuple((b, a) for a, b in pairs)
        said: dict[str, Any] = {"name": relationship.name, "is_default": relationship.default}
        said |= {"condition": relationship.condition, "owner": left, "is_inner": relationship.join_type == "inner"}
        forward_is_many = kind in ("one_to_many", "many_to_many")
        backward_is_many = kind in ("many_to_one", "many_to_many")
        forward = Step(left, relationship.right_entity, pairs, forward_is_many, **said)
        backward = Step(relationship.right_entity, left, back, backward_is_many, **said)
        for step in (forward, backward):
            edges = self._many if step.is_many else self._edges
            found = edges.setdefault(step.left, {}).setdefault(step.right, [])
            if step not in found:
                found.append(step)
        self._names.setdefault(relationship.name, backward if forward_is_many and not backward_is_many else forward)

    def reachable(self, base: str) -> dict[str, Way]:
        """Every entity that can be joined to *base* safely, with a shortest way; *base* itself with an empty one."""
        return {target: ways[0] for target, ways in self._ways_from(base).items()}

    def _ways_from(self, base: str) -> dict[str, list[Way]]:
        known = self._ways.get(base)
        if known is not None:
            return known
        ways: dict[str, list[Way]] = {base: [()]}
        layer = [base]
        while layer:
            found: dict[str, list[Way]] = {}
            for current in layer:
                for right, steps in sorted(self._edges.get(current, {}).items()):
                    if right not in ways:
                        found.setdefault(right, []).extend(
                            (*way, step) for way in ways[current] for step in _meant(steps)
                        )
            for right, all_ways in found.items():
                ways[right] = _preferred(all_ways)
            layer = sorted(found)
        self._ways[base] = ways
        return ways

    def leads_to(self, base: str, place: str) -> bool:
        """Does a row of *base* find at most one row of *place* (`entity` or `entity@relationship`)?"""
        target, _, role = place.partition("@")
        if not role:
            return target in self._ways_from(base)
        step = self._names.get(role)
        if step is None or step.is_many:
            return False
        return step.left in self._ways_from(base) and target in self._ways_from(step.right)

    def way(self, base: str, place: str) -> Way:
        """The joins from *base* to *place*. Raises Unanswerable where there is none, or no single shortest one."""
        target, _, role = place.partition("@")
        if role:
            return self._way_over(base, target, role)
        found = self._ways_from(base).get(target)
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
        return self._only(base, target, found)

    def _role(self, name: str) -> Step:
        step = self._names.get(name)
        if step is None:
            raise UnknownName(f"there is no relationship `{name}`")
        return step

    def _way_over(self, base: str, target: str, role: str) -> Way:
        step = self._role(role)
        if not self.leads_to(base, f"{target}@{role}"):
            raise Unanswerable(f"the relationship `{role}` does not lead from `{base}` to one `{target}`")
        return (*self.way(base, step.left), step, *self.way(step.right, target))

    def chain(self, base: str, place: str) -> Way:
        """The shortest connection of *base* with *place*, in which one row may find many.

        A connection that turns at most once, from many to one, comes first ("papers, who wrote them, authors"); then
        one that meets in a row which both belong to. Raises Unanswerable where there is none, or no single one.
        """
        target, _, role = place.partition("@")
        if role:
            return self._chain_over(base, target, role)
        if (base, target) not in self._chains:
            self._chains[base, target] = self._shortest(base, target)
        found = self._chains[base, target]
        if not found:
            raise Unanswerable(
                f"`{base}` and `{target}` are not connected in the catalogue",
                "a relationship between them would have to be declared",
            )
        return self._only(base, target, found)

    def _chain_over(self, base: str, target: str, role: str) -> Way:
        """The shortest chain that walks the relationship *role*, forwards or backwards."""
        step = self._role(role)
        found: list[Way] = []
        for one in (step, self._reverse(step)):
            try:
                way = (*self.chain(base, one.left), one, *self.chain(one.right, target))
            except Unanswerable:
                continue
            if len({base, *(part.right for part in way)}) == len(way) + 1 or base == target:
                found.append(way)
        if not found:
            raise Unanswerable(f"the relationship `{role}` does not lead from `{base}` to `{target}`")
        return min(found, key=len)

    def _reverse(self, step: Step) -> Step:
        back = step.back
        options = [one for edges in (self._edges, self._many) for one in edges.get(step.right, {}).get(step.left, ())]
        return next(option for option in options if option == replace(back, is_many=option.is_many))

    def _shortest(self, base: str, target: str) -> list[Way]:
        """All cheapest connections. A state is an entity and whether the last step led to one row."""
        best: dict[tuple[str, bool], tuple[int, int]] = {}
        queue: deque[tuple[int, int, Way]] = deque([(0, 0, ())])
        found: list[tuple[tuple[int, int], Way]] = []
        while queue:
            turns, length, way = queue.popleft()
            at, went_up = (way[-1].right, not way[-1].is_many) if way else (base, False)
            if at == target:
                found.append(((turns, length), way))
                continue
            seen = {base, *(step.right for step in way)}
            for edges, is_up in ((self._edges, True), (self._many, False)):
                cost = (turns + (went_up and not is_up), length + 1)
                for right, steps in sorted(edges.get(at, {}).items()):
                    if right in seen or cost[0] > 1 or best.get((right, is_up), cost) < cost:
                        continue
                    best[right, is_up] = cost
                    queue.extend((*cost, (*way, step)) for step in _meant(steps))
        cheapest = min((cost for cost, _ in found), default=None)
        return _preferred([way for cost, way in found if cost == cheapest])

    def _only(self, base: str, target: str, ways: Sequence[Way]) -> Way:
        if len(ways) == 1:
            return ways[0]
        odd = [next(step for step in way if any(step not in other for other in ways)) for way in ways]
        names = sorted({f"`{target}@{step.name}`" for step in odd})
        first = odd[0]
        left, right = (first.left, first.right) if len({(s.left, s.right) for s in odd}) == 1 else (base, target)
        raise Unanswerable(
            f"`{left}` is connected with `{right}` in {len(ways)} ways, none is the default",
            f"say which is meant: {' or '.join(names)}",
        )

    def _between(self, base: str, target: str) -> str | None:
        """The entity whose rows lead to one of *base* and one of *target*: *target* itself, or one that links them."""
        for name in (target, *sorted(set(self._edges) - {target, base})):
            ways = self._ways_from(name)
            if base in ways and target in ways:
                return name
        return None

    def guarded_way(self, base: str, target: str) -> Way | None:
        """The way over which the conditions of *target* hold for a row of *base*; None between two roles of it.

        Of shortest ways over different entities the first: they lead to the same rows, or nobody could say which.
        """
        ways = self._ways_from(base)[target]
        routes = [tuple(step.right for step in way) for way in ways]
        return next((way for way, route in zip(ways, routes, strict=True) if routes.count(route) == 1), None)

    def is_plain(self, base: str, target: str) -> bool:
        """Is there exactly one way to walk?"""
        return len(self._ways_from(base).get(target, ())) == 1


def _meant(steps: list[Step]) -> list[Step]:
    """Of several relationships between the same two entities: the default one, or all."""
    return [step for step in steps if step.is_default][:1] or steps


def _preferred(ways: list[Way]) -> list[Way]:
    """The ways that stay possible: those over a default relationship where only some are, at most a few."""
    marked = [way for way in ways if any(step.is_default for step in way)]
    return (marked if len(marked) == 1 else ways)[:_ENOUGH]
