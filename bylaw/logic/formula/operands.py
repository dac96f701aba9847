"""What the two expression readers build with: operands that know their kind, and the operators between them.

Amounts are kept as sums of facts times numbers until they are compared, so `2 * days - 10 <= 50` becomes a test of
one fact (`days <= 30`) and stays exact in every other reading. Nothing here recurses into what a person wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Literal, TypeAlias

from bylaw.logic.formula.ir import (
    FALSE,
    MAX_DIGITS,
    NEGATED,
    TRUE,
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
    Term,
    Variable,
    exact,
    negate,
)
from bylaw.logic.formula.tokens import MAX_DEGREE, MAX_DEPTH, MAX_PARTS, InvalidExpression

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


# ---- operands -----------------------------------------------------------------------------------------------------


@dataclass
class Flag:
    """Something that holds or not. Chains of one connective stay flat while they are read."""

    column: int
    connective: Literal["and", "or"] | None
    parts: list[Formula]
    text: str = ""  # set for a bare fact or literal

    def formula(self) -> Formula:
        """The formula, without duplicates and without parts that decide nothing."""
        if self.connective is None:
            return self.parts[0]
        return joined(self.connective, self.parts)


@dataclass
class Amount:
    """A sum: facts (or products of facts) times numbers, and a constant.

    `dates` is 1 where the sum is a point in time, 0 where it is an amount: a date minus a date is an amount again.
    `degree` is the number of facts in its longest product.
    """

    column: int
    parts: dict[Term, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    dates: int = 0
    degree: int = 1
    text: str = ""

    @property
    def is_constant(self) -> bool:
        """Is there no fact in it?"""
        return not self.parts


@dataclass
class Choice:
    """A fact with a closed list of values."""

    column: int
    var: str
    text: str


@dataclass
class Word:
    """A name that is no fact: an enum value if the other side says so."""

    column: int
    text: str
    quoted: bool = False


Comparison: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]
Operand: TypeAlias = Flag | Amount | Choice | Word


def joined(connective: Literal["and", "or"], parts: Iterable[Formula]) -> Formula:
    """All or any of *parts*: flat, each once, in order of first mention."""
    kind: type[And] | type[Or] = And if connective == "and" else Or
    neutral, decisive = (TRUE, FALSE) if connective == "and" else (FALSE, TRUE)
    flat: dict[Formula, None] = {}
    for part in parts:
        if part == decisive:
            return decisive
        if part != neutral:
            flat.update(dict.fromkeys(part.items if isinstance(part, kind) else (part,)))
    return next(iter(flat)) if len(flat) == 1 else kind(tuple(flat))


# ---- the operators ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operators:
    """Names and operators over one vocabulary. `ordinals`: a plain number may stand for a date (SMT-LIB text)."""

    variables: Mapping[str, Variable]
    ordinals: bool = False

    # ---- leaves

    def name(self, text: str, column: int) -> Operand:
        """A bare name: a fact, `true` or `false`, or a word to be understood later."""
        variable = self.variables.get(text)
        if variable is None:
            if text in ("true", "false"):
                return Flag(column, None, [TRUE if text == "true" else FALSE], text)
            return Word(column, text)
        if variable.kind == "boolean":
            return Flag(column, None, [Atom(text, "==", True)], text)
        if variable.kind == "enum":
            return Choice(column, text, text)
        return Amount(column, {Ref(text): Fraction(1)}, dates=int(variable.kind == "date"), text=text)

    def quoted(self, text: str, column: int) -> Word:
        """A word in quotes: a value, never a fact."""
        return Word(column, text, quoted=True)

    def number(self, text: str, column: int) -> Amount:
        """A literal number."""
        if sum(map(str.isdigit, text)) > MAX_DIGITS:
            raise InvalidExpression(f"a number of more than {MAX_DIGITS} digits is not accepted", column)
        return Amount(column, constant=Fraction(exact(text)), text=text)

    def day(self, text: str, column: int) -> Amount:
        """A literal date."""
        try:
            return Amount(column, constant=Fraction(date.fromisoformat(text).toordinal()), dates=1, text=text)
        except ValueError:
            raise InvalidExpression(f"`{text}` is no day of the calendar", column) from None

    # ---- arithmetic

    def amount(self, operand: Operand, doing: str) -> Amount:
        """*operand* as a number or date. Raises InvalidExpression for anything else."""
        match operand:
            case Amount():
                return operand
            case Word(column, text, quoted):
                raise self.unknown(text, column) if not quoted else _no_number(f'"{text}"', column, doing, "is a word")
            case Choice(column, var):
                raise _no_number(var, column, doing, "is one of a list of words")
            case Flag(column, text=text):
                raise _no_number(text or "a condition", column, doing, "is true or false")

    def plus(self, left: Operand, right: Operand, sign: Literal["+", "-"], column: int) -> Amount:
        """The sum or the difference."""
        one, two = self.amount(left, f"`{sign}`"), self.amount(right, f"`{sign}`")
        factor = 1 if sign == "+" else -1
        parts = dict(one.parts)
        for term, ratio in two.parts.items():
            parts[term] = _sized(parts.get(term, Fraction(0)) + factor * ratio, column)
            if not parts[term]:
                del parts[term]
        dates = one.dates + factor * two.dates
        if dates not in (0, 1):
            help = "a date minus a date is a number of days; a date plus days is a date"
            raise InvalidExpression(f"`{sign}` makes no date and no number of days here", column, help)
        constant = _sized(one.constant + factor * two.constant, column)
        return Amount(one.column, parts, constant, dates, max(one.degree, two.degree))

    def minus(self, operand: Operand, column: int) -> Amount:
        """The negation."""
        inner = self.amount(operand, "`-`")
        if inner.dates:
            raise InvalidExpression("a date has no negation", column)
        parts = {term: -ratio for term, ratio in inner.parts.items()}
        return Amount(column, parts, -inner.constant, degree=inner.degree)

    def times(self, left: Operand, right: Operand, column: int) -> Amount:
        """The product."""
        one, two = self.amount(left, "`*`"), self.amount(right, "`*`")
        if one.dates or two.dates:
            raise InvalidExpression("a date cannot be multiplied", column)
        if two.is_constant:
            one, two = two, one
        if one.is_constant:
            parts = {term: _sized(ratio * one.constant, column) for term, ratio in two.parts.items() if one.constant}
            return Amount(left.column, parts, _sized(one.constant * two.constant, column), degree=two.degree)
        degree = one.degree + two.degree
        if degree > MAX_DEGREE:
            raise InvalidExpression(f"a product of more than {MAX_DEGREE} facts is not accepted", column)
        return Amount(left.column, {Arith("*", to_term(one), to_term(two)): Fraction(1)}, degree=degree)

    # ---- comparisons

    def compare(self, left: Operand, op: str, right: Operand, column: int) -> Flag:
        """A comparison; *op* is written as in the logic (`==`, not `=`)."""
        assert op in NEGATED
        left, right = self._as_word(left, right), self._as_word(right, left)
        if isinstance(left, Choice | Word) or isinstance(right, Choice | Word):
            formula = self._compare_words(left, op, right, column)
        elif isinstance(left, Flag) and isinstance(right, Flag):
            formula = _compare_flags(left, op, right, column)
        else:
            sides = self.amount(left, f"`{op}`"), self.amount(right, f"`{op}`")
            formula = self._compare_amounts(sides[0], op, sides[1], column)
        return Flag(left.column, None, [formula])

    def _as_word(self, operand: Operand, other: Operand) -> Operand:
        """A fact whose name is also a value of the enum on the other side is read as that value."""
        if isinstance(other, Choice) and not isinstance(operand, Word) and operand.text:
            if operand.text not in self.variables[other.var].values:
                return operand
            if isinstance(operand, Choice):
                help = f"rename the fact, or write the value in another place than beside `{other.var}`"
                message = f"`{operand.text}` is both a fact and a value of `{other.var}`"
                raise InvalidExpression(message, operand.column, help)
            return Word(operand.column, operand.text)
        return operand

    def _compare_words(self, left: Operand, op: str, right: Operand, column: int) -> Formula:
        if isinstance(left, Word) and not isinstance(right, Word):
            left, right = right, left
        match left, right:
            case Choice(), _ if op not in ("==", "!="):
                help = f"its values have no order; it takes `=` and `!=`: {_listed(self.variables[left.var].values)}"
                raise InvalidExpression(f"`{left.var}` is one of a list of words and has no `{op}`", column, help)
            case Choice(var=var), Word(at, text):
                if text not in self.variables[var].values:
                    raise self._no_value(text, var, at)
                return Atom(var, "==" if op == "==" else "!=", text)
            case Choice(var=var), Choice(var=other):
                return self._same_word(var, other, op, column)
            case Choice(column=at, var=var), _:
                help = f"its values are {_listed(self.variables[var].values)}"
                raise InvalidExpression(f"`{var}` is compared with something that is no word", at, help)
            case _, Choice(column=at, var=var):
                help = f"its values are {_listed(self.variables[var].values)}"
                raise InvalidExpression(f"`{var}` is compared with something that is no word", at, help)
            case _, Word(at, text, quoted):
                if quoted:
                    raise InvalidExpression(f'"{text}" is compared with something that takes no words', at)
                raise self.unknown(text, at)
        raise AssertionError((left, right))

    def _same_word(self, one: str, other: str, op: str, column: int) -> Formula:
        shared = [value for value in self.variables[one].values if value in self.variables[other].values]
        if not shared:
            raise InvalidExpression(f"`{one}` and `{other}` have no value in common", column)
        pairs = [And((Atom(one, "==", value), Atom(other, "==", value))) for value in shared]
        same = joined("or", pairs) if one != other else TRUE
        return same if op == "==" else negate(same)

    def _compare_amounts(self, left: Amount, op: str, right: Amount, column: int) -> Formula:
        if left.dates != right.dates and not (
            self.ordinals and any(side.is_constant and not side.dates for side in (left, right))
        ):
            raise InvalidExpression(
                "a date is compared with a number", column, "write dates as 2026-01-31; a date minus a date is a number"
            )
        self._check_units(left, right, column)
        gap = dict(left.parts)
        for term, ratio in right.parts.items():
            gap[term] = gap.get(term, Fraction(0)) - ratio
        gap = {term: ratio for term, ratio in gap.items() if ratio}
        rest = _sized(right.constant - left.constant, column)
        if not gap:
            return TRUE if _holds(Fraction(0), op, rest) else FALSE
        term, ratio = next(iter(gap.items()))
        if len(gap) == 1 and isinstance(term, Ref):
            signed = NEGATED[NEGATED[op]] if ratio > 0 else NEGATED[NEGATED[FLIPPED[op]]]
            return self._test(term.var, signed, _tidy(_sized(rest / ratio, column)), column)
        return Compare(to_term(left), NEGATED[NEGATED[op]], to_term(right))

    def _test(self, var: str, op: Comparison, value: Number, column: int) -> Formula:
        if self.variables[var].kind == "date" and not (isinstance(value, int) and 1 <= value <= date.max.toordinal()):
            raise InvalidExpression(f"`{var}` is compared with something that is no day of the calendar", column)
        return Atom(var, op, value)

    def _check_units(self, left: Amount, right: Amount, column: int) -> None:
        """Facts that are added or compared as they are share a unit; `7 * weeks` is a conversion and may differ."""
        units: dict[str, str] = {}
        for side in (left, right):
            for term, ratio in side.parts.items():
                unit = self.variables[term.var].unit if isinstance(term, Ref) and abs(ratio) == 1 else None
                if unit is not None and isinstance(term, Ref):
                    units.setdefault(unit, term.var)
        if len(units) > 1:
            (unit, var), (other_unit, other_var) = list(units.items())[:2]
            message = f"`{var}` is in {unit} and `{other_var}` in {other_unit}"
            raise InvalidExpression(message, column, "compare amounts of one unit")

    # ---- connectives

    def flag(self, operand: Operand, doing: str) -> Flag:
        """*operand* as something that holds or not. Raises InvalidExpression for anything else."""
        match operand:
            case Flag():
                return operand
            case Word(column, text):
                raise self.unknown(text, column)
            case Amount(column=column, text=text) | Choice(column=column, text=text):
                what = f"`{text}`" if text else "an amount"
                help = "compare it with something: `=`, `!=`, `<`, `<=`, `>` or `>=`"
                raise InvalidExpression(f"{what} is not true or false, and {doing} needs that", column, help)

    def negation(self, operand: Operand, column: int) -> Flag:
        """It does not hold."""
        return Flag(column, None, [_opposite(self.flag(operand, "`not`").formula())])

    def both(self, connective: Literal["and", "or"], operands: Sequence[Operand]) -> Flag:
        """All or any of *operands*. The first one's list is reused: it is not read again."""
        flags = [self.flag(operand, f"`{connective}`") for operand in operands]
        first = flags[0]
        parts = first.parts if first.connective == connective else [first.formula()]
        for flag in flags[1:]:
            parts.extend(flag.parts if flag.connective == connective else [flag.formula()])
        return Flag(first.column, connective, parts)

    # ---- what goes wrong

    def unknown(self, text: str, column: int) -> InvalidExpression:
        """The error for a name that nothing declares."""
        near = _nearest(text, self.variables)
        return InvalidExpression(
            f"`{_clipped(text)}` is no declared fact", column, near or "facts are declared in policies/vocabulary.yaml"
        )

    def _no_value(self, text: str, var: str, column: int) -> InvalidExpression:
        values = self.variables[var].values
        help = _nearest(text, values) or f"its values are {_listed(values)}"
        return InvalidExpression(f"`{_clipped(text)}` is not a value of `{var}`", column, help)


def _no_number(what: str, column: int, doing: str, because: str) -> InvalidExpression:
    return InvalidExpression(f"`{what}` {because}, and {doing} takes numbers", column)


def _compare_flags(left: Flag, op: str, right: Flag, column: int) -> Formula:
    if op not in ("==", "!="):
        raise InvalidExpression(f"true and false have no `{op}`", column, "join conditions with and, or, not")
    one, two = left.formula(), right.formula()
    if TRUE in (one, two) or FALSE in (one, two):
        literal, other = (one, two) if one in (TRUE, FALSE) else (two, one)
        return _boolean(other, (literal == TRUE) == (op == "=="))
    if not (isinstance(one, Atom) and isinstance(two, Atom) and left.text and right.text):
        help = "write `(a and b) or (not a and not b)`"
        raise InvalidExpression("only facts and literals may be compared as true or false", column, help)
    if one == two:
        return TRUE if op == "==" else FALSE
    pairs = [And((Atom(one.var, "==", a), Atom(two.var, "==", a == (op == "==")))) for a in (True, False)]
    return joined("or", pairs)


def _boolean(formula: Formula, is_true: bool) -> Formula:
    if isinstance(formula, Atom) and isinstance(formula.value, bool) and formula.op == "==":
        return Atom(formula.var, "==", formula.value == is_true)
    return formula if is_true else _opposite(formula)


def _opposite(formula: Formula) -> Formula:
    """The negation; of a single test, the opposite test."""
    match formula:
        case Atom(var, "==", bool(value)):
            return Atom(var, "==", not value)
        case Atom(var, op, value) if op != "in":
            return Atom(var, NEGATED[op], value)
        case Compare(left, op, right):
            return Compare(left, NEGATED[op], right)
        case _:
            return negate(formula)


def _holds(left: Fraction, op: str, right: Fraction) -> bool:
    return {
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[op]


def to_term(amount: Amount) -> Term:
    """The sum as a term, balanced, so that a long sum is not a deep one; what is subtracted comes last."""
    added = [_scaled(term, ratio) for term, ratio in amount.parts.items() if ratio > 0]
    taken = [_scaled(term, -ratio) for term, ratio in amount.parts.items() if ratio < 0]
    if amount.constant > 0 or not added:
        added.append(Const(_tidy(amount.constant)))
    elif amount.constant < 0:
        taken.append(Const(_tidy(-amount.constant)))
    return Arith("-", _balanced(added), _balanced(taken)) if taken else _balanced(added)


def _scaled(term: Term, ratio: Fraction) -> Term:
    return term if ratio == 1 else Arith("*", Const(_tidy(ratio)), term)


def _balanced(terms: list[Term]) -> Term:
    while len(terms) > 1:
        terms = [
            Arith("+", terms[i], terms[i + 1]) if i + 1 < len(terms) else terms[i] for i in range(0, len(terms), 2)
        ]
    return terms[0]


def _tidy(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value


def _sized(value: Fraction, column: int) -> Fraction:
    if max(abs(value.numerator), value.denominator) >= 10**MAX_DIGITS:
        raise InvalidExpression(f"a number of more than {MAX_DIGITS} digits comes out", column)
    return value


def measured(formula: Formula, column: int = 1) -> Formula:
    """*formula* itself, once its size and depth are known to be harmless to every other reading."""
    todo: list[tuple[Formula | Term, int]] = [(formula, 1)]
    seen = 0
    while todo:
        part, depth = todo.pop()
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_PARTS:
            raise InvalidExpression("the expression is nested too deep or too large", column, "split it up")
        match part:
            case And(items) | Or(items):
                todo.extend((item, depth + 1) for item in items)
            case Not(item):
                todo.append((item, depth + 1))
            case Compare(left, _, right) | Arith(_, left, right):
                todo.extend(((left, depth + 1), (right, depth + 1)))
            case _:
                pass
    return formula


def finished(operands: list[Operand], operators: Operators) -> Formula:
    """The one operand that is left when everything is read, as a formula of harmless size."""
    (operand,) = operands
    return measured(operators.flag(operand, "a condition").formula())


def _nearest(text: str, choices: Iterable[str]) -> str | None:
    from rapidfuzz import fuzz, process

    best = process.extractOne(_clipped(text).casefold(), sorted(choices), scorer=fuzz.WRatio, processor=str.casefold)
    return f"did you mean `{best[0]}`?" if best is not None and best[1] >= 70 else None


def _clipped(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(f"`{value}`" for value in values[:8])
    return shown if len(values) <= 8 else f"{shown} and {len(values) - 8} more"
