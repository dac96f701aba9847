"""What would have to be different: the smallest change of a case that gives it another result.

Fewest facts first, then the nearest values; whatever is told has been decided anew. Where not everything could be
tried, the answer says so: "none" is only said after all of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bylaw.logic.boxes import TooManyBoxes, boxes, domain, near
from bylaw.logic.case import in_force
from bylaw.logic.evaluate import Decision, Evaluator
from bylaw.logic.ir import Atom, Facts, Formula, Op, Value, Variable, names
from bylaw.logic.nearby import Change, Exhausted, Goal, Nearby, Place, as_number
from bylaw.logic.truth import truth

TRIALS = 20_000  # changes looked at before the question counts as too large
MOST_FACTS = 3
FEW = 6  # ways to hold beyond a bound that are tried before the bound is told as one


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


def nearest(evaluator: Evaluator, facts: Facts, day: int, goal: Goal, trials: int = TRIALS) -> Nearest:
    """The nearest case that reaches *goal*, changing only facts that bear on its rules."""
    search = _Search(evaluator, facts, day, goal, trials)
    tried, most = 0, min(MOST_FACTS, len(search.nearby.facts))
    try:
        for count in range(1, most + 1):
            found = search.first(search.nearby.changing(count))
            if found is not None:
                return search.told(found, search.is_exact, count)
            tried = count
    except Exhausted:
        guided = search.first(search.nearby.into_boxes(MOST_FACTS))
        if guided is not None:
            return search.told(guided, False, tried)
    return Nearest((), None, search.is_exact and tried == len(search.nearby.facts), tried)


class _Search:
    def __init__(self, evaluator: Evaluator, facts: Facts, day: int, goal: Goal, trials: int) -> None:
        self._evaluator, self._facts, self._day, self._goal = evaluator, facts, day, goal
        on = evaluator.ground(goal.rules, day)
        self.nearby = Nearby(evaluator, on, facts, goal, trials)
        self.is_exact = on.is_exact
        self._invariants = [c.formula for c in evaluator.ruleset.constraints if in_force(c, day)]
        self._broken = {formula for formula in self._invariants if truth(formula, facts) is False}

    def first(self, changes: Iterable[Change]) -> Change | None:
        """The first change that does."""
        return next(filter(self._does, changes), None)

    def _does(self, change: Change) -> bool:
        """Does the changed case exist, and reach the goal?"""
        case = self.nearby.changed(change)
        for invariant in self._invariants:
            is_touched = not names(invariant).isdisjoint(change)
            if truth(invariant, case) is False and (is_touched or invariant not in self._broken):
                # where boxes do not say it, another value of the same part may satisfy it
                self.is_exact = self.is_exact and self._says(invariant)
                return False
        return self._goal.is_reached(self._evaluator.decide(case, self._day, names_unknown=False))

    def _says(self, invariant: Formula) -> bool:
        try:
            return all(box.is_exact for box in boxes(invariant, self._evaluator.ruleset.variables))
        except TooManyBoxes:
            return False

    def told(self, change: Change, is_sure: bool, tried: int) -> Nearest:
        """The change as tests: a bound where everything beyond it would do as well."""
        steps = tuple(
            Step(var, self._facts.get(var), place.value, self._test(var, place, change))
            for var, place in change.items()
        )
        return Nearest(steps, self._evaluator.decide(self.nearby.changed(change), self._day), is_sure, tried)

    def _test(self, var: str, place: Place, change: Change) -> Atom:
        variable, before = self._evaluator.ruleset.variables[var], self._facts.get(var)
        if before is None and self.is_exact:
            return _within(place, variable)
        if variable.is_finite or before is None or isinstance(before, bool | str):
            return Atom(var, "==", place.value)
        beyond = self.nearby.beyond(var, place, change)
        if len(beyond) <= FEW and all(self._does({**change, var: other}) for other in beyond):
            return Atom(var, *_bound(place, as_number(place.value) < before, variable.is_whole))
        return Atom(var, "==", place.value)


def _within(place: Place, variable: Variable) -> Atom:
    """The test of the part that a place was taken from, where it has one end only; else of its value."""
    spans = () if isinstance(place.where, frozenset) else place.where
    if len(spans) != 1 or isinstance(everything := domain(variable), frozenset):
        return Atom(variable.name, "==", place.value)
    (low, high), (least, most) = spans[0], (everything[0][0], everything[-1][1])
    if (low <= least) is (high >= most):
        return Atom(variable.name, "==", place.value)
    is_lower = low <= least
    if variable.is_whole:
        place = replace(place, value=near(high if is_lower else low, not is_lower, is_whole=True)[0])
    return Atom(variable.name, *_bound(place, is_lower, variable.is_whole))


def _bound(place: Place, is_lower: bool, is_whole: bool) -> tuple[Op, Value]:
    """The test of everything from *place* on: its own end, with or without the value there."""
    assert isinstance(place.where, tuple)
    value, side = place.where[0][1] if is_lower else place.where[0][0]
    if is_whole or isinstance(value, float):
        return ("<=" if is_lower else ">="), place.value
    if is_lower:
        return ("<=" if side else "<"), value
    return (">" if side else ">="), value
