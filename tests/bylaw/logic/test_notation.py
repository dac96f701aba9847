"""What is written as text reads back as the same formula; the whole script is a file that Z3's own parser accepts."""

from pathlib import Path

import yaml
import z3
from hypothesis import given, settings

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.expressions import parse_expression, parse_term
from bylaw.logic.formula.ir import FALSE, TRUE, Atom, Compare, Constraint, Ref, Ruleset, Source, Variable, names
from bylaw.logic.formula.notation import bounds, date_text, infix, mentioned, script, smtlib, symbol
from bylaw.logic.solver.smt import Reasoner
from tests.bylaw.logic.worlds import DAY, VARIABLES, cases, formulas, rules, satisfying
from tests.rows import each

DATA = yaml.safe_load(Path(__file__).with_name("notation.yaml").read_text(encoding="utf-8"))


def variable(name, kind, values=(), minimum=None, maximum=None):
    return Variable(name, kind, tuple(values), minimum, maximum)


WORDS = {name: variable(name, **declared) for name, declared in DATA["variables"].items()}


@each("row", DATA["rows"], ids=lambda row: row["name"])
def test_a_formula_is_written_in_both_notations(row):
    formula = decode(row["formula"], WORDS)
    assert infix(formula, WORDS) == row["infix"]
    assert smtlib(formula, WORDS) == row["smtlib"]


@each("row", DATA["rows"], ids=lambda row: row["name"])
def test_both_notations_read_back_as_an_equivalent_formula(row):
    formula = decode(row["formula"], WORDS)
    reasoner = Reasoner(WORDS)
    for read in (parse_expression(row["infix"], WORDS), parse_term(row["smtlib"], WORDS)):
        if "days * price" in row["infix"]:  # nonlinear: the solver may give up, the text may not change
            assert infix(read, WORDS) == row["infix"]
        else:
            assert reasoner.equivalent(formula, read).status == "unsat"


@given(formulas())
@settings(max_examples=500, deadline=None)
def test_any_formula_reads_back_with_the_same_truth_in_every_case(formula):
    read = (parse_expression(infix(formula, VARIABLES), VARIABLES), parse_term(smtlib(formula, VARIABLES), VARIABLES))
    for case in cases(names(formula)):
        assert [truth(one, case) for one in read] == [truth(formula, case)] * 2


@given(formulas())
@settings(max_examples=50, deadline=None)
def test_writing_is_stable_after_reading_once(formula):
    once = infix(parse_expression(infix(formula, VARIABLES), VARIABLES), VARIABLES)
    assert infix(parse_expression(once, VARIABLES), VARIABLES) == once


# ---- names ----------------------------------------------------------------------------------------------------------


@each(
    ("name", "expected"),
    [
        ("has_receipt", "has_receipt"),
        ("in-store", "in-store"),
        ("24h", "|24h|"),
        ("New York", "|New York|"),
        ("let", "|let|"),
        ("true", "|true|"),
        ("Île-de-France", "|Île-de-France|"),
        ("", "||"),
        ("a|b\\c", "|a/b/c|"),
    ],
)
def test_a_symbol_is_quoted_only_where_it_must_be(name, expected):
    assert symbol(name) == expected


@each(
    ("ordinal", "expected"),
    [
        (1, "0001-01-01"),
        (739_647, "2026-01-31"),
        (3_652_059, "9999-12-31"),
        (0, "0"),
        (-4, "-4"),
        (3_652_060, "3652060"),
    ],
)
def test_a_day_is_iso_text_and_what_no_calendar_has_a_number(ordinal, expected):
    assert date_text(ordinal) == expected


def test_mentioned_facts_are_sorted_and_named_once():
    formula = Compare(Ref("price"), "<", Ref("days"))
    assert mentioned([formula, Atom("days", "<", 3), TRUE]) == ["days", "price"]
    assert mentioned([]) == []


@each(
    ("fact", "expected"),
    [
        (Variable("b", "boolean"), []),
        (Variable("e", "enum", ("x", "y")), [Atom("e", "in", ("x", "y"))]),
        (Variable("i", "integer"), []),
        (Variable("i", "integer", minimum=0), [Atom("i", ">=", 0)]),
        (Variable("i", "decimal", minimum=0, maximum=5), [Atom("i", ">=", 0), Atom("i", "<=", 5)]),
        (Variable("d", "date"), [Atom("d", ">=", 1), Atom("d", "<=", 3_652_059)]),
        (Variable("d", "date", minimum=9), [Atom("d", ">=", 9), Atom("d", "<=", 3_652_059)]),
    ],
)
def test_a_domain_is_said_by_its_bounds(fact, expected):
    assert bounds(fact) == expected


# ---- the script -----------------------------------------------------------------------------------------------------


@given(rules(most=3, leaves=3))
@settings(max_examples=40, deadline=None)
def test_z3_reads_the_script_and_finds_a_case_for_a_guard_exactly_when_there_is_one(found):
    text = script(Ruleset(VARIABLES, found))
    for rule in found:
        solver = z3.SimpleSolver()
        solver.add(z3.parse_smt2_string(f"{text}(assert {rule.rule_id})\n"))
        assert str(solver.check()) == ("sat" if satisfying(rule.guard) else "unsat")


def test_the_script_asserts_domains_and_invariants():
    late = Constraint("C-1\nnot a new line", "POL-X-001", Atom("days", ">", 3), "days > 3", Source("x.yaml"))
    text = script(Ruleset(VARIABLES, (), (late,)))
    assert "; C-1 not a new line\n(assert (> days 3))\n" in text
    for claim, expected in (("(= days 4)", "sat"), ("(= days 3)", "unsat"), ("(= days 5)", "unsat")):
        solver = z3.SimpleSolver()
        solver.add(z3.parse_smt2_string(f"{text}(assert {claim})"))
        assert str(solver.check()) == expected


def test_the_script_needs_no_words_and_no_rules():
    assert script(Ruleset({"x": Variable("x", "date", minimum=DAY, maximum=DAY)}, ())) == (
        f"(set-logic ALL)\n(declare-const x Int)\n(assert (>= x {DAY}))\n(assert (<= x {DAY}))\n"
    )
    assert script(Ruleset({}, ())) == "(set-logic ALL)\n"
    assert smtlib(FALSE, {}) == "false"
