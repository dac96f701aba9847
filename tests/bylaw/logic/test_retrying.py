"""What cannot be settled is left out of later questions, and no answer becomes wrong by that."""

from __future__ import annotations

import pytest

from bylaw.logic.formula.ir import (
    Arith,
    Atom,
    Compare,
    ConditionalRule,
    Constraint,
    Effect,
    Not,
    Ref,
    Ruleset,
    Source,
    Variable,
    conj,
)
from bylaw.logic.solver.retrying import MOST_STRIKES, Suspect, Wary, solver_for
from bylaw.logic.solver.sandbox import Sandbox
from bylaw.logic.solver.smt import Reasoner
from bylaw.logic.solver.solver import Effort, Solver, SolverAnswer

VARIABLES = {name: Variable(name, "integer", minimum=2) for name in "xyz"}
VARIABLES["days"] = Variable("days", "integer", minimum=0, maximum=30)
FEW, MANY = Atom("days", "<", 5), Atom("days", ">", 10)
HERE = Source("a.yaml")


def cube(name):
    return Arith("*", Ref(name), Arith("*", Ref(name), Ref(name)))


CUBES = Compare(Arith("+", cube("x"), cube("y")), "==", cube("z"))


class Counting(Solver):
    """Z3 with few steps, and what it was asked."""

    def __init__(self) -> None:
        self.reasoner, self.asked = Reasoner(VARIABLES, rlimit=200_000), []

    def check(self, formulas):
        self.asked.append(conj(formulas))
        return self.reasoner.check(formulas)

    def simplest(self, formulas, prefer=None):
        self.asked.append(conj(formulas))
        return self.reasoner.simplest(formulas, prefer)

    def core(self, named):
        self.asked.append(conj(named.values()))
        return self.reasoner.core(named)

    def extended(self, more):
        return self


@pytest.fixture
def wary():
    return Wary(Counting(), VARIABLES, [Suspect("P", "CUBES", conj([CUBES, MANY])), Suspect("P", "FEW", FEW)])


def test_the_unsettled_formula_is_named_and_not_asked_about_again(wary):
    for n in range(20):
        answer = wary.check([CUBES, MANY, Atom("days", "!=", n)])
        assert answer.status == "unknown"
        assert answer.reason.startswith("the hand-written rule `CUBES` of P is beyond the solver: ")
    assert sum(CUBES in getattr(asked, "items", ()) for asked in wary.solver.asked) == 2  # once in it, once alone
    assert [suspect.id for suspect in wary.reasons.values()] == ["CUBES"]


def test_what_the_rest_already_excludes_is_still_proven(wary):
    assert wary.check([CUBES, MANY]).status == "unknown"
    assert wary.check([CUBES, MANY, FEW]).status == "unsat"
    assert wary.core({"cubes": CUBES, "many": MANY, "few": FEW}) == ("many", "few")


def test_a_case_is_taken_only_when_it_satisfies_everything(wary):
    assert wary.check([CUBES, MANY]).status == "unknown"
    found = wary.check([Not(CUBES), MANY])
    assert found.status == "sat" and found.model.keys() == set("xyz") | {"days"}
    assert wary.simplest([Not(CUBES), MANY]).model["days"] == 11


def test_questions_without_the_suspect_are_asked_as_they_are(wary):
    assert wary.check([CUBES, MANY]).status == "unknown"
    before = len(wary.solver.asked)
    assert wary.check([FEW]) == Reasoner(VARIABLES).check([FEW])
    assert wary.check([MANY, FEW]) == SolverAnswer("unsat")
    assert len(wary.solver.asked) == before + 2


def test_an_extended_solver_learns_together_with_the_first(wary):
    assert wary.extended({}).check([CUBES, MANY]).status == "unknown"
    assert [suspect.id for suspect in wary.reasons.values()] == ["CUBES"]


def test_two_that_are_only_hard_together_are_given_up_after_a_few_questions():
    parts = [Compare(Arith("+", cube("x"), cube("y")), "==", Ref("days")), Compare(Ref("days"), "==", cube("z"))]
    wary = Wary(
        Counting(),
        VARIABLES | {"days": Variable("days", "integer")},
        [Suspect("P", f"R{n}", p) for n, p in enumerate(parts)],
    )
    wary.solver.reasoner = Reasoner(wary.variables, rlimit=200_000)
    asked = [wary.check([*parts, Atom("days", "!=", n)]) for n in range(MOST_STRIKES + 3)]
    assert {answer.status for answer in asked} == {"unknown"}
    assert len(wary.reasons) == 2
    assert sum(set(parts) <= set(getattr(asked, "items", ())) for asked in wary.solver.asked) == MOST_STRIKES


def test_only_a_set_with_hand_written_logic_gets_a_process():
    rule = ConditionalRule("R1", "P", "refund", Effect("required", "notify"), FEW, 4, HERE)
    formal = ConditionalRule("R2", "P", "refund", Effect("required", "notify"), FEW, 4, HERE, origin="formal")
    plain, written = Ruleset(VARIABLES, (rule,)), Ruleset(VARIABLES, (rule, formal))
    held = Ruleset(VARIABLES, (rule,), (Constraint("I1", "P", CUBES, "", HERE),))
    assert isinstance(solver_for([plain], VARIABLES, Effort()), Reasoner)
    for some in (written, held):
        found = solver_for([plain, some], VARIABLES, Effort())
        assert isinstance(found, Wary) and isinstance(found.solver, Sandbox)
        assert found.solver.cell.starts == 0  # not before it is asked
