"""Formulas of a logic program as people and models write them: infix, or operators in front as in `(and A (not B))`.

A call such as `Owes(anna, ?who)` becomes one test of a fact with that name; `calls` says what it is made of. There is
no quantifier but the variable itself: `?who` stands for every constant that may stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bylaw.logic.formula.ir import FALSE, TRUE, And, Atom, Formula, Not, Or, conj, disj, negate
from bylaw.logic.formula.tokens import InvalidExpression, Token, tokens

MAX_DEPTH = 60  # of brackets and negations

_PATTERN = re.compile(
    r"(?P<space>\s+)|(?P<open>\()|(?P<close>\))|(?P<comma>,)"
    r"|(?P<sign><->|<=>|->|=>|&&|\|\||[∧∨¬→↔⇒⇔!&|~])"
    r"|(?P<name>\??[^\W\d]\w*(?:-\w+)*)|(?P<number>\d+)"
)
_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("and", "∧", "&&", "&"), "and"),
    **dict.fromkeys(("or", "∨", "||", "|"), "or"),
    **dict.fromkeys(("not", "¬", "!", "~"), "not"),
    **dict.fromkeys(("implies", "->", "=>", "→", "⇒"), "implies"),
    **dict.fromkeys(("iff", "<->", "<=>", "↔", "⇔"), "iff"),
}
_LOOSEST_FIRST = ("iff", "implies", "or", "and")


@dataclass(frozen=True, slots=True)
class Call:
    """A predicate with its arguments: names of constants, or variables that begin with `?`."""

    predicate: str
    args: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The call in its one spelling: `Owes(anna,ben)`, or `Valid` where there are no arguments."""
        return f"{self.predicate}({','.join(self.args)})" if self.args else self.predicate

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables, in order."""
        return tuple(dict.fromkeys(arg for arg in self.args if arg.startswith("?")))

    def bound(self, values: Mapping[str, str]) -> Call:
        """The call with *values* for its variables."""
        return Call(self.predicate, tuple(values.get(arg, arg) for arg in self.args))


@dataclass(frozen=True, slots=True)
class Parsed:
    """A formula over facts that are named like calls, and these calls by name."""

    formula: Formula
    calls: Mapping[str, Call] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of all calls, in order of their first mention."""
        return tuple(dict.fromkeys(one for call in self.calls.values() for one in call.variables))


def parse_formula(text: str) -> Parsed:
    """The formula that *text* spells; an empty one is true. Raises InvalidExpression."""
    if not text.strip():
        return Parsed(TRUE)
    reader = _Reader([*tokens(text, _PATTERN)])
    formula = reader.whole()
    return Parsed(formula, reader.calls)


def literal(call: Call, holds: bool = True) -> Formula:
    """That *call* holds, or that it does not."""
    atom = Atom(call.text, "==", True)
    return atom if holds else Not(atom)


def implied(condition: Formula, conclusion: Formula) -> Formula:
    """If *condition* then *conclusion*."""
    return conclusion if condition == TRUE else disj([negate(condition), conclusion])


def renamed(formula: Formula, names: Mapping[str, str]) -> Formula:
    """*formula* about other facts: each under the name that *names* gives it."""
    match formula:
        case Atom(var, op, value):
            return Atom(names.get(var, var), op, value)
        case And(items):
            return And(tuple(renamed(item, names) for item in items))
        case Or(items):
            return Or(tuple(renamed(item, names) for item in items))
        case Not(item):
            return Not(renamed(item, names))
        case _:
            return formula


def spell(formula: Formula) -> str:
    """A literal as a program writes it; any other formula in infix."""
    match formula:
        case Atom(var, "==", True):
            return var
        case Not(Atom(var, "==", True)):
            return f"not {var}"
        case And(items) if items:
            return " and ".join(_bracketed(item) for item in items)
        case Or(items) if items:
            return " or ".join(_bracketed(item) for item in items)
        case Not(item):
            return f"not ({spell(item)})"
        case _:
            return "true" if formula == TRUE else "false"


def _bracketed(formula: Formula) -> str:
    text = spell(formula)
    return f"({text})" if isinstance(formula, And | Or) and formula.items else text


class _Reader:
    """Recursive descent, no deeper than the text may nest."""

    def __init__(self, found: list[Token]) -> None:
        self.found, self.at, self.depth = found, 0, 0
        self.calls: dict[str, Call] = {}

    def whole(self) -> Formula:
        formula = self._joined(0)
        if (token := self._peek()) is not None:
            raise InvalidExpression(f"an operator is missing before `{token.text[:60]}`", token.column)
        return formula

    def _peek(self, ahead: int = 0) -> Token | None:
        return self.found[self.at + ahead] if self.at + ahead < len(self.found) else None

    def _operator(self, ahead: int = 0) -> str | None:
        """The operator that stands here; a word that is called, as in `or(A, B)`, is one too."""
        token = self._peek(ahead)
        return None if token is None else _WORDS.get(token.text.casefold())

    def _joined(self, strength: int) -> Formula:
        """Operands joined by operators that bind no looser than *strength*."""
        if strength == len(_LOOSEST_FIRST):
            return self._operand()
        items, sign = [self._joined(strength + 1)], _LOOSEST_FIRST[strength]
        while self._operator() == sign:
            self.at += 1
            items.append(self._joined(strength + 1))
        return items[0] if len(items) == 1 else self._made(sign, items)

    def _operand(self) -> Formula:
        token = self._peek()
        if token is None:
            last = self.found[-1]
            raise InvalidExpression(f"something is missing after `{last.text[:60]}`", last.column + len(last.text))
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise InvalidExpression(f"what is written is nested deeper than {MAX_DEPTH}", token.column)
        try:
            return self._read_operand(token)
        finally:
            self.depth -= 1

    def _read_operand(self, token: Token) -> Formula:
        operator = self._operator()
        if operator is not None and operator != "not" and self._is_called():
            self.at += 1
            return self._made(operator, [*self._listed()])
        if operator == "not":
            self.at += 1
            return negate(self._operand())
        if token.kind == "open":
            return self._bracket()
        if token.kind != "name" or operator is not None:
            raise InvalidExpression(f"`{token.text[:60]}` stands where a predicate should", token.column)
        self.at += 1
        return self._call(token)

    def _is_called(self) -> bool:
        following = self._peek(1)
        return following is not None and following.kind == "open"

    def _bracket(self) -> Formula:
        self.at += 1
        sign = self._operator()
        if sign is not None and sign != "not":
            self.at += 1
            items = []
            while (token := self._peek()) is not None and token.kind != "close":
                items.append(self._operand())
            self._expect("close")
            return self._made(sign, items)
        inner = self._joined(0)
        self._expect("close")
        return inner

    def _listed(self) -> Iterator[Formula]:
        """The operands of an operator in front of brackets."""
        self._expect("open")
        yield self._joined(0)
        while (token := self._peek()) is not None and token.kind == "comma":
            self.at += 1
            yield self._joined(0)
        self._expect("close")

    def _call(self, token: Token) -> Formula:
        if token.text.casefold() in ("true", "false"):
            return TRUE if token.text.casefold() == "true" else FALSE
        args: list[str] = []
        opening = self._peek()
        is_call = opening is not None and opening.kind == "open" and opening.column == token.column + len(token.text)
        if is_call:
            self.at += 1
            while not args or self._is_comma():
                args.append(self._argument())
            self._expect("close")
        call = Call(token.text, tuple(args))
        self.calls[call.text] = call
        return literal(call)

    def _is_comma(self) -> bool:
        token = self._peek()
        self.at += (is_comma := token is not None and token.kind == "comma")
        return is_comma

    def _argument(self) -> str:
        token = self._peek()
        if token is None or token.kind not in ("name", "number"):
            at = self.found[-1].column if token is None else token.column
            raise InvalidExpression("an argument is the name of a constant, or a variable such as `?who`", at)
        following = self._peek(1)
        if following is not None and following.kind == "open":
            help = "give what it stands for a name under `constants`"
            message = f"`{token.text[:60]}(…)` is a function of a function: what it stands for cannot be counted"
            raise InvalidExpression(message, token.column, help)
        self.at += 1
        return token.text

    def _expect(self, kind: str) -> None:
        token = self._peek()
        if token is None or token.kind != kind:
            at = self.found[-1].column if token is None else token.column
            sign = ")" if kind == "close" else "("
            raise InvalidExpression(f"`{sign}` is missing", at)
        self.at += 1

    def _made(self, sign: str, items: list[Formula]) -> Formula:
        if not items or (sign in ("implies", "iff") and len(items) < 2):
            raise InvalidExpression(f"`{sign}` joins nothing here", self.found[max(0, self.at - 1)].column)
        match sign:
            case "and":
                return conj(items)
            case "or":
                return disj(items)
            case "implies":
                made = items[-1]
                for item in reversed(items[:-1]):
                    made = disj([negate(item), made])
                return made
            case _:
                made = items[0]
                for item in items[1:]:
                    made = conj([disj([negate(made), item]), disj([negate(item), made])])
                return made
