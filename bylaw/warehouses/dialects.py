"""The compiler's SQL in the words of another warehouse."""

from __future__ import annotations

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
        return tree.sql(dialect=dialect, pretty=True, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError as error:
        raise WarehouseError(f"this question cannot be put in the SQL of `{dialect}`") from error


def _spell_groups(select: exp.Select) -> None:
    """GROUP BY ALL, column by column: few databases know it, and the translation leaves it as it is."""
    group = select.args.get("group")
    if group is None or not group.args.get("all"):
        return
    plain = [part.unalias().copy() for part in select.expressions if not part.find(exp.AggFunc)]
    select.set("group", exp.Group(expressions=plain) if plain else None)
