"""Infix expressions over facts (`expression`, `antecedent`), read without a solver.

Operator precedence by two stacks, with limits on length, count, depth and digits: no text can hang the reader, make it
recurse, or raise anything but `InvalidExpression`. `parse_term` reads the other notation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bylaw.logic.formula.ir import Formula, Variable
from bylaw.logic.formula.notation import BARE_WORD, KEYWORDS
from bylaw.logic.formula.operands import Operand, Operators, finished
from bylaw.logic.formula.terms import parse_term
from bylaw.logic.formula.tokens import MAX_DEPTH, InvalidExpression, Token, tokens

__all__ = ["InvalidExpression", "parse_expression", "parse_term"]

_SIGNS: Mapping[str, str] = {
    "=": "==",
    "==": "==",
    "!=": "!=",
    "≠": "!=",
    "<": "<",
    "<=": "<=",
    "≤": "<=",
    ">": ">",
    ">=": ">=",
    "≥": ">=",
    "∧": "and",
    "&&": "and",
    "∨": "or",
    "||": "or",
    "¬": "not",
    "!": "not",
    "+": "+",
    "-": "-",
    "−": "-",
    "*": "*",
    "×": "*",
}
_STRENGTH: Mapping[str, int] = {
    "(": 0,
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4),
    "+": 5,
    "-": 5,
    "*": 6,
    "negative": 7,
}
_FOREIGN: Mapping[str, str] = {
    "/": "there is no division: multiply the other side instead",
    "**": "there are no powers",
    "^": "there are no powers",
    "=>": "write `not a or b`",
    "->": "write `not a or b`",
    "→": "write `not a or b`",
    "<>": "write `!=`",
    "&": "write `and`",
    "|": "write `or`",
    ",": "write numbers without separators, and conditions with and, or, not",
    "%": "write a share as a factor: `0.1 * price`",
    "$": "amounts are in the fact's own unit: write the number alone",
    "€": "amounts are in the fact's own unit: write the number alone",
    "∀": "quantifiers are not accepted: a rule speaks of one case",
    "∃": "quantifiers are not accepted: a rule speaks of one case",
    "□": "`□` may only lead",
}


def _infix_pattern(variables: Mapping[str, Variable]) -> re.Pattern[str]:
    """Tokens of infix text. Enum values such as `in-store` are words of their own, not a subtraction."""
    values = {value for variable in variables.values() for value in variable.values}
    hyphened = sorted((v for v in values if ("-" in v or "." in v) and BARE_WORD.fullmatch(v)), key=len, reverse=True)
    words = "|".join(rf"{re.escape(word)}(?![\w-])" for word in hyphened) or r"(?!)"
    foreign = "|".join(re.escape(sign) for sign in sorted(_FOREIGN, key=len, reverse=True))
    signs = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
    return re.compile(
        r"(?P<space>\s+)|(?P<open>\()|(?P<close>\))"
        r"|(?P<string>\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*')"
        r"|(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}(?![\w-]))|(?P<number>[0-9]+(?:\.[0-9]+)?(?![\w.]))"
        r"|(?P<malformed>[0-9][\w.]*)"
        rf"|(?P<word>{words})|(?P<name>[^\W\d]\w*)"
        rf"|(?P<foreign>\*\*|=>|->|<>)|(?P<sign>{signs})|(?P<other>{foreign})"
    )


def parse_expression(text: str, variables: Mapping[str, Variable]) -> Formula:
    """An infix expression over declared facts, as a formula. Raises InvalidExpression."""
    start = len(text) - len(text.lstrip())
    if text.startswith("□", start):
        text = f"{text[:start]} {text[start + 1 :]}"
    reader = _Infix(Operators(variables))
    for token in tokens(text, _infix_pattern(variables)):
        reader.take(token)
    return reader.finish()


class _Infix:
    """Operator precedence by two stacks, so that no text can nest deeper than a list is long."""

    def __init__(self, operators: Operators) -> None:
        self.operators = operators
        self.operands: list[Operand] = []
        self.pending: list[Token] = []
        self.depth = 0
        self.wants_operand = True

    def take(self, token: Token) -> None:
        """Take the next token."""
        match token.kind:
            case "open":
                self._open(token)
            case "close":
                self._close(token)
            case "sign":
                self._sign(Token(_SIGNS[token.text], token.text, token.column))
            case "name" if token.text.casefold() in ("and", "or", "not") and not self._is_declared(token.text):
                self._sign(Token(token.text.casefold(), token.text, token.column))
            case "foreign" | "other":
                help = _FOREIGN[token.text]
                raise InvalidExpression(f"`{token.text}` is not part of an expression", token.column, help)
            case "malformed":
                help = "a word that begins with a digit is put in quotes"
                raise InvalidExpression(f"`{token.text[:60]}` is no number", token.column, help)
            case _:
                self._operand(token)

    def _is_declared(self, name: str) -> bool:
        return name not in KEYWORDS and name in self.operators.variables

    def _operand(self, token: Token) -> None:
        if not self.wants_operand:
            what = token.text[:60]
            raise InvalidExpression(f"an operator is missing before `{what}`", token.column)
        self.wants_operand = False
        self.operands.append(self._read(token))

    def _read(self, token: Token) -> Operand:
        match token.kind:
            case "number":
                return self.operators.number(token.text, token.column)
            case "day":
                return self.operators.day(token.text, token.column)
            case "string":
                quote = token.text[0]
                return self.operators.quoted(token.text[1:-1].replace(quote * 2, quote), token.column)
            case _:
                return self.operators.name(token.text, token.column)

    def _open(self, token: Token) -> None:
        if not self.wants_operand:
            help = "an expression calls nothing: facts, numbers, + - *, comparisons, and/or/not and brackets"
            raise InvalidExpression("an operator is missing before `(`", token.column, help)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise InvalidExpression(f"brackets are nested deeper than {MAX_DEPTH}", token.column)
        self.pending.append(Token("(", "(", token.column))

    def _close(self, token: Token) -> None:
        if self.wants_operand:
            raise InvalidExpression("a fact or a value is missing before `)`", token.column)
        while self.pending and self.pending[-1].kind != "(":
            self._reduce()
        if not self.pending:
            raise InvalidExpression("`)` closes nothing", token.column)
        self.pending.pop()
        self.depth -= 1

    def _sign(self, token: Token) -> None:
        if self.wants_operand:
            if token.kind == "-":
                self.pending.append(Token("negative", token.text, token.column))
            elif token.kind == "not":
                self.pending.append(token)
            else:
                raise InvalidExpression(f"a fact or a value is missing before `{token.text}`", token.column)
            return
        if token.kind == "not":
            raise InvalidExpression(f"an operator is missing before `{token.text}`", token.column)
        strength = _STRENGTH[token.kind]
        while self.pending and _STRENGTH[self.pending[-1].kind] >= strength:
            if strength == _STRENGTH["=="] == _STRENGTH[self.pending[-1].kind]:
                help = "write `low <= fact and fact <= high`"
                raise InvalidExpression("comparisons cannot be chained", token.column, help)
            self._reduce()
        self.pending.append(token)
        self.wants_operand = True

    def _reduce(self) -> None:
        sign, right = self.pending.pop(), self.operands.pop()
        if sign.kind == "not":
            self.operands.append(self.operators.negation(right, sign.column))
        elif sign.kind == "negative":
            self.operands.append(self.operators.minus(right, sign.column))
        else:
            self.operands.append(self._joined(self.operands.pop(), sign, right))

    def _joined(self, left: Operand, sign: Token, right: Operand) -> Operand:
        match sign.kind:
            case "and" | "or":
                return self.operators.both("and" if sign.kind == "and" else "or", [left, right])
            case "+" | "-":
                return self.operators.plus(left, right, "+" if sign.kind == "+" else "-", sign.column)
            case "*":
                return self.operators.times(left, right, sign.column)
            case _:
                return self.operators.compare(left, sign.kind, right, sign.column)

    def finish(self) -> Formula:
        """The formula, once every token is taken."""
        if self.wants_operand:
            if not self.pending:
                raise InvalidExpression("the expression is empty", 1)
            last = self.pending[-1]
            raise InvalidExpression(f"a fact or a value is missing after `{last.text}`", last.column)
        while self.pending:
            if self.pending[-1].kind == "(":
                raise InvalidExpression("`(` is never closed", self.pending[-1].column)
            self._reduce()
        return finished(self.operands, self.operators)
