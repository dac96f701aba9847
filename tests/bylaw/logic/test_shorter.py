"""Fewer words, the same cases."""

from hypothesis import given, settings

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import FALSE, TRUE, And, Atom, Not, Or
from bylaw.logic.words.shorter import shorter
from tests.bylaw.logic.strategies import VARIABLES, cases, formulas

FLAG, OPEN = Atom("flag", "==", True), Atom("open", "==", True)


@given(formulas(with_compare=True, leaves=12))
@settings(max_examples=200, deadline=None)
def test_a_shorter_formula_holds_in_the_same_cases(formula):
    short = shorter(formula, VARIABLES)
    for case in cases():
        assert truth(short, case) == truth(formula, case)


@given(formulas(leaves=8))
@settings(max_examples=50, deadline=None)
def test_shortening_twice_changes_nothing_more(formula):
    once = shorter(formula, VARIABLES)
    assert shorter(once, VARIABLES) == once


def test_what_the_conjunction_says_is_not_repeated_in_its_negations():
    formula = And((FLAG, Not(And((FLAG, OPEN)))))
    assert shorter(formula, VARIABLES) == And((FLAG, Atom("open", "==", False)))


def test_a_wider_bound_beside_a_narrower_one_goes():
    formula = And((Atom("days", "<=", 2), Or((Atom("days", "<=", 3), OPEN))))
    assert shorter(formula, VARIABLES) == Atom("days", "<=", 2)


def test_of_two_bounds_in_either_order_the_narrower_one_stays():
    wide, narrow = Atom("days", "<", 3), Atom("days", "<", 2)
    assert shorter(And((wide, narrow)), VARIABLES) == shorter(And((narrow, wide)), VARIABLES) == narrow
    assert shorter(Or((wide, narrow)), VARIABLES) == shorter(Or((narrow, wide)), VARIABLES) == wide


def test_alternatives_exclude_each_other_only_once():
    formula = Or((FLAG, And((Not(FLAG), OPEN))))
    assert shorter(formula, VARIABLES) == Or((FLAG, OPEN))


def test_what_several_parts_share_is_said_once():
    late = Atom("days", ">", 2)
    assert shorter(And((Or((late, FLAG)), Or((late, OPEN)))), VARIABLES) == Or((late, And((FLAG, OPEN))))
    assert shorter(Or((And((late, FLAG)), And((late, OPEN)))), VARIABLES) == And((late, Or((FLAG, OPEN))))
    assert shorter(And((Or((late, FLAG)), Or((late, Not(FLAG))))), VARIABLES) == late


def test_what_can_never_or_always_hold_is_said_so():
    assert shorter(And((Atom("days", "<", 1), Atom("days", ">", 1))), VARIABLES) == FALSE
    assert shorter(Or((FLAG, Not(FLAG))), VARIABLES) == TRUE
