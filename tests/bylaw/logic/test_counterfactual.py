"""The smallest change that gives another result: no smaller one exists, and what is told has been decided anew."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.counterfactual import Goal, nearest
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import (
    And,
    Atom,
    ConditionalRule,
    Constraint,
    Effect,
    Not,
    Or,
    Ruleset,
    Source,
    Variable,
    names,
)
from tests.bylaw.logic.strategies import GRID, formulas, rulesets
from tests.rows import each

full_cases = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in GRID.items()})
some_cases = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in GRID.items()})
invariants = st.lists(formulas(leaves=3), max_size=2)


def other(evaluator, outcome, now):
    conflicts = evaluator.conflicts
    return Goal(
        rules=conflicts.takers(outcome),
        may_stand=lambda stands: conflicts.action_of(stands, outcome) not in (None, now),
        is_reached=lambda decision: decision.outcomes[outcome].action not in (None, now),
    )


def gap(name, before, after):
    """How far a fact has to go: a word or a flag by one, a number in shares of what it is."""
    if before is None or isinstance(after, bool | str):
        return Fraction(1)
    return Fraction(abs(after - before), max(abs(before), 1))


def smallest(evaluator, facts, goal):
    """By trying all: how many facts must change, and by how much; None when no change helps."""
    invariants = [constraint.formula for constraint in evaluator.ruleset.constraints]

    def breaks(case, change):
        """Is an invariant broken, other than one that was before and has nothing to do with the change?"""
        broken = [formula for formula in invariants if truth(formula, case) is False]
        return any(truth(formula, facts) is not False or names(formula) & change.keys() for formula in broken)

    for count in range(1, len(GRID) + 1):
        found = []
        for which in combinations(GRID, count):
            for values in product(*(GRID[name] for name in which)):
                change = dict(zip(which, values, strict=True))
                case = {**facts, **change}
                if any(facts.get(name) == value for name, value in change.items()):
                    continue
                if not breaks(case, change) and goal.is_reached(evaluator.decide(case, 1)):
                    found.append(sum(gap(name, facts.get(name), value) for name, value in change.items()))
        if found:
            return count, min(found)
    return None


@given(rulesets(most=4, with_compare=True), st.one_of(full_cases, some_cases), invariants)
@settings(max_examples=40, deadline=None)
def test_no_smaller_change_exists(ruleset, facts, formulas):
    held = tuple(Constraint(f"C{n}", "P", formula, "", Source("x.yaml")) for n, formula in enumerate(formulas))
    evaluator = Evaluator(replace(ruleset, constraints=held))
    goal = other(evaluator, "refund", evaluator.decide(facts, 1).outcomes["refund"].action)
    found = nearest(evaluator, facts, 1, goal)
    least = smallest(evaluator, facts, goal)
    if found.steps:
        changed = {**facts, **{step.fact: step.after for step in found.steps}}
        assert goal.is_reached(evaluator.decide(changed, 1)) and found.decision == evaluator.decide(changed, 1)
        size = len(found.steps), sum(gap(step.fact, step.before, step.after) for step in found.steps)
        assert size == least if found.is_sure else size >= least
    elif found.is_sure:
        assert least is None
    else:
        assert least is None or least[0] > found.tried or not evaluator.ground(goal.rules, 1).is_exact


@given(rulesets(most=5), st.one_of(full_cases, some_cases))
@settings(max_examples=40, deadline=None)
def test_whatever_is_told_as_a_bound_holds_everywhere_beyond_it(ruleset, facts):
    evaluator = Evaluator(ruleset)
    goal = other(evaluator, "refund", evaluator.decide(facts, 1).outcomes["refund"].action)
    found = nearest(evaluator, facts, 1, goal)
    for step in found.steps:
        others = {its.fact: its.after for its in found.steps}
        for value in GRID[step.fact]:
            if truth(step.test, {step.fact: value}):
                assert goal.is_reached(evaluator.decide({**facts, **others, step.fact: value}, 1))


# ---- rows -----------------------------------------------------------------------------------------------------------

VARIABLES = {
    "days": Variable("days", "integer", minimum=0),
    "amount": Variable("amount", "decimal", minimum=0),
    "flag": Variable("flag", "boolean"),
    "kind": Variable("kind", "enum", ("tv", "shirt", "book")),
}
FULL, CREDIT = Effect("outcome", "full", "refund"), Effect("outcome", "credit", "refund")


def asked(facts, *rules, constraints=(), trials=4_000):
    made = tuple(
        ConditionalRule(f"R{n}", f"P{n}", "x", effect, guard, level, Source("x.yaml"))
        for n, (effect, guard, level) in enumerate(rules)
    )
    held = tuple(Constraint(f"C{n}", "P", formula, "", Source("x.yaml")) for n, formula in enumerate(constraints))
    evaluator = Evaluator(Ruleset(VARIABLES, made, held, outcomes=("refund",)))
    now = evaluator.decide(facts, 1).outcomes["refund"].action
    return nearest(evaluator, facts, 1, other(evaluator, "refund", now), trials)


def spelled(found):
    return [(step.test.var, step.test.op, step.test.value) for step in found.steps]


def test_the_nearest_bound_is_told_as_a_bound():
    rules = (FULL, Atom("days", "<=", 14), 3), (CREDIT, Atom("days", ">", 14), 3)
    assert spelled(asked({"days": 20}, *rules)) == [("days", "<=", 14)]
    assert spelled(asked({"days": 3}, *rules)) == [("days", ">=", 15)]


@each("op, test", [("<", ("amount", "<", 50)), ("<=", ("amount", "<=", 50))])
def test_an_open_bound_stays_open(op, test):
    found = asked({"amount": 80}, (FULL, Atom("amount", op, 50), 2), (CREDIT, And(()), 4))
    assert spelled(found) == [test]


def test_a_window_in_the_middle_is_told_as_its_nearest_value():
    window = And((Atom("days", ">=", 10), Atom("days", "<=", 14)))
    assert spelled(asked({"days": 20}, (FULL, window, 3))) == [("days", "==", 14)]


def test_one_fact_is_less_than_two():
    rules = (
        (FULL, And((Atom("days", "<=", 14), Atom("kind", "==", "tv"))), 3),
        (FULL, And((Atom("days", "<=", 1), Atom("kind", "==", "book"))), 3),
        (CREDIT, Atom("days", ">", 14), 3),
    )
    assert spelled(asked({"days": 20, "kind": "tv"}, *rules)) == [("days", "<=", 14)]
    assert len(asked({"days": 20, "kind": "shirt"}, *rules).steps) == 2


def test_an_unknown_fact_may_be_told():
    found = asked({}, (FULL, Atom("flag", "==", True), 3))
    assert spelled(found) == [("flag", "==", True)] and found.steps[0].before is None


@each(
    "guard, test",
    [
        (Atom("days", "<=", 14), ("days", "<=", 14)),
        (Atom("days", ">", 14), ("days", ">=", 15)),
        (Atom("amount", ">", 50), ("amount", ">", 50)),
        (And((Atom("days", ">=", 10), Atom("days", "<=", 14))), ("days", "==", 10)),
    ],
)
def test_what_is_unknown_is_told_by_its_bound_where_it_has_one(guard, test):
    assert spelled(asked({}, (FULL, guard, 3))) == [test]


def test_no_case_is_told_that_an_invariant_rules_out():
    rules = (FULL, Or((Atom("flag", "==", True), Atom("kind", "==", "book"))), 2), (CREDIT, And(()), 4)
    found = asked({"flag": False, "kind": "tv"}, *rules, constraints=(Not(Atom("flag", "==", True)),))
    assert spelled(found) == [("kind", "==", "book")]


def test_none_is_only_said_after_everything_was_tried():
    found = asked({"days": 20}, (FULL, Atom("days", ">=", 0), 3))
    assert not found.steps and found.is_sure
    few = asked({"days": 20}, (FULL, Atom("days", "<=", 14), 3), (FULL, Atom("days", ">", 14), 3), trials=0)
    assert not few.steps and not few.is_sure and few.tried == 0


def test_where_not_all_can_be_tried_a_way_into_a_guard_is():
    ways = (FULL, Atom("days", "<=", 14), 3), (FULL, And((Atom("amount", ">", 50), Atom("flag", "==", True))), 3)
    rules = *ways, (CREDIT, Atom("flag", "==", False), 2)
    found = asked({"days": 20, "flag": False, "amount": 10}, *rules, trials=1)
    assert [step.fact for step in found.steps] == ["amount", "flag"] and not found.is_sure


def test_the_nearest_way_into_a_guard_needs_no_search():
    guard = And((Atom("days", "<=", 14), Atom("flag", "==", True), Atom("kind", "==", "book")))
    found = asked({"days": 20, "flag": False, "kind": "tv"}, (FULL, guard, 3), trials=1)
    assert [step.fact for step in found.steps] == ["days", "flag", "kind"] and found.is_sure
