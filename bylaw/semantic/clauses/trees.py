"""The few SQL nodes that every part of the compiler builds. Nothing here parses, and what is given is not copied."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

_TYPES = {
    "date": exp.DataType.Type.DATE,
    "timestamp": exp.DataType.Type.TIMESTAMP,
    "double": exp.DataType.Type.DOUBLE,
}
_SIDES: dict[str, dict[str, str]] = {"left": {"side": "LEFT"}, "inner": {"kind": "INNER"}, "cross": {"kind": "CROSS"}}


def cast(tree: exp.Expr, kind: Literal["date", "timestamp", "double"]) -> exp.Cast:
    return exp.Cast(this=tree, to=exp.DataType(this=_TYPES[kind]))


def named(tree: exp.Expr, alias: str) -> exp.Alias:
    return exp.Alias(this=tree, alias=exp.to_identifier(alias, quoted=False))


def is_null(tree: exp.Expr) -> exp.Is:
    return exp.Is(this=grouped(tree.copy()), expression=exp.null())


def grouped(tree: exp.Expr) -> exp.Expr:
    """A condition as one operand of another: `(late = 1) IS NULL` means another thing without its parentheses."""
    return exp.paren(tree, copy=False) if isinstance(tree, exp.Predicate | exp.Connector | exp.Not) else tree


def or_else(tree: exp.Expr, other: exp.Expr) -> exp.Coalesce:
    return exp.Coalesce(this=tree, expressions=[other])


def joined(
    tree: exp.Select, table: exp.Expr, side: Literal["left", "inner", "cross"], on: list[exp.Expr] | None = None
) -> exp.Select:
    """*tree* itself with one join more."""
    join = exp.Join(this=table, **_SIDES[side])
    if on:
        join.set("on", exp.and_(*on, copy=False))
    tree.append("joins", join)
    return tree


def rows_of(name: str, *columns: str) -> exp.Select:
    """`SELECT columns FROM name`, a common table expression."""
    return exp.select(*(exp.column(column) for column in columns), copy=False).from_(exp.table_(name), copy=False)
