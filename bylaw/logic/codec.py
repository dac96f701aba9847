"""Formulas as JSON, for the bundle: decimals are strings, dates ISO text, and nothing is lost.

{"var": "has_receipt", "op": "==", "value": true}     {"all": [...]}   {"any": [...]}   {"not": ...}
{"left": {"var": "balance"}, "op": "<", "right": {"op": "*", "left": {"const": "1.5"}, "right": {"var": "price"}}}
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, get_args

from bylaw.canonical import number_text
from bylaw.logic.ir import (
    NEGATED,
    And,
    Arith,
    Atom,
    Compare,
    Const,
    Formula,
    Not,
    Number,
    Op,
    Or,
    Ref,
    Term,
    Value,
    Variable,
    exact,
)

OPS = frozenset(get_args(Op))


def encode(formula: Formula, variables: Mapping[str, Variable]) -> dict[str, Any]:
    """The formula as JSON."""
    match formula:
        case Atom(var, op, value):
            values = [_encode_value(v, variables[var]) for v in value] if isinstance(value, tuple) else None
            single = None if isinstance(value, tuple) else _encode_value(value, variables[var])
            return {"var": var, "op": op, "value": single if values is None else values}
        case Compare(left, op, right):
            return {"left": _encode_term(left), "op": op, "right": _encode_term(right)}
        case And(items):
            return {"all": [encode(item, variables) for item in items]}
        case Or(items):
            return {"any": [encode(item, variables) for item in items]}
        case Not(item):
            return {"not": encode(item, variables)}


def decode(data: Any, variables: Mapping[str, Variable]) -> Formula:
    """The formula that *data* spells. Raises ValueError, KeyError or TypeError for anything else."""
    match data:
        case {"var": str(var), "op": str(op), "value": list(values), **rest} if not rest and op == "in":
            return Atom(var, "in", tuple(_decode_value(value, variables[var]) for value in values))
        case {"var": str(var), "op": str(op), "value": value, **rest} if not rest and op in NEGATED:
            return Atom(var, NEGATED[NEGATED[op]], _decode_value(value, variables[var]))
        case {"left": left, "op": str(op), "right": right, **rest} if not rest and op in NEGATED:
            return Compare(_decode_term(left, variables), NEGATED[NEGATED[op]], _decode_term(right, variables))
        case {"all": list(items), **rest} if not rest:
            return And(tuple(decode(item, variables) for item in items))
        case {"any": list(items), **rest} if not rest:
            return Or(tuple(decode(item, variables) for item in items))
        case {"not": item, **rest} if not rest:
            return Not(decode(item, variables))
    raise ValueError("not a formula")


def _encode_value(value: Value, variable: Variable) -> bool | int | str:
    if isinstance(value, bool | str):
        return value
    if variable.kind == "date":
        return date.fromordinal(int(value)).isoformat()
    return value if isinstance(value, int) else number_text(value)


def _decode_value(data: Any, variable: Variable) -> Value:
    if variable.is_finite:
        return variable.read(data)
    if variable.kind == "date":
        return date.fromisoformat(data).toordinal()
    return _decode_number(data)


def _decode_number(data: Any) -> Number:
    if isinstance(data, bool) or not isinstance(data, int | str):
        raise ValueError("not a number")
    return exact(data)


def _encode_term(term: Term) -> dict[str, Any]:
    match term:
        case Ref(var):
            return {"var": var}
        case Const(value):
            return {"const": value if isinstance(value, int) else number_text(value)}
        case Arith(op, left, right):
            return {"op": op, "left": _encode_term(left), "right": _encode_term(right)}


def _decode_term(data: Any, variables: Mapping[str, Variable]) -> Term:
    match data:
        case {"var": str(var), **rest} if not rest and var in variables:
            return Ref(var)
        case {"const": value, **rest} if not rest:
            return Const(_decode_number(value))
        case {"op": "+" | "-" | "*" as op, "left": left, "right": right, **rest} if not rest:
            return Arith(op, _decode_term(left, variables), _decode_term(right, variables))
    raise ValueError("not a term")
