"""Formulas, cases and rules in English, row by row; and that no fact of a case is ever left out."""

from fractions import Fraction
from pathlib import Path

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import simplify
from bylaw.logic.formula.expressions import parse_expression
from bylaw.logic.formula.ir import FALSE, TRUE, And, Atom, ConditionalRule, Effect, Not, Or, Source, Variable, names
from bylaw.logic.words.prose import (
    Label,
    case_in_words,
    phrase,
    rule_in_lines,
    rule_in_words,
    sentence,
    told,
    value_in_words,
)
from tests.bylaw.logic.worlds import GRID, VARIABLES, formulas
from tests.rows import each

DATA = yaml.safe_load(Path(__file__).with_name("prose.yaml").read_text(encoding="utf-8"))


def label(declared):
    lists = {key: tuple(value) for key, value in declared.items() if isinstance(value, list)}
    return Label(**{**declared, **lists})


LABELS = {name: label(declared) for name, declared in DATA["labels"].items()}
VALUES = {"category": ("electronics", "clothing"), "region": ("EU", "US", "north_america"), "tier": ("gold",)}
WORDS = {
    **{name: Variable(name, spoken.kind, VALUES.get(name, ())) for name, spoken in LABELS.items()},
    "plain_flag": Variable("plain_flag", "boolean"),
    "flag": Variable("flag", "boolean"),
}


def rule_of(when, kind="outcome"):
    effect = Effect(kind, "store_credit", "refund" if kind == "outcome" else None)
    return ConditionalRule("R1", "POL-X-001", "x", effect, parse_expression(when, WORDS), 3, Source("x.yaml"))


@each("row", DATA["sentences"], ids=lambda row: row["formula"])
def test_a_formula_is_said(row):
    assert sentence(parse_expression(row["formula"], WORDS), LABELS) == row["says"]


@each("row", DATA["cases"], ids=lambda row: row["title"])
def test_a_case_is_told(row):
    assert case_in_words(row["facts"], LABELS) == row["says"]


@each("row", DATA["rules"], ids=lambda row: row["says"])
def test_a_rule_is_told(row):
    actions = {"store_credit": row["label"]} if "label" in row else None
    assert rule_in_words(rule_of(row["when"], row["kind"]), LABELS, actions) == row["says"]


@each("row", DATA["pages"], ids=lambda row: row["when"])
def test_a_rule_of_many_conditions_is_told_line_by_line(row):
    assert rule_in_lines(rule_of(row["when"]), LABELS) == row["says"]


@each(
    ("formula", "says"),
    [
        (Atom("category", "in", ("electronics", "clothing")), "kind of product is a laptop or clothing"),
        (Atom("region", "in", ("EU", "US", "north_america")), "region is EU, US or north america"),
        (Atom("region", "in", ("EU",)), "region is EU"),
        (Atom("region", "in", ()), "never"),
        (Not(Atom("region", "in", ("EU", "US"))), "region is neither EU nor US"),
        (Not(Atom("days", "<=", 30)), "days since purchase is more than 30 days"),
        (Not(Atom("has_receipt", "==", True)), "the customer does not have the receipt"),
        (Not(Not(And(()))), "always"),
        (And((TRUE, Atom("region", "==", "EU"))), "always and region is EU"),
        (Or((And((Atom("region", "==", "EU"),)), FALSE)), "region is EU or never"),
        (Atom("days", "in", (1, 7)), "days since purchase is 1 day or 7 days"),
    ],
)
def test_what_only_a_program_writes_is_said_too(formula, says):
    assert sentence(formula, LABELS) == says


@each(
    ("value", "spoken", "says"),
    [
        (True, Label(), "yes"),
        (False, Label(), "no"),
        (30, Label(unit="days"), "30 days"),
        (1, Label(unit="days"), "1 day"),
        (1, Label(unit="USD"), "1 USD"),
        (Fraction(1, 2), Label(unit="days"), "0.5 days"),
        (Fraction(5, 72), Label(), "5/72"),
        (-3, Label(), "-3"),
        (739_647, Label(kind="date"), "2026-01-31"),
        (0, Label(kind="date"), "0"),
        ("in-store", Label(), "in-store"),
        ("dark_red", Label(), "dark red"),
        ("dark_red", Label(value_labels={"dark_red": "crimson"}), "crimson"),
    ],
)
def test_a_value_is_said_with_its_unit(value, spoken, says):
    assert value_in_words(value, spoken) == says


@each(
    ("value", "spoken", "says"),
    [
        (True, Label("has a receipt"), "has a receipt: yes"),
        (True, Label("the rider is a member"), "the rider is a member"),
        (False, Label("the rider is a member"), "the rider is not a member"),
        (True, Label("member", given="you are a member"), "you are a member"),
        (False, Label("member", given="you are a member"), "member: no"),
        (False, Label("member", denied="you are no member"), "you are no member"),
        (3, Label("days late", unit="days"), "days late: 3"),
        (3, Label("delay", unit="days"), "delay: 3 days"),
        (3, Label("delay", unit="days", given="it is {value} late"), "it is 3 days late"),
        (3, Label(), "some fact: 3"),
    ],
)
def test_what_a_case_says_of_a_fact(value, spoken, says):
    assert told("some_fact", value, spoken) == says


def test_a_phrase_without_labels_uses_the_fact_s_own_name():
    assert phrase(Atom("days_since_purchase", "<=", 30), {}) == "days since purchase is at most 30"
    assert phrase(Atom("product_category", "!=", "gift_card"), {}) == "product category is not gift card"


# ---- nothing is left out --------------------------------------------------------------------------------------------

NAMELESS = {name: Label(f"<{name}>", kind=known.kind) for name, known in VARIABLES.items()}


@given(formulas(leaves=5))
@settings(max_examples=200, deadline=None)
def test_every_fact_of_a_formula_is_named(formula):
    said = sentence(formula, NAMELESS)
    for name in names(simplify(formula, {})):  # a part that holds always or never may go without saying
        assert f"<{name}>" in said
    assert said.count("(") == said.count(")")
    assert said == sentence(formula, NAMELESS)


@given(st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in GRID.items()}))
@settings(max_examples=200, deadline=None)
def test_every_fact_of_a_case_is_told(facts):
    said = case_in_words(facts, NAMELESS)
    for name in facts:
        assert f"<{name}>" in said
    assert case_in_words(dict(reversed(facts.items())), NAMELESS) == said
