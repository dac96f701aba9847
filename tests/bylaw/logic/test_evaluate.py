"""Unknown facts stay unknown, and an outcome is decided exactly when every completion agrees."""

from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import amount, possible, simplify, truth
from bylaw.logic.decide.evaluate import Evaluator, decide
from bylaw.logic.formula.ir import (
    And,
    Arith,
    Atom,
    Compare,
    ConditionalRule,
    Const,
    Constraint,
    Effect,
    Not,
    Or,
    Ref,
    Ruleset,
    Source,
    Variable,
)
from tests.bylaw.logic.strategies import GRID, cases, formulas, rulesets
from tests.rows import each

facts_known = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in GRID.items()})


def completions(facts):
    for case in cases():
        if all(case[name] == value for name, value in facts.items()):
            yield case


@given(formulas(with_compare=True), facts_known)
@settings(max_examples=100, deadline=None)
def test_a_known_truth_holds_in_every_completion(formula, facts):
    reading = truth(formula, facts)
    if reading is not None:
        assert all(truth(formula, case) is reading for case in completions(facts))


@given(formulas(with_compare=True), facts_known)
@settings(max_examples=60, deadline=None)
def test_simplifying_changes_no_completion(formula, facts):
    left = simplify(formula, facts)
    assert all(truth(left, case) == truth(formula, case) for case in completions(facts))


@given(rulesets(with_compare=True, most=4), facts_known)
@settings(max_examples=150, deadline=None)
def test_an_outcome_is_decided_exactly_when_every_completion_agrees(ruleset, facts):
    evaluator = Evaluator(ruleset)
    decision = evaluator.decide(facts, 1)
    fires, _ = evaluator.firing(facts, 1)
    for outcome in ruleset.outcomes:
        known, _ = evaluator.answer(evaluator.standing(fires), outcome)
        ends = {evaluator.decide(case, 1).outcomes[outcome].action for case in completions(facts)}
        expected = known if known is not None and ends == {known} else None
        assert decision.outcomes[outcome].action == expected
        if known is not None and expected is None:
            assert decision.undecided[outcome]


@given(rulesets(with_compare=True), facts_known)
@settings(max_examples=60, deadline=None)
def test_with_fact_against_fact_nothing_is_decided_too_early(ruleset, facts):
    decision = decide(ruleset, facts, 1)
    for outcome, result in decision.outcomes.items():
        if result.action is not None:
            assert {decide(ruleset, case, 1).outcomes[outcome].action for case in completions(facts)} == {result.action}


@given(rulesets(), facts_known)
@settings(max_examples=60, deadline=None)
def test_a_fact_that_could_change_an_outcome_is_named_as_missing(ruleset, facts):
    evaluator = Evaluator(ruleset)
    decision = evaluator.decide(facts, 1)
    ends = [(case, evaluator.decide(case, 1).outcomes) for case in completions(facts)]
    for name in (name for name in GRID if name not in facts):
        by_rest = {}
        for case, results in ends:
            rest = tuple((other, value) for other, value in case.items() if other != name)
            by_rest.setdefault(rest, []).append(results)
        for outcome in ruleset.outcomes:
            if any(len({results[outcome].action for results in alike}) > 1 for alike in by_rest.values()):
                assert name in decision.missing_facts
                assert name in decision.undecided[outcome]


# ---- rows -----------------------------------------------------------------------------------------------------------

VARIABLES = {
    "has_receipt": Variable("has_receipt", "boolean"),
    "days": Variable("days", "integer", minimum=0),
    "category": Variable("category", "enum", ("electronics", "clothing")),
    "paid": Variable("paid", "decimal", minimum=0),
    "refunded": Variable("refunded", "decimal", minimum=0),
}


def formula(data):
    """`fact op value`, or lists under all/any/not."""
    if isinstance(data, str):
        var, op, value = data.split(" ", 2)
        read = yaml.safe_load(value)
        if isinstance(read, str) and read in VARIABLES:
            return Compare(Ref(var), op, Ref(read))
        return Atom(var, op, tuple(read) if isinstance(read, list) else read)
    ((key, items),) = data.items()
    if key == "not":
        return Not(formula(items))
    return (And if key == "all" else Or)(tuple(map(formula, items)))


def rule(data):
    kind, action = data["effect"].split(" ")
    kind, _, outcome = kind.partition(":")
    return ConditionalRule(
        data["id"],
        data.get("policy", data["id"]),
        "refund",
        Effect(kind, action, outcome or None, tuple(data.get("implied", ()))),
        formula(data["guard"]),
        data.get("level", 3),
        Source("x.yaml"),
        data.get("start"),
        data.get("end"),
    )


ROWS = yaml.safe_load(Path(__file__).with_name("evaluate.yaml").read_text(encoding="utf-8"))


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_rows(row):
    ruleset = Ruleset(
        VARIABLES,
        tuple(map(rule, row["rules"])),
        tuple(
            Constraint(f"C{i}", "P", formula(item), item, Source("x.yaml"))
            for i, item in enumerate(row.get("constraints", ()))
        ),
        {policy: frozenset(others) for policy, others in row.get("overrides", {}).items()},
        frozenset((a, b) for pair in row.get("excludes", ()) for a, b in (pair, pair[::-1])),
        outcomes=("refund",),
    )
    decision = decide(ruleset, row["facts"], row.get("day", 100))
    found = {
        "refund": decision.outcomes["refund"].action,
        "required": list(decision.required),
        "prohibited": list(decision.prohibited),
        "permitted": list(decision.permitted),
        "lost": [fired.rule_id for fired in decision.lost],
        "conflicts": [list(conflict.policies) for conflict in decision.conflicts],
        "missing": list(decision.missing_facts),
    }
    expected = row["expect"]
    assert {key: found[key] for key in expected} == expected


def test_arithmetic_is_exact():
    sum_ = Arith("+", Ref("paid"), Arith("*", Const(2), Ref("days")))
    assert amount(sum_, {"paid": 1, "days": 3}) == 7
    assert amount(sum_, {"paid": 1}) is None


def test_bounds_tell_an_impossible_comparison():
    item = Compare(Ref("refunded"), "<", Const(0))
    from bylaw.logic.boxes.boxes import Box

    assert not possible(item, Box({}), {}, VARIABLES)
    assert possible(Compare(Ref("refunded"), "<", Ref("paid")), Box({}), {}, VARIABLES)
    assert not possible(Compare(Ref("refunded"), "<", Ref("paid")), Box({}), {"paid": 0}, VARIABLES)
