"""What all completions of a case say of an action: searched by boxes, and tried one by one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import domain, lies_in, meet_regions, region
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.entailment import Entailment, point_of
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.decide.firing import as_bits
from bylaw.logic.formula.ir import TRUE, Atom, Constraint, Formula, Ruleset, Source, Variable
from tests.bylaw.logic.strategies import GRID, VARIABLES, atoms, cases, formulas, rulesets

ACTIONS = {"full": "refund", "credit": "refund", "reject": "refund", "fast": "shipping", "notify": None, "verify": None}
TESTS = st.lists(atoms(), max_size=3)


def cell_of(tests: list[Atom]):
    """The regions that tests leave of their facts; nothing where no value is left."""
    cell = {}
    for test in tests:
        before = cell.get(test.var, domain(VARIABLES[test.var]))
        values = [value for value in GRID[test.var] if lies_in(value, before) and truth(test, {test.var: value})]
        if not values:
            return {}
        cell[test.var] = region(Atom(test.var, "in", tuple(values)), VARIABLES[test.var])
    return cell


def within(cell, invariant: Formula = TRUE):
    """Every case of the grid in the cell that the invariant leaves."""
    for case in cases():
        if all(lies_in(case[fact], where) for fact, where in cell.items()) and truth(invariant, case):
            yield case


@given(rulesets(), TESTS, st.sampled_from(sorted(ACTIONS)))
@settings(max_examples=150, deadline=None)
def test_an_action_is_given_for_sure_iff_every_completion_decides_it_so(ruleset, tests, action):
    evaluator, cell = Evaluator(ruleset), cell_of(tests)
    decisions = [evaluator.decide(case, 1, names_unknown=False) for case in within(cell)]
    if not any(found.conflicts for found in decisions):
        given_in = {is_given(found, action, ruleset) for found in decisions}
        ways = Entailment(evaluator, 1).ways(action, ACTIONS[action], cell, "given")
        assert ways.is_complete
        assert ways.all("given") == (given_in == {True})
        assert ways.any("given") == (True in given_in)


def is_given(found: Decision, action: str, ruleset: Ruleset) -> bool:
    taken = found.outcomes.get(ACTIONS[action] or "")
    if taken and taken.action:
        return taken.action == action
    allowed = (rule.effect for rule in ruleset.rules if rule.effect.kind == "permitted")
    brought = [other for effect in allowed if effect.action in found.permitted for other in effect.implied]
    return action not in found.prohibited and action in (*found.required, *found.permitted, *brought)


@given(rulesets(with_compare=True), TESTS, st.sampled_from(sorted(ACTIONS)), st.sampled_from(("given", "denied")))
@settings(max_examples=150, deadline=None)
def test_the_statuses_are_those_of_the_completions(ruleset, tests, action, wanted):
    compared = {fact: region(Atom(fact, "==", 2), VARIABLES[fact]) for fact in ("days", "left")}
    cell = cell_of(tests) | compared  # what is compared with each other is known: nothing is left open
    check(Entailment(Evaluator(ruleset), 1), action, cell, wanted)


@given(rulesets(), formulas(leaves=3), TESTS, st.sampled_from(sorted(ACTIONS)), st.sampled_from(("given", "denied")))
@settings(max_examples=150, deadline=None)
def test_what_an_invariant_rules_out_is_no_completion(ruleset, invariant, tests, action, wanted):
    cell = cell_of(tests)
    if any(True for _ in within(cell, invariant)):  # a broken one asks nothing
        ruleset = replace(ruleset, constraints=(Constraint("C", "P", invariant, "never", Source("x.yaml")),))
        check(Entailment(Evaluator(ruleset), 1), action, cell, wanted, invariant)


@given(rulesets(with_compare=True), TESTS, st.sampled_from(sorted(ACTIONS)))
@settings(max_examples=300, deadline=None)
def test_facts_that_are_compared_and_not_known_may_fall_either_way(ruleset, tests, action):
    cell, entailment = cell_of(tests), Entailment(Evaluator(ruleset), 1)
    ways, statuses = entailment.ways(action, ACTIONS[action], cell, "given"), statuses_in(entailment, action, cell)
    assert not ways.all("given") or statuses == {"given"}
    assert ways.any("given") or "given" not in statuses


def statuses_in(entailment, action, cell, invariant: Formula = TRUE):
    about = entailment.about(action, ACTIONS[action])
    return {
        entailment.status(
            about,
            as_bits(entailment.evaluator.firing(case, 1)[0]),
            any(truth(formula, case) for formula in about.lifts),
        )
        for case in within(cell, invariant)
    }


def check(entailment, action, cell, wanted, invariant: Formula = TRUE):
    statuses = statuses_in(entailment, action, cell, invariant)
    ways = entailment.ways(action, ACTIONS[action], cell, wanted)
    assert ways.is_complete
    assert set(ways.seen) <= statuses
    assert ways.all(wanted) == (statuses == {wanted})
    assert ways.any(wanted) == (wanted in statuses)


def test_a_region_of_one_value_is_known_by_it():
    whole, free, kind = Variable("x", "integer"), Variable("x", "decimal"), VARIABLES["kind"]
    between = [
        (whole, (">", 1), ("<", 3), 2),
        (whole, (">=", 1), ("<", 2), 1),
        (whole, (">", 1), ("<=", 3), None),
        (free, (">=", 2), ("<=", 2), 2),
        (free, (">=", 2), ("<", 3), None),
        (free, (">", 2), ("<=", 3), None),
        (free, (">", 2), ("<", 3), None),
    ]
    for variable, low, high, value in between:
        found = meet_regions(region(Atom("x", *low), variable), region(Atom("x", *high), variable))
        assert point_of(found, variable) == value, (variable.kind, low, high)
    for variable in (whole, free):
        assert point_of(domain(variable), variable) is None
        assert point_of(region(Atom("x", "<", 2), variable), variable) is None
        assert point_of(region(Atom("x", "in", (1, 3)), variable), variable) is None
    assert point_of(domain(kind), kind) is None
    assert point_of(region(Atom("kind", "==", "tv"), kind), kind) == "tv"
