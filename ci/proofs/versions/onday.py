"""What changes of one subject on one day: the boxes that differ put together to regions, each with a confirmed case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Decision
from bylaw.logic.formula.ir import Facts, Formula, Value, disj, names
from bylaw.logic.solver.solver import Solver
from ci.proofs.theory import Theory
from ci.proofs.versions.beyond import Beyond
from ci.proofs.versions.changed import Change, Unknown
from ci.proofs.versions.influence import Side, Subject
from ci.proofs.versions.pieces import Group, Piece, Read, Space, is_silent, waits
from ci.proofs.versions.regions import Budget, Entry, Found, Held, Limits, Search, TooManyPieces
from ci.proofs.versions.shared import Shared
from ci.proofs.versions.sharedcase import Cases, Unanswered

MOST_SPARED = 100  # facts that a case is tried without


class Ground:
    """What one comparison stands on: the shared facts, the guards made ready, the solver, the budget."""

    def __init__(
        self, shared: Shared, sides: tuple[Theory, Theory], limits: Limits, solver: Solver | None = None
    ) -> None:
        self.shared, self.sides = shared, sides
        self.space = Space(shared.variables, limits.widened)
        self.budget = Budget(limits.boxes)
        self._reads: dict[tuple[int, int], Read] = {}
        self._reasoner = solver

    @cached_property
    def partner(self) -> dict[int, int]:
        """Rules that say the same, after → before."""
        return {j: i for i, j in self.shared.pairs.items()}

    def read(self, n: int, i: int) -> Read:
        """The guard of a rule, made ready for the search once for both sides."""
        if n and i in self.partner:
            n, i = 0, self.partner[i]
        if (n, i) not in self._reads:
            self._reads[n, i] = self.space.read(self.sides[n].ruleset.rules[i].guard)
        return self._reads[n, i]

    def reasoner(self) -> Solver:
        """Z3 over the shared facts, loaded when boxes do not answer."""
        if self._reasoner is None:
            from bylaw.logic.solver.retrying import solver_for
            from bylaw.logic.solver.solver import Effort

            sides, head = self.sides, self.sides[1]
            effort = Effort(head.rlimit, head.wall_ms, head.memory_mb)
            self._reasoner = solver_for([side.ruleset for side in sides], self.shared.variables, effort)
        return self._reasoner


class Day:
    """One subject on one day: entries in force, the search, and a case for each region."""

    def __init__(self, ground: Ground, sides: tuple[Side, Side], among: tuple[list[int], list[int]], day: int) -> None:
        self.ground, self.sides, self.among, self.day = ground, sides, among, day
        self.subject = sides[0].subject
        self.space = ground.space
        self.entries = tuple(self._together_by_effect(self._entries()))
        invariants = [formula for side in sides for formula in side.theory.invariants(day)]
        self.cases = Cases(self.space, tuple(dict.fromkeys(invariants)), ground.reasoner)

    def _entries(self) -> Iterator[Entry]:
        shared, day = self.ground.shared, self.day
        one, two = ([i for i in side.relevant if side.theory.ruleset.rules[i].holds_on(day)] for side in self.sides)
        partner = {i: shared.pairs[i] for i in one if i in shared.pairs}
        partnered = set(partner.values())
        spare = {shared.content(1, j): j for j in two if j not in partnered}
        for i in one:
            j = partner.get(i)
            if j is None:
                j = spare.pop(shared.content(0, i), None)
                partnered |= {j} if j is not None else set()
            yield Entry(self.ground.read(0, i), i, j)
        for j in two:
            if j not in partnered:
                yield Entry(self.ground.read(1, j), None, j)

    def _together_by_effect(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries, those as one that cannot be told apart by what follows where they fire.

        Otherwise two policies of n rules each meet in n times n boxes, of which every one says the same.
        """
        alike: dict[tuple[object, ...], list[Entry]] = defaultdict(list)
        for k, entry in enumerate(entries):
            kind: object = k if waits(entry.read) else None  # what waits for a fact is looked at by itself
            sides = zip(self.sides, (entry.before, entry.after), strict=True)
            alike[(kind, *(None if i is None else self._follows(side, i) for side, i in sides))].append(entry)
        for members in alike.values():
            first = members[0]
            if len(members) == 1:
                yield first
            else:
                read = Group("any", tuple(entry.read for entry in members))
                yield Entry(read, first.before, first.after, tuple(members))

    def _follows(self, side: Side, i: int) -> tuple[object, ...]:
        """Equal for two rules of a version exactly when they do the same wherever they fire."""
        rule = side.theory.ruleset.rules[i]
        return rule.policy_id, side.theory.effects[i], rule.level

    def changes(self, unknown: list[Unknown]) -> Iterator[Change]:
        """The regions of this day, each confirmed."""
        if not any(entry.is_changed for entry in self.entries):
            return
        try:
            together = self._together()
        except TooManyPieces:
            yield from self._beyond()
            return
        for alike in together:
            pieces = self.space.widest(self.space.joined(found.piece for found in alike))
            yield from self._region(alike[0], pieces, unknown)

    def _together(self) -> list[list[Found]]:
        """The boxes that differ, those of one region together. Raises TooManyPieces and Unanswered."""
        search = Search(self.subject, self.space, self.entries, self.sides, self.ground.budget)
        together: dict[tuple[object, ...], list[Found]] = defaultdict(list)
        for found in search.run():
            if found.is_open:
                weighed = self._weighed(found)
                if weighed is None:
                    continue
                found = weighed
            together[self._meaning(found)].append(found)
        return list(together.values())

    def _beyond(self) -> Iterator[Change]:
        """What the solver finds where boxes are too many: every change with a case, each within a bound."""
        is_outcome = self.subject.kind == "outcome"
        if is_outcome and (self.cases.has_silent_invariant or any(waits(entry.read) for entry in self.entries)):
            reason = "the limit of boxes was reached, and a rule speaks of a fact that only one side declares"
            raise Unanswered(self.day, reason)
        beyond = Beyond(self.space, self.entries, self.sides, self.cases.axioms, self.day)
        for shown in beyond.shown(self.ground.reasoner().extended, self._held, self._completed):
            case = self._fewest(shown.facts, {}, (shown.before, shown.after))
            firing = [
                k for k, entry in enumerate(self.entries) if entry.is_changed and truth(beyond.guard(k), shown.facts)
            ]
            yield self._change(
                (shown.before, shown.after), disj([beyond.guard(k) for k in shown.bound]), case, firing, is_bound=True
            )

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
                if case is not None:  # one is shown; of the other pieces it is enough that they are not empty
                    existing += [piece] if self.cases.any_in(piece, self.day) else []
                    continue
                facts = self.cases.of(piece, self.day)
            except Unanswered as limit:
                unknown.append(Unknown(self.subject, self.day, limit.reason))
                continue
            if facts is not None:
                existing.append(piece)
                case = self._fewest(facts, piece, (found.before, found.after))
        if case is None:
            return
        where = disj([self.space.formula(piece) for piece in existing])
        yield self._change((found.before, found.after), where, case, found.changed)

    def _change(
        self, held: tuple[Held, Held], where: Formula, case: Facts, changed: Iterable[int], is_bound: bool = False
    ) -> Change:
        """The change from one of *held* to the other, as the plain reading of its case tells it."""
        decisions = self._decisions(case)
        is_outcome = self.subject.kind == "outcome"
        missing = {fact for d in decisions for fact in d.undecided.get(self.subject.name, ()) if is_outcome}
        voices = self._voices(0, case, decisions[0]), self._voices(1, case, decisions[1])
        causes, told = self._causes(changed, case), tuple(sorted(missing))
        return Change(self.subject, *held, where, case, self.day, None, voices, causes, told, is_bound)

    def _causes(self, positions: Iterable[int], case: Facts) -> tuple[tuple[int, ...], tuple[int, ...]]:
        entries = [one for k in sorted(positions) for one in self._firing(self.entries[k], case)]
        return (
            tuple(e.before for e in entries if e.before is not None),
            tuple(e.after for e in entries if e.after is not None),
        )

    def _firing(self, entry: Entry, case: Facts) -> Iterable[Entry]:
        """Of entries that stand together those that fire in the case."""
        if not entry.members:
            return (entry,)
        n = 0 if entry.before is not None else 1
        rules = self.sides[n].theory.ruleset.rules
        fire = [one for one in entry.members if truth(rules[_on_side(one, n)].guard, case) is True]
        return fire or (entry,)

    # ---- the plain reading ------------------------------------------------------------------------------------------

    def _decisions(self, facts: Facts, names_unknown: bool = True) -> tuple[Decision, Decision]:
        one, two = (
            side.theory.evaluator.decide(facts, self.day, among, names_unknown)
            for side, among in zip(self.sides, self.among, strict=True)
        )
        return one, two

    def _held(self, facts: Facts) -> tuple[Held, Held]:
        one, two = (_said(decision, self.subject) for decision in self._decisions(facts, names_unknown=False))
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
        spare = sorted(kept.keys() - spoken)
        if len(spare) > MOST_SPARED:  # a case of hundreds of facts is not read: it stays as the solver gave it
            return kept
        for var in spare:
            without = {name: value for name, value in kept.items() if name != var}
            if self._shows(expected, without):
                kept = without
        return kept

    def _shows(self, expected: tuple[Held, Held], facts: Facts) -> bool:
        return self.cases.allows(facts) and self._held(facts) == expected

    def _completed(self, facts: Facts) -> dict[str, Value]:
        """The case with a value for every shared fact that an entry speaks of."""
        spoken: set[str] = set()
        for side, among in zip(self.sides, self.among, strict=True):
            for i in among:
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


def _on_side(entry: Entry, n: int) -> int:
    found = entry.after if n else entry.before
    assert found is not None
    return found


def _said(decision: Decision, subject: Subject) -> Held:
    if subject.kind == "outcome":
        result = decision.outcomes.get(subject.name)
        return None if result is None else result.action
    listed: Iterable[str] = getattr(decision, subject.kind)
    return subject.name in listed
