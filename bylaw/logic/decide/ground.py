"""The ground that cases of some rules lie on: the domain of every fact cut where a guard or an invariant changes.

Between two cuts nothing does. Each part has the set of boxes (the bits of an integer) that allow it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bylaw.logic.boxes.boxes import EVERYTHING, Box, Region, TooManyBoxes, boxes, lies_in
from bylaw.logic.boxes.diagram import parts
from bylaw.logic.decide.case import in_force
from bylaw.logic.decide.firing import as_bits, bits
from bylaw.logic.formula.ir import Constraint, Ruleset, Value, Variable, names

MOST_KEPT = 20_000  # of each kind that is kept of searches


@dataclass(frozen=True, slots=True)
class Ground:
    """Rules of one day as numbered boxes: which rule each is of, who speaks of a fact, who allows which part of it."""

    rule_of: Sequence[int]  # -1 for a box of an invariant
    regions: Sequence[Mapping[str, Region]]
    unsettled: int  # boxes whose rule has to be read: they say too much, or stand for a guard without boxes
    invariants: Sequence[int]  # of each that boxes can say, its boxes
    spoken: Mapping[str, int]
    parts: Mapping[str, Sequence[tuple[Region, int]]]
    names: frozenset[str]  # all facts that guards name, those included that no box speaks of
    is_exact: bool
    # what searches have worked out here: whose boxes the bits of some rules are, where a fact goes from either side
    _of_rules: dict[int, int] = field(default_factory=dict, compare=False, repr=False)
    steps: dict[tuple[str, int, bool | None], Value] = field(default_factory=dict, compare=False, repr=False)
    _within: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    _starts: dict[str, list[Any]] = field(default_factory=dict, compare=False, repr=False)

    def boxes_of(self, rules: int) -> int:
        """The boxes of *rules*, both as bits."""
        found = self._of_rules.get(rules)
        if found is None:
            found = as_bits(n for n, i in enumerate(self.rule_of) if i >= 0 and rules >> i & 1)
            if len(self._of_rules) < MOST_KEPT:
                self._of_rules[rules] = found
        return found

    def part_at(self, var: str, value: Value) -> int:
        """The number of the part that a value lies in; -1 outside the domain."""
        parts = self.parts[var]
        if isinstance(parts[0][0], frozenset):
            return next((n for n, (where, _) in enumerate(parts) if value in where), -1)
        starts = self._starts.get(var)
        if starts is None:
            starts = self._starts[var] = list(map(_start, parts))
        n = bisect_right(starts, (value, 0)) - 1
        return n if 0 <= n < len(parts) - 1 or (n >= 0 and lies_in(value, parts[n][0])) else -1

    def within(self, var: str, box: int) -> tuple[int, ...]:
        """The numbers of the parts that a box allows."""
        found = self._within.get((var, box))
        if found is None:
            found = self._within[var, box] = tuple(n for n, (_, its) in enumerate(self.parts[var]) if its >> box & 1)
        return found


def _start(part: tuple[Region, int]) -> Any:
    where, _ = part
    assert isinstance(where, tuple)
    return where[0][0]


def ground(ruleset: Ruleset, boxes_of: Callable[[int], tuple[Box, ...] | None], rules: int, day: int) -> Ground:
    """The ground of *rules* (as bits), and of the invariants that tie their facts to each other and to further ones."""
    members: list[tuple[int, Box]] = []
    unsettled, is_exact, spelled = list[int](), True, set[str]()
    for i in bits(rules):
        if ruleset.rules[i].holds_on(day):
            guard = boxes_of(i)
            spelled |= names(ruleset.rules[i].guard)
            is_exact = is_exact and guard is not None and all(box.is_exact for box in guard)
            for box in (EVERYTHING,) if guard is None else guard:
                if guard is None or not box.is_exact:
                    unsettled.append(len(members))
                members.append((i, box))
    invariants = list[int]()
    for found in _tied(ruleset, day, {var for _, box in members for var in box.regions}):
        invariants.append(((1 << len(found)) - 1) << len(members))
        members += ((-1, box) for box in found)
    spoken: dict[str, dict[int, Region]] = {var: {} for var in spelled}
    for n, (_, box) in enumerate(members):
        for var, where in box.regions.items():
            spoken.setdefault(var, {})[n] = where
    everyone, variables = (1 << len(members)) - 1, ruleset.variables
    return Ground(
        rule_of=tuple(i for i, _ in members),
        regions=tuple(box.regions for _, box in members),
        unsettled=as_bits(unsettled),
        invariants=invariants,
        spoken={var: as_bits(its) for var, its in sorted(spoken.items())},
        parts={var: tuple(parts(variables[var], its, everyone)) for var, its in sorted(spoken.items())},
        names=frozenset(spelled),
        is_exact=is_exact,
    )


def _tied(ruleset: Ruleset, day: int, facts: set[str]) -> Iterator[tuple[Box, ...]]:
    """The invariants that bear on *facts*, also by way of other facts; those that boxes do not say are left out."""
    left = [constraint for constraint in ruleset.constraints if in_force(constraint, day)]
    while bearing := [constraint for constraint in left if not facts.isdisjoint(names(constraint.formula))]:
        for constraint in bearing:
            facts |= names(constraint.formula)
            found = _boxes_of(constraint, ruleset.variables)
            if found:
                yield found
        left = [constraint for constraint in left if constraint not in bearing]


def _boxes_of(constraint: Constraint, variables: Mapping[str, Variable]) -> tuple[Box, ...]:
    try:
        found = boxes(constraint.formula, variables)
    except TooManyBoxes:
        return ()
    return found if all(box.is_exact for box in found) else ()
