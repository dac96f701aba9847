"""Does a statement read only rows that the asker may see? Told by the condition that stands over each table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp

from bylaw.sql_sources import denied


@dataclass(frozen=True, slots=True)
class Shown:
    """Some rows of a table: those that meet `where`, in which the table is called `alias`."""

    alias: str
    where: str


# `schema.table`, lower case, of which not every row may be read → what of it may; nothing shows no row at all
Visible = Mapping[str, Sequence[Shown]]


def check_rows(tables: Sequence[exp.Table], visible: Visible, dialect: str) -> None:
    """Raise GateDenied for the first table of *visible* that is read otherwise than shown.

    A table is read as shown where its SELECT reads nothing else and keeps only rows that meet the condition. What
    the condition itself reads is read in full.
    """
    narrowed = [table for table in tables if _name(table) in visible]
    allowed: set[int] = set()
    for table in narrowed:
        conjuncts = _conjuncts_over(table, dialect)
        for shown in visible[_name(table)]:
            wanted = _texts(shown.where, dialect)
            if table.alias_or_name == shown.alias and wanted <= conjuncts.keys():
                allowed.add(id(table))
                said = (tree for text in wanted for tree in conjuncts[text])
                allowed |= {id(inner) for tree in said for inner in tree.find_all(exp.Table)}
    for table in narrowed:
        if id(table) not in allowed:
            raise denied("rows", _reason(table, visible[_name(table)]), table)


def _reason(table: exp.Table, shown: Sequence[Shown]) -> str:
    name = _name(table)
    if not shown:
        return f"your roles show you no rows of `{name}`"
    forms = " or ".join(f"(SELECT … FROM {name} AS {one.alias} WHERE {one.where})" for one in shown)
    return f"your roles show you only some rows of `{name}`: read it as {forms}"


def _conjuncts_over(table: exp.Table, dialect: str) -> Mapping[str, Sequence[exp.Expr]]:
    """What every row that is read of *table* meets; nothing where other rows are joined before that is asked."""
    select = table.find_ancestor(exp.Select)
    from_ = None if select is None else select.args.get("from_")
    if select is None or from_ is None or from_.this is not table or table.args.get("pivots"):
        return {}
    where = select.args.get("where")
    if where is None or any(part.args.get(key) for part in (select, table) for key in ("joins", "laterals")):
        return {}
    found: dict[str, list[exp.Expr]] = {}
    for part in _conjuncts(where.this):
        found.setdefault(part.sql(dialect=dialect), []).append(part)
    return found


def _conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    match tree:
        case exp.Paren():
            yield from _conjuncts(tree.this)
        case exp.And():
            yield from _conjuncts(tree.left)
            yield from _conjuncts(tree.right)
        case _:
            yield tree


@lru_cache(maxsize=1024)
def _texts(where: str, dialect: str) -> frozenset[str]:
    tree = sqlglot.parse_one(f"SELECT 1 WHERE {where}", dialect=dialect)
    return frozenset(part.sql(dialect=dialect) for part in _conjuncts(tree.args["where"].this))


def _name(table: exp.Table) -> str:
    return f"{table.db}.{table.name}".lower()
