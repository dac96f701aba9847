"""What is known of one case: the facts, what rules still wait for, and what the invariants leave of all completions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from bylaw.logic.boxes.boxes import Box, TooManyBoxes, boxes
from bylaw.logic.boxes.diagram import Marks, Shapes, Tie, TooWide
from bylaw.logic.boxes.packed_counts import PackedCounts
from bylaw.logic.boxes.truth import Reading, simplify
from bylaw.logic.decide.conflicts import MOST_REMEMBERED, Conflicts
from bylaw.logic.decide.firing import Look, bits
from bylaw.logic.decide.linked_facts import Member, TieInputs, asked, is_met, member, tie
from bylaw.logic.formula.ir import FALSE, Constraint, Facts, Formula, Variable, conj

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Basis:
    """What all cases of a ruleset share. `remembered` are rooms and ties as they were in other cases."""

    conflicts: Conflicts
    boxes_of: Callable[[int], tuple[Box, ...] | None]
    marks_of: Callable[[int], tuple[Marks, ...]]
    reader_of: Callable[[int], Reading]
    invariants: Sequence[tuple[Constraint, Reading]]
    shapes: Shapes
    lanes: PackedCounts
    remembered: dict[Hashable, Any]

    def once(self, asked: Hashable, find: Callable[[], _Found]) -> _Found:
        """What was found when the same was asked before, or is now."""
        if asked not in self.remembered:
            found = find()
            if len(self.remembered) >= MOST_REMEMBERED:
                self.remembered.clear()
            self.remembered[asked] = found
        return cast("_Found", self.remembered[asked])

    def ties(self, members: Sequence[Member], existing: int) -> Sequence[Tie]:
        """The ties among *members*, the last *existing* of which say what exists. Raises TooWide."""
        own, found = len(members) - existing, list[Tie]()
        for one in asked(members, existing):
            if existing != 1 or any(map(any, one.members[:own])):  # else: one box exists, and nobody asks where
                found.append(self._told(tie, one))
        return found

    def is_met(self, member: Member) -> bool:
        """Is there a completion that does what one member asks? Raises TooWide."""
        return all(self._told(is_met, one) for one in asked([member], 0))

    def _told(self, read: Callable[[TieInputs, Mapping[str, Variable]], _Found], one: TieInputs) -> _Found:
        def find() -> _Found | None:
            try:
                return read(one, self.conflicts.ruleset.variables)
            except TooWide:
                return None

        found = self.once((read, one), find)
        if found is None:
            raise TooWide
        return found


class Case:
    """What is known of one case: the facts, and what they leave of the invariants."""

    def __init__(
        self, basis: Basis, facts: Facts, day: int, look: Look | None, open_: int, fires_at: Callable[[Facts], int]
    ) -> None:
        """*look* is what an index says of the case, *fires_at* tells the rules that fire in a full case."""
        self.basis, self.facts, self.day, self.look, self.fires_at = basis, facts, day, look, fires_at
        self._open = open_
        self.ruleset = basis.conflicts.ruleset
        self.unlisted = -1 if look is None else look.firing.loose  # the rules that no index knows enough of
        self._waits: dict[int, int] = {}

    def waits_of(self, i: int) -> int:
        """The unknown facts that rule *i* still waits for, those included that no value of would make a difference."""
        if i not in self._waits:
            self._waits[i] = self.basis.lanes.among(_waits(self.basis.reader_of(i)(self.facts)))
        return self._waits[i]

    def count(self, rules: int) -> int:
        """For each unknown fact how many of *rules* wait for it."""
        listed = rules & ~self.unlisted
        found = self.look.waiting(listed) if self.look is not None and listed else 0
        return found + sum([self.waits_of(i) for i in bits(rules & self.unlisted)])

    @cached_property
    def bounds(self) -> tuple[Sequence[Marks], Shapes]:
        """The completions that the invariants allow, by numbers that are of this case alone."""
        for i in bits(self._open if self.look is None else 0):  # an index has numbered everybody
            self.basis.marks_of(i)  # INVARIANT: whoever is met here has the numbers that hold everywhere
        shapes = Shapes(self.ruleset.variables, self.basis.shapes)
        return [shapes.marks(box) for box, _ in self.existing or ()], shapes

    @cached_property
    def existing(self) -> Sequence[tuple[Box, Member]] | None:
        """The completions that the invariants allow, as boxes none of which is empty. None when boxes do not say it."""
        assert self.left is not None
        try:
            found = [(box, member(box, self.facts)) for box in boxes(self.left, self.ruleset.variables)]
            return [(box, mine) for box, mine in found if mine is not None and self.basis.is_met(mine)]
        except (TooManyBoxes, TooWide):
            return None

    @cached_property
    def bound(self) -> frozenset[str]:
        """The facts of which the invariants still ask something."""
        found = [read(self.facts) for constraint, read in self.basis.invariants if in_force(constraint, self.day)]
        if any(each is False for each in found):
            return frozenset()
        return frozenset[str]().union(*map(_waits, found))

    @cached_property
    def left(self) -> Formula | None:
        """What the invariants in force still ask, None for nothing. Facts that break one rule nothing out."""
        formulas = self.invariants
        if not formulas:
            return None
        left = simplify(conj(formulas), self.facts)
        return None if left == FALSE else left

    @property
    def is_impossible(self) -> bool:
        """Do the facts and the invariants together leave no completion, though no invariant is broken by itself?"""
        return any(map(self._is_empty, self._parts()))

    def _parts(self) -> list[tuple[Formula, ...]]:
        """What the invariants still ask, those together that ask something of the same facts."""
        parts: list[tuple[frozenset[str], tuple[Formula, ...]]] = []
        for constraint, read in self.basis.invariants:
            waits = _waits(read(self.facts)) if in_force(constraint, self.day) else None
            if waits:
                apart = [part for part in parts if part[0].isdisjoint(waits)]
                joined = [part for part in parts if part not in apart]
                asked = (*(one for _, those in joined for one in those), simplify(constraint.formula, self.facts))
                parts = [*apart, (waits.union(*(facts for facts, _ in joined)), asked)]
        return [asked for _, asked in parts]

    def _is_empty(self, part: Sequence[Formula]) -> bool:
        """Is there no completion that all of these allow, as far as boxes say it?"""
        try:
            found = (member(box, self.facts) for box in boxes(conj(part), self.ruleset.variables))
            return not any(mine is not None and self.basis.is_met(mine) for mine in found)
        except (TooManyBoxes, TooWide):
            return False

    @cached_property
    def left_by_points(self) -> Hashable:
        """What the invariants still ask, as far as boxes say it. Only to be asked where they ask something."""
        return None if self.existing is None else tuple([mine for _, mine in self.existing])

    @cached_property
    def left_by_cells(self) -> Hashable:
        """The same as far as a diagram can tell that compares nothing: cases alike in this are alike for it."""
        found = self.existing or []
        if not found or any(mine.signs for _, mine in found):
            return self.left_by_points
        return self.basis.shapes.placed([box for box, _ in found])

    @property
    def invariants(self) -> list[Formula]:
        """Those in force."""
        return [constraint.formula for constraint in self.ruleset.constraints if in_force(constraint, self.day)]


def _waits(reading: bool | frozenset[str]) -> frozenset[str]:
    return frozenset() if isinstance(reading, bool) else reading


def in_force(constraint: Constraint, day: int) -> bool:
    """Does the invariant hold on that day (an ordinal)?"""
    return (constraint.start is None or constraint.start <= day) and (constraint.end is None or day <= constraint.end)
