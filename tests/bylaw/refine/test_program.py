"""A program is read whole or not at all: both notations, arguments, sorts; and what is hostile is refused at once."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bylaw.logic.formula.tokens import InvalidExpression
from bylaw.refine.feedback import check
from bylaw.refine.notation import MAX_DEPTH, parse_formula, spell
from bylaw.refine.program import Unreadable, load_json, read_program
from bylaw.refine.theory import ground
from tests.rows import each

SAME = [
    ("A and B", "(and A B)"),
    ("A && B", "and(A, B)"),
    ("not A or B", "(or (not A) B)"),
    ("A and B -> C", "(=> (and A B) C)"),
    ("A → B → C", "A -> (B -> C)"),
    ("A or B and C", "A or (B and C)"),
    ("(not A and B)", "(not A) and B"),
    ("¬(A ∧ B)", "not(A and B)"),
    ("P( a , b )", "P(a,b)"),
    ("A iff B", "(A -> B) and (B -> A)"),
    ("", "true"),
]
BAD = [
    "A B",
    "A and",
    "and",
    "(A",
    "A)",
    "P(",
    "P()",
    "P(f(x))",
    "P(a,)",
    "->",
    "A -> ",
    "(and)",
    "A $ B",
    "not",
    "?x(a)(",
]


@each(("one", "other"), SAME)
def test_two_notations_say_the_same(one: str, other: str) -> None:
    assert parse_formula(one).formula == parse_formula(other).formula


@each("text", BAD)
def test_what_is_no_formula_is_named(text: str) -> None:
    with pytest.raises(InvalidExpression) as caught:
        parse_formula(text)
    assert caught.value.column >= 1


@given(st.text("ABP(),?not andor->xyz ", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parsed = parse_formula(text)
    except InvalidExpression:
        return
    assert spell(parse_formula(spell(parsed.formula)).formula) == spell(parsed.formula)


def program(**said: Any) -> dict[str, Any]:
    base = {
        "sorts": {"Person": {}, "Tenant": {"extends": "Person"}, "Thing": {}},
        "constants": {"ana": {"sort": "Tenant"}, "ben": {"sort": "Person"}, "flat": {"sort": "Thing"}},
        "predicates": {
            "Rents": {"arity": 2, "sorts": ["Person", "Thing"]},
            "Pays": {"arity": 1, "sorts": ["Person"]},
            "Open": {"arity": 0},
        },
        "facts": {"Rents(ana, flat)": True},
        "rules": [{"condition": "Rents(?p, ?t)", "conclusion": "Pays(?p)"}],
        "query": "Pays(ana)",
    }
    return {**base, **said}


def test_facts_and_rules_share_one_encoding_with_real_arguments() -> None:
    assert check(ground(read_program(program()))).status == "consistent_entails"
    assert check(ground(read_program(program(query="Pays(ben)")))).status == "consistent_no_entailment"


def test_a_variable_stands_for_what_is_of_its_sort_or_below() -> None:
    theory = ground(read_program(program()))
    (rule,) = theory.rules
    assert [spell(one.conclusion) for one in rule.instances] == ["Pays(ana)", "Pays(ben)"]


WRONG = [
    ({"rules": [{"condition": "Rents(?p)", "conclusion": "Open"}]}, "takes 2 arguments, not 1"),
    ({"rules": [{"condition": "Pays(carl)", "conclusion": "Open"}]}, "`carl` is no declared constant"),
    ({"rules": [{"condition": "Pays(ana)"}]}, "has no conclusion"),
    (
        {"rules": [{"definition": "Open", "id": "a"}, {"definition": "Open", "id": "a"}]},
        "two statements are called `a`",
    ),
    ({"constants": {"ana": {"sort": "Nobody"}}}, "is of the sort `Nobody`, which is not declared"),
    ({"sorts": {"Person": {"extends": "Nobody"}, "Thing": {}}}, "extends `Nobody`, which is not declared"),
    ({"sorts": {"Person": {"extends": "Thing"}, "Thing": {"extends": "Person"}}}, "extend each other in a circle"),
    ({"predicates": {"Pays": {"arity": 1, "sorts": ["Person", "Thing"]}}}, "has 2 sorts and the arity 1"),
    ({"facts": {"Pays(ana) and Open": True}}, "is not one predicate with its constants"),
    ({"facts": {"Pays(?p)": True}}, "is not one predicate with its constants"),
    ({"facts": {"Open": "yes"}}, "`facts.Open`"),
    ({"query": "Pays(?p)"}, "the query has variables"),
    ({"dsl_version": "9"}, "`dsl_version`"),
    ({"rules": [{"condition": "Pays(f(ana))", "conclusion": "Open"}]}, "a function of a function"),
]


@each(("said", "problem"), WRONG)
def test_what_cannot_be_counted_is_named(said: dict[str, Any], problem: str) -> None:
    with pytest.raises(Unreadable) as caught:
        ground(read_program(program(**said)))
    assert problem in caught.value.message


def test_everything_that_is_wrong_is_named_at_once() -> None:
    said = {"facts": {"Pays(x)": True}, "rules": [{"condition": "A B", "conclusion": "Open"}], "query": "("}
    with pytest.raises(Unreadable) as caught:
        read_program(program(**said))
    assert len(caught.value.problems) >= 3


def test_a_sort_that_differs_is_a_note() -> None:
    reading = read_program(program(facts={"Rents(flat, ana)": True}))
    assert len(reading.notes) == 2
    assert "`flat` is of the sort `Thing`, and `Rents` speaks of `Person`" in reading.notes[0]


def test_of_a_word_that_nobody_declared_nothing_is_assumed() -> None:
    reading = read_program(program(rules=[{"condition": "Hidden", "conclusion": "Pays(ana)"}], facts={}))
    feedback = check(ground(reading), reading.notes)
    assert feedback.missing == ()
    assert feedback.notes == ("`rule:0` uses `Hidden`, which is not declared",)


def hostile() -> dict[str, str]:
    many = {f"c{i}": {"sort": "S"} for i in range(1_000)}
    large = program(
        sorts={"S": {}},
        constants=many,
        predicates={"P": {"arity": 2, "sorts": ["S", "S"]}},
        facts={},
        rules=[{"condition": "P(?a, ?b)", "conclusion": "P(?b, ?a)"}],
        query="P(c0,c1)",
    )
    deep = "(" * 20_000 + "Open" + ")" * 20_000
    nots = "not " * 4_000 + "Open"
    return {
        "a million groundings": json.dumps(large),
        "five megabytes": json.dumps(program(query="x" * 5_000_000)),
        "deep brackets": json.dumps(program(query=deep[:7_900])),
        "deep negation": json.dumps(program(query=nots[:7_900])),
        "deep JSON": "[" * 100_000 + "]" * 100_000,
        "many rules": json.dumps(program(rules=[{"definition": "Open"}] * 5_000)),
        "long number": '{"predicates": {"P": {"arity": ' + "9" * 10_000 + "}}}",
        "one thing twice": '{"facts": {"Open": true, "Open": false}, "predicates": {"Open": {"arity": 0}}}',
        "eight variables": json.dumps(
            program(predicates={"Q": {"arity": 8}}, facts={}, rules=[{"condition": "Q(?a,?b,?c,?d,?e,?f,?g,?h)",
                                                                     "conclusion": "Q(?h,?g,?f,?e,?d,?c,?b,?a)"}],
                    constants={f"c{i}": {"sort": "Thing"} for i in range(50)}, query="")
        ),
    }  # fmt: skip


@each(("name", "text"), lambda: [*hostile().items()])
def test_what_is_hostile_is_refused_at_once(name: str, text: str) -> None:
    started = time.process_time()
    with pytest.raises(Unreadable):
        ground(read_program(load_json(text)))
    assert time.process_time() - started < 2


def test_the_deepest_that_is_read_is_read() -> None:
    assert spell(parse_formula("(" * (MAX_DEPTH - 1) + "A" + ")" * (MAX_DEPTH - 1)).formula) == "A"


@pytest.mark.slow
def test_a_hard_puzzle_is_unknown_and_never_a_guess() -> None:
    """Ten pigeons in nine holes: the solver stops at its limit, and says so."""
    holes, pigeons = range(9), range(10)
    rules = [{"definition": " or ".join(f"P{p}H{h}" for h in holes)} for p in pigeons]
    rules += [
        {"condition": f"P{p}H{h}", "conclusion": f"not P{q}H{h}"} for h in holes for p in pigeons for q in range(p)
    ]
    predicates = {f"P{p}H{h}": {"arity": 0} for p in pigeons for h in holes} | {"Q": {"arity": 0}}
    reading = read_program({"predicates": predicates, "facts": {}, "rules": rules, "query": "Q"})
    feedback = check(ground(reading))
    assert feedback.status in ("unknown", "inconsistent")


def test_what_is_wide_or_long_is_answered_as_far_as_it_goes() -> None:
    words = {f"P{i}": {"arity": 0} for i in range(60)} | {"Q": {"arity": 0}}
    rules = [{"condition": f"P{3 * i} and P{3 * i + 1} and P{3 * i + 2}", "conclusion": "Q"} for i in range(20)]
    wide = check(ground(read_program({"predicates": words, "rules": rules, "query": "Q"})))
    assert (wide.missing[0].missing, wide.is_complete) == (("P0", "P1", "P2"), False)
    rules = [{"definition": f"{sign}P{i}"} for i in range(40) for sign in ("", "not ")]
    torn = check(ground(read_program({"predicates": words, "rules": rules})))
    assert (torn.status, len(torn.core), torn.is_complete) == ("inconsistent", 2, False)
    assert len(torn.corrections[0]) == 40
