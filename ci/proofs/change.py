"""Which cases change outcome between two versions of a policy set, and that no others do.

A rule that both versions share cannot make them differ, so every change lies where a rule of one version fires; from
there only rivals are followed. Each region of change comes with one case that the plain reading confirms on both
sides. What could not be answered is told, and then nothing is said about the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes import Box
from bylaw.logic.evaluate import Decision
from bylaw.logic.ir import Facts, Formula, Value, disj, names
from ci.proofs.influence import Side, Subject, spoken_of
from ci.proofs.pieces import Piece, Read, Space, is_silent, reading
from ci.proofs.regions import Budget, Entry, Found, Held, Search, TooManyPieces
from ci.proofs.shared import Shared, cycle
from ci.proofs.sharedcase import Cases, Unanswered
from ci.proofs.theory import Theory

if TYPE_CHECKING:
    from bylaw.logic.smt import Reasoner

MAX_PIECES = 100_000  # boxes looked at in one comparison; beyond that the rest is unknown

Tendency = Literal["tightened", "loosened", "equivalent", "changed", "unknown"]


@dataclass(frozen=True, slots=True)
class Change:
    """One region in which what holds of a subject changes, from *day* until *until* (None: for good).

    `by` are, for each side, the rules (by index) that say so in the case; `causes` the rules which only one side has
    and which fire there. `missing` are facts that one side waits for, where that is why nothing is decided.
    """

    subject: Subject
    before: Held
    after: Held
    where: Formula
    facts: Facts
    day: int
    until: int | None
    by: tuple[tuple[int, ...], tuple[int, ...]]
    causes: tuple[tuple[int, ...], tuple[int, ...]]
    missing: tuple[str, ...] = ()

    @property
    def tendency(self) -> Tendency:
        """A new duty or prohibition tightens, a new permission loosens; outcomes have no order, so they change."""
        if self.subject.kind == "outcome":
            return "changed"
        return "tightened" if (self.after is True) == (self.subject.kind != "permitted") else "loosened"


@dataclass(frozen=True, slots=True)
class Unknown:
    """What was not answered, and which limit was hit."""

    subject: Subject | None
    day: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Changes:
    """All regions of change over the shared cases; `unknown` is empty exactly when it is proven that they are all."""

    changes: tuple[Change, ...]
    unknown: tuple[Unknown, ...]
    shared: Shared

    @property
    def tendency(self) -> Tendency:
        """What all changes have in common; `equivalent` only when it is proven that there are none."""
        found = {change.tendency for change in self.changes}
        if self.unknown:
            return "unknown"
        return found.pop() if len(found) == 1 else "changed" if found else "equivalent"


def changes(before: Theory, after: Theory, budget: int = MAX_PIECES) -> Changes:
    """Compare two versions on every shared case and every day worth asking about, from `after.at` on."""
    shared = Shared(before.ruleset, after.ruleset)
    for theory in (before, after):
        circle = cycle(theory.ruleset.overrides)
        if circle:
            reason = f"the policies {', '.join(circle)} override one another in a circle"
            return Changes((), (Unknown(None, None, reason),), shared)
    found: list[Change] = []
    unknown: list[Unknown] = []
    comparison = _Comparison(shared, (before, after), Budget(budget))
    for subject in comparison.subjects:
        try:
            found += comparison.compared(subject, unknown)
        except TooManyPieces:
            unknown.append(Unknown(subject, None, f"the limit of {budget} boxes was reached"))
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

    def __init__(self, shared: Shared, sides: tuple[Theory, Theory], budget: Budget) -> None:
        self.shared, self.sides, self.budget = shared, sides, budget
        self.at = sides[1].at
        self.space = Space(shared.variables)
        self._reads: dict[tuple[int, int], Read] = {}
        self._reasoner: Reasoner | None = None

    def read(self, n: int, i: int) -> Read:
        """The guard of a rule, made ready for the search once for both sides."""
        if n and i in self._partner:
            n, i = 0, self._partner[i]
        if (n, i) not in self._reads:
            self._reads[n, i] = self.space.read(self.sides[n].ruleset.rules[i].guard)
        return self._reads[n, i]

    def reasoner(self) -> Reasoner:
        """Z3 over the shared facts, loaded when boxes do not answer."""
        if self._reasoner is None:
            from bylaw.logic.smt import Reasoner

            self._reasoner = Reasoner(self.shared.variables, rlimit=self.sides[1].rlimit)
        return self._reasoner

    @cached_property
    def subjects(self) -> list[Subject]:
        """Every subject that a differing rule can matter to."""
        return sorted({*self._touched[0], *self._touched[1]})

    @cached_property
    def _touched(self) -> tuple[dict[Subject, set[int]], dict[Subject, set[int]]]:
        """For each side: subject → the differing rules that can matter to it."""
        one, two = ({}, {}) if not any(self.shared.loose) else tuple(map(self._reached, (0, 1)))
        return one, two

    @cached_property
    def _partner(self) -> dict[int, int]:
        """Rules that say the same, after → before."""
        return {j: i for i, j in self.shared.pairs.items()}

    def _reached(self, n: int) -> dict[Subject, set[int]]:
        theory, found = self.sides[n], defaultdict[Subject, set[int]](set)
        rivals, rules = theory.rivals, theory.ruleset.rules
        for loose in self.shared.loose[n]:
            near = self._boxes(n, loose)
            reached, todo = {loose}, [loose]
            while todo:
                i = todo.pop()
                for subject in spoken_of(rules[i].effect):
                    found[subject].add(loose)
                for j in rivals.of(i):
                    if j in reached or rivals.beats(j, i) or not self._meets(n, j, near):
                        continue
                    if rivals.beats(i, j):
                        reached.add(j)
                        todo.append(j)
                    for outcome, _ in rules[j].effect.takes:  # where equals meet, neither answers
                        found[Subject("outcome", outcome)].add(loose)
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
        within = None if found is None else [self.space.within(box) for box in found]
        return None if within is None else [box for box in within if box is not None]

    def _meets(self, n: int, i: int, near: Sequence[Box] | None) -> bool:
        """May the rule fire in one of these boxes? By its tests alone: True may be too generous."""
        return near is None or any(reading(self.read(n, i), box.regions) is not False for box in near)

    # ---- one subject ------------------------------------------------------------------------------------------------

    def compared(self, subject: Subject, unknown: list[Unknown]) -> list[Change]:
        """The changes of one subject over all days. Raises TooManyPieces and Unanswered."""
        near: list[Box] | None = []
        for n in (0, 1):
            for i in sorted(self._touched[n].get(subject, ())):
                boxes = self._boxes(n, i)
                near = None if near is None or boxes is None else [*near, *boxes]
        one, two = (self._relevant(n, subject, near) for n in (0, 1))
        both = [(i, self.shared.pairs[i]) for i in one if i in self.shared.pairs]
        both += [(self._partner[j], j) for j in two if j in self._partner]
        one, two = one | {i for i, _ in both}, two | {j for _, j in both}
        sides = Side(self.sides[0], subject, one), Side(self.sides[1], subject, two)
        days = self._days(sides)
        daily = []
        for day in days:
            on_day = _Day(self, sides, day)
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


class _Day:
    """One subject on one day: entries in force, the search, and a case for each region."""

    def __init__(self, comparison: _Comparison, sides: tuple[Side, Side], day: int) -> None:
        self.comparison, self.sides, self.day = comparison, sides, day
        self.subject = sides[0].subject
        self.space = comparison.space
        self.entries = tuple(self._entries())
        invariants = [formula for side in sides for formula in side.theory.invariants(day)]
        self.cases = Cases(self.space, tuple(dict.fromkeys(invariants)), comparison.reasoner)

    def _entries(self) -> Iterator[Entry]:
        shared, day = self.comparison.shared, self.day
        one, two = ([i for i in side.relevant if side.theory.ruleset.rules[i].holds_on(day)] for side in self.sides)
        partner = {i: shared.pairs[i] for i in one if i in shared.pairs}
        partnered = set(partner.values())
        spare = {shared.content(1, j): j for j in two if j not in partnered}
        for i in one:
            j = partner.get(i)
            if j is None:
                j = spare.pop(shared.content(0, i), None)
                partnered |= {j} if j is not None else set()
            yield Entry(self.comparison.read(0, i), i, j)
        for j in two:
            if j not in partnered:
                yield Entry(self.comparison.read(1, j), None, j)

    def changes(self, unknown: list[Unknown]) -> Iterator[Change]:
        """The regions of this day, each confirmed."""
        if not any(entry.is_changed for entry in self.entries):
            return
        search = Search(self.subject, self.space, self.entries, self.sides, self.comparison.budget)
        together: dict[tuple[object, ...], list[Found]] = defaultdict(list)
        for found in search.run():
            if found.is_open:
                weighed = self._weighed(found)
                if weighed is None:
                    continue
                found = weighed
            together[self._meaning(found)].append(found)
        for alike in together.values():
            pieces = self.space.widest(self.space.joined(found.piece for found in alike))
            yield from self._region(alike[0], pieces, unknown)

    def _weighed(self, found: Found) -> Found | None:
        """What holds where a fact that cases are silent about plays a part: as `decide` has it. None: the same."""
        if self.cases.has_silent_invariant or any(is_silent(entry.read) for entry in self.entries):
            raise Unanswered(self.day, "a comparison or an invariant speaks of a fact that only one side declares")
        facts = self.cases.of(found.piece, self.day)
        if facts is None:
            return None
        full = self._completed(facts)
        before, after = self._held(full)
        return None if before == after else replace(found, before=before, after=after, by=(None, None))

    def _meaning(self, found: Found) -> tuple[object, ...]:
        """What the boxes of one region share: what changes, who says so, and because of which policies."""
        policies = [
            None if i is None else side.theory.ruleset.rules[i].policy_id
            for side, i in zip(self.sides, found.by, strict=True)
        ]
        return found.before, found.after, *policies, self._policies(found.changed)

    def _policies(self, positions: Iterable[int]) -> tuple[str, ...]:
        named: set[str] = set()
        for k in positions:
            entry = self.entries[k]
            for side, i in zip(self.sides, (entry.before, entry.after), strict=True):
                named |= {side.theory.ruleset.rules[i].policy_id} if i is not None else set()
        return tuple(sorted(named))

    def _region(self, found: Found, pieces: Sequence[Piece], unknown: list[Unknown]) -> Iterator[Change]:
        """The region without the boxes in which no case exists; nothing when none is left."""
        existing: list[Piece] = []
        case: dict[str, Value] | None = None
        for piece in pieces:
            try:
                facts = self.cases.of(piece, self.day)
            except Unanswered as limit:
                unknown.append(Unknown(self.subject, self.day, limit.reason))
                continue
            if facts is not None:
                existing.append(piece)
                case = case if case is not None else self._fewest(facts, piece, (found.before, found.after))
        if case is None:
            return
        decisions = self._decisions(case)
        yield Change(
            self.subject,
            found.before,
            found.after,
            disj([self.space.formula(piece) for piece in existing]),
            case,
            self.day,
            None,
            (self._voices(0, case, decisions[0]), self._voices(1, case, decisions[1])),
            self._causes(found.changed),
            tuple(sorted({fact for d in decisions for fact in d.undecided.get(self.subject.name, ())}))
            if self.subject.kind == "outcome"
            else (),
        )

    def _causes(self, positions: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        entries = [self.entries[k] for k in sorted(positions)]
        return (
            tuple(e.before for e in entries if e.before is not None),
            tuple(e.after for e in entries if e.after is not None),
        )

    # ---- the plain reading ------------------------------------------------------------------------------------------

    def _decisions(self, facts: Facts) -> tuple[Decision, Decision]:
        one, two = (side.theory.evaluator.decide(facts, self.day, side.relevant) for side in self.sides)
        return one, two

    def _held(self, facts: Facts) -> tuple[Held, Held]:
        one, two = (_said(decision, self.subject) for decision in self._decisions(facts))
        return one, two

    def _fewest(self, facts: Facts, piece: Piece, expected: tuple[Held, Held]) -> dict[str, Value]:
        """The case with the facts that the piece speaks of, and such others as it takes to show the change."""
        spoken = {fact for var in piece for fact in self.space.facts_of(var)}
        kept = {var: value for var, value in facts.items() if var in spoken}
        if self.cases.allows(kept) and self._held(kept) == expected:
            return kept
        kept = self._completed(facts)
        if self._held(kept) != expected:
            raise WitnessMismatch(f"the plain reading does not confirm the case {kept}", "please report it")
        for var in sorted(kept.keys() - spoken):
            without = {name: value for name, value in kept.items() if name != var}
            if self.cases.allows(without) and self._held(without) == expected:
                kept = without
        return kept

    def _completed(self, facts: Facts) -> dict[str, Value]:
        """The case with a value for every shared fact that an entry speaks of."""
        spoken: set[str] = set()
        for side in self.sides:
            for i in side.relevant:
                spoken |= names(side.theory.ruleset.rules[i].guard)
        return self.cases.completed(facts, spoken)

    def _voices(self, n: int, facts: Facts, decision: Decision) -> tuple[int, ...]:
        """The rules that say what holds in the case; for an open conflict, all that take part in it."""
        side, evaluator = self.sides[n], self.sides[n].theory.evaluator
        if self.subject.kind == "outcome":
            decided = decision.outcomes.get(self.subject.name)
            if decided is not None and decided.rule_id is not None:
                return (evaluator.index_of(decided.rule_id),)
            open_ = {r for c in decision.conflicts if self.subject.name in c.outcomes for r in c.rules}
            return tuple(sorted(map(evaluator.index_of, open_)))
        fires, _ = evaluator.firing(facts, self.day, side.relevant)
        says = side.says(fires)[1]
        return () if says is None else (says,)


def _said(decision: Decision, subject: Subject) -> Held:
    if subject.kind == "outcome":
        result = decision.outcomes.get(subject.name)
        return None if result is None else result.action
    listed: Iterable[str] = getattr(decision, subject.kind)
    return subject.name in listed


def _over_time(daily: Sequence[tuple[int, list[Change]]]) -> Iterator[Change]:
    """Changes that last over several days are told once, with their first and their last day."""
    running: dict[object, Change] = {}
    for day, found in daily:
        today = {(c.before, c.after, c.where, c.causes): c for c in found}
        for key in [key for key in running if key not in today]:
            yield replace(running.pop(key), until=day - 1)
        for key, change in today.items():
            running.setdefault(key, change)
    yield from running.values()
