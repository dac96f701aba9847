"""SQL of other dialects in ours: expressions over one row, aggregates taken apart, whole statements.

What cannot be said faithfully is `Unsayable`, with the reason that a person reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialects

from bylaw.semantic.expressions import InvalidExpression, expression
from bylaw.sql.foreign import FOREIGN

OURS = "duckdb"
LONGEST = 4_000

Tables = Mapping[str, Mapping[str, str]]  # entity -> the SQL of each name that may be used for it

_AGGREGATES: Mapping[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.Count: "count",
}


class Unsayable(Exception):
    """Why something of the source cannot be said here."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a formula: what a simple metric says. `expr` is None where rows are counted."""

    entity: str
    agg: str
    expr: str | None
    filter: str | None


def parsed(text: str, dialect: str | None) -> exp.Expr:
    """The tree of one expression. Raises Unsayable."""
    if "{{" in text or "{%" in text:
        raise Unsayable("it is a template that only the source can fill in")
    if len(text) > LONGEST:
        raise Unsayable(f"the SQL is longer than {LONGEST:,} characters")
    try:
        tree = sqlglot.parse_one(text, read=dialect, into=exp.Condition)
    except (*FOREIGN, RecursionError):
        raise Unsayable(f"`{_short(text)}` is no SQL expression") from None
    return tree


def said(tree: exp.Expr) -> str:
    """*tree* as text in our dialect. Raises Unsayable for what it does not know."""
    try:
        return tree.sql(dialect=OURS, comments=False, unsupported_level=sqlglot.ErrorLevel.RAISE)
    except (*FOREIGN, RecursionError) as problem:
        first = str(problem).splitlines()[0] if str(problem) else "an unknown function"
        raise Unsayable(f"it is not known to {OURS}: {_short(first)}") from None


def row_sql(text: str, dialect: str | None) -> str:
    """An expression over the columns of one row, spelled as it was where our dialect reads it alike."""
    tree = parsed(text, dialect)
    spelled = said(tree)
    try:
        expression(spelled, "t")
        if expression(text, "t") == expression(spelled, "t"):
            return text.strip()
    except InvalidExpression as problem:
        if spelled == text.strip() or not _is_row(spelled):
            raise Unsayable(problem.message) from None
    return spelled


def _is_row(text: str) -> bool:
    try:
        expression(text, "t")
    except InvalidExpression:
        return False
    return True


def is_column(text: str) -> bool:
    """Is *text* one bare column that can be written without quotes?"""
    return text.isascii() and text.replace("_", "a").isalnum() and not text[:1].isdigit()


def resolved(tree: exp.Expr, tables: Tables, own: str | None) -> exp.Expr:
    """*tree* with every name replaced by the SQL behind it; what belongs to *own* is bare, the rest `entity.column`."""

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        owner = _named(node.table, tables) if node.table else own
        known = tables.get(owner or "")
        if owner is None or known is None:
            raise Unsayable(f"`{node.sql()}` belongs to no table that was read")
        text = known.get(_named(node.name, known) or "", None)
        inner = parsed(text, OURS) if text is not None else exp.column(node.name)
        if owner != own:
            for column in list(inner.find_all(exp.Column)):
                column.set("table", exp.to_identifier(owner))
        return exp.paren(inner) if isinstance(inner, exp.Binary) else inner

    return tree.copy().transform(replaced)


def _named(name: str, known: Mapping[str, object]) -> str | None:
    """The spelling of *name* among the *known*, whatever its case; None where there is none."""
    if name in known:
        return name
    return next((other for other in known if other.casefold() == name.casefold()), None)


def aggregates(tree: exp.Expr, tables: Tables, own: str | None) -> list[tuple[exp.Expr, Aggregate]]:
    """The outermost aggregates of *tree*, each with what it says. Raises Unsayable where one cannot be said."""
    if tree.find(exp.Window, exp.Query):
        raise Unsayable("it looks at other rows than those it adds up")
    walk = tree.walk(prune=lambda node: isinstance(node, exp.AggFunc | exp.Filter))
    found = [node for node in walk if isinstance(node, exp.AggFunc | exp.Filter)]
    if not found:
        raise Unsayable("it adds nothing up")
    owners = {owner for node in found for owner in _owners(node, tables)}
    only = own or (next(iter(owners)) if len(owners) == 1 else None)
    return [(node, _aggregate(node, tables, only)) for node in found]


def _owners(node: exp.Expr, tables: Tables) -> set[str]:
    named = {_named(column.table, tables) for column in node.find_all(exp.Column) if column.table}
    return {name for name in named if name is not None}


def _aggregate(node: exp.Expr, tables: Tables, own: str | None) -> Aggregate:
    condition = None
    if isinstance(node, exp.Filter):
        condition, node = node.expression.this, node.this
    agg = _AGGREGATES.get(type(node))
    if agg is None:
        raise Unsayable(f"`{_short(node.sql())}` is no sum, count, average, median, minimum or maximum")
    owners = _owners(node, tables)
    base = next(iter(owners)) if len(owners) == 1 else own
    if base is None:
        raise Unsayable("it does not say whose rows are counted")
    value = node.this
    if isinstance(value, exp.Distinct):
        if len(value.expressions) != 1 or agg != "count":
            raise Unsayable("only `COUNT(DISTINCT one column)` can be said")
        agg, value = "count_distinct", value.expressions[0]
    expr = None
    if not isinstance(value, exp.Star) and value is not None:
        expr = row_sql(said(resolved(value, tables, base).unnest()), OURS)
    narrowed = None if condition is None else row_sql(said(resolved(condition, tables, base).unnest()), OURS)
    return Aggregate(base, agg, expr, narrowed)


def statement(text: str, dialect: str | None) -> exp.Query:
    """The tree of one SELECT. Raises Unsayable for anything else."""
    if "{{" in text or "{%" in text:
        raise Unsayable("it is a template that only the source can fill in")
    if len(text) > 5 * LONGEST:
        raise Unsayable(f"the SQL is longer than {5 * LONGEST:,} characters")
    try:
        trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
    except (*FOREIGN, RecursionError):
        raise Unsayable("its SQL cannot be read") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise Unsayable("its SQL is no single SELECT")
    return trees[0]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"


def with_table(text: str, old: str, new: str) -> str:
    """*text* in our dialect with the columns of the table *old* named as those of *new*."""
    if f"{old}." not in text:
        return text
    tree = parsed(text, OURS)
    for column in tree.find_all(exp.Column):
        if column.table == old:
            column.set("table", exp.to_identifier(new))
    return said(tree)


def is_dialect(name: str) -> bool:
    """Does sqlglot know a dialect of that name?"""
    return bool(name) and name.lower() in {known.value for known in Dialects}
