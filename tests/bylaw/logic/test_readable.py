"""A formula for readers says the same of every case, with "not" at single tests only."""

from hypothesis import given, settings

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import And, Atom, Formula, Not, Or
from bylaw.logic.words.readable import readable, so
from tests.bylaw.logic.strategies import VARIABLES, cases, formulas

FLAG = Atom("flag", "==", True)


def has_wide_not(formula: Formula) -> bool:
    match formula:
        case Not(item):
            return not isinstance(item, Atom)
        case And(items) | Or(items):
            return any(map(has_wide_not, items))
    return False


@given(formulas(with_compare=True, leaves=12))
@settings(max_examples=200, deadline=None)
def test_it_holds_in_the_same_cases_without_a_wide_not(formula):
    told = readable(formula, VARIABLES)
    assert not has_wide_not(told)
    for case in cases():
        assert truth(told, case) == truth(formula, case)


@given(formulas(leaves=8))
@settings(max_examples=100, deadline=None)
def test_why_a_formula_holds_holds_and_is_enough(formula):
    for case in cases():
        if truth(formula, case):
            reason = so(formula, case)
            assert truth(reason, case)
            for other in cases():
                assert not truth(reason, other) or truth(formula, other)


def test_conditions_by_kind_are_told_kind_by_kind():
    """A window of 1 day for a tv and of 3 days for the rest, as targets write it, and its opposite."""
    tv, short, long = Atom("kind", "==", "tv"), Atom("days", "<=", 1), Atom("days", "<=", 3)
    window = And((Or((tv, long)), Or((short, Atom("kind", "!=", "tv")))))
    assert readable(window, VARIABLES) == Or((short, And((long, Atom("kind", "!=", "tv")))))
    late = readable(And((FLAG, Not(window))), VARIABLES)
    after = [{Atom("days", ">", 3), Atom("kind", "!=", "tv")}, {Atom("days", ">", 1), tv}]
    assert late.items[0] == FLAG
    assert sorted((set(case.items) for case in late.items[1].items), key=str) == sorted(after, key=str)
