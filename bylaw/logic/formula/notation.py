"""A formula as text, in the two notations that policies use: infix (`antecedent`) and SMT-LIB (`z3_expr`).

What is written here reads back through `bylaw.logic.formula.expressions` as an equivalent formula. No solver is needed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction

from bylaw.canonical import number_text
from bylaw.logic.formula.ir import (
    NEGATED,
    And,
    Arith,
    Atom,
    Compare,
    Const,
    Formula,
    Not,
    Number,
    Or,
    Ref,
    Ruleset,
    Term,
    Value,
    Variable,
    names,
)

BARE_WORD = re.compile(r"[^\W\d][\w.-]*(?<![.-])")  # what an expression reads as a word without quotes
SIMPLE_SYMBOL = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*")
KEYWORDS = frozenset({"and", "or", "not", "true", "false"})
RESERVED = frozenset({"!", "_", "as", "exists", "forall", "let", "match", "par", "true", "false"})

# ---- infix --------------------------------------------------------------------------------------------------------


def infix(formula: Formula, variables: Mapping[str, Variable]) -> str:
    """The formula as seed 000 writes antecedents: `(has_receipt = true) ∧ (days_since_purchase <= 30)`."""
    match formula:
        case Atom(var, "in", value):
            assert isinstance(value, tuple)
            return _joined([infix(Atom(var, "==", one), variables) for one in value], "∨", "false")
        case Atom(var, op, value):
            assert not isinstance(value, tuple)
            return _infix_atom(variables[var], _sign(op), value, variables)
        case Compare(left, op, right):
            return _infix_compare(left, _sign(op), right, variables)
        case And(items):
            return _joined([infix(item, variables) for item in items], "∧", "true")
        case Or(items):
            return _joined([infix(item, variables) for item in items], "∨", "false")
        case Not(item):
            return f"¬({infix(item, variables)})"


def _joined(parts: list[str], sign: str, empty: str) -> str:
    if len(parts) == 1:
        return parts[0]
    return f" {sign} ".join(f"({part})" for part in parts) if parts else empty


def _sign(op: str) -> str:
    return "=" if op == "==" else op


def _infix_atom(variable: Variable, sign: str, value: Value, variables: Mapping[str, Variable]) -> str:
    if isinstance(value, bool):
        return f"{variable.name} {sign} {str(value).lower()}"
    if isinstance(value, str):
        return f"{variable.name} {sign} {_word(value, variables)}"
    if variable.kind == "date":
        return f"{variable.name} {sign} {date_text(value)}"
    scale = _needed(Const(value))
    left = variable.name if scale == 1 else f"{scale} * {variable.name}"
    return f"{left} {sign} {number_text(Fraction(value) * scale)}"


def date_text(value: Number) -> str:
    """An ordinal as ISO text; as a number where no calendar has such a day."""
    if isinstance(value, int) and 1 <= value <= date.max.toordinal():
        return date.fromordinal(value).isoformat()
    return number_text(Fraction(value))


def _word(value: str, variables: Mapping[str, Variable]) -> str:
    is_bare = BARE_WORD.fullmatch(value) and value.casefold() not in KEYWORDS and value not in variables
    return value if is_bare else '"' + value.replace('"', '""') + '"'


def _infix_compare(left: Term, sign: str, right: Term, variables: Mapping[str, Variable]) -> str:
    scale = math.lcm(_needed(left), _needed(right))
    sides = []
    for term, other in ((left, right), (right, left)):
        if isinstance(term, Const) and scale == 1 and _dates(other, variables) == 1:
            sides.append(date_text(term.value))
        else:
            sides.append(_infix_term(term, scale))
    return f"{sides[0]} {sign} {sides[1]}"


def _needed(term: Term) -> int:
    """The smallest factor after which every number of *term* is a finite decimal: the notation has no division."""
    match term:
        case Const(value):
            rest = Fraction(value).denominator
            for prime in (2, 5):
                while rest % prime == 0:
                    rest //= prime
            return rest
        case Ref():
            return 1
        case Arith("*", left, right):
            return _needed(left) * _needed(right)
        case Arith(_, left, right):
            return math.lcm(_needed(left), _needed(right))


def _infix_term(term: Term, scale: int, *, is_factor: bool = False) -> str:
    match term:
        case Const(value):
            text = number_text(Fraction(value) * scale)
            return f"({text})" if text.startswith("-") and is_factor else text
        case Ref(var):
            text = var if scale == 1 else f"{scale} * {var}"
            return f"({text})" if scale != 1 and is_factor else text
        case Arith("*", left, right):
            inner = _needed(left)
            if isinstance(left, Const) and left.value * inner == 1:
                return _infix_term(right, scale // inner, is_factor=is_factor)
            factors = (_infix_term(left, inner, is_factor=True), _infix_term(right, scale // inner, is_factor=True))
            return " * ".join(factors)
        case Arith(op, left, right):
            is_plain = op == "+" or isinstance(right, Ref | Const)
            second = _infix_term(right, scale, is_factor=not is_plain or isinstance(right, Const))
            text = f"{_infix_term(left, scale)} {op} {second}"
            return f"({text})" if is_factor else text


def _dates(term: Term, variables: Mapping[str, Variable]) -> int:
    """How many dates are summed up in *term*: 1 for a date, 0 for an amount (a date minus a date is one)."""
    match term:
        case Ref(var):
            return 1 if variables[var].kind == "date" else 0
        case Arith("+", left, right):
            return _dates(left, variables) + _dates(right, variables)
        case Arith("-", left, right):
            return _dates(left, variables) - _dates(right, variables)
        case _:
            return 0


# ---- SMT-LIB ------------------------------------------------------------------------------------------------------


def smtlib(formula: Formula, variables: Mapping[str, Variable]) -> str:
    """The formula as one Boolean SMT-LIB term: enum values are bare symbols, dates their ordinals."""
    match formula:
        case Atom(var, "in", value):
            assert isinstance(value, tuple)
            return _applied("or", [smtlib(Atom(var, "==", one), variables) for one in value], "false")
        case Atom(var, op, value):
            name = symbol(var)
            if isinstance(value, bool):
                return name if value == (op == "==") else f"(not {name})"
            if isinstance(value, str):
                return _compared(op, name, symbol(value))
            assert not isinstance(value, tuple)
            return smtlib(Compare(Ref(var), NEGATED[NEGATED[op]], Const(value)), variables)
        case Compare(left, op, right):
            is_real = _is_real(left, variables) or _is_real(right, variables)
            return _compared(op, _smt_term(left, is_real, variables), _smt_term(right, is_real, variables))
        case And(items):
            return _applied("and", [smtlib(item, variables) for item in items], "true")
        case Or(items):
            return _applied("or", [smtlib(item, variables) for item in items], "false")
        case Not(item):
            return f"(not {smtlib(item, variables)})"


def symbol(name: str) -> str:
    """A name as an SMT-LIB symbol, quoted with `|` where it needs it."""
    if SIMPLE_SYMBOL.fullmatch(name) and name not in RESERVED:
        return name
    return "|" + name.replace("\\", "/").replace("|", "/") + "|"


def _applied(head: str, parts: list[str], empty: str) -> str:
    if len(parts) == 1:
        return parts[0]
    return f"({head} {' '.join(parts)})" if parts else empty


def _compared(op: str, left: str, right: str) -> str:
    if op == "!=":
        return f"(not (= {left} {right}))"
    return f"({_sign(op)} {left} {right})"


def _is_real(term: Term, variables: Mapping[str, Variable]) -> bool:
    match term:
        case Ref(var):
            return variables[var].kind == "decimal"
        case Const(value):
            return isinstance(value, Fraction) and value.denominator != 1
        case Arith(_, left, right):
            return _is_real(left, variables) or _is_real(right, variables)


def _smt_term(term: Term, is_real: bool, variables: Mapping[str, Variable]) -> str:
    match term:
        case Ref(var):
            return f"(to_real {symbol(var)})" if is_real and variables[var].is_whole else symbol(var)
        case Const(value):
            return _smt_number(Fraction(value), is_real)
        case Arith(op, left, right):
            return f"({op} {_smt_term(left, is_real, variables)} {_smt_term(right, is_real, variables)})"


def _smt_number(value: Fraction, is_real: bool) -> str:
    text = number_text(abs(value))
    if "/" in text:
        over, under = text.split("/")
        text = f"(/ {over}.0 {under}.0)"
    elif is_real and "." not in text:
        text += ".0"
    return f"(- {text})" if value < 0 else text


def script(ruleset: Ruleset) -> str:
    """A whole SMT-LIB file for any solver: declarations, domains, invariants, and one named guard a rule.

    All enum values are constructors of one datatype, since two facts may share a value.
    """
    variables = [ruleset.variables[name] for name in sorted(ruleset.variables)]
    lines = ["(set-logic ALL)"]
    words = sorted({value for variable in variables for value in variable.values})
    if words:
        lines.append(f"(declare-datatypes ((Word 0)) (({' '.join(f'({symbol(word)})' for word in words)})))")
    for variable in variables:
        lines.append(f"(declare-const {symbol(variable.name)} {_SORTS[variable.kind]})")
        lines.extend(f"(assert {smtlib(test, ruleset.variables)})" for test in bounds(variable))
    for constraint in ruleset.constraints:
        lines.append(f"; {_comment(constraint.constraint_id)}")
        lines.append(f"(assert {smtlib(constraint.formula, ruleset.variables)})")
    lines.extend(
        f"(define-fun {symbol(rule.rule_id)} () Bool {smtlib(rule.guard, ruleset.variables)})" for rule in ruleset.rules
    )
    return "\n".join(lines) + "\n"


_SORTS: Mapping[str, str] = {"boolean": "Bool", "integer": "Int", "decimal": "Real", "enum": "Word", "date": "Int"}


def _comment(text: str) -> str:
    return " ".join(text.split())


def bounds(variable: Variable) -> list[Formula]:
    """The domain of a fact as tests: its values, or its minimum and maximum. Dates are days of the calendar."""
    if variable.kind == "boolean":
        return []
    if variable.kind == "enum":
        return [Atom(variable.name, "in", tuple(variable.values))]
    low, high = variable.minimum, variable.maximum
    if variable.kind == "date":
        low, high = (1 if low is None else low), (date.max.toordinal() if high is None else high)
    tests: list[Formula] = []
    if low is not None:
        tests.append(Atom(variable.name, ">=", low))
    if high is not None:
        tests.append(Atom(variable.name, "<=", high))
    return tests


def mentioned(formulas: list[Formula] | tuple[Formula, ...]) -> list[str]:
    """The facts that any of *formulas* speaks of, sorted."""
    return sorted(set().union(*map(names, formulas)))
