"""What a question asks of a solver, and what it gets back. Which solver answers, and in which process, is not said.

`smt.Reasoner` answers in this process, `sandbox.Sandbox` in one that may be killed, `wary.Wary` remembers what it
cannot get an answer to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from bylaw.logic.formula.ir import Formula, Value, Variable, conj, disj, negate

RLIMIT = 20_000_000  # about four seconds of work
WALL_MS = 10_000
MEMORY_MB = 512


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """What the solver found. `model` is set exactly when `status` is sat, `reason` exactly when it is unknown."""

    status: Literal["sat", "unsat", "unknown"]
    model: dict[str, Value] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """What one question may cost, in the order in which the limits bite. The steps are the same on every machine."""

    rlimit: int = RLIMIT
    wall_ms: int = WALL_MS
    memory_mb: int = MEMORY_MB


class Solver(Protocol):
    """Answers to questions about formulas over declared facts, within their domains."""

    def check(self, formulas: Sequence[Formula]) -> SolverAnswer:
        """Unsat iff no case of the domains satisfies all *formulas*. A model speaks of the facts they mention."""

    def core(self, named: Mapping[str, Formula]) -> tuple[str, ...]:
        """Names of formulas that already exclude each other; empty when that could not be shown."""

    def simplest(
        self, formulas: Sequence[Formula], prefer: Mapping[str, Sequence[Value]] | None = None
    ) -> SolverAnswer:
        """Like `check`, with a model that does not depend on what was asked before."""

    def extended(self, more: Mapping[str, Variable]) -> Solver:
        """A solver that knows *more* variables as well."""

    def equivalent(self, one: Formula, other: Formula) -> SolverAnswer:
        """Unsat iff *one* and *other* hold in exactly the same cases; a model tells them apart."""
        return self.check([disj([conj([one, negate(other)]), conj([negate(one), other])])])

    def implied(self, premises: Sequence[Formula], conclusion: Formula) -> SolverAnswer:
        """Unsat iff *conclusion* holds in every case that satisfies all *premises*; a model breaks it."""
        return self.check([*premises, negate(conclusion)])
