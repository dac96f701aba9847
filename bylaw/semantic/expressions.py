"""SQL fragments of the context as trees: parsed once, every column given the entity it belongs to."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from bylaw.errors import BylawError
from bylaw.sql.foreign import FOREIGN


class InvalidExpression(BylawError):
    """A fragment that is no SQL expression, or that does more than compute on one row."""


@lru_cache(maxsize=4096)
def _parsed(text: str) -> exp.Expr:
    try:
        trees = Dialect.get_or_raise("duckdb").parse_into(exp.Condition, text)
    except (*FOREIGN, RecursionError) as error:
        raise InvalidExpression(f"`{text}` is no SQL expression") from error
    if len(trees) != 1 or trees[0] is None or not text.strip():
        raise InvalidExpression(f"`{text}` is no SQL expression")
    tree = trees[0]
    if tree.find(exp.Query, exp.AggFunc, exp.Window, exp.Star, exp.Placeholder, exp.Command):
        raise InvalidExpression(f"`{text}` does more than compute on one row")
    return tree


def expression(text: str, entity: str) -> exp.Expr:
    """The tree of *text*, a fresh copy; a bare column belongs to *entity*, `other.column` to the entity `other`."""
    tree = _parsed(text).copy()
    for column in list(tree.find_all(exp.Column)):
        if not column.table:
            column.set("table", exp.to_identifier(entity))
    return tree


@lru_cache(maxsize=4096)
def columns_of(text: str, entity: str) -> tuple[tuple[str, str], ...]:
    """(entity, column) of every column that *text* reads, sorted. Raises InvalidExpression."""
    found = {(column.table, column.name) for column in expression(text, entity).find_all(exp.Column)}
    return tuple(sorted(found))


def entities_of(tree: exp.Expr) -> tuple[str, ...]:
    """The entities whose columns a tree reads, sorted."""
    return tuple(sorted({column.table for column in tree.find_all(exp.Column)}))
