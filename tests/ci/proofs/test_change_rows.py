"""What a change does, by hand: two versions and every region, row by row in change.yaml."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bylaw.logic.formula.expressions import parse_expression
from bylaw.logic.formula.ir import (
    TRUE,
    Arith,
    Atom,
    Compare,
    ConditionalRule,
    Const,
    Constraint,
    Effect,
    Ref,
    Ruleset,
    Source,
    Variable,
)
from bylaw.logic.solver.smt import Reasoner
from ci.proofs.theory import Theory
from ci.proofs.versions.change import Limits, changes
from ci.proofs.versions.shared import common, cycle
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "change.yaml").read_text(encoding="utf-8"))
WORLD = {
    "flag": Variable("flag", "boolean"),
    "days": Variable("days", "integer", minimum=0),
    "paid": Variable("paid", "decimal", minimum=0),
    "refunded": Variable("refunded", "decimal", minimum=0),
}
HOLIDAY = Variable("holiday", "boolean")


def formula(text):
    return TRUE if text == "true" else parse_expression(text, {**WORLD, "holiday": HOLIDAY})


def side(row, which):
    n = ("before", "after").index(which)
    rules = []
    for k, given in enumerate(row[which]):
        policy, kind, action, guard = given["rule"]
        effect = Effect(kind, action, "refund" if kind == "outcome" else None)
        rules.append(
            ConditionalRule(
                given.get("id", f"R{k}"),
                policy,
                "x",
                effect,
                formula(guard),
                given.get("level", 4),
                Source("p.yaml"),
                given.get("start"),
                given.get("end"),
            )
        )
    known = {**WORLD, "holiday": HOLIDAY} if which == "after" and row.get("only_after") else WORLD
    overrides = row.get("overrides", [{}, {}])[n]
    return Ruleset(
        known,
        tuple(rules),
        tuple(Constraint(t, "P", formula(t), t, Source("p.yaml")) for t in row.get("invariants", ())),
        {policy: frozenset(others) for policy, others in overrides.items()},
        frozenset(p for a, b in row.get("excludes", ((), ()))[n] for p in ((a, b), (b, a))),
        outcomes=("refund",),
    )


def policies(ruleset, rules):
    return " ".join(sorted({ruleset.rules[i].policy_id for i in rules})) or None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_the_regions_of_change_are_those_of_the_row(row):
    before, after = side(row, "before"), side(row, "after")
    found = changes(Theory(before, 1, 5_000_000), Theory(after, 1, 5_000_000))
    assert found.unknown == ()
    told = {(f"{c.subject.kind} {c.subject.name}", c.before, c.after): c for c in found.changes}
    assert len(told) == len(found.changes)
    assert set(told) == {(e["of"], e["from"], e["to"]) for e in row["changes"]}
    for expected in row["changes"]:
        change = told[expected["of"], expected["from"], expected["to"]]
        same = Reasoner({**WORLD, "holiday": HOLIDAY}).equivalent(change.where, formula(expected["where"]))
        assert same.status == "unsat", change.where
        assert dict(change.facts) == expected["case"]
        assert [policies(before, change.by[0]), policies(after, change.by[1])] == expected["by"]
        assert (change.day, change.until) == (expected.get("day", 1), expected.get("until"))
        assert list(change.missing) == expected.get("missing", [])
        assert change.tendency == expected.get("effect", "changed")
    foreign = found.shared.foreign[1]
    assert [after.rules[i].policy_id for i in foreign if row.get("not_compared")] == row.get("not_compared", [])


# ---- limits ---------------------------------------------------------------------------------------------------------


def theory(*rules, overrides=None, rlimit=5_000_000, variables=WORLD):
    return Theory(Ruleset(variables, rules, overrides=overrides or {}, outcomes=("refund",)), 1, rlimit)


def rule(id, action, guard, level=4):
    return ConditionalRule(id, id, "x", Effect("outcome", action, "refund"), guard, level, Source("p.yaml"))


def test_beyond_the_limit_of_boxes_the_solver_tells_the_change_and_its_bound():
    many = [rule(f"R{k}", "full", Atom("days", "==", 2 * k)) for k in range(20)]
    found = changes(theory(), theory(*many), Limits(boxes=10))
    (change,) = found.changes
    assert not found.unknown and change.is_bound
    assert (change.before, change.after, change.facts["days"] % 2) == (None, "full", 0)
    same = Reasoner(WORLD).equivalent(change.where, Atom("days", "in", tuple(range(0, 40, 2))))
    assert same.status == "unsat"


def test_beyond_the_limit_of_boxes_what_means_the_same_is_proven_to_change_nothing():
    paid, refunded = Ref("paid"), Ref("refunded")
    one = Compare(Arith("*", Const(2), paid), ">=", Arith("+", refunded, refunded))
    two = Compare(Arith("-", refunded, paid), "<=", Const(0))
    before, after = theory(rule("A", "full", one)), theory(rule("A", "full", two))
    for limits in (Limits(), Limits(boxes=1)):
        assert changes(before, after, limits).tendency == "equivalent"


def test_beyond_the_limit_of_boxes_a_rule_that_cannot_matter_is_no_part_of_the_bound():
    weak = rule("B", "reject", Atom("flag", "==", True), level=5)
    before, after = theory(rule("A", "full", TRUE)), theory(weak, rule("C", "credit", Atom("days", "==", 3), level=1))
    after = theory(rule("A", "full", TRUE), *after.ruleset.rules)
    (change,) = changes(before, after, Limits(boxes=1)).changes
    assert change.is_bound and change.where == Atom("days", "==", 3)


def test_nothing_is_said_about_the_rest_when_the_solver_gives_up_as_well():
    many = [rule(f"R{k}", "full", Compare(power("paid", 3), "==", Const(2 * k + 3))) for k in range(5)]
    found = changes(theory(), theory(*many, rlimit=1), Limits(boxes=1))
    assert found.changes == () and found.tendency == "unknown"
    assert "limit of 1 steps" in found.unknown[0].reason


def test_a_fact_of_one_side_only_is_not_left_to_the_solver():
    known = {**WORLD, "holiday": HOLIDAY}
    rules = [rule(f"R{k}", "full", formula(f"holiday and days == {k}")) for k in range(3)]
    (limit,) = changes(theory(), theory(*rules, variables=known), Limits(boxes=1)).unknown
    assert "only one side declares" in limit.reason


def power(fact, times):
    term = Ref(fact)
    for _ in range(times - 1):
        term = Arith("*", term, Ref(fact))
    return term


def test_a_region_the_solver_cannot_fill_is_unknown():
    cube = Arith("*", Ref("paid"), Arith("*", Ref("paid"), Ref("paid")))
    hard = Compare(cube, "==", Arith("+", Arith("*", Ref("refunded"), Ref("refunded")), Const(7)))
    found = changes(theory(), theory(rule("A", "full", hard), rlimit=1))
    assert not found.changes
    assert found.tendency == "unknown"
    assert found.unknown[0].subject.name == "refund"


def test_a_circle_of_overrides_is_not_compared():
    circle = {"A": frozenset("B"), "B": frozenset("A")}
    rules = [rule("A", "full", TRUE), rule("B", "reject", TRUE)]
    found = changes(theory(*rules, overrides=circle), theory(*rules))
    assert "override one another" in found.unknown[0].reason


@each(
    ("overrides", "circle"),
    [
        ({}, ()),
        ({"A": {"B"}, "B": {"C"}}, ()),
        ({"A": {"A"}}, ("A",)),
        ({"A": {"B"}, "B": {"C"}, "C": {"B"}}, ("B", "C")),
        ({"A": {"B", "C"}, "B": {"D"}, "C": {"D"}}, ()),
    ],
)
def test_circles_are_found(overrides, circle):
    assert set(cycle({policy: frozenset(others) for policy, others in overrides.items()})) == set(circle)


# ---- words ----------------------------------------------------------------------------------------------------------

NUMBER = Variable("x", "integer", minimum=0, maximum=10)


@each(
    ("new", "both"),
    [
        (NUMBER, NUMBER),
        (replace(NUMBER, minimum=5, maximum=20), replace(NUMBER, minimum=5)),
        (replace(NUMBER, minimum=11, maximum=20), None),
        (replace(NUMBER, unit="hours"), None),
        (replace(NUMBER, kind="decimal"), NUMBER),
        (Variable("x", "boolean"), None),
    ],
)
def test_a_fact_is_shared_as_far_as_both_versions_mean_it(new, both):
    assert common(NUMBER, new) == both
    assert common(new, NUMBER) == both


def test_a_value_that_one_side_lacks_is_told_and_not_compared():
    old = {"kind": Variable("kind", "enum", ("tv", "shirt"))}
    new = {"kind": Variable("kind", "enum", ("tv", "shirt", "book"))}
    before = theory(rule("A", "full", Atom("kind", "!=", "tv")), variables=old)
    after = theory(
        rule("A", "full", Atom("kind", "!=", "tv")), rule("B", "reject", Atom("kind", "==", "book"), 1), variables=new
    )
    found = changes(before, after)
    assert found.changes == () and found.unknown == ()
    assert [(word.what, word.name, word.change, word.values) for word in found.shared.words] == [
        ("value", "kind", "added", ("book",))
    ]


def test_a_case_says_every_fact_whose_new_values_would_leave_it_open():
    old = {**WORLD, "kind": Variable("kind", "enum", ("tv", "shirt"))}
    new = {**WORLD, "kind": Variable("kind", "enum", ("tv", "shirt", "book"))}
    first = rule("A", "full", Atom("days", "==", 0))
    before = theory(variables=old)
    after = theory(first, rule("B", "reject", Atom("kind", "==", "book")), variables=new)
    (change,) = changes(before, after).changes
    assert dict(change.facts) == {"days": 0, "kind": "tv"}
    assert after.evaluator.decide(change.facts, 1).outcomes["refund"].action == "full"
