"""Looked up or tried one by one: the same rules fire, and the same may still fire."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import lies_in, region
from bylaw.logic.decide import firing
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.decide.firing import Line, as_bits, bits
from bylaw.logic.formula.ir import And, Atom, ConditionalRule, Effect, Or, Ruleset, Source, Variable
from tests.bylaw.logic.strategies import GRID, rulesets
from tests.rows import each

facts_known = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in GRID.items()})


@given(st.sets(st.integers(0, 300)))
def test_a_set_of_bits_holds_what_was_put_in(members):
    assert list(bits(as_bits(members))) == sorted(members)
    assert as_bits(members) == sum(1 << i for i in members)


@given(rulesets(with_compare=True, most=8), facts_known)
@settings(max_examples=40, deadline=None)
def test_the_index_finds_what_trying_every_rule_finds(ruleset, facts):
    assert Evaluator(ruleset, is_indexed=True).firing(facts, 1) == Evaluator(ruleset).firing(facts, 1)


@given(rulesets(most=8), facts_known)
@settings(max_examples=40, deadline=None)
def test_a_rule_with_more_boxes_than_slots_is_read_itself(ruleset, facts):
    before, firing.SLOTS = firing.SLOTS, 1
    try:
        assert Evaluator(ruleset, is_indexed=True).firing(facts, 1) == Evaluator(ruleset).firing(facts, 1)
    finally:
        firing.SLOTS = before


@given(rulesets(with_compare=True), facts_known)
@settings(max_examples=40, deadline=None)
def test_a_decision_is_the_same_with_the_index(ruleset, facts):
    one, two = Evaluator(ruleset, is_indexed=True).decide(facts, 1), Evaluator(ruleset).decide(facts, 1)
    assert replace(one, missing_facts=(), undecided={}) == replace(two, missing_facts=(), undecided={})
    assert one.undecided.keys() == two.undecided.keys()


AMOUNT = Variable("amount", "decimal", minimum=0)


@given(
    st.lists(st.tuples(st.sampled_from(("==", "!=", "<", "<=", ">", ">=")), st.integers(0, 6)), max_size=40),
    st.fractions(0, 7, max_denominator=4),
    st.sampled_from((1, 40, 4_000_000)),
)
@settings(max_examples=40, deadline=None)
def test_a_line_knows_who_allows_a_value_however_few_sets_it_keeps(tests, value, room):
    regions = [
        (n, where) for n, (op, bound) in enumerate(tests) if (where := region(Atom("amount", op, bound), AMOUNT))
    ]
    before, firing.ROOM = firing.ROOM, room
    try:
        silent = 1 << 50
        found = Line(regions, silent).at(value)
    finally:
        firing.ROOM = before
    assert found == silent | as_bits(n for n, where in regions if lies_in(value, where))


def rule(name, guard, **others):
    return ConditionalRule(name, "P", "x", Effect("required", name), guard, 3, Source("x.yaml"), **others)


def test_a_rule_out_of_force_is_not_found():
    ruleset = Ruleset({"flag": Variable("flag", "boolean")}, (rule("a", And(()), start=5, end=9), rule("b", And(()))))
    evaluator = Evaluator(ruleset, is_indexed=True)
    assert [evaluator.firing({}, day)[0] for day in (4, 5, 9, 10)] == [[1], [0, 1], [0, 1], [1]]


def test_many_days_are_not_all_remembered():
    evaluator = Evaluator(Ruleset({}, (rule("a", And(()), start=50),)), is_indexed=True)
    assert [len(evaluator.firing({}, day)[0]) for day in range(200)] == [0] * 50 + [1] * 150


@each("value, fires", [(Fraction(1, 2), []), (Fraction(3, 2), [0]), (3, []), (5, [0])])
def test_regions_with_holes_are_exact(value, fires):
    guard = And((Or((Atom("amount", "in", (Fraction(3, 2), 5)), Atom("amount", ">", 100))),))
    evaluator = Evaluator(Ruleset({"amount": AMOUNT}, (rule("a", guard),)), is_indexed=True)
    assert evaluator.firing({"amount": value}, 1) == (fires, [])
    assert evaluator.firing({}, 1) == ([], [0])


@given(rulesets(with_compare=True, most=6), st.lists(facts_known, min_size=2, max_size=6))
@settings(max_examples=100, deadline=None)
def test_cases_in_one_state_read_every_guard_alike(ruleset, asked):
    """All but comparisons, of which the index says that they are not in the state."""
    evaluator, seen = Evaluator(ruleset, is_indexed=True), {}
    for i in bits(as_bits(range(len(ruleset.rules))) & ~evaluator.index.unread):
        for facts in asked:
            look = evaluator.index.look(facts, 1)
            if look.some >> i & 1:  # of what cannot fire nobody reads the guard
                reading, state = evaluator.reader_of(i)(facts), look.state & evaluator.index.scope(1 << i)
                assert seen.setdefault((i, state), reading) == reading


@given(rulesets(most=8), facts_known)
@settings(max_examples=60, deadline=None)
def test_facts_are_counted_alike_one_by_one_and_together(ruleset, facts):
    evaluator = Evaluator(ruleset, is_indexed=True)
    index, look = evaluator.index, evaluator.index.look(facts, 1)
    rules, counts = look.open, []
    for few in (0, 64):
        before, firing.FEW = firing.FEW, few
        try:
            counts.append(look.waiting(rules))
        finally:
            firing.FEW = before
    waiting = [
        {
            var
            for n, box in zip(index.places[i], evaluator.boxes_of(i), strict=True)
            for var in box.regions
            if look.possible >> n & 1
        }
        - facts.keys()
        for i in bits(rules)
    ]
    assert counts == [sum(map(index.lanes.among, waiting))] * 2
