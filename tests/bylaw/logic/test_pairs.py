"""What is seen without a diagram is what a diagram says, and mostly there is no need of one."""

from contextlib import contextmanager
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.decide import completions
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import And, Atom, Constraint, Effect, Not, Or, Source
from tests.bylaw.logic.strategies import GRID, formulas, rulesets
from tests.bylaw.logic.test_completions import CREDIT, FLAG, FULL, OPEN, facts_known, ruleset
from tests.rows import each

seen = completions.seen


@contextmanager
def watched(look):
    """What *look* sees in place of `seen`, room by room."""
    found = []

    def told(*asked):
        found.append(look(*asked))
        return found[-1]

    completions.seen = told
    try:
        yield found
    finally:
        completions.seen = seen


@given(rulesets(most=8), st.none() | formulas(), facts_known)
@settings(max_examples=100, deadline=None)
def test_what_is_seen_is_what_a_diagram_says(rules, invariant, facts):
    constraints = () if invariant is None else (Constraint("C", "P", invariant, "", Source("x.yaml")),)
    found = replace(rules, constraints=constraints)
    with watched(lambda *_: None):
        drawn = Evaluator(found, is_indexed=True).decide(facts, 1)
    assert Evaluator(found, is_indexed=True).decide(facts, 1) == drawn


TV, PHONE = (Atom("kind", "==", kind) for kind in GRID["kind"][:2])
EARLY, LATE = Atom("days", "<=", 1), Atom("days", ">", 1)

ROWS = {
    "boxes side by side": (ruleset((FULL, And((TV, EARLY)), 3), (CREDIT, And((TV, LATE)), 3)), {}, True),
    "boxes that meet": (ruleset((FULL, And((FLAG, EARLY)), 3), (CREDIT, And((OPEN, EARLY)), 4)), {}, True),
    "a box that is left whole by what is known": (
        ruleset((FULL, And((FLAG, EARLY)), 3), (CREDIT, And((OPEN, EARLY)), 4)),
        {"open": True},
        True,
    ),
    "a box within another of its action": (ruleset((FULL, EARLY, 3), (FULL, And((EARLY, FLAG)), 3)), {}, False),
    "a fact that several boxes cover": (
        ruleset((FULL, And((FLAG, OPEN)), 3), (FULL, And((FLAG, Not(OPEN))), 3), (FULL, And((FLAG, EARLY)), 3)),
        {},
        False,
    ),
    "an outcome that only some facts turn": (
        ruleset((FULL, FLAG, 3), (Effect("prohibited", "full"), And((OPEN, Not(FLAG))), 3)),
        {},
        False,
    ),
    "an invariant that says nothing of the open boxes": (
        ruleset((FULL, And((TV, FLAG)), 3), constraints=(Or((OPEN, EARLY)),)),
        {},
        True,
    ),
    "an invariant that bears on an open box": (
        ruleset((FULL, And((FLAG, LATE)), 3), constraints=(Or((OPEN, EARLY)),)),
        {},
        None,
    ),
}


@each("title", ROWS)
def test_whether_it_is_seen(title):
    """None where nobody looks."""
    rules, facts, is_seen = ROWS[title]
    with watched(seen) as found:
        decision = Evaluator(rules, is_indexed=True).decide(facts, 1)
    assert [room is not None for room in found] == ([] if is_seen is None else [is_seen])
    with watched(lambda *_: None):
        assert Evaluator(rules, is_indexed=True).decide(facts, 1) == decision
