"""Formulas through JSON and back: nothing is lost, and what is no formula is refused."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bylaw.canonical import canonical_json
from bylaw.logic.formula.codec import decode, encode
from bylaw.logic.formula.ir import TRUE, And, Arith, Atom, Compare, Const, Formula, Not, Or, Ref, Variable
from tests.bylaw.logic import strategies
from tests.rows import each

VARIABLES = {
    "flag": Variable("flag", "boolean"),
    "kind": Variable("kind", "enum", ("tv", "2026-01-01", "true", "1/2")),
    "days": Variable("days", "integer"),
    "price": Variable("price", "decimal", unit="USD"),
    "signed_on": Variable("signed_on", "date"),
}
ORDERS = ("==", "!=", "<", "<=", ">", ">=")
NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30),
    st.fractions(max_denominator=10**9).map(lambda f: f.numerator if f.denominator == 1 else f),
)
DAYS = st.dates().map(date.toordinal)

atoms = st.one_of(
    st.builds(Atom, st.just("flag"), st.sampled_from(("==", "!=")), st.booleans()),
    st.builds(Atom, st.just("kind"), st.sampled_from(("==", "!=")), st.sampled_from(VARIABLES["kind"].values)),
    st.builds(Atom, st.sampled_from(("days", "price")), st.sampled_from(ORDERS), NUMBERS),
    st.builds(Atom, st.just("signed_on"), st.sampled_from(ORDERS), DAYS),
    st.builds(lambda v: Atom("kind", "in", tuple(v)), st.lists(st.sampled_from(VARIABLES["kind"].values))),
    st.builds(lambda v: Atom("price", "in", tuple(v)), st.lists(NUMBERS)),
    st.builds(lambda v: Atom("signed_on", "in", tuple(v)), st.lists(DAYS)),
)
terms = st.recursive(
    st.one_of(st.builds(Ref, st.sampled_from(("days", "price"))), st.builds(Const, NUMBERS)),
    lambda inner: st.builds(Arith, st.sampled_from(("+", "-", "*")), inner, inner),
    max_leaves=6,
)
formulas = st.recursive(
    st.one_of(atoms, st.builds(Compare, terms, st.sampled_from(ORDERS), terms)),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(lambda items: And(tuple(items)), st.lists(inner, max_size=4)),
        st.builds(lambda items: Or(tuple(items)), st.lists(inner, max_size=4)),
    ),
    max_leaves=12,
)


@given(formulas)
def test_a_formula_survives_json(formula: Formula) -> None:
    text = canonical_json(encode(formula, VARIABLES))
    assert decode(json.loads(text), VARIABLES) == formula


@given(formulas)
def test_json_of_a_formula_holds_no_float(formula: Formula) -> None:
    def refused(text: str) -> None:
        raise AssertionError(text)

    json.loads(json.dumps(encode(formula, VARIABLES)), parse_float=refused)


@given(strategies.formulas(with_compare=True))
def test_random_guards_survive_json(formula: Formula) -> None:
    assert decode(json.loads(json.dumps(encode(formula, strategies.VARIABLES))), strategies.VARIABLES) == formula


SPELLED: list[tuple[Formula, Any]] = [
    (TRUE, {"all": []}),
    (Atom("flag", "==", True), {"var": "flag", "op": "==", "value": True}),
    (Atom("price", "<=", Fraction(1, 10)), {"var": "price", "op": "<=", "value": "0.1"}),
    (Atom("days", "<=", Fraction(3, 2)), {"var": "days", "op": "<=", "value": "1.5"}),
    (Atom("days", ">", 7), {"var": "days", "op": ">", "value": 7}),
    (Atom("signed_on", ">=", date(2026, 1, 31).toordinal()), {"var": "signed_on", "op": ">=", "value": "2026-01-31"}),
    (Atom("kind", "in", ("tv", "true")), {"var": "kind", "op": "in", "value": ["tv", "true"]}),
    (Not(Atom("flag", "==", True)), {"not": {"var": "flag", "op": "==", "value": True}}),
    (
        Compare(Ref("price"), "<", Arith("*", Const(Fraction(3, 2)), Ref("days"))),
        {"left": {"var": "price"}, "op": "<", "right": {"op": "*", "left": {"const": "1.5"}, "right": {"var": "days"}}},
    ),
]


@each(("formula", "data"), SPELLED, ids=[str(data) for _, data in SPELLED])
def test_a_formula_is_spelled_like_this(formula: Formula, data: Any) -> None:
    assert encode(formula, VARIABLES) == data
    assert decode(data, VARIABLES) == formula


WRONG: list[Any] = [
    None,
    [],
    "days > 5",
    {},
    {"all": "x"},
    {"all": [None]},
    {"any": [{"var": "nobody", "op": "==", "value": 1}]},
    {"not": []},
    {"not": {"all": []}, "all": []},
    {"var": "days", "op": "=>", "value": 1},
    {"var": "days", "op": "in", "value": 1},
    {"var": "days", "op": "==", "value": True},
    {"var": "days", "op": "==", "value": 1.5},
    {"var": "days", "op": "==", "value": "many"},
    {"var": "days", "op": "==", "value": "1/0"},
    {"var": "days", "op": "==", "value": "9" * 500},
    {"var": "days", "op": "==", "value": None},
    {"var": "days", "op": "==", "value": 1, "unit": "days"},
    {"var": ["days"], "op": "==", "value": 1},
    {"var": "flag", "op": "==", "value": "true"},
    {"var": "kind", "op": "==", "value": "sofa"},
    {"var": "kind", "op": "in", "value": ["sofa"]},
    {"var": "signed_on", "op": "==", "value": "2026-02-30"},
    {"var": "signed_on", "op": "==", "value": 7},
    {"left": {"var": "nobody"}, "op": "<", "right": {"const": 1}},
    {"left": {"var": "days"}, "op": "<", "right": {"const": True}},
    {"left": {"var": "days"}, "op": "<", "right": {"op": "/", "left": {"const": 1}, "right": {"const": 0}}},
    {"left": {"var": "days"}, "op": "<"},
]


@each("data", WRONG, ids=lambda data: json.dumps(data)[:60])
def test_what_is_no_formula_is_refused(data: Any) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode(data, VARIABLES)
