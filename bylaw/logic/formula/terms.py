"""SMT-LIB terms as people and models write them (`z3_expr`), read without a solver.

The text never reaches Z3's parser, so nothing in a policy can execute, declare or print. The reader is one loop over
tokens: an application is understood when its bracket closes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from bylaw.logic.formula.ir import Formula, Variable
from bylaw.logic.formula.operands import Amount, Flag, Operand, Operators, finished, joined
from bylaw.logic.formula.tokens import MAX_DEPTH, MAX_TOKENS, InvalidExpression, Token, tokens

_TERM = re.compile(
    r"(?P<space>\s+|;[^\n]*)|(?P<open>\()|(?P<close>\))|(?P<quoted>\|[^|\\]*\|)|(?P<string>\"(?:[^\"]|\"\")*\")"
    r"|(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}(?=[\s()]|$))|(?P<number>[0-9]+(?:\.[0-9]+)?(?=[\s()]|$))"
    r"|(?P<symbol>[^\s()\";|]+)"
)
_REFUSED = {
    **dict.fromkeys(("assert", "declare-const", "declare-fun", "define-fun", "check-sat"), "write the term alone"),
    **dict.fromkeys(("forall", "exists", "lambda"), "quantifiers are not accepted: a rule speaks of one case"),
    **dict.fromkeys(("let", "match", "par"), "binders are not accepted: write the term out"),
    **dict.fromkeys(("_", "!", "as"), "indexed and annotated terms are not accepted"),
    "^": "powers are not accepted",
    "ite": "write `(or (and c a) (and (not c) b))`",
    "xor": "write `(distinct a b)`",
    "implies": "write `=>`",
}
_COMPARISONS: Mapping[str, str] = {"=": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_HEADS = frozenset({*_COMPARISONS, "and", "or", "not", "=>", "distinct", "+", "-", "*", "/", "to_real"})
MAX_DISTINCT = 20  # every pair is compared


@dataclass(slots=True)
class _Application:
    """An application that is being read: its head once known, and what came after it."""

    column: int
    head: str | None = None
    operands: list[Operand] = field(default_factory=list)


def parse_term(z3_expr: str, variables: Mapping[str, Variable]) -> Formula:
    """One Boolean SMT-LIB term over declared facts, as a formula. Raises InvalidExpression."""
    operators = Operators(variables, ordinals=True)
    outer = _Application(1, "")
    stack = [outer]
    for token in tokens(z3_expr, _TERM):
        top = stack[-1]
        if top is outer and outer.operands:
            raise InvalidExpression("a second term follows the first", token.column, "join them with `(and ...)`")
        if token.kind == "open":
            if top.head is None:
                raise InvalidExpression("an operator is missing after `(`", token.column, _operators_are())
            if len(stack) > MAX_DEPTH:
                raise InvalidExpression(f"brackets are nested deeper than {MAX_DEPTH}", token.column)
            stack.append(_Application(token.column))
        elif token.kind == "close":
            if top is outer:
                raise InvalidExpression("`)` closes nothing", token.column)
            if top.head is None:
                raise InvalidExpression("`()` is empty", token.column)
            stack.pop()
            stack[-1].operands.append(_applied(top, operators))
        elif top.head is None:
            top.head = _head(token)
        else:
            top.operands.append(_leaf(token, operators))
    if len(stack) > 1:
        raise InvalidExpression("`(` is never closed", stack[-1].column)
    if not outer.operands:
        raise InvalidExpression("the expression is empty", 1)
    return finished(outer.operands, operators)


def _operators_are() -> str:
    return "operators are and, or, not, =>, =, distinct, <, <=, >, >=, +, - and *"


def _head(token: Token) -> str:
    if token.kind == "symbol" and token.text in _HEADS:
        return token.text
    help = _REFUSED.get(token.text, _operators_are())
    raise InvalidExpression(f"`{token.text[:60]}` is not an operator here", token.column, help)


def _leaf(token: Token, operators: Operators) -> Operand:
    match token.kind:
        case "number":
            return operators.number(token.text, token.column)
        case "day":
            return operators.day(token.text, token.column)
        case "quoted":
            return operators.name(token.text[1:-1], token.column)
        case "string":
            raise InvalidExpression("strings are not accepted", token.column, "enum values are written bare")
    if token.text[0].isdigit() or re.fullmatch(r"[+-][0-9.]+", token.text):
        help = "a negative number is `(- 5)`; a word that begins with a digit is put between `|`"
        raise InvalidExpression(f"`{token.text[:60]}` is no number", token.column, help)
    if token.text in _HEADS or token.text in _REFUSED:
        if token.text in operators.variables or any(token.text in v.values for v in operators.variables.values()):
            return operators.name(token.text, token.column)
        help = _REFUSED.get(token.text, f"write it first: `({token.text} ...)`")
        raise InvalidExpression(f"`{token.text}` stands where a fact or a value belongs", token.column, help)
    return operators.name(token.text, token.column)


def _applied(application: _Application, operators: Operators) -> Operand:
    head, operands, column = application.head, application.operands, application.column
    assert head is not None
    least, most = _ARITY.get(head, (1, MAX_TOKENS))
    if not least <= len(operands) <= most:
        wanted = f"{least}" if least == most else f"{least} or more" if most >= MAX_TOKENS else f"{least} to {most}"
        noun = "operand" if wanted == "1" else "operands"
        raise InvalidExpression(f"`{head}` takes {wanted} {noun}, and has {len(operands)}", column)
    match head:
        case "and" | "or":
            return operators.both("and" if head == "and" else "or", operands)
        case "not":
            return operators.negation(operands[0], column)
        case "=>":
            premises = [operators.negation(operand, column) for operand in operands[:-1]]
            return operators.both("or", [*premises, operands[-1]])
        case "distinct":
            pairs = [(a, b) for i, a in enumerate(operands) for b in operands[i + 1 :]]
            return _all_of([operators.compare(a, "!=", b, column) for a, b in pairs], column)
        case "+" | "-" | "*" | "/" | "to_real":
            return _arithmetic(head, operands, column, operators)
    neighbours = pairwise(operands)
    return _all_of([operators.compare(a, _COMPARISONS[head], b, column) for a, b in neighbours], column)


_ARITY: Mapping[str, tuple[int, int]] = {
    "not": (1, 1),
    "to_real": (1, 1),
    "/": (2, 2),
    "=>": (2, MAX_TOKENS),
    "distinct": (2, MAX_DISTINCT),
    **dict.fromkeys(_COMPARISONS, (2, MAX_TOKENS)),
}


def _all_of(flags: list[Flag], column: int) -> Flag:
    return Flag(column, None, [joined("and", [flag.formula() for flag in flags])])


def _arithmetic(head: str, operands: list[Operand], column: int, operators: Operators) -> Amount:
    total = operators.amount(operands[0], f"`{head}`")
    if head == "-" and len(operands) == 1:
        return operators.minus(total, column)
    if head == "/":
        under = operators.amount(operands[1], "`/`")
        if not (total.is_constant and under.is_constant and under.constant) or total.dates or under.dates:
            raise InvalidExpression("`/` joins two plain numbers only", column, "multiply the other side instead")
        return operators.times(total, Amount(column, constant=Fraction(1) / under.constant), column)
    for operand in operands[1:]:
        if head == "*":
            total = operators.times(total, operand, column)
        else:
            total = operators.plus(total, operand, "+" if head == "+" else "-", column)
    return total
