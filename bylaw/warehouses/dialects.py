"""The compiler's SQL in the words of another warehouse."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from bylaw.warehouses.port import WarehouseError

OURS = "duckdb"  # what the compiler writes


def written(sql: str, dialect: str) -> str:
    """*sql*, one statement of the compiler's, for a warehouse that speaks *dialect*.

    Raises WarehouseError where that dialect has no words for it: an approximation could be another number.
    """
    if dialect == OURS:
        return sql
    try:
        tree = sqlglot.parse_one(sql, dialect=OURS)
        for select in tree.find_all(exp.Select):
            _spell_groups(select)
        _spell_zones(tree, dialect)
        return tree.sql(dialect=dialect, pretty=True, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise WarehouseError(f"this question cannot be put in the SQL of `{dialect}`") from error


_Zoned = Callable[[exp.Expr, exp.Expr | None, exp.Expr], exp.Expr]


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _as_timestamp(tree: exp.Expr, type: str = "TIMESTAMP") -> exp.Expr:
    return exp.Cast(this=tree, to=exp.DataType.build(type))


# a moment (without a zone: of the zone that is given first) as the clocks of another zone show it
_ZONED: Mapping[str, _Zoned] = {
    "snowflake": lambda at, own, here: (
        _as_timestamp(_call("CONVERT_TIMEZONE", here, at), "TIMESTAMPNTZ")
        if own is None
        else _call("CONVERT_TIMEZONE", own, here, at)
    ),
    "bigquery": lambda at, own, here: _call("DATETIME", at if own is None else _call("TIMESTAMP", at, own), here),
    "trino": lambda at, own, here: _as_timestamp(
        _call("AT_TIMEZONE", at if own is None else _call("WITH_TIMEZONE", at, own), here)
    ),
    "mysql": lambda at, own, here: _call("CONVERT_TZ", at, own or exp.Literal.string("UTC"), here),
}
_SPEAK_OF_ZONES = frozenset({"postgres", "redshift"})  # as DuckDB does


def _spell_zones(tree: exp.Expr, dialect: str) -> None:
    """Moments moved to a time zone: what other databases make of AT TIME ZONE depends on the session, or is nothing."""
    if dialect in _SPEAK_OF_ZONES:
        return
    for node in list(tree.find_all(exp.AtTimeZone)):
        if isinstance(node.parent, exp.AtTimeZone):
            continue
        if dialect not in _ZONED:
            raise WarehouseError(f"moments cannot be moved to another time zone in the SQL of `{dialect}`")
        inner = node.this
        own = inner.args["zone"] if isinstance(inner, exp.AtTimeZone) else None
        at = inner if own is None else inner.this
        node.replace(_ZONED[dialect](at.unnest(), own, node.args["zone"]))


def _spell_groups(select: exp.Select) -> None:
    """GROUP BY ALL, column by column: few databases know it, and the translation leaves it as it is."""
    group = select.args.get("group")
    if group is None or not group.args.get("all"):
        return
    plain = [part.unalias().copy() for part in select.expressions if not part.find(exp.AggFunc)]
    select.set("group", exp.Group(expressions=plain) if plain else None)
