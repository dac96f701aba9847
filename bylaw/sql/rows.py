"""Does a statement read only rows that the asker may see? Told by the condition that stands over each table.

Where it does, that condition is put behind a fence: it is evaluated before anything else of the statement, so that no
other condition and no error can depend on a row that is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp

from bylaw.sql.catalogue import Catalogue, denied

_FENCE = "visible"
_FENCES = frozenset({"duckdb", "postgres", "sqlite"})  # where a common table can be told to be read first


@dataclass(frozen=True, slots=True)
class Shown:
    """Some rows of a table: those that meet `where`, in which the table is called `alias`."""

    alias: str
    where: str


# `schema.table`, lower case, of which not every row may be read → what of it may; nothing shows no row at all
Visible = Mapping[str, Sequence[Shown]]


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A table that is read as far as it may be seen, its SELECT, and the conditions that see to it."""

    table: exp.Table
    select: exp.Select
    conditions: Sequence[exp.Expr]

    def fence(self, catalogue: Catalogue | None, dialect: str) -> None:
        """Put the rows that meet the conditions in the place of the table, read before all else. Changes the tree."""
        if self._is_fenced():
            return
        alias = self.table.alias_or_name
        columns = self._columns(catalogue)
        own: list[exp.Expr] = [exp.Column(this=part.copy(), table=exp.to_identifier(alias)) for part in columns]
        shown = own or [exp.alias_(exp.Literal.number(1), "one")]
        where = exp.and_(*(condition.copy() for condition in self.conditions), copy=False)
        inner = exp.select(*shown, copy=False).from_(self.table.copy(), copy=False).where(where, copy=False)
        rest = [part for part in _conjuncts(self.select.args["where"].this) if not _is_one_of(part, self.conditions)]
        self.select.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
        for column in self.select.find_all(exp.Column):
            if column.args.get("db") is not None and column.table.lower() == self.table.name.lower():
                column.set("db", None)
                column.set("table", exp.to_identifier(alias))
        outer = exp.select(exp.Star(), copy=False).from_(exp.table_(_FENCE), copy=False)
        cte = exp.CTE(this=inner, alias=exp.TableAlias(this=exp.to_identifier(_FENCE)))
        if dialect in _FENCES:
            cte.set("materialized", True)
        outer.set("with_", exp.With(expressions=[cte]))
        self.table.replace(outer.subquery(alias, copy=False))

    def _is_fenced(self) -> bool:
        """Does its SELECT nothing but this already?"""
        is_plain = all(isinstance(part, exp.Column | exp.Alias) for part in self.select.expressions) and not any(
            self.select.args.get(key) for key in ("group", "having", "order", "limit", "offset", "distinct", "qualify")
        )
        parts = list(_conjuncts(self.select.args["where"].this))
        parent = self.select.parent
        is_kept = isinstance(parent, exp.CTE) and bool(parent.args.get("materialized"))
        return is_plain and is_kept and all(_is_one_of(part, self.conditions) for part in parts)

    def _columns(self, catalogue: Catalogue | None) -> list[exp.Expr]:
        """What the rest of the SELECT reads of the table: a star, in whose order its columns stay, or their names."""
        info = None if catalogue is None else catalogue.tables.get(_name(self.table))
        known = None if info is None else info.columns
        stars = [star for star in self.select.find_all(exp.Star) if not isinstance(star.parent, exp.Count)]
        if stars and known is None:
            raise denied("rows", f"write the columns of `{_name(self.table)}` instead of `*`", stars[0])
        found = {name.name.lower(): name for name in self._named() if known is None or name.name.lower() in known}
        if not stars or known is None:
            return [found[name] for name in sorted(found)]
        left_out = known.intersection(*(_left_out(star) for star in stars)) - found.keys()
        return [exp.Star(except_=[exp.to_identifier(name) for name in sorted(left_out)])]

    def _named(self) -> Iterator[exp.Identifier]:
        """The names that may be columns of the table, as they are written."""
        names = {self.table.alias_or_name.lower(), self.table.name.lower(), ""}
        for node in self.select.find_all(exp.Dot):  # a field of a column, or a method called on it
            at: exp.Expr = node
            while isinstance(at, exp.Dot):
                at = at.this
            if isinstance(at, exp.Identifier):
                yield at
        for column in self.select.find_all(exp.Column):
            if column.table.lower() in names and isinstance(column.this, exp.Identifier):
                yield column.this


def _left_out(star: exp.Star) -> set[str]:
    return {part.name.lower() for part in star.args.get("except_") or ()}


def check_rows(tables: Sequence[exp.Table], visible: Visible, dialect: str) -> Sequence[Narrowed]:
    """The tables of *visible* that are read as shown. Raises GateDenied for the first that is read otherwise.

    A table is read as shown where its SELECT reads nothing else and keeps only rows that meet the condition. What
    the condition itself reads is read in full.
    """
    narrowed = [table for table in tables if _name(table) in visible]
    allowed: set[int] = set()
    found: list[Narrowed] = []
    for table in narrowed:
        conjuncts = _conjuncts_over(table, dialect)
        for shown in visible[_name(table)]:
            wanted = _texts(shown.where, dialect)
            if table.alias_or_name == shown.alias and wanted <= conjuncts.keys():
                said = [tree for text in sorted(wanted) for tree in conjuncts[text]]
                select = table.find_ancestor(exp.Select)
                if id(table) not in allowed and select is not None:
                    found.append(Narrowed(table, select, said))
                allowed.add(id(table))
                allowed |= {id(inner) for tree in said for inner in tree.find_all(exp.Table)}
    for table in narrowed:
        if id(table) not in allowed:
            raise denied("rows", _reason(table, visible[_name(table)]), table)
    return found


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


def _is_one_of(part: exp.Expr, others: Sequence[exp.Expr]) -> bool:
    return any(part is other for other in others)


@lru_cache(maxsize=1024)
def _texts(where: str, dialect: str) -> frozenset[str]:
    tree = sqlglot.parse_one(f"SELECT 1 WHERE {where}", dialect=dialect)
    return frozenset(part.sql(dialect=dialect) for part in _conjuncts(tree.args["where"].this))


def _name(table: exp.Table) -> str:
    return f"{table.db}.{table.name}".lower()
