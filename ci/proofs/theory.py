"""One policy set as every question sees it: rules in force, invariants, days worth asking about, and replay.

Boxes answer first; Z3 answers what they cannot say. No witness leaves this module that the plain evaluator has not
confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.boxes import Box, domain, point
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Evaluator, Standing
from bylaw.logic.formula.ir import (
    ConditionalRule,
    Constraint,
    Effect,
    Facts,
    Formula,
    Ruleset,
    Value,
    conj,
    names,
    negate,
)
from ci.proofs.candidates import Candidates

if TYPE_CHECKING:
    from bylaw.logic.solver.retrying import Suspect
    from bylaw.logic.solver.solver import Solver

Status = Literal["PROVEN", "COUNTEREXAMPLE", "UNKNOWN", "SKIPPED"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one question: a status, the case that shows it and its day, or the limit that was hit."""

    status: Status
    facts: Mapping[str, Value] | None = None
    day: int | None = None
    reason: str | None = None


PROVEN = Verdict("PROVEN")
INDEXED_FROM = 500_000  # rules tried, all cases together: by then an index has paid for itself


class Theory:
    """The rules and invariants on *at* and after it (a proleptic ordinal)."""

    def __init__(
        self,
        ruleset: Ruleset,
        at: int,
        rlimit: int,
        wall_ms: int = 10_000,
        memory_mb: int = 512,
        guard_pieces: int = 5_000,
        neighbours: int = 600,
    ) -> None:
        self.ruleset, self.at = ruleset, at
        self.rlimit, self.wall_ms, self.memory_mb = rlimit, wall_ms, memory_mb
        self.guard_pieces, self.neighbours = guard_pieces, neighbours
        self.evaluator = Evaluator(ruleset)
        self.rivals = self.evaluator.rivals
        self.candidates = Candidates(self.evaluator)
        self._stands: dict[tuple[int, int, bool], Formula] = {}
        self._stronger: dict[int, tuple[int, ...]] = {}
        self._constraints: dict[int, list[Constraint]] = {}
        self.subjects: dict[tuple[int, int], str] = {}  # by effect: what two rivals contradict each other about

    def without(self, policies: Collection[str]) -> Theory:
        """The same with no rule and no invariant of these policies."""
        rules = tuple(rule for rule in self.ruleset.rules if rule.policy_id not in policies)
        constraints = tuple(one for one in self.ruleset.constraints if one.policy_id not in policies)
        limits = (self.rlimit, self.wall_ms, self.memory_mb, self.guard_pieces, self.neighbours)
        return Theory(replace(self.ruleset, rules=rules, constraints=constraints), self.at, *limits)

    def replaying(self, case_count: int) -> Evaluator:
        """The evaluator to decide so many cases with: many cases of many rules are worth an index."""
        is_worth_it = case_count * len(self.ruleset.rules) > INDEXED_FROM
        return self._indexed if is_worth_it else self.evaluator

    @cached_property
    def _indexed(self) -> Evaluator:
        return Evaluator(self.ruleset, is_indexed=True)

    @cached_property
    def effects(self) -> tuple[int, ...]:
        """A number for each rule's effect: the same one for equal effects."""
        numbers: dict[Effect, int] = {}
        return tuple(numbers.setdefault(rule.effect, len(numbers)) for rule in self.ruleset.rules)

    @cached_property
    def reasoner(self) -> Solver:
        """Z3, loaded when boxes alone do not answer; in a process of its own where somebody wrote logic by hand."""
        from bylaw.logic.solver.retrying import solver_for
        from bylaw.logic.solver.solver import Effort

        return solver_for([self.ruleset], self.ruleset.variables, Effort(self.rlimit, self.wall_ms, self.memory_mb))

    @property
    def beyond(self) -> Mapping[str, Suspect]:
        """What answers say that rest on hand-written logic which the solver did not settle → that logic."""
        asked = self.__dict__.get("reasoner")  # a reasoner that was never needed is not made for this
        return getattr(asked, "reasons", {})

    # ---- time ---------------------------------------------------------------------------------------------------

    def days(self, rules: Iterable[ConditionalRule] | None = None) -> list[int]:
        """The days worth asking about: *at*, each later day on which a rule starts, each day after one ends.

        Invariants come and go as well, and change what every rule means.
        """
        bound: list[ConditionalRule | Constraint] = [*(self.ruleset.rules if rules is None else rules)]
        bound += self.ruleset.constraints
        later = {r.start for r in bound if r.start is not None} | {r.end + 1 for r in bound if r.end is not None}
        return [self.at, *sorted(day for day in later if day > self.at)]

    def common_days(self, i: int, j: int) -> list[int]:
        """The days worth asking about on which both rules are in force."""
        one, two = self.ruleset.rules[i], self.ruleset.rules[j]
        stronger = [self.ruleset.rules[k] for k in (*self.stronger(i), *self.stronger(j))]
        return [day for day in self.days([one, two, *stronger]) if one.holds_on(day) and two.holds_on(day)]

    def stronger(self, i: int) -> tuple[int, ...]:
        """The rules that remove rule *i*'s effect where they fire and stand; those that never meet it left out."""
        if i not in self._stronger:
            self._stronger[i] = tuple(k for k in self.candidates.of(i) if self.rivals.beats(k, i))
        return self._stronger[i]

    def constraints(self, day: int) -> list[Constraint]:
        """The invariants in force on that day."""
        if day not in self._constraints:
            self._constraints[day] = [
                c
                for c in self.ruleset.constraints
                if (c.start is None or c.start <= day) and (c.end is None or day <= c.end)
            ]
        return self._constraints[day]

    def invariants(self, day: int) -> list[Formula]:
        """What every case satisfies on that day."""
        return [constraint.formula for constraint in self.constraints(day)]

    # ---- what holds where ---------------------------------------------------------------------------------------

    def stands(self, i: int, day: int, despite_bans: bool = False) -> Formula:
        """True exactly in the cases in which rule *i* fires on *day* and no stronger rival removes it.

        A rival removes it that stands, or that wins their dispute about an outcome *despite bans* on its own action.
        """
        key = (i, day, despite_bans)
        if key not in self._stands:
            rules = self.ruleset.rules
            self._stands[key] = rules[i].guard  # INVARIANT: "beats" has no cycle; cycles of overrides are findings
            removed = [
                self.stands(j, day, self.rivals.disputes(j, i))
                for j in self.removers(i, despite_bans)
                if rules[j].holds_on(day)
            ]
            self._stands[key] = conj([rules[i].guard, *map(negate, removed)])
        return self._stands[key]

    def removers(self, i: int, despite_bans: bool) -> list[int]:
        """The stronger rivals of rule *i*, without prohibitions when it is asked *despite bans*."""
        return [j for j in self.stronger(i) if not (despite_bans and self.rivals.bans(j))]

    def standing(self, facts: Facts, day: int, rules: Iterable[int]) -> Standing:
        """The plain reading of a case, as far as *rules* go. Unknown facts fire nothing."""
        everyone = self.ruleset.rules
        fires = [k for k in rules if everyone[k].holds_on(day) and truth(everyone[k].guard, facts) is True]
        return self.evaluator.standing(fires)

    def deciding(self, *rules: int) -> tuple[int, ...]:
        """*rules* and all that could remove their effects, step by step: who stands depends on nobody else."""
        reached: set[int] = set()
        todo = list(rules)
        while todo:
            i = todo.pop()
            if i not in reached:
                reached.add(i)
                todo += self.stronger(i)
        return tuple(sorted(reached))

    def exists(self, facts: Facts, day: int) -> bool:
        """Do the invariants in force allow the case, as far as its facts say?"""
        return all(truth(formula, facts) is not False for formula in self.invariants(day))

    def completed(self, facts: Facts, day: int, rules: Iterable[int]) -> dict[str, Value]:
        """The case with a value for every fact that *rules* and the invariants of the day speak of."""
        formulas = [*(self.ruleset.rules[i].guard for i in rules), *self.invariants(day)]
        spoken = set[str]().union(*map(names, formulas))
        missing = {var: domain(self.ruleset.variables[var]) for var in spoken if var not in facts}
        return {**point(Box(missing), self.ruleset.variables), **facts}

    # ---- answers ------------------------------------------------------------------------------------------------

    def solve(
        self, formulas: Sequence[Formula], day: int, rules: Iterable[int], confirm: Callable[[Facts], bool]
    ) -> Verdict:
        """PROVEN iff no existing case satisfies *formulas* on *day*; else a case that the plain reading confirms."""
        answer = self.reasoner.check([*formulas, *self.invariants(day)])
        if answer.status == "unsat":
            return PROVEN
        if answer.status == "unknown" or answer.model is None:
            return Verdict("UNKNOWN", day=day, reason=answer.reason or "the solver gave up")
        facts = self.completed(answer.model, day, rules)
        if not confirm(facts):
            raise WitnessMismatch(f"the plain reading does not confirm the solver's case {facts}", "please report it")
        return Verdict("COUNTEREXAMPLE", self.fewest(facts, confirm), day)

    def fewest(
        self, facts: Facts, confirm: Callable[[Facts], bool], needed: Collection[str] = frozenset()
    ) -> dict[str, Value]:
        """The case with every fact left out that does not matter to what it shows. *facts* itself is confirmed.

        Facts known to be *needed* are not tried without.
        """
        kept = dict(facts)
        for var in sorted(facts, key=lambda var: (self.ruleset.variables[var].is_finite, var)):
            if var not in needed:
                without = {name: value for name, value in kept.items() if name != var}
                if confirm(without):
                    kept = without
        return kept
