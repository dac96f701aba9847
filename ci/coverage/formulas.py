"""Boxes as formulas in the words of their facts, and formulas with one fact's value put in."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from bylaw.logic.boxes import Box, Cut, Region, domain
from bylaw.logic.ir import (
    FALSE,
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
    Value,
    Variable,
    conj,
    disj,
    negate,
)
from bylaw.logic.truth import truth


def put(formula: Formula, var: str, value: Number) -> Formula:
    """*formula* where the number or date *var* is *value*: it no longer speaks of that fact."""
    match formula:
        case Atom(var=name):
            return formula if name != var else TRUE if truth(formula, {var: value}) else FALSE
        case And(items):
            return conj([put(item, var, value) for item in items])
        case Or(items):
            return disj([put(item, var, value) for item in items])
        case Not(item):
            return negate(put(item, var, value))
        case Compare(left, op, right):
            there = Compare(_put(left, var, value), op, _put(right, var, value))
            settled = truth(there, {})
            return there if settled is None else TRUE if settled else FALSE


def _put(term: Term, var: str, value: Number) -> Term:
    match term:
        case Ref(name):
            return Const(value) if name == var else term
        case Arith(op, left, right):
            return Arith(op, _put(left, var, value), _put(right, var, value))
        case Const():
            return term


def as_formula(box: Box, variables: Mapping[str, Variable]) -> Formula:
    """The box as the formula that holds exactly inside, in the words of its facts."""
    parts: list[Formula] = []
    for var, where in sorted(box.regions.items()):
        variable = variables[var]
        if isinstance(where, frozenset):
            values = listed(where, variable)
            parts.append(Atom(var, "==", values[0]) if len(values) == 1 else Atom(var, "in", tuple(values)))
        else:
            parts.append(disj([conj(_bounds(variable, low, high)) for low, high in where]))
    return conj([*parts, *box.residue])


def listed(region: Region, variable: Variable) -> list[Value]:
    """The values of a region of a finite fact in declared order; none of a range."""
    if not isinstance(region, frozenset):
        return []
    every: list[Value] = [False, True] if variable.kind == "boolean" else list(variable.values)
    return [value for value in every if value in region]


def _bounds(variable: Variable, low: Cut, high: Cut) -> Iterator[Formula]:
    """The tests that say "between these cuts"; ends of the fact's own domain go without saying."""
    whole = domain(variable)
    assert isinstance(whole, tuple)
    if low[0] != -math.inf and low != whole[0][0]:
        yield Atom(variable.name, ">" if low[1] else ">=", _end(low))
    if high[0] != math.inf and high != whole[-1][1]:
        if variable.is_whole:
            yield Atom(variable.name, "<=", _end(high) - 1)
        else:
            yield Atom(variable.name, "<=" if high[1] else "<", _end(high))


def _end(cut: Cut) -> Number:
    """The number at a cut that is not an open end."""
    assert not isinstance(cut[0], float)
    return cut[0]
