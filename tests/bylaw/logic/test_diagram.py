"""A diagram says of all completions what trying every one of them says."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import Box, lies_in, region
from bylaw.logic.boxes.diagram import Shapes, TooWide, drawn, laid_out
from bylaw.logic.formula.ir import Atom, Variable
from tests.bylaw.logic.strategies import GRID, VARIABLES, atoms, cases
from tests.rows import each

regions = atoms().map(lambda atom: (atom.var, region(atom, VARIABLES[atom.var]))).filter(lambda pair: bool(pair[1]))
boxes = st.lists(regions, max_size=4).map(lambda pairs: Box(dict(pairs)))


def holds(box, case):
    return all(lies_in(case[var], where) for var, where in box.regions.items())


def layout(found, groups, existing=(), known=None):
    shapes = known or Shapes(VARIABLES)
    marks = [shapes.marks(box) for box in found]
    further = Shapes(VARIABLES, shapes)
    return laid_out(marks, groups, [further.marks(box) for box in existing], further)


def held(found, groups, case):
    return sum({1 << group for box, group in zip(found, groups, strict=True) if holds(box, case)})


@given(st.lists(st.tuples(boxes, st.integers(0, 3)), min_size=1, max_size=5), st.lists(boxes, max_size=2), st.data())
@settings(max_examples=60, deadline=None)
def test_its_ends_and_the_facts_that_turn_them(drawn_boxes, existing, data):
    found, named = zip(*drawn_boxes, strict=True)
    order = list(dict.fromkeys(named))
    groups = [order.index(name) for name in named]
    end_of = data.draw(st.lists(st.integers(0, 2), min_size=1 << len(order), max_size=1 << len(order)))
    diagram = drawn(layout(found, groups, existing), end_of.__getitem__)
    there = [case for case in cases() if not existing or any(holds(box, case) for box in existing)]
    ends = {tuple(case.values()): end_of[held(found, groups, case)] for case in there}
    assert set(diagram.ends.values()) == set(ends.values())
    for part in (lambda end: end, lambda end: end == 1):
        turning = set()
        for place, name in enumerate(GRID):
            by_rest = {}
            for case, end in ends.items():
                by_rest.setdefault(case[:place] + case[place + 1 :], set()).add(part(end))
            if any(len(different) > 1 for different in by_rest.values()):
                turning.add(name)
        told = diagram.turning(part)
        if turning or len(set(map(part, ends.values()))) < 2:
            assert set(told) == turning
        else:  # it takes several at once
            assert told


def test_numbers_given_for_one_case_are_not_kept():
    known = Shapes(VARIABLES)
    one, two = (Box({"days": region(Atom("days", "<=", most), VARIABLES["days"])}) for most in (1, 2))
    before = layout([one], [0], known=known)
    assert layout([one], [0], [two, one], known).existing == 2
    assert layout([one], [0], known=known) == before
    assert known.marks(two) == (("days", 1),)


def test_boxes_that_lie_alike_have_one_layout():
    known = Shapes(VARIABLES)
    bounds = [Box({"days": region(Atom("days", "<=", most), VARIABLES["days"])}) for most in (1, 2, 3)]
    among = [layout([bounds[2]], [0], [bounds[n]], known) for n in (0, 1)]
    assert among[0] == among[1] != layout([bounds[0]], [0], [bounds[2]], known)


def test_it_gives_up_beyond_its_budget():
    flags = [Box({name: frozenset((True,))}) for name in ("flag", "open")]
    asked = layout(flags, [0, 1])
    states = 1 + 2 + 4  # nothing known, one of them known, both
    assert len(drawn(asked, lambda held: held, states).ends) == 4
    with pytest.raises(TooWide):
        drawn(asked, lambda held: held, states - 1)


@each("values", list(product((True, False), repeat=2)))
def test_a_fact_with_one_region_for_all_is_not_asked(values):
    whole = Box({"flag": frozenset((True, False)), "open": frozenset(set(values))})
    diagram = drawn(layout([whole], [0]), lambda held: held)
    assert diagram.turning(lambda end: end) == ([] if len(set(values)) == 2 else ["open"])


@given(st.lists(boxes, min_size=1, max_size=4), *[st.lists(boxes, min_size=1, max_size=2)] * 2)
@settings(max_examples=60, deadline=None)
def test_what_exists_matters_only_by_where_its_bounds_lie(found, one, other):
    shapes, groups = Shapes(VARIABLES), list(range(len(found)))
    for box in found:
        shapes.marks(box)
    if shapes.placed(one) == shapes.placed(other):
        assert layout(found, groups, one, shapes) == layout(found, groups, other, shapes)


@each("other, is_alike", [(1, False), (3, True), (4, False)])
def test_bounds_between_the_same_two_are_alike(other, is_alike):
    days = Variable("days", "decimal")
    shapes = Shapes({"days": days})
    for bound in (1, 4):
        shapes.marks(Box({"days": region(Atom("days", "<=", bound), days)}))
    one, two = ([Box({"days": region(Atom("days", "<=", bound), days)})] for bound in (2, other))
    assert (shapes.placed(one) == shapes.placed(two)) == is_alike
