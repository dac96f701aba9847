"""Pieces are boxes of cases: what they say is what their formulas say, cut, joined or widened."""

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import And, Atom, Compare, Not, Or, Ref, Variable
from ci.proofs.versions.pieces import NO, SILENT, YES, Space, cut, is_silent, reading
from tests.bylaw.logic import strategies

ALL = list(strategies.cases())
WIDENED = 64


def parts(space, formula):
    """The whole space, cut until *formula* says one thing in every piece."""
    read, todo, inside, outside = space.read(formula), [{}], [], []
    while todo:
        piece = todo.pop()
        holds = reading(read, piece)
        if holds is None:
            todo += space.halves(piece, cut(read, piece))
        else:
            (inside if holds else outside).append(piece)
    return inside, outside


def where(space, pieces, case):
    return [piece for piece in pieces if truth(space.formula(piece), case)]


@given(strategies.formulas(with_compare=True))
@settings(max_examples=120, deadline=None)
def test_a_space_is_cut_into_disjoint_pieces_in_which_a_formula_says_one_thing(formula):
    space = Space(strategies.VARIABLES, WIDENED)
    inside, outside = parts(space, formula)
    for case in ALL[::5]:
        holds = truth(formula, case)
        assert [len(where(space, pieces, case)) for pieces in (inside, outside)] == ([1, 0] if holds else [0, 1])


@given(strategies.formulas(with_compare=True))
@settings(max_examples=120, deadline=None)
def test_joining_and_widening_keep_the_cases(formula):
    space = Space(strategies.VARIABLES, WIDENED)
    inside, _ = parts(space, formula)
    joined = space.joined(inside)
    wide = space.widest(joined)
    assert len(wide) <= len(joined) <= len(inside)
    for case in ALL[::5]:
        holds = truth(formula, case)
        assert len(where(space, joined, case)) == bool(holds)
        assert bool(where(space, wide, case)) == holds


@given(strategies.formulas(with_compare=True), st.booleans())
@settings(max_examples=120, deadline=None)
def test_a_formula_read_and_said_again_is_the_same(formula, wanted):
    space = Space(strategies.VARIABLES, WIDENED)
    again = space.as_formula(space.read(formula, wanted))
    for case in ALL[::5]:
        assert truth(again, case) == (truth(formula, case) == wanted)


def test_a_comparison_and_its_opposite_are_one_question():
    space = Space(strategies.VARIABLES, WIDENED)
    left, days = Ref("left"), Ref("days")
    for op in ("<", "<=", ">", ">=", "==", "!="):
        space.read(Compare(left, op, days))
        space.read(Compare(days, op, left))
    assert len(space.comparisons) == 3


def test_what_a_domain_settles_is_no_question():
    space = Space({"days": Variable("days", "integer", minimum=0, maximum=4)}, WIDENED)
    assert space.read(Atom("days", ">=", 0)) == YES
    assert space.read(Atom("days", ">", 4)) == NO


def test_a_fact_that_cases_are_silent_about_is_never_settled():
    space = Space({"flag": Variable("flag", "boolean")}, WIDENED)
    read = space.read(And((Atom("flag", "==", True), Atom("gone", "==", True))))
    assert cut(read, {}).var == "flag"
    yes, no = space.halves({}, cut(read, {}))
    assert reading(read, yes) is None and cut(read, yes) is None
    assert reading(read, no) is False


def test_a_comparison_with_such_a_fact_is_told():
    space = Space({"days": Variable("days", "integer")}, WIDENED)
    read = space.read(Or((Atom("days", ">", 1), Not(Compare(Ref("days"), "<", Ref("gone"))))))
    assert is_silent(read) and not is_silent(space.read(Atom("days", ">", 1)))
    assert SILENT in read.items


def test_a_whole_fact_is_said_with_both_ends():
    space = Space({"days": Variable("days", "integer", minimum=0)}, WIDENED)
    (piece,) = parts(space, And((Atom("days", ">", 20), Atom("days", "<", 31))))[0]
    assert space.formula(piece) == And((Atom("days", ">=", 21), Atom("days", "<=", 30)))
