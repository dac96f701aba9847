"""Formulas as flat rows and answers as JSON: what goes through the pipe between a solver's process and ours.

Rows have no depth, so no formula is too deep to send, and what formulas share is sent once. A question is trusted, it
comes from us; an answer is read as plain data, whatever became of the process that sends it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bylaw.logic.formula.ir import And, Arith, Atom, Compare, Const, Formula, Not, Or, Ref, Term, Value
from bylaw.logic.solver.solver import SolverAnswer

Row = tuple[Any, ...]
Rows = tuple[list[Row], list[int]]


def flat(formulas: Sequence[Formula]) -> Rows:
    """The parts of *formulas*, each after its own parts, and the positions of the formulas themselves."""
    at: dict[int, int] = {}  # by identity: the formulas outlive this call
    rows: list[Row] = []
    todo: list[Formula | Term] = list(formulas)
    while todo:
        node = todo[-1]
        waiting = [part for part in parts(node) if id(part) not in at]
        if waiting and id(node) not in at:
            todo += waiting
            continue
        todo.pop()
        if id(node) not in at:
            at[id(node)] = len(rows)
            rows.append(_row(node, [at[id(part)] for part in parts(node)]))
    return rows, [at[id(formula)] for formula in formulas]


def parts(node: Formula | Term) -> Sequence[Formula | Term]:
    """What a formula or term is put together from."""
    match node:
        case And(items) | Or(items):
            return items
        case Not(item):
            return (item,)
        case Compare(left, _, right) | Arith(_, left, right):
            return (left, right)
        case Atom() | Ref() | Const():
            return ()


def _row(node: Formula | Term, inner: list[int]) -> Row:
    match node:
        case Atom(var, op, value):
            return ("atom", var, op, value)
        case Ref(var):
            return ("ref", var)
        case Const(value):
            return ("const", value)
        case Compare(op=op):
            return ("compare", op, *inner)
        case Arith(op=op):
            return ("arith", op, *inner)
        case And():
            return ("and", *inner)
        case Or():
            return ("or", *inner)
        case Not():
            return ("not", *inner)


def built(rows: Rows) -> list[Formula]:
    """The formulas that *rows* spell."""
    made: list[Any] = []
    for kind, *rest in rows[0]:
        match kind:
            case "atom":
                made.append(Atom(*rest))
            case "ref":
                made.append(Ref(*rest))
            case "const":
                made.append(Const(*rest))
            case "compare":
                made.append(Compare(made[rest[1]], rest[0], made[rest[2]]))
            case "arith":
                made.append(Arith(rest[0], made[rest[1]], made[rest[2]]))
            case "not":
                made.append(Not(made[rest[0]]))
            case _:
                make = And if kind == "and" else Or
                made.append(make(tuple(made[i] for i in rest)))
    return [made[i] for i in rows[1]]


def answer_to_json(answer: SolverAnswer) -> dict[str, Any]:
    """An answer as plain data: a fraction is a pair of whole numbers."""
    model = None if answer.model is None else {name: _shown(value) for name, value in answer.model.items()}
    return {"status": answer.status, "model": model, "reason": answer.reason}


def answer_from_json(data: Mapping[str, Any]) -> SolverAnswer:
    """The answer that *data* spells."""
    model = data["model"]
    values = None if model is None else {name: _read(value) for name, value in model.items()}
    return SolverAnswer(data["status"], values, data["reason"])


def dumped(data: Mapping[str, Any]) -> bytes:
    """Plain data as bytes."""
    return json.dumps(data).encode()


def _shown(value: Value) -> bool | int | str | list[int]:
    return [value.numerator, value.denominator] if isinstance(value, Fraction) else value


def _read(value: Any) -> Value:
    return Fraction(*value) if isinstance(value, list) else value
