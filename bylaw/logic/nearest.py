"""What would have to be different: the smallest change of a case that gives it another result.

Fewest facts first, then the nearest values. The facts that rules of the same room speak of are cut where some guard
changes, and from each part the value nearest to the case is tried; whatever is told has been decided anew. Where not
everything could be tried, the answer says so: "none" is only said after all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import prod

from bylaw.logic.boxes import Box, Region, lies_in, near, point
from bylaw.logic.diagram import parts
from bylaw.logic.evaluate import Decision, Evaluator
from bylaw.logic.firing import bits
from bylaw.logic.ir import Atom, Facts, Number, Op, Value, Variable
from bylaw.logic.outlook import in_force
from bylaw.logic.truth import truth

TRIALS = 4_000  # cases tried before the question counts as too large
MOST_FACTS = 3


@dataclass(frozen=True, slots=True)
class Step:
    """A fact that would have to be different: its value, None for unknown, the value that would do, and the test."""

    fact: str
    before: Value | None
    after: Value
    test: Atom


@dataclass(frozen=True, slots=True)
class Nearest:
    """The smallest change, and what the changed case gets. Without `steps` none of up to `tried` facts was found.

    `is_sure`: nothing smaller was left untried; without steps, that there is none at all.
    """

    steps: tuple[Step, ...]
    decision: Decision | None
    is_sure: bool
    tried: int


Goal = Callable[[Decision], bool]


def nearest(
    evaluator: Evaluator, facts: Facts, day: int, rules: int, is_reached: Goal, trials: int = TRIALS
) -> Nearest:
    """The nearest case that *is_reached* accepts, changing only facts of which *rules* (a set of bits) speak."""
    search = _Search(evaluator, facts, day, rules, is_reached, trials)
    tried = 0
    for count in range(1, min(MOST_FACTS, len(search.places)) + 1):
        if not search.can_try(count):
            break
        found = search.changing(count)
        if found is not None:
            return Nearest(search.told(found), search.decided(found), search.is_exact, count)
        tried = count
    guided = search.guided() if tried < min(MOST_FACTS, len(search.places)) else None
    if guided is not None:
        return Nearest(search.told(guided), search.decided(guided), False, tried)
    return Nearest((), None, search.is_exact and tried == len(search.places), tried)


@dataclass(frozen=True, slots=True)
class _Place:
    """One value of a fact worth trying: from `where`, a part of its domain within which no guard changes."""

    value: Value
    where: Region
    distance: Fraction


_Change = Mapping[str, _Place]


class _Search:
    def __init__(self, evaluator: Evaluator, facts: Facts, day: int, rules: int, is_reached: Goal, trials: int) -> None:
        self._evaluator, self._facts, self._day, self._is_reached = evaluator, facts, day, is_reached
        self._left = trials
        self._rules = [i for i in bits(rules) if evaluator.ruleset.rules[i].holds_on(day)]
        variables = evaluator.ruleset.variables
        spoken: dict[str, dict[int, Region]] = {}
        guards = [evaluator.boxes_of(i) for i in self._rules]
        self.is_exact = all(guard is not None and all(box.is_exact for box in guard) for guard in guards)
        self._boxes = [box for guard in guards for box in guard or ()]
        for n, box in enumerate(self._boxes):
            for var, where in box.regions.items():
                spoken.setdefault(var, {})[n] = where
        self.places = {
            var: sorted(_places(variables[var], regions, facts.get(var)), key=lambda place: place.distance)
            for var, regions in sorted(spoken.items())
        }

    def can_try(self, count: int) -> bool:
        """Are there few enough changes of that many facts?"""
        return sum(prod(map(len, its)) for its in combinations(self.places.values(), count)) <= self._left

    def changing(self, count: int) -> _Change | None:
        """The nearest change of that many facts, None when there is none."""
        return self._first(
            dict(zip(which, values, strict=True))
            for which in combinations(self.places, count)
            for values in product(*(self.places[var] for var in which))
        )

    def guided(self) -> _Change | None:
        """The nearest change that brings the case into some guard, whatever else would have to give way."""
        into = []
        for box in self._boxes:
            needed = {var: where for var, where in box.regions.items() if not self._lies_in(var, where)}
            if 0 < len(needed) <= MOST_FACTS:
                found = {var: self._into(var, where) for var, where in needed.items()}
                if all(place is not None for place in found.values()):
                    into.append({var: place for var, place in found.items() if place is not None})
        return self._first(into)

    def _lies_in(self, var: str, where: Region) -> bool:
        return var in self._facts and lies_in(self._facts[var], where)

    def _into(self, var: str, where: Region) -> _Place | None:
        return next((place for place in self.places[var] if lies_in(place.value, where)), None)

    def _first(self, changes: Iterable[_Change]) -> _Change | None:
        def size(change: _Change) -> tuple[int, Fraction]:
            return len(change), sum((place.distance for place in change.values()), Fraction(0))

        for change in sorted(changes, key=size):
            if self._left <= 0:
                return None
            self._left -= 1
            if self.decided(change) is not None:
                return change
        return None

    def decided(self, change: _Change) -> Decision | None:
        """What the changed case gets, None when that is not what was asked for or no such case exists."""
        case = {**self._facts, **{var: place.value for var, place in change.items()}}
        for constraint in self._evaluator.ruleset.constraints:
            if in_force(constraint, self._day) and truth(constraint.formula, case) is False:
                return None
        decision = self._evaluator.decide(case, self._day)
        return decision if self._is_reached(decision) else None

    def told(self, change: _Change) -> tuple[Step, ...]:
        """The change as tests: a bound where everything beyond it would do as well."""
        return tuple(
            Step(var, self._facts.get(var), place.value, self._test(var, place, change))
            for var, place in change.items()
        )

    def _test(self, var: str, place: _Place, change: _Change) -> Atom:
        variable, before = self._evaluator.ruleset.variables[var], self._facts.get(var)
        if variable.is_finite or before is None or isinstance(before, bool | str):
            return Atom(var, "==", place.value)
        is_lower = _as_number(place.value) < before
        beyond = [other for other in self.places[var] if _is_beyond(other, place, is_lower)]
        if len(beyond) <= _FEW and all(self.decided({**change, var: other}) is not None for other in beyond):
            return Atom(var, *_bound(place, is_lower, variable.is_whole))
        return Atom(var, "==", place.value)


_FEW = 6  # parts beyond a bound that are tried before the bound is told as one


def _places(variable: Variable, spoken: Mapping[int, Region], before: Value | None) -> Iterator[_Place]:
    """From each part of the fact's domain the value nearest to *before*; the part it lies in is no change."""
    for where, _ in parts(variable, spoken, 0):
        if before is not None and lies_in(before, where):
            continue
        value = _nearest_in(where, variable, before)
        if isinstance(value, bool | str) or before is None:
            yield _Place(value, where, Fraction(1))
        else:
            gap = abs(Fraction(value) - Fraction(_as_number(before)))
            yield _Place(value, where, gap / max(abs(Fraction(_as_number(before))), Fraction(1)))


def _nearest_in(where: Region, variable: Variable, before: Value | None) -> Value:
    if not isinstance(where, frozenset) and before is not None:
        low, high = where[0]
        is_above = (_as_number(before), 0) < low
        for value in near(low if is_above else high, upward=is_above, is_whole=variable.is_whole):
            if lies_in(value, where):
                return value
    return point(Box({variable.name: where}), {variable.name: variable})[variable.name]


def _is_beyond(other: _Place, place: _Place, is_lower: bool) -> bool:
    one, two = _as_number(other.value), _as_number(place.value)
    return one < two if is_lower else one > two


def _bound(place: _Place, is_lower: bool, is_whole: bool) -> tuple[Op, Value]:
    """The test of everything from *place* on: its own end, with or without the value there."""
    assert isinstance(place.where, tuple)
    value, side = place.where[0][1] if is_lower else place.where[0][0]
    if is_whole or isinstance(value, float):
        return ("<=" if is_lower else ">="), place.value
    if is_lower:
        return ("<=" if side else "<"), value
    return (">" if side else ">="), value


def _as_number(value: Value) -> Number:
    assert not isinstance(value, str)
    return value
