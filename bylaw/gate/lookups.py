"""Facts from the warehouse: a named query of context/lookups/, run for one actor through the gate of all statements.

Values enter the statement's tree as literals of their declared type, never its text. Exactly one row answers; anything
else, a refusal and a failure among them, leaves the fact unknown.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import sqlglot
from sqlglot import exp

from bylaw.authored.context import Context
from bylaw.authored.machines.access import Roles
from bylaw.authored.tools import Lookup, LookupFact
from bylaw.errors import BylawError
from bylaw.gate.bindings import argument
from bylaw.semantic.rights import verdict_on
from bylaw.sql.foreign import FOREIGN
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import Warehouse

OURS = "duckdb"
_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MARK = "bylaw_parameter_"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,29}")  # one spelling, as a key has: what finds a row also says whose it is
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,29})(\.[0-9]{1,10})?")
_MOST_TEXT = 1_000  # characters of one value
_MOST_BITS = 100  # of a whole number
_PLAIN = (str, int, float, Decimal, Fraction)  # whatever else an agent says is no value

_log = logging.getLogger("bylaw.gate")


class BadLookup(ValueError):
    """The SQL of a lookup is none, or its parameters are not what it says."""


class WarehouseLookups:
    """The lookups of one bundle over one warehouse."""

    def __init__(self, context: Context, roles: Roles, warehouse: Warehouse) -> None:
        self._context, self._roles, self._warehouse = context, roles, warehouse

    def value(self, bound: LookupFact, arguments: Mapping[str, Any], actor: str | None, seen: dict[Any, Any]) -> Any:
        lookup = self._context.lookups.get(bound.query)
        if lookup is None:
            return None
        given = {name: argument(arguments, source) for name, source in sorted(bound.parameters.items())}
        plain = {name: raw if isinstance(raw, _PLAIN) else None for name, raw in given.items()}
        asked = bound.query, tuple((name, type(raw).__name__, raw) for name, raw in plain.items())
        if asked not in seen:
            seen[asked] = self._row(lookup, plain, actor or "anonymous")
        row = seen[asked]
        raw = None if row is None else row.get(bound.column.casefold())
        return raw.date() if isinstance(raw, datetime) else raw

    def _row(self, lookup: Lookup, given: Mapping[str, Any], actor: str) -> Mapping[str, Any] | None:
        try:
            values = {name: literal(lookup.parameters[name], given.get(name)) for name in lookup.parameters}
            dialect = self._warehouse.dialect
            sql = written(bound_sql(lookup, values), dialect)
            verdict = verdict_on(sql, self._context, self._roles, actor, dialect)
            if verdict.sql is None:
                _log.warning("a lookup was refused", extra={"meta": {"lookup": lookup.name, "reason": verdict.reason}})
                return None
            found = self._warehouse.run(verdict.sql, 2)
        except (BadLookup, BylawError, sqlglot.errors.SqlglotError) as error:
            _log.warning("a lookup failed", extra={"meta": {"lookup": lookup.name, "reason": str(error)[:300]}})
            return None
        if len(found.rows) != 1 or found.truncated:
            return None
        return {column.casefold(): value for column, value in zip(found.columns, found.rows[0], strict=True)}


def statement(lookup: Lookup) -> exp.Expr:
    """The query as a tree, a placeholder for each parameter. Raises BadLookup."""
    try:
        found = sqlglot.parse(_SLOT.sub(lambda slot: f":{_MARK}{slot[1]}", lookup.sql), read=OURS)
    except FOREIGN as error:
        why = str(error).splitlines() if isinstance(error, sqlglot.errors.SqlglotError) else ()
        raise BadLookup(f"the SQL cannot be read: {(*why, 'no statement looks like this')[0][:200]}") from None
    if len(found) != 1 or found[0] is None:
        raise BadLookup("a lookup is one statement")
    tree = found[0]
    used = {_name(mark) for mark in tree.find_all(exp.Placeholder)}
    for name in sorted(set(_SLOT.findall(lookup.sql)) - used):
        raise BadLookup(f"`{{{name}}}` stands where no value can: within quotes, or as a name")
    for name in sorted(used ^ set(lookup.parameters)):
        missing = "is not declared in `parameters`" if name in used else "is declared, and the SQL does not use it"
        raise BadLookup(f"the parameter `{name}` {missing}")
    return tree


def bound_sql(lookup: Lookup, values: Mapping[str, exp.Expr]) -> str:
    """The statement with its values in it."""
    tree = statement(lookup).transform(
        lambda node: values[_name(node)].copy() if isinstance(node, exp.Placeholder) else node
    )
    return str(tree.sql(dialect=OURS))


def literal(example: Any, raw: Any) -> exp.Expr:
    """*raw* as a literal of the example's type. Raises BadLookup for what is none, a missing value among it."""
    if isinstance(raw, int) and raw.bit_length() > _MOST_BITS:
        raise BadLookup("a parameter is a number of more digits than any column has")
    if isinstance(example, bool):
        if isinstance(raw, bool):
            return exp.Boolean(this=raw)
    elif isinstance(example, int | Decimal):
        number = str(raw) if isinstance(raw, int | float | Decimal | Fraction) and not isinstance(raw, bool) else raw
        if isinstance(number, str) and (_WHOLE if isinstance(example, int) else _DECIMAL).fullmatch(number):
            return exp.Literal.number(number) if number[0] != "-" else exp.Neg(this=exp.Literal.number(number[1:]))
    elif isinstance(raw, str | int) and not isinstance(raw, bool):
        text = str(raw)
        if len(text) <= _MOST_TEXT and "\x00" not in text and "\\" not in text:
            return exp.Literal.string(text)
    raise BadLookup("a parameter is missing, or of another type than its example")


def _name(mark: exp.Expr) -> str:
    name = str(mark.this or "")
    return name.removeprefix(_MARK)
