"""Which columns tell rows apart, and which refer to rows of another table: declared, or found and measured.

A reference that nobody declared needs a name that speaks of the other table (or is that of its key) and values that
are there. Numbers alone prove nothing: every small number is some row's key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from sqlglot import exp

from bylaw.warehouses.port import WarehouseError
from ci.importers.database.catalogue import Table
from ci.importers.database.profile import Measured, Rower, named, quoted
from ci.importers.names import KEYS, of_table, one, role
from ci.loading.spelling import words

ORPHANS = 0.05  # of the rows that name one; more, and it is no reference
MOST_PAIRS = 10  # of columns that are tried as a key together


@dataclass(frozen=True, slots=True)
class Key:
    columns: tuple[str, ...]
    how: str  # `declared`, or `measured`


@dataclass(frozen=True, slots=True)
class Link:
    """Rows of `left` that refer to one of `right`, and what was measured of it."""

    left: str
    columns: tuple[str, ...]
    right: str
    theirs: tuple[str, ...]
    is_declared: bool
    rows: int = 0  # that name one
    orphans: int = 0  # of them: whose partner is not there
    most_left: int = 0  # rows of left that share one
    most_right: int = 0  # rows of right that one finds
    is_own_key: bool = False  # the database holds that no two rows of left share one

    @property
    def type(self) -> str:
        """As a relationship is declared."""
        if self.most_right > 1:
            return "many_to_many"
        return "one_to_one" if self.is_own_key and self.most_left == 1 else "many_to_one"


# ---- keys


def key_of(rower: Rower, found: Measured) -> Key | None:
    """What tells the rows apart: what is declared, else the first column, or pair, that does in what was read."""
    table = found.table
    declared = table.primary or next(iter(table.unique), None)
    if declared is not None:
        return Key(declared, "declared")
    alone = [
        name for name, one_ in found.columns.items() if found.rows > 1 and one_.filled == one_.distinct == found.rows
    ]
    alone = [name for name in alone if found.columns[name].column.kind in ("number", "text")]
    if alone:
        return Key((min(alone, key=lambda name: _as_key(table, name)),), "measured")
    for pair in _pairs(found):
        if _tells_apart(rower, found, pair):
            return Key(pair, "measured")
    return None


def _as_key(table: Table, name: str) -> tuple[int, int]:
    """Named as a key first, then by place."""
    spoken, owner = words(name), one(of_table(table.name))
    rank = 0 if spoken == ("id",) or one(role(name)) == owner else 1 if spoken[-1:] and spoken[-1] in KEYS else 2
    return rank, [column.name for column in table.columns].index(name)


def _pairs(found: Measured) -> list[tuple[str, ...]]:
    """Columns that every row has and that may tell rows apart together: codes and days, the likeliest first."""
    full = [
        name
        for name, one_ in found.columns.items()
        if one_.filled == found.rows > 1
        and one_.distinct > 1
        and (one_.column.kind == "day" or one_.column.is_whole or words(name)[-1] in KEYS)
    ]
    likely: list[tuple[str, ...]] = [pair for pair in combinations(full, 2) if _values(found, pair) >= found.rows]
    return likely[:MOST_PAIRS]


def _values(found: Measured, pair: Sequence[str]) -> int:
    return found.columns[pair[0]].distinct * found.columns[pair[1]].distinct


def _tells_apart(rower: Rower, found: Measured, columns: Sequence[str]) -> bool:
    try:
        return _most(rower, found.table, columns) == 1
    except WarehouseError:
        return False


# ---- references


def links(rower: Rower, tables: Mapping[str, Measured], keys: Mapping[str, Key]) -> Iterator[Link]:
    """What refers to what: first as declared, then by name and values."""
    for name, found in tables.items():
        told: set[tuple[str, ...]] = set()
        for reference in found.table.references:
            right = f"{reference.schema}.{reference.table}"
            if right not in tables:
                rower.unlinked.append((_spoken(name, reference.columns), f"it refers to `{right}`, which is not read"))
            elif reference.columns not in told:
                told.add(reference.columns)
                link = Link(name, reference.columns, right, reference.theirs, is_declared=True)
                yield _measured(rower, tables, link) or link
        unlinked: dict[tuple[str, ...], str] = {}
        for link in _supposed(name, found, tables, keys):
            if link.columns in told or any(set(link.columns) <= set(columns) for columns in told if len(columns) > 1):
                continue
            is_alike = _are_alike(found, tables, link)
            sure = _measured(rower, tables, link) if is_alike else None
            why = "it could not be measured" if is_alike else "the two are of different types"
            why = why if sure is None else _why_not(sure)
            if sure is not None and not why:
                told.add(link.columns)
                yield sure
            else:
                unlinked.setdefault(link.columns, _as_meant(link, why))
        rower.unlinked += [(_spoken(name, one_), why) for one_, why in unlinked.items() if one_ not in told]


def _are_alike(found: Measured, tables: Mapping[str, Measured], link: Link) -> bool:
    """Do the columns hold values of one kind?"""
    theirs = tables[link.right].columns
    sides = zip(link.columns, link.theirs, strict=True)
    return all(found.columns[one_].column.kind == theirs[other].column.kind for one_, other in sides)


def _why_not(link: Link) -> str:
    """Why a link that only names speak for is none; empty where the rows bear it out."""
    if not link.rows:
        return "no row that was read names one"
    if link.orphans > ORPHANS * link.rows:
        return f"the partners of {link.orphans} of {link.rows} rows are not there"
    return "" if link.most_right == 1 else f"one row finds up to {link.most_right} of them"


def _as_meant(link: Link, why: str) -> str:
    return f"by its name it refers to `{link.right}` by `{', '.join(link.theirs)}`, and {why}: no join was drafted"


def _spoken(name: str, columns: Sequence[str]) -> str:
    return f"{name}.{', '.join(columns)}"


def _supposed(name: str, found: Measured, tables: Mapping[str, Measured], keys: Mapping[str, Key]) -> Iterator[Link]:
    """Links that names speak for: whole keys of several columns first, then the name that says most."""
    own = keys.get(name)
    supposed: list[tuple[int, Link]] = []
    for right, key in keys.items():
        if right == name:
            continue
        theirs = key.columns
        if len(theirs) > 1:
            if all(column in found.columns for column in theirs) and (own is None or own.columns != theirs):
                supposed.append((0, Link(name, theirs, right, theirs, is_declared=False)))
            continue
        for column, profile in found.columns.items():
            if own is not None and own.columns == (column,) and words(column) == ("id",):
                continue
            other = tables[right].columns.get(theirs[0])
            if other is None or profile.personal or not profile.distinct:
                continue
            rank = _speaks_of(column, tables[right].table, theirs[0])
            if rank is not None:
                supposed.append((rank, Link(name, (column,), right, theirs, is_declared=False)))
    yield from (link for _, link in sorted(supposed, key=lambda item: (item[0], item[1].columns, item[1].right)))


def _speaks_of(column: str, right: Table, key: str) -> int | None:
    """How plainly the name of *column* means a row of *right*; None where it does not."""
    spoken, owner = words(column), one(of_table(right.name))
    said = one(role(column))
    if said == owner and (len(said) < len(spoken) or said == spoken):
        return 1
    if spoken == words(key) and spoken not in (("id",), ("code",), ("name",)):
        return 1 if one(role(key)) == owner else 2
    if len(said) > len(owner) and said[-len(owner) :] == owner:
        return 3
    theirs = words(key)
    return 4 if len(theirs) > 1 and spoken[-len(theirs) :] == theirs else None


def _measured(rower: Rower, tables: Mapping[str, Measured], link: Link) -> Link | None:
    """*link* with what its rows show; None, and said, where that cannot be asked."""
    try:
        named_, orphans = rower.ask(_orphans(rower, tables, link)).rows[0]
        left = _most(rower, tables[link.left].table, link.columns)
        right = _most(rower, tables[link.right].table, link.theirs)
    except WarehouseError as problem:
        if link.is_declared:
            rower.unmeasured.append((f"{link.left}.{', '.join(link.columns)}", problem.lasting))
        return None
    table = tables[link.left].table
    is_own_key = link.columns in (table.primary, *table.unique)
    return replace(
        link, is_own_key=is_own_key, rows=int(named_ or 0), orphans=int(orphans or 0), most_left=left, most_right=right
    )


def _orphans(rower: Rower, tables: Mapping[str, Measured], link: Link) -> exp.Select:
    """How many of the rows that are read name a partner, and of how many it is not there."""
    ours = [_of("l", column) for column in link.columns]
    theirs = [_of("r", column) for column in link.theirs]
    here = exp.and_(*(exp.EQ(this=one_.copy(), expression=other) for one_, other in zip(ours, theirs, strict=True)))
    partner = exp.select("1").from_(exp.alias_(named(tables[link.right].table), "r", table=True)).where(here)
    is_lost = exp.Case(ifs=[exp.If(this=exp.Exists(this=partner).not_(), true=exp.Literal.number(1))])
    counted = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n"), exp.alias_(exp.Count(this=is_lost), "lost"))
    counted = counted.from_(rower.source(tables[link.left].table, link.columns, "l"))
    return counted.where(*(exp.Is(this=one_.copy(), expression=exp.null()).not_() for one_ in ours))


def _most(rower: Rower, table: Table, columns: Sequence[str]) -> int:
    """The most rows, of those that are read, that share the values of *columns*."""
    parts: list[Any] = [quoted(column) for column in columns]
    inner = exp.select(exp.alias_(exp.Count(this=exp.Star()), "times")).from_(rower.source(table, columns))
    inner = inner.where(*(exp.Is(this=part.copy(), expression=exp.null()).not_() for part in parts)).group_by(*parts)
    most = exp.select(exp.alias_(exp.Max(this=exp.column("times")), "most")).from_(inner.subquery("counted"))
    return int(rower.ask(most).rows[0][0] or 0)


def _of(alias: str, column: str) -> exp.Column:
    return exp.column(exp.to_identifier(column, quoted=True), table=alias)
