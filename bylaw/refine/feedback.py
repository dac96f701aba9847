"""What the solver says of a program: its status, why, what is missing, and a small case that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Formula
from bylaw.logic.solver.explain import Bounds, Explained, Status
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.logic.solver.solver import Effort
from bylaw.refine.premises import Missing, attributed, blocked, candidates, hints
from bylaw.refine.theory import Theory

EFFORT = Effort(rlimit=2_000_000, wall_ms=10_000)
BOUNDS = Bounds()


@dataclass(frozen=True)
class Feedback:
    """How a program stands to its query.

    `missing` are rules that lack something and rules that are blocked. `corrections` are the smallest sets of
    statements without which the rest holds together, each with a case. `case` shows an open query: in it all statements
    hold and the query does not.
    """

    status: Status
    core: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    is_complete: bool = True
    corrections: tuple[tuple[str, ...], ...] = ()
    cases: tuple[Mapping[str, bool], ...] = ()
    case: Mapping[str, bool] | None = None
    conflicting_axioms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def missing_links(self) -> int | None:
        """How many premises the smallest set has that would give the query; None where none is known."""
        if self.status in ("consistent_entails", "refuted"):
            return 0
        return min((len(one.missing) for one in self.missing if not one.blocked_by), default=None)

    def document(self) -> dict[str, Any]:
        """As JSON: what stands for people and models alike."""
        shown = {True: "holds", False: "does_not_hold"}

        def told(case: Mapping[str, bool]) -> dict[str, list[str]]:
            return {word: sorted(name for name, value in case.items() if value is held) for held, word in shown.items()}

        return {
            "status": self.status,
            "core": list(self.core),
            "missing": [one.document() for one in self.missing],
            "complete": self.is_complete,
            "corrections": [
                {"without": list(one), "case": told(case)}
                for one, case in zip(self.corrections, self.cases or ({},) * len(self.corrections), strict=False)
            ],
            "case": None if self.case is None else told(self.case),
            "conflicting_axioms": list(self.conflicting_axioms),
            "notes": list(self.notes),
        }


def check(theory: Theory, notes: Sequence[str] = (), bounds: Bounds = BOUNDS) -> Feedback:
    """What the solver says of *theory*. A question that runs into a limit is `unknown`, with the limit in the notes."""
    named, is_whole = candidates(theory)
    statements = {one.name: one.formula for one in theory.statements}
    sandbox = Sandbox(theory.variables, EFFORT)
    found = sandbox.explain(statements, theory.goal, named, bounds, [*hints(theory)])
    notes = (*notes, *([found.reason] if found.reason else []))
    axioms = {one.name for one in theory.statements if one.kind == "axiom"}
    missing: list[Missing] = []
    if found.status == "consistent_no_entailment":
        missing = [*attributed(theory, found.premises, named), *blocked(theory, _excluder(sandbox, statements, found))]
    return Feedback(
        found.status,
        found.core,
        tuple(sorted(missing, key=lambda one: (bool(one.blocked_by), len(one.missing), one.rule or "", one.missing))),
        found.is_complete and is_whole,
        found.corrections,
        found.cases,
        found.case if found.status == "consistent_no_entailment" else None,
        tuple(name for name in found.core if name in axioms) if found.status == "inconsistent" else (),
        tuple(notes),
    )


def _excluder(
    sandbox: Sandbox, statements: Mapping[str, Formula], found: Explained
) -> Callable[[Sequence[Formula]], bool]:
    """Whether what is known excludes some literals; a case that is at hand answers most of it."""

    def is_excluded(literals: Sequence[Formula]) -> bool:
        if all(truth(item, found.case) is True for item in literals):
            return False
        return sandbox.check([*statements.values(), *literals]).status == "unsat"

    return is_excluded
