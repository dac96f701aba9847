"""Formulas with one fact's value put in."""

from __future__ import annotations

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import (
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
    conj,
    disj,
    negate,
)


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
