"""Which rivals can meet at all: an exact superset of the pairs that fire together, without looking at every pair.

Members of one contention (an outcome, an action, an excluded pair) are numbered, and a set of members is the bits of
one integer. For every fact there is an index from values, or from sorted bounds, to such sets; the members that meet
a box on all its facts are then a few unions and intersections. A rule without boxes meets everyone; so does, on a
fact, a box that does not speak of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bylaw.logic.boxes.boxes import END, START, Box, Cut, Region
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.decide.firing import bits
from bylaw.logic.formula.ir import ConditionalRule, Ruleset, Value

STEP = 16  # bounds between two sets that are kept: fewer sets, a little more work a look-up
PERIOD = ""  # the days on which a rule is in force, as one more fact: no declared fact has this name


class Candidates:
    """For every rule of *evaluator* its rivals that may fire together with it.

    What a few rules contend about is indexed when one of them is first asked: the others cost nothing.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._found: dict[int, tuple[int, ...]] = {}

    def of(self, i: int) -> tuple[int, ...]:
        """The rivals of rule *i*, ascending, without those whose boxes or periods never meet its own."""
        if i not in self._found:
            met = set[int]().union(*(contention.meeting(i) for contention in self._contentions.get(i, ())))
            self._found[i] = tuple(sorted(met - {i}))
        return self._found[i]

    @cached_property
    def _contentions(self) -> Mapping[int, Sequence[_Contention]]:
        """For every rule what it contends about."""
        found: dict[int, list[_Contention]] = defaultdict(list)
        for sides in _sides(self._evaluator.ruleset):
            contention = _Contention(self._evaluator, sides)
            for i in sorted({i for side in sides for i in side}):
                found[i].append(contention)
        return found


def _sides(ruleset: Ruleset) -> Iterator[list[Sequence[int]]]:
    """Groups of rules on sides: a rule contradicts those of the other sides, and only those of some group."""
    taking = defaultdict[str, dict[str, list[int]]](dict)
    demanding, prohibiting, permitting = (defaultdict[str, list[int]](list) for _ in range(3))
    for i, rule in enumerate(ruleset.rules):
        for outcome, action in rule.effect.takes:
            taking[outcome].setdefault(action, []).append(i)
        for action in rule.effect.demands:
            demanding[action].append(i)
        if rule.effect.kind in ("prohibited", "permitted"):
            (prohibiting if rule.effect.kind == "prohibited" else permitting)[rule.effect.action].append(i)
    for outcome in sorted(taking):
        if len(taking[outcome]) > 1:
            yield list(taking[outcome].values())
    for action in sorted(prohibiting):
        yield [prohibiting[action], sorted({*demanding.get(action, ()), *permitting.get(action, ())})]
    for one, other in sorted({(min(pair), max(pair)) for pair in ruleset.excludes}):
        if demanding.get(one) and demanding.get(other):
            yield [demanding[one], demanding[other]]


class _Contention:
    """Rules on sides, and which rules of the other sides a rule may meet."""

    def __init__(self, evaluator: Evaluator, sides: Sequence[Sequence[int]]) -> None:
        self._evaluator, self._sides = evaluator, sides

    def meeting(self, i: int) -> Iterator[int]:
        """The rules on a side without rule *i* that may fire together with it; some perhaps more than once."""
        index, owners, places = self._members
        for n, box, opposed in places.get(i, ()):
            for m in bits(index.meeting(box) & opposed & ~(1 << n)):
                yield owners[m]

    @cached_property
    def _members(self) -> tuple[Index, list[int], Mapping[int, list[tuple[int, Box, int]]]]:
        """The index, whose each member is, and for each rule its members: number, box, and who is on other sides."""
        members: list[tuple[int, int, Box]] = []  # side, rule, one of its boxes
        for side, rules in enumerate(self._sides):
            for i in rules:
                period = _period(self._evaluator.ruleset.rules[i])
                guard = self._evaluator.boxes_of(i)
                boxes = [Box({})] if guard is None else guard
                members += [(side, i, Box({**box.regions, PERIOD: period} if period else box.regions)) for box in boxes]
        index = Index([box for _, _, box in members])
        others = [index.everyone] * len(self._sides)
        for n, (side, _, _) in enumerate(members):
            others[side] &= ~(1 << n)
        places: dict[int, list[tuple[int, Box, int]]] = defaultdict(list)
        for n, (side, i, box) in enumerate(members):
            places[i].append((n, box, others[side]))
        return index, [i for _, i, _ in members], places


def _period(rule: ConditionalRule) -> Region:
    if rule.start is None and rule.end is None:
        return ()
    low: Cut = START if rule.start is None else (rule.start, 0)
    high: Cut = END if rule.end is None else (rule.end, 1)
    return ((low, high),)


class Index:
    """Some boxes, and which of them meet a given one: all that do, and perhaps some that do not."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.everyone = (1 << len(boxes)) - 1
        self._is_exact = all(map(_has_no_holes, boxes))
        spoken: dict[str, list[tuple[int, Region]]] = defaultdict(list)
        for n, box in enumerate(boxes):
            for var, where in box.regions.items():
                spoken[var].append((n, where))
        self._facts: dict[str, Callable[[Region], int]] = {}
        for var, regions in spoken.items():
            is_finite = isinstance(regions[0][1], frozenset)
            self._facts[var] = (_Values(regions) if is_finite else _Spans(regions)).meeting
        self._silent = {
            var: self.everyone & ~sum(1 << n for n, _ in regions)  # each member speaks of a fact once
            for var, regions in spoken.items()
        }

    def is_exact(self, box: Box) -> bool:
        """Are those who meet *box* exactly those that `meeting` finds, by their regions?"""
        return self._is_exact and _has_no_holes(box)

    def meeting(self, box: Box) -> int:
        """The members that may share a case with *box*, as bits."""
        left = self.everyone
        for var, where in box.regions.items():
            if var in self._facts:
                left &= self._silent[var] | self._facts[var](where)
        return left


def _has_no_holes(box: Box) -> bool:
    return all(isinstance(where, frozenset) or len(where) == 1 for where in box.regions.values())


class _Values:
    """Who allows a value of a finite fact."""

    def __init__(self, regions: Sequence[tuple[int, Region]]) -> None:
        self._allowing: dict[Value, int] = defaultdict(int)
        for n, where in regions:
            assert isinstance(where, frozenset)
            for value in where:
                self._allowing[value] |= 1 << n

    def meeting(self, where: Region) -> int:
        assert isinstance(where, frozenset)
        members = 0
        for value in where:
            members |= self._allowing.get(value, 0)
        return members


@dataclass(frozen=True, slots=True)
class _Ends:
    """One end of every member, sorted, with the set of those before every STEP-th of them."""

    cuts: Sequence[Cut]
    members: Sequence[int]
    before: Sequence[int]

    @classmethod
    def of(cls, ends: list[tuple[Cut, int]]) -> _Ends:
        ends.sort()
        before, so_far = [], 0
        for k, (_, n) in enumerate(ends):
            if k % STEP == 0:
                before.append(so_far)
            so_far |= 1 << n
        return cls([cut for cut, _ in ends], [n for _, n in ends], [*before, so_far])

    def first(self, count: int) -> int:
        """The members with the *count* lowest ends."""
        known = count // STEP
        found = self.before[known] if count < len(self.cuts) else self.before[-1]
        for n in self.members[known * STEP : count]:
            found |= 1 << n
        return found


class _Spans:
    """Who starts before a bound of a numeric fact, and who ends there. Regions with holes count as their hulls."""

    def __init__(self, regions: Sequence[tuple[int, Region]]) -> None:
        lows: list[tuple[Cut, int]] = []
        highs: list[tuple[Cut, int]] = []
        for n, where in regions:
            assert isinstance(where, tuple)
            lows.append((where[0][0], n))
            highs.append((where[-1][1], n))
        self._lows, self._highs = _Ends.of(lows), _Ends.of(highs)

    def meeting(self, where: Region) -> int:
        assert isinstance(where, tuple)
        started = self._lows.first(bisect_left(self._lows.cuts, where[-1][1]))
        return started & ~self._highs.first(bisect_right(self._highs.cuts, where[0][0]))
