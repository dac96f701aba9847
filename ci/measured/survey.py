"""What every measure is given: the context, and a warehouse that is asked in trees, bounded and read only.

A statement that the warehouse refuses concerns one place and is told there. A warehouse that no longer answers at all
ends the survey.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from bylaw.authored.context import Context, Entity
from bylaw.authored.machines.rules import WarehouseLimits
from bylaw.semantic.expressions import InvalidExpression, columns_of, expression
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import Rows, Warehouse, WarehouseError
from ci.findings import Finding, Place
from ci.loading.load import Workspace


class Gone(Exception):
    """The warehouse does not answer any more."""


@dataclass(frozen=True, slots=True)
class Table:
    """One entity's table as the warehouse has it: its columns in small letters with their types, its rows.

    A type is empty where the warehouse does not tell.
    """

    entity: Entity
    columns: Mapping[str, str]
    rows: int

    @property
    def name(self) -> str:
        return self.entity.name


@dataclass(frozen=True, slots=True)
class Multiplicity:
    """How often the values of some columns come: rows with all of them, different values, rows of the most frequent."""

    rows: int
    groups: int
    most: int


@dataclass
class Survey:
    """One survey of a warehouse. `at` is the day that the age of rows is counted from."""

    workspace: Workspace
    warehouse: Warehouse
    at: date
    tables: dict[str, Table] = field(default_factory=dict)
    _counted: dict[tuple[str, tuple[str, ...], str | None], Multiplicity] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        return self.workspace.context

    @property
    def limits(self) -> WarehouseLimits:
        return self.workspace.rules.ci.warehouse

    # ---- asking

    def ask(self, tree: exp.Query, limit: int = 1) -> Rows:
        """The first rows of *tree*. Raises WarehouseError where it is refused, Gone where nobody answers."""
        try:
            return self.warehouse.run(written(tree.sql(dialect="duckdb"), self.warehouse.dialect), limit)
        except WarehouseError:
            try:
                self.warehouse.run("SELECT 1", 1)
            except WarehouseError as lost:
                raise Gone(lost.message) from None
            raise

    def row(self, tree: exp.Query) -> dict[str, Any]:
        """The one row of *tree*, by column."""
        found = self.ask(tree)
        return dict(zip((name.lower() for name in found.columns), found.rows[0], strict=True)) if found.rows else {}

    def source(self, table: Table) -> exp.Expr:
        """What is read of *table*, under the entity's name: all of it, or its first rows."""
        base = table.entity.base_table
        if not self.is_sampled(table):
            return exp.table_(base.table, db=base.schema_name, alias=table.name)
        whole = exp.table_(base.table, db=base.schema_name)
        return exp.select("*").from_(whole).limit(self.limits.rows).subquery(table.name)

    def is_sampled(self, table: Table) -> bool:
        """Is the table so large that only its first rows are read?"""
        return table.rows > self.limits.rows

    def sampled(self, *tables: Table) -> str:
        """What a message adds where not every row was read."""
        large = [table for table in tables if self.is_sampled(table)]
        return "".join(
            f" (in the first {self.limits.rows:,} of the {table.rows:,} rows of `{table.name}`)" for table in large
        )

    def multiplicity(self, table: Table, columns: Sequence[str], condition: str | None = None) -> Multiplicity:
        """How often each value of *columns* comes in the rows that have all of them, and meet *condition*; asked once.

        A condition that cannot be read here counts as none.
        """
        key = table.name, tuple(column.lower() for column in columns), condition
        narrowed = None if condition is None else self.tree(condition, table)
        if key not in self._counted:
            parts = [exp.column(column, table=table.name) for column in columns]
            inner = exp.select(*(part.copy() for part in parts), exp.alias_(exp.Count(this=exp.Star()), "times"))
            inner = inner.from_(self.source(table)).where(*(_filled(part) for part in parts), narrowed).group_by(*parts)
            times = exp.column("times")
            tree = exp.select(
                exp.alias_(exp.Sum(this=times), "total"),
                exp.alias_(exp.Count(this=exp.Star()), "values_"),
                exp.alias_(exp.Max(this=times.copy()), "most"),
            ).from_(inner.subquery("counted"))
            row = self.row(tree)
            self._counted[key] = Multiplicity(_int(row["total"]), _int(row["values_"]), _int(row["most"]))
        return self._counted[key]

    # ---- what may be asked

    def tree(self, text: str, table: Table) -> exp.Expr | None:
        """*text* as a tree, where it is an expression over columns that the table has; None otherwise."""
        try:
            columns = columns_of(text, table.name)
        except (InvalidExpression, SqlglotError):
            return None
        if any(owner != table.name or column.lower() not in table.columns for owner, column in columns):
            return None
        return expression(text, table.name)

    def has(self, table: Table, columns: Sequence[str]) -> bool:
        """Are all of *columns* there?"""
        return all(column.lower() in table.columns for column in columns)

    # ---- telling

    def at_entity(self, name: str, *route: str | int) -> Place:
        """A place in the file of the entity *name*."""
        return self.at_record("entities", name, *route)

    def at_record(self, section: str, name: str, *route: str | int) -> Place:
        """A place in the file of any record."""
        path = self.context.paths.get(f"{section}/{name}", f"context/{section}/{name}.yaml")
        return self.workspace.place(path, *route)

    def measured(self) -> Iterator[Table]:
        """The tables that are there, in the order of their entities."""
        yield from (table for _, table in sorted(self.tables.items()))


def refused(what: str, problem: WarehouseError, place: Place) -> Finding:
    """A finding about what could not be measured."""
    return Finding("unmeasured", f"{what} could not be measured: {problem.lasting}", place, help=problem.help)


def _filled(column: exp.Expr) -> exp.Expr:
    return exp.Is(this=column.copy(), expression=exp.null()).not_()


def _int(value: Any) -> int:
    return int(value) if value is not None else 0
