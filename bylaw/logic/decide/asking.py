"""In which order facts are asked for: the steps of a procedure in the order of their author, else by kind (seed 001).

A policy's other facts are asked after its steps. Where two procedures want opposite orders, the one with the smaller
policy id has its way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise

from bylaw.logic.formula.ir import ConditionalRule, Variable, names

_KINDS = {"boolean": 0, "enum": 1}


def kind_rank(variable: Variable) -> int:
    """Booleans before enums before numbers and dates."""
    return _KINDS.get(variable.kind, 2)


class Asking:
    """The order of the facts. *steps* are facts, by policy."""

    def __init__(
        self, variables: Mapping[str, Variable], steps: Mapping[str, Sequence[str]], rules: Sequence[ConditionalRule]
    ) -> None:
        self.variables = variables
        self._after: dict[str, set[str]] = {}  # fact → those that are asked after it
        self._before: dict[str, set[str]] = {}
        self._far: dict[str, set[str]] = {}
        for one, other in (*_chains(steps), *_others(steps, rules)):
            if one in variables and other in variables and one != other and one not in self._reached(other):
                self._after.setdefault(one, set()).add(other)
                self._before.setdefault(other, set()).add(one)
                self._far.clear()

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Fact → its place in the order."""
        waiting = {name: len(self._before.get(name, ())) for name in self.variables}
        ready: list[tuple[int, str]] = []
        for name, count in waiting.items():
            if not count:
                heappush(ready, (kind_rank(self.variables[name]), name))
        order: list[str] = []
        while ready:
            _, name = heappop(ready)
            order.append(name)
            for other in self._after.get(name, ()):
                waiting[other] -= 1
                if not waiting[other]:
                    heappush(ready, (kind_rank(self.variables[other]), other))
        return {name: n for n, name in enumerate(order)}

    def in_turn(self, facts: Sequence[str]) -> tuple[str, ...]:
        """*facts* in their order, but none before one that has to be asked first."""
        if not self._before:
            return tuple(facts)
        left, found = list(facts), list[str]()
        while left:
            first = next(name for name in left if not any(name in self._reached(other) for other in left))
            found.append(first)
            left.remove(first)
        return tuple(found)

    def _reached(self, name: str) -> set[str]:
        """The facts that are asked after *name*, at whatever distance."""
        if name not in self._far:
            found = self._far[name] = set[str]()
            todo = [name]
            while todo:
                for other in self._after.get(todo.pop(), ()):
                    if other not in found:
                        found.add(other)
                        todo.append(other)
        return self._far[name]


def _chains(steps: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for policy_id in sorted(steps):
        yield from pairwise(steps[policy_id])


def _others(steps: Mapping[str, Sequence[str]], rules: Sequence[ConditionalRule]) -> Iterator[tuple[str, str]]:
    """The last step of each policy before each of its other facts."""
    spoken: dict[str, set[str]] = {}
    for rule in rules if steps else ():
        if rule.policy_id in steps:
            spoken.setdefault(rule.policy_id, set()).update(names(rule.guard))
    for policy_id, facts in sorted(spoken.items()):
        mine = steps[policy_id]
        yield from ((mine[-1], other) for other in sorted(facts.difference(mine)) if mine)
