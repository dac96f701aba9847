"""What the rows of a table show: how many there are, how many values each column has, which of them look personal.

A large table is read by its first rows, and that is said wherever a figure of it stands. Values are looked at and
counted; only those of a short closed list are handed on, and never those of a column that looks personal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from bylaw.authored.machines.enforcement import Pii
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import Rows, Warehouse, WarehouseError
from ci.importers.database.catalogue import Column, Table
from ci.importers.names import LABELS, ORGANISATIONS
from ci.loading.spelling import spoken
from ci.measured.columns import looks_personal

ENUM = 30  # values of a list that people read as one
REPEATED = 5  # rows of each value, on average, in a closed list
LOOKED_AT = 200  # values of a column whose shapes are looked at
LONGEST = 60  # letters of a value that is a word and no text
_DAY = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
_FULL_NAME = re.compile(r"[^\W\d_a-z][\w'.-]+( [^\W\d_a-z][\w'.-]*)+")
_YES: Mapping[frozenset[str], str] = {  # the two values of a column that is true or false, and which says yes
    frozenset(pair): pair[1] for pair in (("0", "1"), ("n", "y"), ("no", "yes"), ("f", "t"), ("false", "true"))
}
_PERSON = frozenset(("email", "mail", "birth", "birthday", "dob", "surname", "first", "last"))


@dataclass(frozen=True, slots=True)
class Profile:
    """One column: rows that have it, different values; the values of a closed list; why it looks personal."""

    column: Column
    filled: int
    distinct: int
    values: tuple[Any, ...] = ()
    personal: str | None = None
    is_day: bool = False  # text in which every value that was looked at is a date
    is_long: bool = False
    names: tuple[str, ...] = ()  # of a short list of words, whether or not rows share them

    @property
    def yes(self) -> Any | None:
        """Of two values that say no and yes, the one that says yes; None where its values say something else."""
        told = {str(value).lower(): value for value in self.values}
        return told.get(_YES.get(frozenset(told), "")) if len(told) == len(self.values) else None

    @property
    def is_flag(self) -> bool:
        """Is it true or false, whatever its type?"""
        return self.column.kind == "flag" or self.yes is not None


@dataclass(slots=True)
class Measured:
    """One table. `rows` is what was read; `is_all` says whether that is everything."""

    table: Table
    rows: int
    is_all: bool
    columns: dict[str, Profile] = field(default_factory=dict)

    @property
    def read(self) -> str:
        return f"{self.rows:,} rows" if self.is_all else f"the first {self.rows:,} rows"


@dataclass(slots=True)
class Rower:
    """Asks one warehouse about rows, never for more than the first *rows* of a table. `unmeasured`: what it refused;
    `unlinked`: what by its name refers to another table, and does not.
    """

    warehouse: Warehouse
    pii: Pii
    rows: int
    unmeasured: list[tuple[str, str]] = field(default_factory=list)
    unlinked: list[tuple[str, str]] = field(default_factory=list)

    def ask(self, tree: exp.Query, limit: int = 1) -> Rows:
        """The first rows of *tree*. Raises WarehouseError."""
        return self.warehouse.run(written(tree.sql(dialect="duckdb"), self.warehouse.dialect), limit)

    def source(self, table: Table, columns: Sequence[str], alias: str = "t") -> exp.Expr:
        """The first rows of *table*, as far as they are read, with some of its columns."""
        whole = exp.select(*(quoted(name) for name in columns)).from_(named(table)).limit(self.rows)
        return whole.subquery(alias)

    def measured(self, table: Table) -> Measured:
        """What the rows of *table* show. Raises WarehouseError where it cannot be read at all."""
        known = [column for column in table.columns if column.kind != "other"]
        counts: list[exp.Expr] = [exp.alias_(exp.Count(this=exp.Star()), "n")]
        for i, column in enumerate(known):
            value = quoted(column.name)
            counts.append(exp.alias_(exp.Count(this=value), f"filled_{i}"))
            counts.append(exp.alias_(exp.Count(this=exp.Distinct(expressions=[value.copy()])), f"distinct_{i}"))
        tree = exp.select(*counts).from_(self.source(table, [column.name for column in known]))
        n, *figures = self.ask(tree).rows[0]
        is_all = n < self.rows or not self._has_more(table)
        found = Measured(table, n, is_all)
        for column, filled, distinct in zip(known, figures[::2], figures[1::2], strict=True):
            found.columns[column.name] = self._profile(table, column, filled, distinct)
        if any(_is_of_a_person(profile) for profile in found.columns.values()):
            found.columns = {name: _as_of_a_person(profile) for name, profile in found.columns.items()}
        return found

    def _has_more(self, table: Table) -> bool:
        beyond = exp.select("1").from_(named(table)).limit(1).offset(self.rows)
        return bool(self.ask(beyond).rows)

    def _profile(self, table: Table, column: Column, filled: int, distinct: int) -> Profile:
        refers = any(column.name in reference.columns for reference in table.references)
        if column.kind != "flag" and not (refers and column.is_whole) and looks_personal("_".join(spoken(column.name))):
            return Profile(column, filled, distinct, personal="by its name")
        is_short = 0 < distinct <= ENUM and (column.is_listed or filled >= REPEATED * distinct)
        if column.kind == "text" or (column.is_whole and is_short):
            values = self._values(table, column)
            texts = [str(value) for value in values]
            if column.kind == "text" and (why := self._by_shape(texts)):
                return Profile(column, filled, distinct, personal=why)
            is_day = column.kind == "text" and bool(texts) and all(_DAY.fullmatch(text) for text in texts)
            is_long = any(len(text) > LONGEST for text in texts)
            listed = tuple(sorted(values)) if is_short and not is_long and not is_day else ()
            is_list = column.kind == "text" and 0 < distinct <= ENUM and not is_long and not is_day
            names = tuple(sorted(texts)) if is_list and not _are_people(texts) else ()
            return Profile(column, filled, distinct, listed, is_day=is_day, is_long=is_long, names=names)
        return Profile(column, filled, distinct)

    def _by_shape(self, texts: Sequence[str]) -> str | None:
        """Most of the values that were looked at have the shape of something personal."""
        for pattern in self.pii.patterns.values():
            met = sum(bool(re.search(pattern.regex, text)) for text in texts)
            if met and met * 2 >= len(texts):
                return f"{met} of {len(texts)} values that were looked at have the shape of {pattern.label}"
        return None

    def _values(self, table: Table, column: Column) -> list[Any]:
        value = quoted(column.name)
        tree = exp.select(value).distinct().from_(self.source(table, [column.name]))
        tree = tree.where(exp.Is(this=value.copy(), expression=exp.null()).not_())
        try:
            return [row[0] for row in self.ask(tree, LOOKED_AT).rows]
        except WarehouseError as problem:
            self.unmeasured.append((f"{table.qualified}.{column.name}", problem.lasting))
            return []


def _is_of_a_person(profile: Profile) -> bool:
    """Is it what a person has: an e-mail address, a day of birth, a first name?"""
    said = set(spoken(profile.column.name))
    return profile.personal is not None and bool(
        _PERSON & said or "e-mail" in profile.personal or {"e", "mail"} <= said
    )


def _as_of_a_person(profile: Profile) -> Profile:
    """A name in such a table is a person's, unless it says that it is an organisation's."""
    said = spoken(profile.column.name)
    is_name = profile.column.kind == "text" and said[-1:] in [(label,) for label in LABELS]
    is_name &= not ORGANISATIONS & set(said)
    if not is_name or profile.personal or profile.values:
        return profile
    return replace(profile, personal="a name beside other personal columns", names=())


def _are_people(texts: Sequence[str]) -> bool:
    """Do most of the values look like a first and a last name?"""
    return 2 * sum(bool(_FULL_NAME.fullmatch(text)) for text in texts) >= len(texts)


def quoted(name: str) -> exp.Column:
    """A column by its exact name."""
    return exp.column(exp.to_identifier(name, quoted=True))


def named(table: Table) -> exp.Table:
    """A table by its exact name."""
    return exp.Table(this=exp.to_identifier(table.name, quoted=True), db=exp.to_identifier(table.schema, quoted=True))


def measured(rower: Rower, tables: Sequence[Table], hear: Any = None) -> Mapping[str, Measured]:
    """Every table that can be read, by its qualified name. What cannot is said."""
    found: dict[str, Measured] = {}
    for i, table in enumerate(tables):
        if hear is not None:
            hear("measuring tables", i, len(tables))
        try:
            found[table.qualified] = rower.measured(table)
        except WarehouseError as problem:
            rower.unmeasured.append((table.qualified, problem.lasting))
    return found
