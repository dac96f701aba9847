"""What would have to be different: the smallest change of a case that gives it another result.

Fewest facts first, then the nearest values; whatever is told has been decided anew. Where not everything could be
tried, the answer says so: "none" is only said after all of it. Changes are looked up before any is decided: one keeps
the boxes that the parts of all facts allow, and after which no box of a wanted rule is left needs no further look. Of
parts that keep the same boxes only the nearest on either side is tried.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from math import inf
from operator import and_
from typing import Any, TypeAlias

from bylaw.logic.boxes.boxes import Box, Region, TooManyBoxes, boxes, domain, lies_in, near, point
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.case import in_force
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.decide.firing import bits
from bylaw.logic.decide.ground import MOST_KEPT, Ground
from bylaw.logic.formula.ir import Atom, Facts, Formula, Number, Op, Value, Variable, names

TRIALS = 20_000  # changes looked at before the question counts as too large
MOST_FACTS = 3
FEW = 6  # ways to hold beyond a bound that are tried before the bound is told as one


@dataclass(frozen=True, slots=True)
class Goal:
    """What is looked for: one of `rules` (as bits) must fire; whether the rules that then stand and the decision do.

    `may_stand` is asked of every change, `is_reached` only of those where it says yes. `barring` are pairs of sets of
    rules: where one of the first fires and none of the second can, nothing else that fires reaches it.
    """

    rules: int
    may_stand: Callable[[int], bool]
    is_reached: Callable[[Decision], bool]
    barring: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """One value of a fact worth trying: from `where`, a part of its domain within which no guard changes.

    `distance` is how far it is from the fact as it is, by its size.
    """

    value: Value
    where: Region
    distance: float
    allowed: int


Change = Mapping[str, Place]


_Entry: TypeAlias = tuple[float, bool, int, Place]  # how far, to which side and to which part a fact would go

PARTS = 32  # parts of a fact that are passed over in the time of one look at a change


class Exhausted(Exception):
    """More changes were looked at than the search was given."""


class Nearby:
    """The changes of one case that may reach a goal."""

    def __init__(self, evaluator: Evaluator, on: Ground, facts: Facts, goal: Goal, trials: int) -> None:
        self._left = trials
        self._evaluator, self._ground, self._facts, self._goal = evaluator, on, facts, goal
        # to be told what no box asks for can settle a guard all the same
        self.facts = [var for var, boxes in on.spoken.items() if boxes or var not in facts]
        everyone = (1 << len(on.rule_of)) - 1
        self._here = {var: on.part_at(var, facts[var]) if var in facts else -1 for var in self.facts}
        self._kept = [everyone if n < 0 else on.parts[var][n][1] for var, n in self._here.items()]
        self._waiting = [on.spoken[var] if var not in facts else 0 for var in self.facts]
        self._wanted = on.boxes_of(goal.rules)
        self._barring = [(on.boxes_of(those) & ~on.unsettled, on.boxes_of(but)) for those, but in goal.barring]
        self._everyone = everyone
        self._is_partial = not on.names <= facts.keys()
        now = self._after({})[0]
        self._invariants = [its for its in on.invariants if now & its]  # what the case breaks rules nothing out
        self._may: dict[int, bool] = {}
        self._places: dict[tuple[str, int], Place] = {}
        self._spared: Collection[str] = ()
        self._within: Sequence[Sequence[int]] = ()

    # ---- changes of so many facts -----------------------------------------------------------------------------------

    def changing(self, count: int, spared: Collection[str] = ()) -> Iterator[Change]:
        """The changes of that many facts, none of them *spared*, that may reach the goal, the nearest first.

        Raises Exhausted.
        """
        asking = self._asking(count, spared)
        if not any(asking):
            return
        if not any(asking[:count]):  # then nothing is nearer than the nearest way into one of these boxes
            yield from self._ways_into(asking[count], is_sure=True)
        yield from self._every(count, spared)

    def _every(self, count: int, spared: Collection[str]) -> Iterator[Change]:
        self._spared = spared
        self._within = self._lacking_within(count)
        found = [
            (_together([place.distance for place in places]), which, places, left, waiting)
            for which, possible, waiting in self._choices(0, count, self._everyone, 0, ())
            for places, left in self._filled(which, possible, waiting)
        ]
        found.sort(key=lambda one: one[:2])  # stable: the rest is in order
        for _, which, places, left, waiting in found:
            if self._may_reach(left, waiting, which, places):
                yield dict(zip((self.facts[n] for n in which), places, strict=True))

    def _choices(
        self, at: int, count: int, possible: int, waiting: int, which: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """Which facts could be changed, and the boxes that the others leave possible, and those they leave open."""
        if not possible & ~waiting & self._within[at][count]:
            return
        if not count:
            for n in range(at, len(self.facts)):
                possible, waiting = possible & self._kept[n], waiting | self._waiting[n]
            if possible & ~waiting & self._wanted and not self._is_barred(which, possible, waiting):
                yield which, possible, waiting
        elif at < len(self.facts):
            if self.facts[at] not in self._spared:
                yield from self._choices(at + 1, count - 1, possible, waiting, (*which, at))
            kept = possible & self._kept[at], waiting | self._waiting[at]
            yield from self._choices(at + 1, count, *kept, which)

    def _lacking_within(self, most: int) -> list[list[int]]:
        """From each fact on, the wanted boxes for which at most so many of the facts would have to be different."""
        rows = [[self._wanted] * (most + 1)]
        for n in range(len(self.facts) - 1, -1, -1):
            holds, behind = self._kept[n] & ~self._waiting[n], rows[-1]
            changed = (0, *behind) if self.facts[n] not in self._spared else (0,) * (most + 1)
            rows.append([its & holds | other for its, other in zip(behind, changed, strict=False)])
        return rows[::-1]

    def _is_barred(self, which: Sequence[int], possible: int, waiting: int) -> bool:
        """Does a box that asks for none of the changed facts bar the goal, wherever they go?"""
        moved = waiting
        for n in which:
            moved |= self._ground.spoken[self.facts[n]]
        sure = possible & ~moved
        return any(sure & those and not possible & but for those, but in self._barring)

    def _filled(self, which: tuple[int, ...], possible: int, waiting: int) -> Iterator[tuple[tuple[Place, ...], int]]:
        self._spend(1 + sum(len(self._ground.parts[self.facts[n]]) for n in which) // PARTS)
        choices = [self.places(self.facts[n], possible, ~waiting & self._wanted) for n in which]

        def fill(k: int, left: int, places: tuple[Place, ...]) -> Iterator[tuple[tuple[Place, ...], int]]:
            if k == len(choices):
                self._spend(1)
                yield places, left
                return
            for place in choices[k]:
                if left & place.allowed & ~waiting & self._wanted:
                    yield from fill(k + 1, left & place.allowed, (*places, place))

        yield from fill(0, possible, ())

    def _spend(self, trials: int) -> None:
        self._left -= trials
        if self._left < 0:
            raise Exhausted

    def places(self, var: str, possible: int, wanted: int) -> list[Place]:
        """Where the fact could go, of parts that keep the same of the *possible* boxes the nearest to either side.

        A part that keeps none of those *wanted* is no place to go to.
        """
        count, here = len(self._ground.parts[var]), self._here[var]
        is_ordered = here >= 0 and not isinstance(self._ground.parts[var][here][0], frozenset)
        sides = (range(here - 1, -1, -1), range(here + 1, count)) if is_ordered else (range(count),)
        placed = chain(*(self._placed(var, side, possible, wanted) for side in sides))
        return sorted(placed, key=lambda place: place.distance)

    def _placed(self, var: str, side: Iterable[int], possible: int, wanted: int | None) -> Iterator[Place]:
        seen, parts = set[int](), self._ground.parts[var]
        for n in side:
            kept = parts[n][1] & possible
            if n != self._here[var] and kept not in seen and (wanted is None or kept & wanted):
                seen.add(kept)
                yield self._place(var, n)

    def _place(self, var: str, n: int) -> Place:
        known = self._places.get((var, n))
        if known is None:
            before, (where, allowed) = self._facts.get(var), self._ground.parts[var][n]
            value = self._nearest_in(var, n, _is_above(where, before))
            known = self._places[var, n] = Place(value, where, _distance(value, before), allowed)
        return known

    def _nearest_in(self, var: str, n: int, is_above: bool | None) -> Value:
        """The value of a part that is nearest to all that lies on one side of it, a telling one where no side is."""
        steps = self._ground.steps
        known = steps.get((var, n, is_above))
        if known is None:
            known = _nearest_in(self._ground.parts[var][n][0], self._evaluator.ruleset.variables[var], is_above)
            if len(steps) < MOST_KEPT:
                steps[var, n, is_above] = known
        return known

    def _may_reach(self, left: int, waiting: int, which: Sequence[int], places: Sequence[Place]) -> bool:
        if any(not left & invariant for invariant in self._invariants):
            return False
        held, fires, changed = left & ~waiting, 0, dict[str, Value]()
        for n in bits(held):
            i = self._ground.rule_of[n]
            if i < 0 or fires >> i & 1:
                continue
            if self._is_partial or self._ground.unsettled >> n & 1:
                if not changed:
                    changed = self.changed({self.facts[m]: place for m, place in zip(which, places, strict=True)})
                if not truth(self._evaluator.ruleset.rules[i].guard, changed):
                    continue
            fires |= 1 << i
        if fires not in self._may:
            self._may[fires] = self._goal.may_stand(self._evaluator.conflicts.surviving(fires))
        return self._may[fires]

    def changed(self, change: Change) -> dict[str, Value]:
        """The case after a change."""
        return {**self._facts, **{var: place.value for var, place in change.items()}}

    # ---- the way into a box -----------------------------------------------------------------------------------------

    def into_boxes(self, most: int) -> Iterator[Change]:
        """The changes of at most so many facts that bring the case into a wanted box, if with it the goal may stand."""
        for asking in self._asking(most)[1:]:
            yield from self._ways_into(asking)

    def _asking(self, most: int, spared: Collection[str] = ()) -> list[int]:
        """The wanted boxes for which so many facts would have to be different: none, one, and on up to *most*."""
        found = [self._wanted, *[0] * most]
        for var, kept, waiting in zip(self.facts, self._kept, self._waiting, strict=True):
            lacking = ~kept | waiting
            if var not in spared:
                for count in range(most, 0, -1):
                    found[count] = found[count] & ~lacking | found[count - 1] & lacking
                found[0] &= ~lacking
            else:
                found = [its & ~lacking for its in found]
        return found

    def _ways_into(self, into: int, is_sure: bool = False) -> Iterator[Change]:
        """The nearest way into each box if with it the goal may stand, the nearest of all first. Where it *is_sure*
        that nothing may be nearer, the first alone: once it failed another way into its box may be.
        """
        entries: dict[tuple[int, int], _Entry] = {}
        found = list[tuple[float, list[int], list[_Entry]]]()
        for n in bits(into):
            which = [m for m, kept in enumerate(self._kept) if not (kept & ~self._waiting[m]) >> n & 1]
            ways = [self._entry(m, n, entries) for m in which]
            found.append((_together([way[0] for way in ways]), which, ways))
        for _, which, ways in sorted(found, key=lambda one: (one[0], one[1], [way[:3] for way in one[2]])):
            places = [way[3] for way in ways]
            if self._may_reach(*self._after(dict(zip(which, places, strict=True))), which, places):
                yield dict(zip((self.facts[m] for m in which), places, strict=True))
            if is_sure:
                return

    def _entry(self, m: int, n: int, known: dict[tuple[int, int], _Entry]) -> _Entry:
        """The nearest part of a fact that a box allows, in the order in which parts are tried."""
        var = self.facts[m]
        its, here = self._ground.within(var, n), self._here[var]
        if isinstance(self._ground.parts[var][0][0], frozenset) or self._facts.get(var) is None:
            its = its[:1]  # all are as near
        elif here >= 0:
            above = bisect_right(its, here)
            its = its[max(above - 1, 0) : above + 1]
        for part in its:
            if (m, part) not in known:
                place = self._place(var, part)
                known[m, part] = place.distance, 0 <= here < part, part, place
        return min([known[m, part] for part in its])

    def _after(self, moved: Mapping[int, Place]) -> tuple[int, int]:
        """The boxes that are possible after a change, and those that wait for unknown facts."""
        possible, waiting = self._everyone, 0
        for m, kept in enumerate(self._kept):
            possible &= moved[m].allowed if m in moved else kept
            waiting |= 0 if m in moved else self._waiting[m]
        return possible, waiting

    def beyond(self, var: str, place: Place, change: Change) -> list[Place]:
        """The places of *var* beyond *place*, one for each way in which the guards can hold there."""
        others = (self._kept[m] for m, other in enumerate(self.facts) if other not in change)
        allowed = (its.allowed for other, its in change.items() if other != var)
        possible = reduce(and_, chain(others, allowed), self._everyone)
        there = next(n for n, (where, _) in enumerate(self._ground.parts[var]) if where == place.where)
        is_lower = there < self._here[var]
        side = range(there - 1, -1, -1) if is_lower else range(there + 1, len(self._ground.parts[var]))
        return list(self._placed(var, side, possible, None))


def _is_above(where: Region, before: Value | None) -> bool | None:
    """Does the region begin above the value? None where nothing is above or below."""
    if isinstance(where, frozenset) or before is None:
        return None
    return (as_number(before), 0) < where[0][0]


def _distance(value: Value, before: Value | None) -> float:
    """How far a fact goes, by its size."""
    if isinstance(value, bool | str) or before is None:
        return 1.0
    now: Any = as_number(before)  # mypy knows no arithmetic between whole numbers and fractions
    try:
        return float(abs(as_number(value) - now) / max(abs(now), 1))
    except OverflowError:
        return inf


def _together(distances: Sequence[float]) -> float:
    """The distance of several facts; what only rounding tells apart is as far."""
    return round(sum(distances), 12)


def _nearest_in(where: Region, variable: Variable, is_above: bool | None) -> Value:
    if not isinstance(where, frozenset) and is_above is not None:
        low, high = where[0]
        for value in near(low if is_above else high, upward=is_above, is_whole=variable.is_whole):
            if lies_in(value, where):
                return value
    return point(Box({variable.name: where}), {variable.name: variable})[variable.name]


def as_number(value: Value) -> Number:
    """A value of a number or a date."""
    assert not isinstance(value, str)
    return value


# ---- the nearest of them --------------------------------------------------------------------------------------


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


def nearest(
    evaluator: Evaluator,
    facts: Facts,
    day: int,
    goal: Goal,
    trials: int = TRIALS,
    fixed: Collection[str] = (),
    is_firm: bool = False,
) -> Nearest:
    """The nearest case that reaches *goal*, changing only facts that bear on its rules.

    What nobody can change (*fixed*: an age, a day of birth) stays as it is known, if any change without it will do;
    where that *is_firm*, in any case.
    """
    search = _Search(evaluator, facts, day, goal, trials)
    tried, most = 0, min(MOST_FACTS, len(search.nearby.facts))
    spared = frozenset(fixed) & facts.keys() & set(search.nearby.facts)
    firm = spared if is_firm else frozenset[str]()
    try:
        for kept in (spared, firm) if spared > firm else (firm,):
            for count in range(1, most + 1):
                found = search.first(search.nearby.changing(count, kept))
                if found is not None:
                    return search.told(found, search.is_exact, count)
                tried = count if kept == firm else 0
    except Exhausted:
        guided = search.first(change for change in search.nearby.into_boxes(MOST_FACTS) if firm.isdisjoint(change))
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
