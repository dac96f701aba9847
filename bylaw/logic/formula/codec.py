"""Formulas as JSON, for the bundle: decimals are strings, dates ISO text, and nothing is lost.

{"var": "has_receipt", "op": "==", "value": true}     {"all": [...]}   {"any": [...]}   {"not": ...}
{"left": {"var": "balance"}, "op": "<", "right": {"op": "*", "left": {"const": "1.5"}, "right": {"var": "price"}}}
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, get_args

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
    Op,
    Or,
    Ref,
    Term,
    Value,
    Variable,
    exact,
)

OPS = frozenset(get_args(Op))
_ORDERINGS = frozenset(("<", "<=", ">", ">="))


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
    if isinstance(data, dict):  # asked for by its length first: a bundle holds a hundred thousand of these
        if len(data) == 3:
            op: Any = data.get("op")
            if op in OPS and "var" in data:
                return _decode_atom(data["var"], op, data["value"], variables)
            if op in NEGATED and "left" in data:
                return Compare(_decode_term(data["left"], variables), op, _decode_term(data["right"], variables))
        elif len(data) == 1:
            if isinstance(items := data.get("all"), list):
                return And(tuple([decode(item, variables) for item in items]))
            if isinstance(items := data.get("any"), list):
                return Or(tuple([decode(item, variables) for item in items]))
            if "not" in data:
                return Not(decode(data["not"], variables))
    raise _misfit("formula", data)


def _misfit(what: str, data: Any) -> ValueError:
    shown = " ".join(str(data).split())
    return ValueError(f"not a {what}: {shown if len(shown) <= 100 else shown[:99] + '…'}")


def _decode_atom(var: str, op: Op, value: Any, variables: Mapping[str, Variable]) -> Atom:
    variable = variables.get(var)
    if variable is None:
        raise ValueError(f"not a formula: there is no fact `{var}`")
    if isinstance(value, list):
        if op != "in":
            raise _misfit("test", {"var": var, "op": op, "value": value})
        return Atom(var, "in", tuple([_decode_value(item, variable) for item in value]))
    if op == "in" or (op in _ORDERINGS and variable.is_finite):
        raise _misfit("test", {"var": var, "op": op, "value": value})
    return Atom(var, op, _decode_value(value, variable))


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
        raise _misfit("number", data)
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
    raise _misfit("term", data)
