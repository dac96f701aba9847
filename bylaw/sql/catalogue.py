"""What the catalogue knows of the tables behind a statement, and where in the text a part of it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from bylaw.errors import GateDenied

_TABLE_FUNCTIONS = (exp.Identifier, exp.GenerateSeries, exp.Unnest, exp.Explode)


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What the catalogue says of one table. `columns` is None where it lists only those that are `known`."""

    columns: frozenset[str] | None = None
    pii: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tables that may be read at all, by `schema.table` in lower case."""

    tables: Mapping[str, TableInfo]


def denied(code: str, message: str, node: exp.Expr | None) -> GateDenied:
    """The error that denies a statement because of *node*, and says where it stands."""
    starts = () if node is None else (part.meta["start"] for part in node.walk() if "start" in part.meta)
    return GateDenied(code, message, min(starts, default=None))


def is_derived(table: exp.Table) -> bool:
    """Does this name mean a common table expression that is visible here, or a function that makes rows?"""
    if not isinstance(table.this, exp.Identifier):
        return isinstance(table.this, _TABLE_FUNCTIONS)
    return common_table(table) is not None


def common_table(table: exp.Table) -> exp.CTE | None:
    """The common table expression that this name means, None where it means something else."""
    if not isinstance(table.this, exp.Identifier) or table.db:
        return None
    node: exp.Expr = table
    while (parent := node.parent) is not None:
        if isinstance(parent, exp.With):
            index = next(i for i, cte in enumerate(parent.expressions) if cte is node)
            visible = parent.expressions[: index + 1 if parent.args.get("recursive") else index]
        elif (with_ := parent.args.get("with_")) is not None and with_ is not node:
            visible = with_.expressions
        else:
            visible = []
        for cte in visible:
            if cte.alias.lower() == table.name.lower():
                found: exp.CTE = cte
                return found
        node = parent
    return None
