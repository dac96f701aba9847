"""Candidates leave out nobody who can meet, and nothing is found without them that they would have missed."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import Box, meet
from bylaw.logic.decide.conflicts import contradicts
from bylaw.logic.formula.ir import And, Atom, Compare, ConditionalRule, Effect, Or, Ref, Ruleset, Source, Variable
from ci.proofs import candidates as under_test
from ci.proofs.candidates import Candidates, Index
from ci.proofs.conflicts.conflict import _tested, clashes, shown
from ci.proofs.theory import Theory
from tests.bylaw.logic.strategies import rulesets


class AllRivals:
    """Every rival of a rule, met or not: what candidates are held against."""

    def __init__(self, theory):
        self.of = theory.rivals.of


def theory(ruleset, at=1):
    return Theory(ruleset, at, rlimit=5_000_000)


@st.composite
def timed(draw, most=8):
    """Random rulesets of which some rules hold for a while only."""
    ruleset = draw(rulesets(with_compare=True, most=most))
    days = st.one_of(st.none(), st.integers(0, 4))
    rules = []
    for rule in ruleset.rules:
        start, end = draw(days), draw(days)
        rules.append(replace(rule, start=start, end=end if end is None or start is None else max(start, end)))
    return replace(ruleset, rules=tuple(rules))


@given(timed())
@settings(max_examples=100, deadline=None)
def test_whoever_is_left_out_never_meets(ruleset):
    asked = theory(ruleset)
    for i, one in enumerate(ruleset.rules):
        found = asked.candidates.of(i)
        assert list(found) == sorted(set(found))
        assert set(found) <= set(asked.rivals.of(i))
        for j in set(asked.rivals.of(i)) - set(found):
            two = ruleset.rules[j]
            mine, its = asked.evaluator.boxes_of(i), asked.evaluator.boxes_of(j)
            apart = mine is not None and its is not None and all(meet(a, b) is None for a in mine for b in its)
            assert apart or not any(one.holds_on(day) and two.holds_on(day) for day in range(6))


@given(timed())
@settings(max_examples=100, deadline=None)
def test_who_is_whose_candidate_is_mutual(ruleset):
    found = Candidates(theory(ruleset).evaluator)
    for i in range(len(ruleset.rules)):
        assert all(i in found.of(j) for j in found.of(i))


@given(timed())
@settings(max_examples=100, deadline=None)
def test_the_same_clashes_are_found_in_the_same_order_as_among_all_pairs(ruleset):
    asked, everyone = theory(ruleset), theory(ruleset)
    everyone.candidates = AllRivals(everyone)
    assert [told(clash) for clash in clashes(asked)] == [told(clash) for clash in clashes(everyone)]


def told(clash):
    """What a clash says; of many cases that show it the solver may pick another one."""
    return clash.first, clash.second, clash.winner, clash.verdict.status


def regions():
    ends = st.integers(0, 9)
    span = st.tuples(ends, ends).map(lambda pair: (((min(pair), 0), (max(pair) + 1, 0)),))
    words = st.frozensets(st.sampled_from("abc"), min_size=1)
    facts = {"n": span, "m": span, "w": words}
    return st.fixed_dictionaries({}, optional=facts).map(Box)


@given(st.lists(regions(), max_size=60), regions())
@settings(max_examples=130, deadline=None)
def test_an_index_finds_exactly_the_boxes_without_holes_that_meet(boxes, asked):
    found = Index(boxes).meeting(asked)
    assert [bool(found >> n & 1) for n in range(len(boxes))] == [meet(box, asked) is not None for box in boxes]


# ---- by hand --------------------------------------------------------------------------------------------------------

DAYS, KIND = Variable("days", "integer", minimum=0), Variable("kind", "enum", ("tv", "book"))
LIMIT = Variable("limit", "integer", minimum=0)
WORLD = {variable.name: variable for variable in (DAYS, KIND, LIMIT)}


def rule(id, action, guard, kind="outcome", **more):
    effect = Effect(kind, action, "refund" if kind == "outcome" else None)
    return ConditionalRule(id, id, "x", effect, guard, 4, Source("p.yaml"), **more)


def band(low, high):
    return And((Atom("days", ">=", low), Atom("days", "<=", high)))


def candidates(*rules, **more):
    asked = theory(Ruleset(WORLD, tuple(rules), outcomes=("refund",), **more))
    return [asked.candidates.of(i) for i in range(len(rules))]


def test_ranges_that_touch_meet_and_ranges_that_follow_each_other_do_not():
    found = candidates(rule("a", "full", band(0, 9)), rule("b", "none", band(9, 12)), rule("c", "none", band(13, 20)))
    assert found == [(1,), (0,), ()]


def test_equal_actions_are_no_candidates():
    assert candidates(rule("a", "full", band(0, 9)), rule("b", "full", band(0, 9))) == [(), ()]


def test_a_region_with_a_hole_counts_as_a_whole():
    outer = Or((band(0, 2), band(10, 12)))
    assert candidates(rule("a", "full", And((outer,))), rule("b", "none", band(20, 30))) == [(), ()]
    assert candidates(rule("a", "full", And((outer,))), rule("b", "none", band(11, 11))) == [(1,), (0,)]


def test_rules_about_other_facts_are_candidates():
    assert candidates(rule("a", "full", band(0, 9)), rule("b", "none", Atom("kind", "==", "tv"))) == [(1,), (0,)]


def test_a_comparison_of_facts_keeps_nobody_apart():
    compare = Compare(Ref("days"), "<", Ref("limit"))
    assert candidates(rule("a", "full", compare), rule("b", "none", band(0, 9))) == [(1,), (0,)]


def test_a_rule_that_needs_too_many_boxes_meets_everyone(monkeypatch):
    asked = theory(Ruleset(WORLD, (rule("a", "full", band(0, 1)), rule("b", "none", band(5, 6))), outcomes=("refund",)))
    asked.evaluator._boxes[0] = None
    assert [asked.candidates.of(i) for i in (0, 1)] == [(1,), (0,)]


def test_a_guard_that_no_case_meets_has_no_candidates():
    impossible = And((Atom("kind", "==", "tv"), Atom("kind", "==", "book")))
    assert candidates(rule("a", "full", impossible), rule("b", "none", band(0, 9))) == [(), ()]


def test_rules_never_in_force_together_are_no_candidates():
    first = rule("a", "full", band(0, 9), start=10, end=19)
    assert candidates(first, rule("b", "none", band(0, 9), start=20)) == [(), ()]
    assert candidates(first, rule("b", "none", band(0, 9), start=19)) == [(1,), (0,)]


def test_a_prohibition_meets_demands_and_permissions_of_its_action():
    ban = rule("a", "call", band(0, 9), kind="prohibited")
    duty, leave = rule("b", "call", band(5, 6), kind="required"), rule("c", "call", band(9, 9), kind="permitted")
    assert candidates(ban, duty, leave, rule("d", "mail", band(0, 9), kind="required")) == [(1, 2), (0,), (0,), ()]


def test_demands_that_exclude_each_other_meet():
    rules = rule("a", "call", band(0, 9), kind="required"), rule("b", "mail", band(5, 6), kind="required")
    excludes = frozenset((("call", "mail"), ("mail", "call")))
    assert candidates(*rules, excludes=excludes) == [(1,), (0,)]
    assert contradicts(rules[0].effect, rules[1].effect, excludes)


def test_more_members_than_one_step_of_an_index_are_told_apart():
    count = 5 * under_test.STEP
    rules = [rule(f"r{i:04d}", f"act{i % 2}", band(10 * i, 10 * i + 10)) for i in range(count)]
    found = candidates(*rules)
    assert found[0] == (1,)
    assert found[-1] == (count - 2,)
    assert all(found[i] == (i - 1, i + 1) for i in range(1, count - 1))


@given(rulesets(with_compare=True))
@settings(max_examples=60, deadline=None)
def test_facts_that_both_guards_test_need_not_be_tried_without(ruleset):
    asked = theory(ruleset)
    for clash in (shown(asked, clash) for clash in clashes(asked)):
        tested = _tested(ruleset.rules[clash.first].guard) | _tested(ruleset.rules[clash.second].guard)
        assert tested <= set(clash.verdict.facts)
