"""Points enough: a tie says of facts that are compared what trying all their values says."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import Box, lies_in, region
from bylaw.logic.boxes.diagram import TooWide
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.linked_facts import asked, is_met, member, tie
from bylaw.logic.formula.ir import Arith, Atom, Compare, Const, Ref, Variable
from tests.rows import each

EIGHTHS = tuple(Fraction(n, 8) for n in range(17))
VARIABLES = {
    "days": Variable("days", "integer", minimum=0, maximum=3),
    "left": Variable("left", "integer", minimum=-1, maximum=2),
    "bought": Variable("bought", "date", minimum=739_000, maximum=739_003),
    "due": Variable("due", "date", minimum=739_001, maximum=739_003),
    "price": Variable("price", "decimal", minimum=0, maximum=2),
    "paid": Variable("paid", "decimal", minimum=0, maximum=2),
    "sum": Variable("sum", "integer"),
    "rest": Variable("rest", "integer"),
    "share": Variable("share", "decimal"),
    "fee": Variable("fee", "decimal"),
}
GRID = {
    "days": tuple(range(4)),
    "left": tuple(range(-1, 3)),
    "bought": tuple(range(739_000, 739_004)),
    "due": tuple(range(739_001, 739_004)),
    "price": EIGHTHS,
    "paid": EIGHTHS,
}
OPS = ("==", "!=", "<", "<=", ">", ">=")
WORLDS = (("days", "left"), ("bought", "due"), ("price", "paid"), ("days", "left", "price"), ("days", "price", "paid"))


def plus(fact, number):
    return Arith("+", Ref(fact), Const(number)) if number else Ref(fact)


@st.composite
def comparisons(draw, facts):
    """A comparison of two facts, mostly a step apart."""
    one, other = draw(st.permutations(facts))[:2]
    by = st.integers(-1, 1) if facts[0] in ("bought", "due") else st.sampled_from((-1, Fraction(-1, 2), 0, 0, 1))
    left, right, op = plus(one, draw(by)), Ref(other), draw(st.sampled_from(OPS))
    if all(VARIABLES[fact].kind == "integer" for fact in (one, other)) and draw(st.integers(0, 3)) == 0:
        left, right = (
            Arith("*", Const(draw(st.integers(2, 3))), left),
            Arith("*", Const(draw(st.integers(1, 2))), right),
        )
    return Compare(left, op, right)


@st.composite
def drawn_boxes(draw, facts):
    regions = {}
    for fact in draw(st.lists(st.sampled_from(facts), max_size=2, unique=True)):
        start = GRID[fact][0]
        found = region(Atom(fact, draw(st.sampled_from(OPS)), start + draw(st.integers(0, 2))), VARIABLES[fact])
        if found:
            regions[fact] = found
    return Box(regions, tuple(draw(st.lists(comparisons(facts), min_size=0, max_size=2))))


def holds(box, case):
    return all(lies_in(case[var], where) for var, where in box.regions.items()) and all(
        truth(item, case) for item in box.residue
    )


@st.composite
def questions(draw):
    facts = draw(st.sampled_from(WORLDS))
    own = draw(st.lists(drawn_boxes(facts), min_size=1, max_size=3))
    existing = draw(st.lists(drawn_boxes(facts), max_size=2))
    between = 2 if VARIABLES[facts[0]].kind == "decimal" else 1  # so that the grid has a point between any two bounds
    known = {facts[0]: draw(st.sampled_from(GRID[facts[0]][::between]))} if draw(st.booleans()) else {}
    own, existing = ([box for box in some if member(box, known)] for some in (own, existing))
    return known, own, existing


@given(questions())
@settings(max_examples=150, deadline=None)
def test_its_cells_and_the_facts_that_lead_between_them(question):
    known, own, existing = question
    boxes = [*own, *existing]
    for one in asked([member(box, known) for box in boxes], len(existing)):
        told = tie(one, VARIABLES)
        seen = {}
        for values in product(*(GRID[fact] for fact in one.facts)):
            case = known | dict(zip(one.facts, values, strict=True))
            cell = 0
            for n, part in enumerate(one.members):
                within = all(lies_in(case[var], where) for var, where in part.regions)
                tested = [item for item in boxes[n].residue if facts_of(item) <= case.keys()]
                cell |= (within and all(truth(item, case) for item in tested)) << n
            if not existing or cell >> len(own):
                seen[values] = cell
        assert {cell for cell in told.cells if not existing or cell >> len(own)} == set(seen.values())
        spoken = {fact for box in own for fact in box.facts - known.keys()}
        for place, fact in enumerate(one.facts):
            if fact in spoken:
                alike = {}
                for values, cell in seen.items():
                    alike.setdefault(values[:place] + values[place + 1 :], set()).add(cell)
                steps = {frozenset(pair) for cells in alike.values() for pair in combinations(cells, 2)}
                found = ({told.cells[a], told.cells[b]} for a, b in told.steps[place])
                kept = {frozenset(pair) for pair in found if not existing or all(cell >> len(own) for cell in pair)}
                assert kept == steps
            elif spoken.intersection(one.facts):
                assert told.steps[place] == ()


def facts_of(item):
    return Box({}, (item,)).facts


@given(st.sampled_from(WORLDS).flatmap(lambda facts: st.lists(comparisons(facts), min_size=1, max_size=4)))
@settings(max_examples=150, deadline=None)
def test_comparisons_that_exclude_each_other_have_no_point(items):
    box = Box({}, tuple(items))
    for one in asked([member(box, {})], 0):
        mine = [item for item in items if set(facts_of(item)) <= set(one.facts)]
        cases = (dict(zip(one.facts, values, strict=True)) for values in product(*(GRID[fact] for fact in one.facts)))
        assert is_met(one, VARIABLES) == any(all(truth(item, case) for item in mine) for case in cases)


# ---- rows -----------------------------------------------------------------------------------------------------------


def less(one, other, op="<"):
    return Compare(Ref(one), op, Ref(other))


def times(by, fact):
    return Arith("*", Const(by), Ref(fact))


def the_tie(*boxes):
    (one,) = asked([member(box, {}) for box in boxes], 0)
    return one


POSSIBLE = {
    "without an end": ([less("sum", "rest")], True),
    "in a circle": ([less("sum", "rest"), less("rest", "sum")], False),
    "a step apart": ([less("sum", "rest"), Compare(Ref("rest"), "<=", plus("sum", 1))], True),
    "no whole number between": ([less("sum", "rest"), Compare(Ref("rest"), "<", plus("sum", 1))], False),
    "a decimal between": ([less("share", "fee"), Compare(Ref("fee"), "<", plus("share", 1))], True),
    "a decimal between two whole numbers": ([less("sum", "share"), less("share", "rest")], True),
    "a whole number below a decimal that ends": ([less("sum", "share"), Compare(Ref("share"), "<", Const(3))], True),
    "a whole number above a decimal that begins": (
        [less("sum", "share", ">"), Compare(Ref("share"), ">", Const(3))],
        True,
    ),
    "no whole number between two decimals": (
        [
            *(less("share", "sum"), less("sum", "fee")),
            *(less("rest", "share", "<="), Compare(Ref("fee"), "<=", plus("rest", 1))),
        ],
        False,
    ),
    "shares that leave room": ([Compare(times(2, "share"), "<", Ref("fee")), less("fee", "share")], True),
    "shares that leave none above zero": (
        [Compare(times(2, "share"), "<", Ref("fee")), less("fee", "share"), less("fee", "price", ">")],
        False,
    ),
    "a sum of facts": ([Compare(Arith("+", Ref("days"), Ref("left")), ">", Ref("sum")), less("sum", "days")], True),
    "a double between": ([Compare(times(2, "days"), "==", plus("left", Fraction(1, 2)))], False),
}


@each("title", POSSIBLE)
def test_whether_there_is_a_point(title):
    items, expected = POSSIBLE[title]
    assert is_met(the_tie(Box({}, tuple(items))), VARIABLES) == expected


def test_known_facts_are_put_in():
    item = Compare(Arith("*", Ref("days"), Ref("left")), "<", Ref("sum"))
    (sign,) = member(Box({}, (item,)), {"days": 3}).signs
    assert sign.sum == ((("left", 3), ("sum", -1)), 0)
    assert member(Box({}, (item,)), {"days": 3, "left": 1, "sum": 3}) is None
    assert member(Box({}, (item,)), {"days": 3, "left": 1, "sum": 4}).signs == ()


def test_facts_of_two_ties_are_asked_apart():
    boxes = [Box({}, (less("sum", "rest"),)), Box({}, (less("share", "fee"), less("fee", "price")))]
    found = asked([member(box, {}) for box in boxes], 0)
    assert [one.facts for one in found] == [("fee", "price", "share"), ("rest", "sum")]


BEYOND = {
    "facts multiplied with each other": [Compare(Arith("*", Ref("sum"), Ref("rest")), ">", Const(3))],
    "bounds that divide": [Compare(times(2, "sum"), "<=", times(3, "rest"))],
    "more points than are tried": [less(f"n{n}", f"n{n + 1}") for n in range(7)],
}


@pytest.mark.parametrize("title", BEYOND)
def test_what_is_beyond_points_is_left_to_others(title):
    many = {f"n{n}": Variable(f"n{n}", "decimal", minimum=0, maximum=n + 1) for n in range(8)}
    with pytest.raises(TooWide):
        tie(the_tie(Box({}, tuple(BEYOND[title]))), VARIABLES | many)


@each(
    "item",
    [
        Compare(times(2, "days"), "<=", times(3, "left")),
        Compare(times(3, "bought"), "<=", Arith("+", times(2, "due"), Const(739_001))),
    ],
    ids=["numbers", "dates"],
)
def test_what_divides_is_tried_where_there_are_few_values(item):
    told = tie(the_tie(Box({}, (item,))), VARIABLES)
    assert told == (tuple(sorted(facts_of(item))), told.cells, (((0, 1),), ((0, 1),)))
