"""Z3 says what trying every case says, within limits that are the same everywhere."""

import subprocess
import sys
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.errors import WitnessMismatch
from bylaw.logic.boxes.boxes import TooManyBoxes, boxes, overlap
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import FALSE, TRUE, And, Arith, Atom, Compare, Const, Not, Or, Ref, Variable, conj, names
from bylaw.logic.solver import smt
from bylaw.logic.solver.smt import Reasoner, SolverAnswer
from tests.bylaw.logic.worlds import DAY, GRID, VARIABLES, formulas, satisfying
from tests.rows import each

REASONER = Reasoner(VARIABLES)


def product_of(*facts):
    term = Ref(facts[0])
    for fact in facts[1:]:
        term = Arith("*", term, Ref(fact))
    return term


# ---- against every case ---------------------------------------------------------------------------------------------


@given(formulas())
@settings(max_examples=700, deadline=None)
def test_the_solver_finds_a_case_exactly_when_there_is_one(formula):
    answer = REASONER.check([formula])
    assert answer.status == ("sat" if satisfying(formula) else "unsat")
    if answer.model is not None:
        assert answer.model.keys() == names(formula)
        assert all(VARIABLES[name].read(VARIABLES[name].show(value)) == value for name, value in answer.model.items())


@given(formulas(leaves=3), formulas(leaves=3))
@settings(max_examples=250, deadline=None)
def test_equivalence_is_agreement_in_every_case(one, other):
    both = [truth(one, case) == truth(other, case) for case in _cases(one, other)]
    answer = REASONER.equivalent(one, other)
    assert answer.status == ("unsat" if all(both) else "sat")


@given(st.lists(formulas(leaves=2), max_size=2), formulas(leaves=2))
@settings(max_examples=150, deadline=None)
def test_a_conclusion_is_implied_when_no_case_breaks_it(premises, conclusion):
    breaks = [
        case
        for case in _cases(*premises, conclusion)
        if all(truth(premise, case) for premise in premises) and not truth(conclusion, case)
    ]
    assert REASONER.implied(premises, conclusion).status == ("sat" if breaks else "unsat")


def _cases(*all_formulas):
    from tests.bylaw.logic.worlds import cases

    return cases(names(And(tuple(all_formulas))))


@given(st.lists(formulas(leaves=2, with_compare=False), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_a_core_excludes_itself_and_nothing_in_it_is_spare(several):
    named = {f"f{i}": formula for i, formula in enumerate(several)}
    core = REASONER.core(named)
    if REASONER.check(several).status == "sat":
        assert core == ()
        return
    assert REASONER.check([named[name] for name in core]).status == "unsat"
    for name in core:
        assert REASONER.check([named[other] for other in core if other != name]).status == "sat"


@given(st.lists(formulas(leaves=3, with_compare=False), min_size=9, max_size=9))
@settings(max_examples=60, deadline=None)
def test_boxes_and_the_solver_agree_on_every_pair_of_guards(guards):
    # 36 pairs an example: more than 2,000 in all
    for one, other in combinations(guards, 2):
        try:
            met = overlap(boxes(one, VARIABLES), boxes(other, VARIABLES))
        except TooManyBoxes:
            continue
        assert REASONER.check([one, other]).status == ("unsat" if met is None else "sat")


# ---- the simplest case ----------------------------------------------------------------------------------------------


@given(formulas(leaves=3), st.lists(formulas(leaves=3), max_size=3))
@settings(max_examples=80, deadline=None)
def test_the_simplest_case_does_not_depend_on_what_was_asked_before(formula, earlier):
    used = Reasoner(VARIABLES)
    for other in earlier:
        used.check([other])
    fresh = Reasoner(VARIABLES).simplest([formula])
    again = used.simplest([formula])
    assert fresh.status == again.status
    finite = [name for name in names(formula) if VARIABLES[name].is_finite]
    if fresh.model is not None:
        assert again.model is not None
        assert {name: fresh.model[name] for name in finite} == {name: again.model[name] for name in finite}


@each(
    ("formula", "prefer", "expected"),
    [
        (Atom("days", ">", 2), {}, {"days": 3}),
        (Atom("days", ">", 2), {"days": [4]}, {"days": 4}),
        (Atom("days", ">", 2), {"days": [0, 1]}, {"days": 3}),
        (Atom("price", ">=", Fraction(1, 2)), {}, {"price": Fraction(1, 2)}),
        (Atom("price", ">", Fraction(1, 2)), {}, {"price": 1}),
        (Not(Atom("kind", "==", "tv")), {}, {"kind": "in-store"}),
        (Or((Atom("flag", "==", True), Atom("open", "==", True))), {}, {"flag": False, "open": True}),
        (Compare(Ref("price"), ">", Ref("days")), {}, {"days": 0, "price": 4}),
    ],
)
def test_the_simplest_case_takes_preferred_then_telling_values(formula, prefer, expected):
    assert REASONER.simplest([formula], prefer) == SolverAnswer("sat", expected)


def test_nothing_is_simplest_when_nothing_satisfies():
    assert REASONER.simplest([FALSE]).status == "unsat"


# ---- values ---------------------------------------------------------------------------------------------------------


@each(
    ("formula", "status"),
    [
        (TRUE, "sat"),
        (FALSE, "unsat"),
        (Not(TRUE), "unsat"),
        (And((Or(()),)), "unsat"),
        (Atom("days", "<=", Fraction(3, 2)), "sat"),
        (Atom("days", "==", Fraction(3, 2)), "unsat"),
        (And((Atom("days", ">", Fraction(3, 2)), Atom("days", "<", 2))), "unsat"),
        (And((Atom("days", ">=", Fraction(3, 2)), Atom("days", "<=", 2))), "sat"),
        (And((Atom("price", ">", 0), Atom("price", "<", Fraction(1, 10**30)))), "sat"),
        (Atom("days", "<", 0), "unsat"),
        (Atom("price", ">", 4), "unsat"),
        (Atom("kind", "!=", "tv"), "sat"),
        (And(tuple(Atom("kind", "!=", value) for value in GRID["kind"])), "unsat"),
        (And((Compare(Ref("kind"), "==", Ref("tier")), Atom("tier", "==", "gold"))), "unsat"),
        (Compare(Ref("kind"), "==", Ref("tier")), "sat"),
        (Compare(Ref("flag"), "!=", Ref("open")), "sat"),
        (And((Atom("bought", ">", DAY), Atom("bought", "<", DAY + 1))), "unsat"),
        (And((Compare(Ref("bought"), ">", Ref("due")), Atom("due", ">=", DAY + 3))), "unsat"),
        (Compare(product_of("price", "price"), "<", Const(0)), "unsat"),
        (Compare(product_of("price", "days"), "==", Const(Fraction(9, 4))), "sat"),
    ],
)
def test_values_are_exact_and_bounded_by_their_domain(formula, status):
    assert REASONER.check([formula]).status == status


def test_a_third_stays_a_third():
    third = Atom("price", "==", Fraction(1, 3))
    assert REASONER.check([third]).model == {"price": Fraction(1, 3)}


def test_decimals_that_no_float_can_say_are_kept_apart():
    tenth = Fraction(1, 10)
    as_float = Fraction(0.1)
    assert REASONER.check([Atom("price", "==", tenth), Atom("price", "==", as_float)]).status == "unsat"


def test_days_without_bounds_stay_in_the_calendar():
    free = Reasoner({"day": Variable("day", "date")})
    assert free.check([Atom("day", "<", 1)]).status == "unsat"
    assert free.check([Atom("day", ">", 3_652_059)]).status == "unsat"


def test_only_the_facts_that_are_mentioned_have_values():
    answer = REASONER.check([Or((Atom("flag", "==", True), Atom("days", "==", 1)))])
    assert answer.model is not None
    assert set(answer.model) == {"flag", "days"}


def test_no_formulas_are_satisfied_by_the_empty_case():
    assert REASONER.check([]) == SolverAnswer("sat", {})


def test_shared_words_of_two_facts_are_one_word():
    same = Compare(Ref("kind"), "==", Ref("tier"))
    assert REASONER.check([same]).model == {"kind": "other", "tier": "other"}


# ---- cores ----------------------------------------------------------------------------------------------------------


def test_a_core_names_the_formulas_that_clash():
    named = {
        "at least three": Atom("days", ">=", 3),
        "at most one": Atom("days", "<=", 1),
        "has the flag": Atom("flag", "==", True),
    }
    assert REASONER.core(named) == ("at least three", "at most one")


@given(st.lists(formulas(leaves=2, with_compare=False), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_a_core_does_not_depend_on_what_the_formulas_are_called(several):
    cores = []
    for first in (1, 8):  # "8", "9", "10" and so on: as text, ten comes before nine
        core = Reasoner(REASONER.variables).core({str(n): formula for n, formula in enumerate(several, first)})
        cores.append([int(name) - first for name in core])
    assert cores[0] == cores[1]


def test_the_domain_alone_can_exclude_a_formula():
    assert REASONER.core({"below zero": Atom("days", "<", 0), "flag": Atom("flag", "==", True)}) == ("below zero",)


def test_there_is_no_core_of_what_can_hold():
    assert REASONER.core({"one": Atom("days", ">=", 3)}) == ()
    assert REASONER.core({}) == ()


# ---- limits ---------------------------------------------------------------------------------------------------------

FREE = {name: Variable(name, "integer") for name in ("x", "y", "z")}
CUBES = Compare(
    Arith("+", product_of("x", "x", "x"), Arith("+", product_of("y", "y", "y"), product_of("z", "z", "z"))),
    "==",
    Const(42),
)


def test_a_hard_question_is_unknown_with_a_reason_and_the_next_one_is_answered():
    reasoner = Reasoner(FREE, rlimit=300_000)
    answer = reasoner.check([CUBES])
    assert answer.status == "unknown"
    assert answer.model is None
    assert "limit of 300000 steps" in str(answer.reason)
    assert reasoner.check([Atom("x", ">", 3), Atom("x", "<", 5)]) == SolverAnswer("sat", {"x": 4})


def test_a_core_that_cannot_be_shown_in_time_is_no_core():
    assert Reasoner(FREE, rlimit=300_000).core({"cubes": CUBES, "positive": Atom("x", ">", 10**6)}) == ()


def test_the_same_questions_take_the_same_steps():
    def asked():
        reasoner = Reasoner(FREE, rlimit=300_000)
        return [reasoner.check([formula]) for formula in (CUBES, Atom("x", ">", 3), conj([CUBES, Atom("y", ">", 0)]))]

    assert asked() == asked()


def test_a_root_of_two_is_no_case():
    free = Reasoner({"x": Variable("x", "decimal")})
    answer = free.check([Compare(product_of("x", "x"), "==", Const(2))])
    assert answer.status == "unknown"
    assert "not a fraction" in str(answer.reason)


def test_checks_are_counted():
    reasoner = Reasoner(VARIABLES)
    reasoner.check([TRUE])
    reasoner.equivalent(TRUE, FALSE)
    assert reasoner.checks == 2


# ---- trust ----------------------------------------------------------------------------------------------------------


def test_a_case_that_the_plain_reading_denies_never_leaves(monkeypatch):
    monkeypatch.setattr(smt, "truth", lambda formula, facts: False)
    with pytest.raises(WitnessMismatch, match="does not satisfy"):
        Reasoner(VARIABLES).check([Atom("flag", "==", True)])


def test_importing_the_module_does_not_load_the_solver():
    code = "import sys, bylaw.logic.solver.smt as s; s.Reasoner({}); print('z3' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
