"""Comparisons as sums of unknown facts against zero, in whole factors: those that are alike are equal."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

from bylaw.logic.boxes.truth import OPERATORS
from bylaw.logic.formula.ir import Arith, Compare, Const, Facts, Number, Op, Ref, Term


class NotLinear(Exception):
    """Unknown facts are multiplied with each other."""


Parts: TypeAlias = tuple[tuple[str, int], ...]  # facts with their factors
Form: TypeAlias = tuple[Parts, int]  # a sum of them and a number


class Sign(NamedTuple):
    """What a comparison asks: that a sum has that relation to zero."""

    sum: Form
    op: Op

    @property
    def facts(self) -> list[str]:
        """Those it speaks of."""
        return [var for var, _ in self.sum[0]]


def read(item: Compare, facts: Facts) -> Sign | bool:
    """What a comparison asks of the facts that are unknown, or whether it holds whatever they are. Raises NotLinear."""
    parts, rest = _sum(_linear(item.left, facts), _linear(item.right, facts), -1)
    if not parts:
        return OPERATORS[item.op](rest, 0)
    scale = lcm(*(Fraction(number).denominator for number in (*parts.values(), rest)))
    return Sign((tuple((var, int(parts[var] * scale)) for var in sorted(parts)), int(rest * scale)), item.op)


def normal(parts: Mapping[str, int], rest: int) -> Form:
    """The same zeros without a common factor, the first factor above zero."""
    names = sorted(parts)
    common = gcd(rest, *parts.values())
    common = common if parts[names[0]] > 0 else -common
    return tuple([(var, parts[var] // common) for var in names]), rest // common


def solved(form: Form, fact: str) -> tuple[int, Parts, int]:
    """The factor of a fact in a sum, the other parts and the number."""
    parts, rest = form
    return next(by for var, by in parts if var == fact), tuple([part for part in parts if part[0] != fact]), rest


def _linear(term: Term, facts: Facts) -> tuple[dict[str, Number], Number]:
    match term:
        case Const(value):
            return {}, value
        case Ref(var):
            known = facts.get(var)
            if known is None:
                return {var: 1}, 0
            assert isinstance(known, int | Fraction)
            return {}, known
        case Arith(op, left, right):
            one, two = _linear(left, facts), _linear(right, facts)
            if op != "*":
                return _sum(one, two, 1 if op == "+" else -1)
            if one[0] and two[0]:
                raise NotLinear
            parts, by = (one[0], two[1]) if one[0] else (two[0], one[1])
            return {var: its * by for var, its in parts.items() if by}, one[1] * two[1]


def _sum(
    one: tuple[dict[str, Number], Number], two: tuple[dict[str, Number], Number], sign: int
) -> tuple[dict[str, Number], Number]:
    parts = dict(one[0])
    for var, by in two[0].items():
        parts[var] = parts.get(var, 0) + sign * by
    return {var: by for var, by in parts.items() if by}, one[1] + sign * two[1]
