"""Both readers of hand-written logic: what they read, what they refuse and where; nothing else ever happens."""

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import TooManyBoxes, boxes
from bylaw.logic.boxes.truth import simplify, truth
from bylaw.logic.formula.expressions import InvalidExpression, parse_expression, parse_term
from bylaw.logic.formula.ir import And, Atom, Not, Or, Variable, names
from bylaw.logic.formula.notation import infix, smtlib
from bylaw.logic.formula.tokens import MAX_CHARACTERS, MAX_DEPTH, MAX_TOKENS
from tests.bylaw.logic.worlds import VARIABLES, cases, formulas
from tests.rows import each

DATA = yaml.safe_load(Path(__file__).with_name("expressions.yaml").read_text(encoding="utf-8"))
WORDS = {
    name: Variable(
        name, declared["kind"], tuple(declared.get("values", ())), declared.get("minimum"), None, declared.get("unit")
    )
    for name, declared in DATA["variables"].items()
}
READERS = {"expression": parse_expression, "term": parse_term}


def text_of(row):
    return row["text"]


@each("row", DATA["expressions"], ids=text_of)
def test_an_expression_reads_as(row):
    assert infix(parse_expression(row["text"], WORDS), WORDS) == row["reads"]


@each("row", DATA["terms"], ids=text_of)
def test_a_term_reads_as(row):
    assert infix(parse_term(row["text"], WORDS), WORDS) == row["reads"]


def refused(parse, row):
    with pytest.raises(InvalidExpression) as caught:
        parse(row["text"], WORDS)
    assert row["error"] in caught.value.message
    assert caught.value.column == row["column"]
    assert row.get("help", "") in (caught.value.help or "")


@each("row", DATA["invalid_expressions"], ids=text_of)
def test_an_expression_is_refused_at_its_place(row):
    refused(parse_expression, row)


@each("row", DATA["invalid_terms"], ids=text_of)
def test_a_term_is_refused_at_its_place(row):
    refused(parse_term, row)


def test_messages_are_one_line_in_lower_case_without_full_stop():
    for reader, rows in (("expression", "invalid_expressions"), ("term", "invalid_terms")):
        for row in DATA[rows]:
            with pytest.raises(InvalidExpression) as caught:
                READERS[reader](row["text"], WORDS)
            for text in filter(None, (caught.value.message, caught.value.help)):
                assert "\n" not in text
                assert not text.endswith(".") or text.endswith("...")
            assert caught.value.message[0] in '`"' or caught.value.message[0].islower()


def test_a_test_of_one_fact_is_an_atom_with_the_fact_on_the_left():
    assert parse_expression("30 > days_since_purchase", WORDS) == Atom("days_since_purchase", "<", 30)
    assert parse_term("(> 30 days_since_purchase)", WORDS) == Atom("days_since_purchase", "<", 30)
    assert parse_expression("is_damaged", WORDS) == Atom("is_damaged", "==", True)


def test_a_fact_and_a_value_of_one_name_beside_a_list_are_ambiguous():
    words = {
        "color": Variable("color", "enum", ("red", "shade")),
        "shade": Variable("shade", "enum", ("red", "dark")),
    }
    with pytest.raises(InvalidExpression, match="both a fact and a value") as caught:
        parse_expression("color = shade", words)
    assert caught.value.column == 9
    assert parse_expression('color = "shade"', words) == Atom("color", "==", "shade")


def test_facts_may_be_called_like_operators():
    words = {"or": Variable("or", "boolean"), "assert": Variable("assert", "boolean")}
    assert parse_term("(and or assert)", words) == And((Atom("or", "==", True), Atom("assert", "==", True)))
    assert parse_expression("assert", words) == Atom("assert", "==", True)


# ---- limits ---------------------------------------------------------------------------------------------------------


def nested(opening, middle, closing, depth):
    return opening * depth + middle + closing * depth


LONG = {
    "too many characters": ("expression", " " * (MAX_CHARACTERS + 1)),
    "too many characters in a term": ("term", ";" * (MAX_CHARACTERS + 1)),
    "too many tokens": ("expression", "has_receipt" + " and has_receipt" * (MAX_TOKENS // 2)),
    "too many tokens in a term": ("term", f"(and {'has_receipt ' * MAX_TOKENS})"),
    "too many brackets": ("expression", nested("(", "has_receipt", ")", MAX_DEPTH + 1)),
    "too many brackets in a term": ("term", nested("(not ", "has_receipt", ")", MAX_DEPTH + 1)),
    "brackets that never close": ("term", "(and " * 4_900),
    "too deep a formula": ("term", nested("(=> ", "has_receipt", " is_damaged)", MAX_DEPTH - 1)),
    "too long a product": ("expression", "count" + " * count" * 20 + " < 3"),
    "too long a product in a term": ("term", f"(< (* {'count ' * 20}) 3)"),
    "a number that grows": ("expression", "count < 9999999999" + " * 9999999999" * 500),
    "a sum that grows": ("expression", "count < " + "9" * 40 + (" + " + "9" * 40) * 50),
    "a fraction that grows": ("term", f"(< count (* {'(/ 1 999999999) ' * 50}))"),
    # equal parts would be one part: each pair of lists stands beside something else
    "lists that multiply": ("term", f"(and {' '.join(f'(or (< count {i}) (= big big2))' for i in range(300))})"),
}
BIG = tuple(f"v{i}" for i in range(100))
LONG_WORDS = {**WORDS, "big": Variable("big", "enum", BIG), "big2": Variable("big2", "enum", BIG)}


@pytest.mark.parametrize("name", LONG)
def test_what_is_too_large_is_refused(name):
    reader, text = LONG[name]
    with pytest.raises(InvalidExpression):
        READERS[reader](text, LONG_WORDS)


FINE = {
    "a long conjunction": ("expression", " and ".join(f"count != {i}" for i in range(800))),
    "a long sum": ("expression", " + ".join(["refund_amount", "2 * purchase_amount"] * 600) + " <= 100"),
    "a long sum in a term": ("term", f"(<= (+ {'refund_amount purchase_amount ' * 1_500}) 100)"),
    "many negations": ("expression", "not " * 4_001 + "has_receipt"),
    "many minus signs": ("expression", "- " * 4_001 + "count < 3"),
    "deep brackets": ("expression", nested("(", "has_receipt", ")", MAX_DEPTH)),
    "deep alternation": ("term", nested("(and has_receipt (or is_damaged ", "(< count 3)", "))", 99)),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_large_and_harmless_is_read_and_every_reading_can_take_it(name):
    reader, text = FINE[name]
    formula = READERS[reader](text, WORDS)
    assert names(formula) <= WORDS.keys()
    facts = {"has_receipt": True, "is_damaged": False, "count": -3, "refund_amount": 0, "purchase_amount": 0}
    assert truth(formula, facts) in (True, False)
    assert simplify(formula, {"has_receipt": True}) is not None
    assert smtlib(formula, WORDS)
    assert truth(parse_expression(infix(formula, WORDS), WORDS), facts) == truth(formula, facts)
    with suppress(TooManyBoxes):
        boxes(formula, WORDS)


# ---- hostile text ---------------------------------------------------------------------------------------------------

HOSTILE = (
    "(declare-const x Int)(assert (> x (^ 10 999999999)))",
    "(simplify (^ 2 1000000000))",
    "(define-fun-rec f ((n Int)) Int (ite (<= n 0) 0 (+ 1 (f (- n 1)))))",
    "(assert (= 42 (+ (* x x x) (* y y y) (* z z z))))",
    "(assert " + "(not " * 20_000 + "p" + ")" * 20_000 + ")",
    "(let ((v1 (+ v0 v0))) (let ((v2 (+ v1 v1))) (> v2 5)))",
    "(> count 1" + "0" * 60_000 + ")",
    "(> count 1" + "0" * 5_000_000 + ")",
    "(declare-const x (_ BitVec 2000000000))",
    "((_ re.loop 1000000 2000000) a)",
    '(set-option :diagnostic-output-channel "x.txt")',
    '(include "other.smt2")',
    "(exit)",
    "(set-option :memory_max_size 1)",
    "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))",
    "(apply (then simplify smt))",
    "(assert\x00 true)",
    "__import__('os').system('touch x')",
    "has_receipt.__class__.__mro__",
    "lambda: 0",
    "exec(open('x').read())",
    "f'{1}'",
    "\ud800 = 3",
    "count <= ٣",
    "\u202e has_receipt",
    "|" * 1_000,
    '"' * 1_001,
    "(" * 5_000,
    ")" * 5_000,
    "-" * 5_000,
    "= " * 2_000,
    "count <= " + "1" * 64_000,
    "x" * 64_000,
    "'" + "a" * 60_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:40]))
@pytest.mark.parametrize("reader", READERS)
def test_hostile_text_is_refused_in_words(reader, text):
    with pytest.raises(InvalidExpression) as caught:
        READERS[reader](text, WORDS)
    assert len(caught.value.message) < 300
    caught.value.message.encode()
    (caught.value.help or "").encode()


SIGNS = [
    "(",
    ")",
    "(",
    ")",
    "+",
    "-",
    "*",
    "/",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "≤",
    "∧",
    "¬",
    "□",
    "|",
    '"',
    "'",
]
NAMES = ["electronics", "in-store", "true", "false", "and", "or", "not", "=>", "distinct", "to_real", "assert"]
NUMBERS = ["1", "2.5", "2026-01-31", "739647", "1" * 45, "٣"]
PIECES = st.sampled_from([*WORDS, *NAMES, *NUMBERS, *SIGNS, " ", "\n", ";", "\x00", "é"])


def reads_or_refuses(text):
    for parse in READERS.values():
        try:
            formula = parse(text, WORDS)
        except InvalidExpression as error:
            assert 1 <= error.column <= len(text) + 1
        else:
            assert isinstance(formula, Atom | And | Or | Not) or infix(formula, WORDS)
            assert parse_expression(infix(formula, WORDS), WORDS) is not None


@given(st.lists(PIECES, max_size=30).map(" ".join))
@settings(max_examples=1_500, deadline=None)
@example("(= category is_damaged)")
def test_any_words_are_read_or_refused(text):
    reads_or_refuses(text)


@given(st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=500, deadline=None)
def test_any_run_of_signs_is_read_or_refused(text):
    reads_or_refuses(text)


@given(formulas(leaves=4), st.data())
@settings(max_examples=400, deadline=None)
def test_a_slip_in_a_sound_text_is_read_or_refused(formula, data):
    for parse, text in ((parse_expression, infix(formula, VARIABLES)), (parse_term, smtlib(formula, VARIABLES))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 3))
        slipped = (
            text[:at]
            + data.draw(st.sampled_from(["", "(", ")", "=", "1", " ", "x", "not", "|", '"']))
            + text[at + gone :]
        )
        try:
            read = parse(slipped, VARIABLES)
        except InvalidExpression as error:
            assert 1 <= error.column <= len(slipped) + 1
        else:
            assert names(read) <= VARIABLES.keys()
            for case in list(cases(names(read)))[:20]:
                assert truth(read, case) in (True, False)


@given(st.text(max_size=60))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused(text):
    reads_or_refuses(text)
