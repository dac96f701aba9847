"""A solver that remembers which hand-written formulas it cannot settle, and asks the rest without them.

What somebody wrote by hand is a suspect. When a question runs into a limit, its suspects are asked about one by one,
each with the axioms it stands among; one that runs into the limit by itself is left out of later questions. Leaving
out is sound: what has no case without it has none with it, and a case is only taken when it satisfies all that was
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from bylaw.logic.boxes.boxes import Box, domain, point
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import And, Atom, Compare, Formula, Ruleset, Value, Variable, conj, names
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.logic.solver.smt import Reasoner
from bylaw.logic.solver.solver import Effort, Solver, SolverAnswer
from bylaw.logic.solver.wire import parts

MOST_STRIKES = 3  # so many questions about one suspect that end at a limit, and it is not asked about any more


@dataclass(frozen=True, slots=True)
class Suspect:
    """A hand-written formula and where it stands; an axiom, an invariant, is part of every question."""

    policy_id: str
    id: str
    formula: Formula
    is_axiom: bool = False

    @property
    def name(self) -> str:
        """What people know it by."""
        return f"the {'invariant' if self.is_axiom else 'hand-written rule'} `{self.id}` of {self.policy_id}"


@dataclass
class Known:
    """What has been learned about the suspects, by position."""

    settled: set[int] = field(default_factory=set)
    unsettled: dict[int, str] = field(default_factory=dict)  # and the limit that was hit
    strikes: dict[int, int] = field(default_factory=dict)


def solver_for(rulesets: Sequence[Ruleset], variables: Mapping[str, Variable], effort: Effort) -> Solver:
    """Z3 in this process; in one that may be killed where somebody wrote logic by hand."""
    found = suspects(rulesets)
    if not found:
        return Reasoner(variables, rlimit=effort.rlimit, wall_ms=effort.wall_ms)
    return Wary(Sandbox(variables, effort), variables, found)


def suspects(rulesets: Sequence[Ruleset]) -> tuple[Suspect, ...]:
    """What was written by hand: invariants, and the rules that take the place of derived ones."""
    axioms = [
        Suspect(c.policy_id, c.constraint_id, c.formula, is_axiom=True)
        for ruleset in rulesets
        for c in ruleset.constraints
    ]
    rules = [
        Suspect(rule.policy_id, rule.rule_id, rule.guard)
        for ruleset in rulesets
        for rule in ruleset.rules
        if rule.origin == "formal"
    ]
    return tuple(dict.fromkeys((*axioms, *rules)))


@dataclass
class Wary(Solver):
    """*solver*, asked about nothing that it is known not to settle."""

    solver: Solver
    variables: Mapping[str, Variable]
    suspects: Sequence[Suspect]
    known: Known = field(default_factory=Known)
    _tests: dict[int, frozenset[Formula]] = field(default_factory=dict, init=False)

    @property
    def reasons(self) -> Mapping[str, Suspect]:
        """What answers say that rest on an unsettled suspect → that suspect."""
        return {self._reason(n): self.suspects[n] for n in self.known.unsettled}

    def check(self, formulas: Sequence[Formula]) -> SolverAnswer:
        """Unsat iff no case of the domains satisfies all *formulas*; unknown names the suspect, where it is one."""
        return self._asked(self.solver.check, formulas)

    def simplest(
        self, formulas: Sequence[Formula], prefer: Mapping[str, Sequence[Value]] | None = None
    ) -> SolverAnswer:
        """Like `check`, with a model that does not depend on what was asked before."""
        return self._asked(partial(self.solver.simplest, prefer=prefer), formulas)

    def core(self, named: Mapping[str, Formula]) -> tuple[str, ...]:
        """Names of formulas that already exclude each other; empty when that could not be shown."""
        blamed = self._blamed(list(named.values()))
        return self.solver.core({name: self._spared([formula], blamed) for name, formula in named.items()})

    def extended(self, more: Mapping[str, Variable]) -> Wary:
        """A solver that knows *more* variables as well, and learns together with this one."""
        return Wary(self.solver.extended(more), {**self.variables, **more}, self.suspects, self.known)

    def _asked(self, ask: Callable[[Sequence[Formula]], SolverAnswer], formulas: Sequence[Formula]) -> SolverAnswer:
        blamed = self._blamed(formulas)
        answer = SolverAnswer("unknown")
        if not blamed:
            answer = ask(formulas)
            if answer.status == "unknown":
                blamed = self._learned(formulas, answer)
        if not blamed:
            return answer
        without = ask([self._spared(formulas, blamed)])
        if without.status == "unsat":
            return without
        full = self._completed(without.model or {}, formulas)
        if without.model is not None and all(truth(formula, full) is True for formula in formulas):
            return SolverAnswer("sat", full)
        return SolverAnswer("unknown", reason=self._reason(blamed[0]))

    def _completed(self, model: Mapping[str, Value], formulas: Sequence[Formula]) -> dict[str, Value]:
        spoken = sorted(set[str]().union(*map(names, formulas)) - model.keys())
        regions = {name: domain(self.variables[name]) for name in spoken}
        return {**point(Box({name: where for name, where in regions.items() if where}), self.variables), **model}

    # ---- blame ------------------------------------------------------------------------------------------------------

    def _reason(self, n: int) -> str:
        return f"{self.suspects[n].name} is beyond the solver: {self.known.unsettled[n]}"

    def _blamed(self, formulas: Sequence[Formula]) -> list[int]:
        """The unsettled suspects that take part in a question."""
        if not self.known.unsettled:
            return []
        asked = _tests(formulas)
        return [n for n in sorted(self.known.unsettled) if self._tests_of(n) <= asked]

    def _learned(self, formulas: Sequence[Formula], answer: SolverAnswer) -> list[int]:
        """Ask about the suspects of a question that ended at a limit; those which are to blame."""
        asked = _tests(formulas)
        present = [n for n in range(len(self.suspects)) if self._tests_of(n) <= asked]
        axioms = [n for n in present if self.suspects[n].is_axiom]
        for n in present:
            if n not in self.known.settled and n not in self.known.unsettled:
                beside = [self.suspects[m].formula for m in axioms if m in self.known.settled]
                alone = self.solver.check([self.suspects[n].formula, *beside])
                if alone.status == "unknown":
                    self.known.unsettled[n] = alone.reason or "it gave up"
                else:
                    self.known.settled.add(n)
        if not any(n in self.known.unsettled for n in present):
            for n in present:
                self.known.strikes[n] = self.known.strikes.get(n, 0) + (not self.suspects[n].is_axiom)
                if self.known.strikes[n] >= MOST_STRIKES:
                    self.known.unsettled[n] = answer.reason or "it gave up"
        return [n for n in present if n in self.known.unsettled]

    def _spared(self, formulas: Sequence[Formula], blamed: Sequence[int]) -> Formula:
        """*formulas* together, without the parts that say what the blamed ones say."""
        if not blamed:
            return conj(formulas)
        hard = frozenset[Formula]().union(*map(self._tests_of, blamed))
        items = [item for formula in formulas for item in (formula.items if isinstance(formula, And) else (formula,))]
        return conj(item for item in items if not hard & _tests([item]))

    def _tests_of(self, n: int) -> frozenset[Formula]:
        """What tells a suspect: its comparisons, or all of its tests where it has none."""
        if n not in self._tests:
            found = _tests([self.suspects[n].formula])
            self._tests[n] = frozenset(test for test in found if isinstance(test, Compare)) or found
        return self._tests[n]


def _tests(formulas: Sequence[Formula]) -> frozenset[Formula]:
    """The tests that *formulas* are put together from."""
    seen: set[int] = set()
    found: set[Formula] = set()
    todo: list[Formula] = list(formulas)
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Atom | Compare):
            found.add(node)
        else:
            todo += parts(node)  # type: ignore[arg-type]  # the parts of what is no test are formulas
    return frozenset(found)
