"""Does a formula hold in a case? Three-valued: what an unknown fact decides is None, never false."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from bylaw.logic.boxes.boxes import Box
from bylaw.logic.formula.ir import (
    FALSE,
    TRUE,
    And,
    Arith,
    Atom,
    Compare,
    Const,
    Facts,
    Formula,
    Not,
    Number,
    Or,
    Ref,
    Term,
    Value,
    Variable,
    conj,
    disj,
    names,
    negate,
)

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FLIPPED: Mapping[str, Literal["==", "!=", "<", "<=", ">", ">="]] = {
    "==": "==",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}


def truth(formula: Formula, facts: Facts) -> bool | None:
    """Does *formula* hold? None when an unknown fact decides it: unknown is never false."""
    match formula:
        case Atom(var, op, value):
            known = facts.get(var)
            if known is None:
                return None
            return known in value if isinstance(value, tuple) else OPERATORS[op](known, value)
        case And(items):
            result: bool | None = True
            for item in items:
                reading = truth(item, facts)
                if reading is False:
                    return False
                if reading is None:
                    result = None
            return result
        case Or(items):
            result = False
            for item in items:
                reading = truth(item, facts)
                if reading is True:
                    return True
                if reading is None:
                    result = None
            return result
        case Not(item):
            reading = truth(item, facts)
            return None if reading is None else not reading
        case Compare(left, op, right):
            one, two = amount(left, facts), amount(right, facts)
            return None if one is None or two is None else OPERATORS[op](one, two)


Reading: TypeAlias = Callable[[Facts], bool | frozenset[str]]
_Measured: TypeAlias = Callable[[Facts], Any]


def reader(formula: Formula) -> Reading:
    """`truth` of one formula for many cases, made once: instead of None the unknown facts of what is left of it."""
    match formula:
        case Atom(var, op, value):
            return _reading_of_atom(var, _is_one_of if isinstance(value, tuple) else OPERATORS[op], value)
        case Not(item):
            inner = reader(item)

            def denied(facts: Facts) -> bool | frozenset[str]:
                found = inner(facts)
                return not found if isinstance(found, bool) else found

            return denied
        case And(items) | Or(items):
            return _reading_of_all(tuple(map(reader, items)), isinstance(formula, And))
        case Compare(left, op, right):
            return _reading_of_two(_measured(left), OPERATORS[op], _measured(right), frozenset(names(formula)))


def _is_one_of(value: Value, values: tuple[Value, ...]) -> bool:
    return value in values


def _reading_of_atom(var: str, holds: Callable[[Any, Any], bool], value: Any) -> Reading:
    unknown = frozenset((var,))

    def tested(facts: Facts) -> bool | frozenset[str]:
        return holds(facts[var], value) if var in facts else unknown

    return tested


def _reading_of_two(
    left: Callable[[Facts], Any],
    holds: Callable[[Any, Any], bool],
    right: Callable[[Facts], Any],
    named: frozenset[str],
) -> Reading:
    def compared(facts: Facts) -> bool | frozenset[str]:
        one, two = left(facts), right(facts)
        return named - facts.keys() if one is None or two is None else holds(one, two)

    return compared


def _measured(term: Term) -> _Measured:
    """`amount` of one term for many cases."""
    match term:
        case Ref(var):
            return lambda facts: facts.get(var)
        case Const(value):
            return lambda _: value
        case _:
            return lambda facts: amount(term, facts)


def _reading_of_all(items: tuple[Reading, ...], neutral: bool) -> Reading:
    """All of *items* where True is neutral, any of them where False is."""

    def joined(facts: Facts) -> bool | frozenset[str]:
        left: frozenset[str] | None = None
        for item in items:
            found = item(facts)
            if found is neutral:
                continue
            if isinstance(found, bool):
                return found
            left = found if left is None else left | found
        return neutral if left is None else left

    return joined


def amount(term: Term, facts: Facts) -> Any:
    """The value of *term*; None when a fact in it is unknown."""
    match term:
        case Ref(var):
            return facts.get(var)
        case Const(value):
            return value
        case Arith(op, left, right):
            one, two = amount(left, facts), amount(right, facts)
            if one is None or two is None:
                return None
            result: Number = one + two if op == "+" else one - two if op == "-" else one * two
            return result.numerator if isinstance(result, Fraction) and result.denominator == 1 else result


def simplify(formula: Formula, facts: Facts) -> Formula:
    """What is left of *formula* once the known facts are put in: tests on unknown facts, alone where they can be."""
    match formula:
        case And(items):
            return conj([simplify(item, facts) for item in items])
        case Or(items):
            return disj([simplify(item, facts) for item in items])
        case Not(item):
            return negate(simplify(item, facts))
        case Compare(left, op, right) if truth(formula, facts) is None:
            one, two = amount(left, facts), amount(right, facts)
            if isinstance(left, Ref) and two is not None:
                return Atom(left.var, op, two)
            if isinstance(right, Ref) and one is not None:
                return Atom(right.var, FLIPPED[op], one)
            return formula
        case _:
            reading = truth(formula, facts)
            return formula if reading is None else TRUE if reading else FALSE


def possible(item: Compare, box: Box, facts: Facts, variables: Mapping[str, Variable]) -> bool:
    """Could the comparison hold inside *box* with the known *facts*? By bounds alone: True may be too generous."""
    reading = truth(item, facts)
    if reading is not None:
        return reading
    try:
        low_left, high_left = _bounds(item.left, box, facts, variables)
        low_right, high_right = _bounds(item.right, box, facts, variables)
    except NotANumber:
        return True
    match item.op:
        case "<":
            return bool(low_left < high_right)
        case "<=":
            return bool(low_left <= high_right)
        case ">":
            return bool(high_left > low_right)
        case ">=":
            return bool(high_left >= low_right)
        case "==":
            return bool(low_left <= high_right and low_right <= high_left)
        case "!=":
            return not (low_left == high_left == low_right == high_right)


class NotANumber(Exception):
    """The term compares words, not amounts."""


def _bounds(term: Term, box: Box, facts: Facts, variables: Mapping[str, Variable]) -> tuple[Any, Any]:
    match term:
        case Const(value):
            return value, value
        case Ref(var):
            if variables[var].is_finite:
                raise NotANumber
            if var in facts:
                return facts[var], facts[var]
            where = box.regions.get(var)
            if where is not None and not isinstance(where, frozenset):
                high, side = where[-1][1]
                return where[0][0][0], high - 1 if variables[var].is_whole and not side else high
            low, top = variables[var].minimum, variables[var].maximum
            return -math.inf if low is None else low, math.inf if top is None else top
        case Arith(op, left, right):
            (a, b), (c, d) = _bounds(left, box, facts, variables), _bounds(right, box, facts, variables)
            if op == "+":
                return a + c, b + d
            if op == "-":
                return a - d, b - c
            if any(isinstance(x, float) for x in (a, b, c, d)):
                return -math.inf, math.inf
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
