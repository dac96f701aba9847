"""Which cases change outcome between two versions of a policy set, and that no others do.

A rule that both versions share cannot make them differ, so every change lies where a rule of one version fires; from
there only rivals are followed. Each region of change comes with one case that the plain reading confirms on both
sides. What could not be answered is told, and then nothing is said about the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from bylaw.logic.boxes.boxes import Box
from bylaw.logic.formula.ir import ConditionalRule
from bylaw.logic.solver.solver import Solver
from ci.proofs.theory import Theory
from ci.proofs.versions.changed import Change, Changes, Unknown
from ci.proofs.versions.influence import Side, Subject, spoken_of
from ci.proofs.versions.onday import Day, Ground
from ci.proofs.versions.pieces import reading
from ci.proofs.versions.regions import Limits
from ci.proofs.versions.shared import Shared, cycle
from ci.proofs.versions.sharedcase import Unanswered

LIMITS = Limits()

__all__ = ["Change", "Changes", "Limits", "Unknown", "changes"]


def changes(before: Theory, after: Theory, limits: Limits = LIMITS, solver: Solver | None = None) -> Changes:
    """Compare two versions on every shared case and every day worth asking about, from `after.at` on.

    A *solver* knows the shared facts; without one it is made when it is needed.
    """
    shared = Shared(before.ruleset, after.ruleset)
    for theory in (before, after):
        circle = cycle(theory.ruleset.overrides)
        if circle:
            reason = f"the policies {', '.join(circle)} override one another in a circle"
            return Changes((), (Unknown(None, None, reason),), shared)
    found: list[Change] = []
    unknown: list[Unknown] = []
    comparison = _Comparison(Ground(shared, (before, after), limits, solver))
    for subject in comparison.subjects:
        try:
            found += comparison.compared(subject, unknown)
        except Unanswered as limit:
            unknown.append(Unknown(subject, limit.day, limit.reason))
    return Changes(tuple(sorted(found, key=_order)), tuple(unknown), shared)


def _order(change: Change) -> tuple[str, ...]:
    kinds = ("outcome", "required", "prohibited", "permitted")
    return (
        str(kinds.index(change.subject.kind)),
        change.subject.name,
        f"{change.day:09}",
        str(change.before),
        str(change.after),
        repr(change.where),
    )


class _Comparison:
    """One comparison: what the differing rules can reach, subject by subject."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.shared, self.sides = ground, ground.shared, ground.sides
        self.at = ground.sides[1].at

    @cached_property
    def subjects(self) -> list[Subject]:
        """Every subject that a differing rule can matter to."""
        return sorted({*self._touched[0], *self._touched[1]})

    @cached_property
    def _touched(self) -> tuple[dict[Subject, set[int]], dict[Subject, set[int]]]:
        """For each side: subject → the differing rules that can matter to it."""
        one, two = ({}, {}) if not any(self.shared.loose) else tuple(map(self._reached, (0, 1)))
        return one, two

    def _reached(self, n: int) -> dict[Subject, set[int]]:
        theory, found = self.sides[n], defaultdict[Subject, set[int]](set)
        rivals, rules = theory.rivals, theory.ruleset.rules
        equals: dict[int, Mapping[tuple[str, ...], list[int]]] = {}  # of the rivals that rules share
        for loose in self.shared.loose[n]:
            near = self._boxes(n, loose)
            reached, todo = {loose}, [loose]
            while todo:
                i = todo.pop()
                for subject in spoken_of(rules[i].effect):
                    found[subject].add(loose)
                camps = rivals.camps(i)
                for j in camps.weaker:
                    if j not in reached and self._meets(n, j, near):
                        reached.add(j)
                        todo.append(j)
                if id(camps) not in equals:
                    equals[id(camps)] = _by_outcomes(rules, camps.equal)
                for outcomes, others in equals[id(camps)].items():  # where equals meet, neither answers
                    new = [who for who in (found[Subject("outcome", one)] for one in outcomes) if loose not in who]
                    if new and any(j not in reached and self._meets(n, j, near) for j in others):
                        for who in new:
                            who.add(loose)
        return found

    @cached_property
    def _speakers(self) -> tuple[dict[Subject, list[int]], dict[Subject, list[int]]]:
        one, two = defaultdict[Subject, list[int]](list), defaultdict[Subject, list[int]](list)
        for theory, found in zip(self.sides, (one, two), strict=True):
            for i, rule in enumerate(theory.ruleset.rules):
                for subject in spoken_of(rule.effect):
                    found[subject].append(i)
        return one, two

    def _relevant(self, n: int, subject: Subject, near: Sequence[Box] | None) -> set[int]:
        """The rules of one side that can matter to *subject* where a differing rule fires."""
        theory = self.sides[n]
        rivals = theory.rivals
        reached: set[int] = set()
        todo = list(self._speakers[n].get(subject, ()))
        while todo:
            i = todo.pop()
            if i in reached or not self._meets(n, i, near):
                continue
            reached.add(i)
            is_wide = subject.kind == "outcome"  # equals leave an outcome open
            todo += [j for j in rivals.of(i) if (not rivals.beats(i, j) if is_wide else rivals.beats(j, i))]
        return reached

    def _boxes(self, n: int, i: int) -> list[Box] | None:
        """The shared cases that the guard of a rule may hold in, as boxes; None when it needs too many."""
        found = self.sides[n].evaluator.boxes_of(i)
        within = None if found is None else [self.ground.space.within(box) for box in found]
        return None if within is None else [box for box in within if box is not None]

    def _meets(self, n: int, i: int, near: Sequence[Box] | None) -> bool:
        """May the rule fire in one of these boxes? By its tests alone: True may be too generous."""
        return near is None or any(reading(self.ground.read(n, i), box.regions) is not False for box in near)

    # ---- one subject ------------------------------------------------------------------------------------------------

    def compared(self, subject: Subject, unknown: list[Unknown]) -> list[Change]:
        """The changes of one subject over all days. Raises Unanswered."""
        near: list[Box] | None = []
        for n in (0, 1):
            for i in sorted(self._touched[n].get(subject, ())):
                boxes = self._boxes(n, i)
                near = None if near is None or boxes is None else [*near, *boxes]
        one, two = (self._relevant(n, subject, near) for n in (0, 1))
        both = [(i, self.shared.pairs[i]) for i in one if i in self.shared.pairs]
        both += [(self.ground.partner[j], j) for j in two if j in self.ground.partner]
        one, two = one | {i for i, _ in both}, two | {j for _, j in both}
        sides = Side(self.sides[0], subject, one), Side(self.sides[1], subject, two)
        # A fact that a case leaves out may have values on one side that the other lacks: rules for those count too.
        among = [
            self._relevant(n, subject, None) if self.shared.words else side.relevant for n, side in enumerate(sides)
        ]
        days = self._days(sides)
        daily = []
        for day in days:
            on_day = Day(self.ground, sides, (sorted(among[0]), sorted(among[1])), day)
            daily.append((day, list(on_day.changes(unknown))))
        return list(_over_time(daily))

    def _days(self, sides: tuple[Side, Side]) -> list[int]:
        """The days on which something relevant starts, and those after something ends."""
        found: set[int] = set()
        for side in sides:
            rules = [side.theory.ruleset.rules[i] for i in side.relevant]
            found.update(side.theory.days(rules))
            for item in side.theory.ruleset.constraints:
                found.update(day for day in (item.start, None if item.end is None else item.end + 1) if day is not None)
        return [self.at, *sorted(day for day in found if day > self.at)]


def _by_outcomes(rules: Sequence[ConditionalRule], among: Iterable[int]) -> Mapping[tuple[str, ...], list[int]]:
    """Rules by the outcomes that they answer."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in among:
        found[tuple(outcome for outcome, _ in rules[j].effect.takes)].append(j)
    return found


def _over_time(daily: Sequence[tuple[int, list[Change]]]) -> Iterator[Change]:
    """Changes that last over several days are told once, with their first and their last day."""
    running: dict[object, Change] = {}
    for day, found in daily:
        today = {(c.before, c.after, c.where, c.causes, c.is_bound): c for c in found}
        for key in [key for key in running if key not in today]:
            yield replace(running.pop(key), until=day - 1)
        for key, change in today.items():
            running.setdefault(key, change)
    yield from running.values()
