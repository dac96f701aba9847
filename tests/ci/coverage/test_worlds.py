"""In worlds small enough to try every case: what counts as covered is so, and the cases that are missing cover it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import boxes, lies_in
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import Atom, ConditionalRule, Constraint, Effect, Ruleset, Source
from bylaw.logic.words.readable import as_formula
from ci.coverage.formulas import put
from ci.coverage.goals import items
from ci.coverage.measure import Coverage, Reading, Tried, expects, measure
from ci.coverage.missing import hints, reached, survey
from ci.proofs.theory import Theory
from tests.bylaw.logic import strategies

ALL = list(strategies.cases())
DAY = 1


@st.composite
def worlds(draw):
    """A ruleset in which a rule may be an exception of its policy, and an invariant may forbid cases."""
    ruleset = draw(strategies.rulesets(with_compare=True))
    origins = draw(st.lists(st.sampled_from(("action", "exception")), min_size=5, max_size=5))
    rules = tuple(replace(rule, origin=origin) for rule, origin in zip(ruleset.rules, origins, strict=False))
    forms = draw(st.lists(strategies.formulas(with_compare=True, leaves=2), max_size=1))
    constraints = tuple(Constraint("C1", "P0", formula, "", Source("x.yaml")) for formula in forms)
    return replace(ruleset, rules=rules, constraints=constraints)


def reading_of(ruleset):
    return Reading(Theory(ruleset, DAY, rlimit=5_000_000))


def says(reading, i, facts):
    """What the full decision says about the subject of a rule, and whether that is what the rule says."""
    decision = reading.theory.evaluator.decide(facts, DAY)
    effect = reading.rules[i].effect
    if effect.kind == "outcome":
        return decision.outcomes[effect.outcome].action == effect.action
    return effect.action in getattr(decision, effect.kind)


def wins(reading, i, facts):
    """By hand: it fires, is not lost, clashes with nobody, and is what is said."""
    standing = reading.theory.evaluator.standing(
        [j for j, rule in enumerate(reading.rules) if truth(rule.guard, facts) is True]
    )
    return i in standing.stands and not any(i in pair for pair in standing.clashes) and says(reading, i, facts)


def decides(reading, goal, facts):
    """By hand: the case stands on that side of the bound, and one step over it the rule no longer says so."""
    edge, guard = goal.edge, reading.rules[goal.rule].guard
    inner, outer = {**facts, edge.var: edge.inside.value}, {**facts, edge.var: edge.outside.value}
    if facts != (inner if goal.aim == "inside" else outer):
        return False
    if not (exists(reading, inner) and exists(reading, outer)):
        return False
    return not truth(guard, outer) and wins(reading, goal.rule, inner) and not says(reading, goal.rule, outer)


def exists(reading, facts):
    return all(truth(constraint.formula, facts) for constraint in reading.theory.ruleset.constraints)


def by_hand(reading, goal, facts):
    if not exists(reading, facts):
        return False
    guard = truth(reading.rules[goal.rule].guard, facts)
    match goal.aim:
        case "fires":
            return guard
        case "wins":
            return wins(reading, goal.rule, facts)
        case "inside" | "outside":
            return decides(reading, goal, facts)
        case "region":
            inside = all(lies_in(facts[var], where) for var, where in goal.box.regions.items())
            return inside and all(truth(item, facts) for item in goal.box.residue)
        case "otherwise":
            return not guard and any(truth(reading.rules[j].guard, facts) for j in goal.siblings)


@given(worlds(), st.lists(st.sampled_from(ALL), max_size=3))
@settings(max_examples=60, deadline=None)
def test_what_full_cases_show_is_what_can_be_seen_by_hand(ruleset, some):
    reading = reading_of(ruleset)
    found = measure(reading, items(reading.theory), [Tried(facts, DAY) for facts in some])
    for item in found.items:
        for goal in item.goals:
            assert (goal in found.met) == any(by_hand(reading, goal, facts) for facts in some)


@given(worlds())
@settings(max_examples=40, deadline=None)
def test_a_goal_is_out_of_reach_exactly_when_no_case_of_the_world_shows_it(ruleset):
    reading = reading_of(ruleset)
    found = survey(reading, items(reading.theory), [])
    assert found.unknown == ()
    for item in found.coverage.items:
        for goal in item.goals:
            assert (goal in found.coverage.impossible) == (not any(by_hand(reading, goal, facts) for facts in ALL))


@given(worlds(), worlds(), st.lists(st.sampled_from(ALL), max_size=2))
@settings(max_examples=40, deadline=None)
def test_what_showed_a_goal_in_another_set_is_a_hint_and_changes_no_number(ruleset, other, some):
    told = hints(reading_of(other), survey(reading_of(other), items(reading_of(other).theory), []))
    reading = reading_of(ruleset)
    asked, cases = items(reading.theory), [Tried(facts, DAY) for facts in some]
    assert reached(reading, asked, cases, told) == survey(reading, asked, cases).coverage


def test_where_thousands_of_pairs_contradict_each_other_the_solver_is_not_asked():
    def coverage_of(count):
        rules = [
            ConditionalRule(
                f"R{i}", f"P{i}", "x", Effect("outcome", f"a{i}", "refund"), Atom("days", ">=", 1), 3, Source("x")
            )
            for i in range(count)
        ]
        ruleset = Ruleset({"days": strategies.VARIABLES["days"]}, tuple(rules), outcomes=("refund",))
        reading = reading_of(ruleset)
        return survey(reading, items(reading.theory, [0]), [])

    few, many = coverage_of(5), coverage_of(64)
    assert {goal.aim for goal in few.coverage.impossible} == {"wins", "inside", "outside"}
    assert {goal.aim for goal in many.unknown} == {"wins", "inside", "outside"}


@given(worlds(), st.lists(st.sampled_from(ALL), max_size=2))
@settings(max_examples=40, deadline=None)
def test_the_missing_cases_hold_and_cover_all_that_can_be_covered(ruleset, some):
    reading = reading_of(ruleset)
    cases = [Tried(facts, DAY) for facts in some]
    found = survey(reading, items(reading.theory), cases)
    added = [Tried(case.facts, case.day, expects(case.expect)) for case in found.missing]
    after = measure(reading, found.coverage.items, [*cases, *added])
    after = Coverage(after.items, after.met, found.coverage.impossible)
    covered, count = after.tally()
    assert covered == count
    for case in found.missing:
        decision = reading.theory.evaluator.decide(case.facts, case.day)
        for key, expected in case.expect.items():
            if key in decision.outcomes:
                assert decision.outcomes[key].action == expected
                assert key not in decision.undecided
            else:
                assert {action: action in getattr(decision, key) for action in expected} == expected


@given(worlds())
@settings(max_examples=60, deadline=None)
def test_each_missing_case_shows_something_that_the_others_before_it_in_size_do_not(ruleset):
    reading = reading_of(ruleset)
    found = survey(reading, items(reading.theory), [])
    facts = [tuple(sorted(case.facts.items())) for case in found.missing]
    assert len(facts) == len(set(facts))
    shown = [goal for case in found.missing for goal in case.goals]
    assert len(shown) == len(set(shown))
    assert all(case.goals for case in found.missing)


@given(worlds())
@settings(max_examples=30, deadline=None)
def test_the_same_set_gives_the_same_cases(ruleset):
    def told():
        found = survey(reading_of(ruleset), items(reading_of(ruleset).theory), [])
        return [(case.domain, dict(case.facts), dict(case.expect)) for case in found.missing]

    assert told() == told()


@given(worlds(), st.lists(st.sampled_from(ALL), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_more_cases_never_show_less(ruleset, some):
    reading = reading_of(ruleset)
    every = items(reading.theory)
    fewer = measure(reading, every, [Tried(facts, DAY) for facts in some[:-1]])
    more = measure(reading, every, [Tried(facts, DAY) for facts in some])
    assert fewer.met <= more.met


@given(strategies.formulas(with_compare=True))
@settings(max_examples=200, deadline=None)
def test_a_region_in_words_is_the_region(formula):
    for box in boxes(formula, strategies.VARIABLES):
        again = as_formula(box, strategies.VARIABLES)
        assert not isinstance(again, Atom) or again.var in box.regions
        for facts in ALL:
            inside = all(lies_in(facts[var], where) for var, where in box.regions.items())
            assert truth(again, facts) == (inside and all(truth(item, facts) for item in box.residue))


@given(strategies.formulas(with_compare=True), st.sampled_from(("days", "left")), st.integers(0, 4))
@settings(max_examples=100, deadline=None)
def test_a_value_put_in_means_what_it_meant(formula, var, value):
    there = put(formula, var, value)
    for facts in ALL:
        assert truth(there, {k: v for k, v in facts.items() if k != var}) == truth(formula, {**facts, var: value})
