"""Boxes say exactly what the plain reading says."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import (
    END,
    EVERYTHING,
    START,
    Box,
    TooManyBoxes,
    boxes,
    contains,
    domain,
    join_regions,
    lies_in,
    meet,
    meet_regions,
    meets,
    overlap,
    point,
    region,
    subtract,
    uncovered,
    without,
)
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import And, Atom, Not, Or, Variable
from tests.bylaw.logic.strategies import GRID, VARIABLES, cases, formulas
from tests.rows import each

DAYS = Variable("days", "integer", minimum=0)
PRICE = Variable("price", "decimal", minimum=0)


def holds(box, case):
    return all(lies_in(case[var], where) for var, where in box.regions.items())


@given(formulas())
@settings(max_examples=300, deadline=None)
def test_the_union_of_boxes_is_the_formula(formula):
    union = boxes(formula, VARIABLES)
    for case in cases():
        assert any(holds(box, case) for box in union) == truth(formula, case)


@given(formulas(), formulas())
@settings(max_examples=200, deadline=None)
def test_two_unions_overlap_exactly_where_both_hold(a, b):
    both = overlap(boxes(a, VARIABLES), boxes(b, VARIABLES))
    meeting = [case for case in cases() if truth(a, case) and truth(b, case)]
    assert (both is not None) == bool(meeting)


@given(formulas(), formulas())
@settings(max_examples=150, deadline=None)
def test_two_boxes_meet_exactly_where_something_is_left_of_both(a, b):
    for one in boxes(a, VARIABLES):
        for two in boxes(b, VARIABLES):
            assert meets(one, two) == (meet(one, two) is not None)


@given(formulas(), formulas())
@settings(max_examples=150, deadline=None)
def test_a_box_contains_another_exactly_where_nothing_is_left_of_that_one_outside(a, b):
    for outer in boxes(a, VARIABLES):
        for inner in boxes(b, VARIABLES):
            whole = {var: where for var, where in outer.regions.items() if where != domain(VARIABLES[var])}
            rest = subtract(inner, Box(whole), VARIABLES)
            assert contains(Box(whole), inner) == (rest == [])


@given(formulas(), formulas())
@settings(max_examples=150, deadline=None)
def test_subtracting_leaves_disjoint_pieces_with_exactly_the_rest(a, b):
    for box in boxes(a, VARIABLES)[:2]:
        for other in boxes(b, VARIABLES)[:2]:
            rest = subtract(box, other, VARIABLES)
            for case in cases():
                inside = [piece for piece in rest if holds(piece, case)]
                assert len(inside) == (1 if holds(box, case) and not holds(other, case) else 0)


@given(st.lists(formulas(), max_size=4))
@settings(max_examples=150, deadline=None)
def test_uncovered_finds_a_hole_exactly_when_there_is_one(parts):
    covers = [box for part in parts for box in boxes(part, VARIABLES)]
    hole = uncovered(EVERYTHING, covers, VARIABLES)
    holes = [case for case in cases() if not any(holds(box, case) for box in covers)]
    assert (hole is not None) == bool(holes)
    if hole is not None:
        case = {**holes[0], **point(hole, VARIABLES)}
        assert not any(holds(box, case) for box in covers)


@given(formulas())
@settings(max_examples=150, deadline=None)
def test_a_point_of_a_box_satisfies_the_formula(formula):
    for box in boxes(formula, VARIABLES):
        case = {name: values[0] for name, values in GRID.items()} | point(box, VARIABLES)
        assert truth(formula, case) is True


CUTS = (START, (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), END)
CELLS = range(len(CUTS) - 1)  # below 0, 0, between, 1, between, 2 and above: the least parts that bounds tell apart
FREE = Variable("x", "decimal")


def of_cells(cells):
    """The region that is made of some cells: neighbours are one span."""
    starts = [CUTS[n] for n in CELLS if n in cells and n - 1 not in cells]
    ends = [CUTS[n + 1] for n in CELLS if n in cells and n + 1 not in cells]
    return tuple(zip(starts, ends, strict=True))


SUBSETS = [{n for n in CELLS if chosen >> n & 1} for chosen in range(1 << len(CELLS))]


def test_regions_are_joined_met_and_cut_as_the_sets_of_values_that_they_are():
    regions = [of_cells(cells) for cells in SUBSETS]
    for one, a in zip(SUBSETS, regions, strict=True):
        for two, b in zip(SUBSETS, regions, strict=True):
            assert meet_regions(a, b) == of_cells(one & two)
            assert without(a, b) == of_cells(one - two)
            assert join_regions(a, b) == of_cells(one | two)


def test_boxes_meet_and_contain_each_other_as_the_sets_of_values_that_they_are():
    boxed = [(cells, Box({"x": of_cells(cells)})) for cells in SUBSETS if cells]
    for one, a in boxed:
        assert lies_in(point(a, {"x": FREE})["x"], a.regions["x"])
        for two, b in boxed:
            assert meets(a, b) == bool(one & two) == (meet(a, b) is not None)
            assert contains(a, b) == (two <= one)
            left = subtract(a, b, {"x": FREE})
            assert [box.regions["x"] for box in left] == ([of_cells(one - two)] if one - two else [])


@each(
    ("op", "value", "whole"),
    [
        ("<=", Fraction(3, 2), 1),
        ("<", Fraction(3, 2), 1),
        ("<", 2, 1),
        (">", Fraction(1, 2), 1),
        (">=", Fraction(1, 2), 1),
    ],
)
def test_a_fraction_bounds_whole_days_without_rounding_the_rule(op, value, whole):
    assert lies_in(whole, region(Atom("days", op, value), DAYS))
    assert truth(Atom("days", op, value), {"days": whole})


def test_a_fraction_never_equals_whole_days():
    assert region(Atom("days", "==", Fraction(3, 2)), DAYS) == ()


def test_decimals_are_dense():
    between = meet(
        Box({"price": region(Atom("price", ">", 10), PRICE)}), Box({"price": region(Atom("price", "<", 11), PRICE)})
    )
    assert between is not None
    value = point(between, {"price": PRICE})["price"]
    assert 10 < value < 11


def test_whole_numbers_are_not_dense():
    more, less = region(Atom("days", ">", 10), DAYS), region(Atom("days", "<", 11), DAYS)
    assert meet(Box({"days": more}), Box({"days": less})) is None


@each(
    ("tests", "telling"),
    [
        ([("<=", 30)], 30),
        ([(">=", 20)], 20),
        ([(">", 20)], 21),
        ([("<", 20)], 19),
        ([(">=", 15), ("<=", 30)], 15),
        ([("!=", 0)], 1),
    ],
)
def test_a_witness_lies_on_a_bound_that_someone_wrote(tests, telling):
    formula = And(tuple(Atom("days", op, value) for op, value in tests))
    (box,) = boxes(formula, {"days": DAYS})
    assert point(box, {"days": DAYS})["days"] == telling


def test_an_open_money_bound_gives_a_round_amount_beyond_it():
    (box,) = boxes(Atom("price", ">", 500), {"price": PRICE})
    assert point(box, {"price": PRICE})["price"] == 501


def test_a_test_that_everything_passes_is_no_box_of_its_own():
    assert boxes(Atom("days", ">=", 0), {"days": DAYS}) == (EVERYTHING,)
    assert boxes(Atom("kind", "in", ("tv", "shirt", "book")), VARIABLES) == (EVERYTHING,)


def test_alternatives_on_one_fact_become_one_box():
    either = Or((Atom("kind", "==", "tv"), Atom("kind", "==", "book")))
    assert boxes(either, VARIABLES) == (Box({"kind": frozenset(("tv", "book"))}),)


def test_a_guard_that_needs_too_many_boxes_says_so():
    many = {f"v{i}": Variable(f"v{i}", "boolean") for i in range(14)}
    pairs = [Or((Atom(f"v{i}", "==", True), Atom(f"v{i + 1}", "==", True))) for i in range(0, 14, 2)]
    with pytest.raises(TooManyBoxes):
        boxes(And(tuple(pairs)), many, limit=64)


def test_a_hole_search_beyond_its_budget_says_so():
    many = {f"v{i}": Variable(f"v{i}", "integer") for i in range(12)}
    covers = [Box({f"v{i}": region(Atom(f"v{i}", "==", i), many[f"v{i}"])}) for i in range(12)]
    with pytest.raises(TooManyBoxes):
        uncovered(EVERYTHING, covers, many, budget=3)


def test_an_unbounded_domain_has_no_ends():
    assert not boxes(Not(Atom("days", ">=", 0)), {"days": DAYS})
    assert boxes(Not(Atom("any", ">=", 0)), {"any": Variable("any", "integer")})
    assert domain(Variable("any", "decimal")) != ()


def test_the_calendar_has_its_first_and_its_last_day():
    day = Variable("day", "date")
    for value in (date.min, date.max):
        found = region(Atom("day", "==", value.toordinal()), day)
        assert lies_in(value.toordinal(), found)
        assert found == meet_regions(found, domain(day))
    assert not region(Atom("day", "<", date.min.toordinal()), day)
    assert not region(Atom("day", ">", date.max.toordinal()), day)
