"""Where the names of a statement lead: the sources that each SELECT reads, and what a reference can mean among them.

A reference is followed outward from its SELECT until some source has that column for certain. What a source may have
besides (a table whose columns are not all declared, an expression without a name) never ends the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from bylaw.sql.catalogue import TableInfo

Meaning = Literal["column", "row", "database"]
Env = Mapping[str, "Columns"]  # common table expressions that are visible, by their lower-case names


@dataclass(frozen=True, slots=True)
class Columns:
    """What a query gives: the names that are certain, and whether there may be others."""

    names: frozenset[str] = frozenset()
    is_open: bool = False

    def renamed(self, alias: exp.Expr | None) -> Columns:
        """The columns behind an alias that may name them anew."""
        given = [part.name.lower() for part in (alias.args.get("columns") or ())] if alias is not None else []
        return Columns(frozenset(given), is_open=True) if given else self


@dataclass(frozen=True, slots=True)
class Source:
    """What one item of FROM brings: a table of the catalogue, or something that the statement makes itself."""

    alias: str
    columns: Columns
    table: str | None = None
    personal: frozenset[str] = frozenset()
    is_aliased: bool = True

    @classmethod
    def of_table(cls, table: exp.Table, info: TableInfo) -> Source:
        """A table of the catalogue."""
        known = info.known if info.columns is None else info.columns
        columns = Columns(frozenset(known) - info.pii, is_open=info.columns is None)
        name = f"{table.db}.{table.name}".lower()
        return cls(table.alias_or_name.lower(), columns, name, info.pii, is_aliased=bool(table.alias))

    @property
    def qualifiers(self) -> Iterator[tuple[str, ...]]:
        """The names that may stand before its columns. A schema counts also where an alias should hide it."""
        if self.alias:
            yield (self.alias,)
        if self.table is not None:
            schema, _, name = self.table.partition(".")
            yield (schema, name)

    def meanings(self, parts: tuple[str, ...]) -> Iterator[tuple[Meaning, str]]:
        """What *parts*, a name in one to several pieces, can mean of this source."""
        behind_schema = False
        for qualifier in self.qualifiers:
            width = len(qualifier)
            if parts[:width] == qualifier:
                behind_schema |= width == 2
                yield ("row", ".".join(qualifier)) if len(parts) == width else ("column", parts[width])
        if self.may_have(parts[0]):
            yield "column", parts[0]
        if self.table is not None:
            names = {self.alias, self.table.partition(".")[2]}
            if any(part in names for part in parts[2 if behind_schema else 1 :]):
                yield "database", ".".join(parts)

    def names_column(self, parts: tuple[str, ...]) -> bool:
        """Is it for certain a column of this source, written behind one of its qualifiers?"""
        return any(parts[:-1] == qualifier and self.has(parts[-1]) for qualifier in self.qualifiers)

    def has(self, name: str) -> bool:
        """Is there such a column for certain?"""
        return name in self.columns.names

    def may_have(self, name: str) -> bool:
        """Can there be such a column?"""
        return self.columns.is_open or name in self.columns.names or name in self.personal


@dataclass(slots=True)
class Scope:
    """What one SELECT sees: its sources so far, the names that it gives itself, and what stands around it."""

    env: Env
    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    given: set[str] = field(default_factory=set)

    def outward(self) -> Iterator[Scope]:
        """This scope and those around it, from the inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


def output_of(expressions: list[exp.Expr], sources: list[Source]) -> Columns:
    """What a list of projections over *sources* gives."""
    names: set[str] = set()
    is_open = False
    for part in expressions:
        star = part.this if isinstance(part, exp.Column) and isinstance(part.this, exp.Star) else part
        if isinstance(star, exp.Star):
            owner = part.args.get("table") if isinstance(part, exp.Column) else None
            read = [one for one in sources if owner is None or one.alias == owner.name.lower()]
            left_out = {one.name.lower() for one in star.args.get("except_") or ()}
            names |= set().union(*(one.columns.names for one in read)) - left_out if read else set()
            is_open |= not read or any(one.columns.is_open for one in read) or bool(star.args.get("rename"))
        elif isinstance(part, exp.Alias | exp.Column) and part.alias_or_name:
            names.add(part.alias_or_name.lower())
        else:
            is_open = True
    return Columns(frozenset(names), is_open)
