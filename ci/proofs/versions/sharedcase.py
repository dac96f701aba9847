"""Cases of the shared facts: one in a box, if the invariants of both versions leave it any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from bylaw.logic.boxes.boxes import Box, domain, point
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Facts, Formula, Value, names
from bylaw.logic.solver.solver import Solver, SolverAnswer
from ci.proofs.versions.pieces import Piece, Space


class Unanswered(Exception):
    """A question that hit a limit."""

    def __init__(self, day: int, reason: str) -> None:
        super().__init__(reason)
        self.day, self.reason = day, reason


class Cases:
    """The cases that both versions allow on one day: none breaks one of the *invariants*."""

    def __init__(self, space: Space, invariants: tuple[Formula, ...], reasoner: Callable[[], Solver]) -> None:
        self.space, self.invariants, self.reasoner = space, invariants, reasoner

    @cached_property
    def has_silent_invariant(self) -> bool:
        """Does one speak of a fact that cases are silent about?"""
        return any(not names(formula) <= self.space.variables.keys() for formula in self.invariants)

    @cached_property
    def axioms(self) -> list[Formula]:
        """The invariants, as far as they speak of the shared facts."""
        return [self.space.as_formula(self.space.read(formula)) for formula in self.invariants]

    def of(self, piece: Piece, day: int) -> dict[str, Value] | None:
        """A telling case in *piece*, None when there is none. Raises Unanswered."""
        facts = self._plainly(piece)
        if facts is not None:
            return facts
        return _model(self.reasoner().simplest([self.space.formula(piece), *self.axioms]), day)

    def any_in(self, piece: Piece, day: int) -> bool:
        """Is there a case in *piece*? Raises Unanswered."""
        if self._plainly(piece) is not None:
            return True
        return _model(self.reasoner().check([self.space.formula(piece), *self.axioms]), day) is not None

    def _plainly(self, piece: Piece) -> dict[str, Value] | None:
        """A case without the solver, as far as the piece compares no facts and the invariants allow an easy one."""
        plain = self.space.plain(piece)
        if len(plain) < len(piece):
            return None
        facts = point(Box(plain), self.space.variables)
        is_allowed = all(truth(formula, self.completed(facts, names(formula))) for formula in self.invariants)
        return facts if is_allowed else None

    def allows(self, facts: Facts) -> bool:
        """Do the invariants allow the case, as far as its facts say?"""
        return all(truth(formula, facts) is not False for formula in self.invariants)

    def completed(self, facts: Facts, spoken: Iterable[str]) -> dict[str, Value]:
        """The case with a telling value for every shared fact of *spoken* that it lacks."""
        missing = {
            var: domain(self.space.variables[var]) for var in spoken if var not in facts and var in self.space.variables
        }
        return {**point(Box(missing), self.space.variables), **facts}


def _model(answer: SolverAnswer, day: int) -> dict[str, Value] | None:
    if answer.status == "unknown":
        raise Unanswered(day, answer.reason or "the solver gave up")
    return answer.model
