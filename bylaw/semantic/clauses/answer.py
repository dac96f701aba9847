"""Several parts of an answer put together: aggregates of different rows, periods that must not be missing.

Every part is a common table expression with the groups of the answer and values of its own. `periods` are the
periods of the answer one after the other, `answer` its groups; the parts are joined to them, a missing group as
equal to a missing group. Nothing is joined before it is aggregated, so nothing counts twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.language import dates
from bylaw.semantic.clauses import times
from bylaw.semantic.clauses.measures import Atom
from bylaw.semantic.clauses.rows import Rows
from bylaw.semantic.clauses.sheets import PERIODS, Group, Sheet, aggregated
from bylaw.semantic.clauses.times import Span
from bylaw.semantic.clauses.trees import is_null, joined, named, or_else, rows_of
from bylaw.semantic.query import SemanticQuery, Unanswerable, UnknownName, Window

ANSWER, MEMBERS, LAST = "answer", "members", "last_ones"


@dataclass(frozen=True, slots=True)
class Part:
    """One common table expression: a sheet, and the column of each of its atoms."""

    name: str
    sheet: Sheet
    columns: Mapping[Atom, str]
    select: exp.Select

    def column(self, alias: str) -> exp.Column:
        return exp.column(alias, table=self.name)


@dataclass(frozen=True, slots=True)
class Joined:
    """The frame of an answer that is joined from parts."""

    parts: Sequence[Part]
    keys: Mapping[str, exp.Expr]
    grain: str | None

    @property
    def period(self) -> exp.Expr | None:
        return self.keys[self.grain].copy() if self.grain else None

    @property
    def others(self) -> Sequence[exp.Expr]:
        return [tree.copy() for alias, tree in self.keys.items() if alias != self.grain]

    def value(self, atom: Atom) -> exp.Expr:
        part = next(part for part in self.parts if atom.bare in part.columns)
        column = part.column(part.columns[atom.bare])
        if atom.nothing is None or not (self.keys or atom.is_filled or atom.fill is not None):
            return column
        return or_else(column, exp.Literal.number(atom.nothing))


class Assembly:
    """Puts the sheets of one query together. `members` are the groups that are shown even without any rows."""

    def __init__(
        self, query: SemanticQuery, calendar: Calendar, groups: Sequence[Group], members: exp.Select | None, over: bool
    ) -> None:
        self.query = query
        self.calendar = calendar
        self.grain = query.grain
        self.aliases = [group.alias for group in groups]
        self.others = [group.alias for group in groups if group.field is not None]
        self.members = members
        self.is_over = over
        self.ctes: dict[str, exp.Query] = {}

    def joined(self, sheets: Sequence[Sheet], is_dense: bool) -> tuple[exp.Select, Joined]:
        """FROM with every part joined, and the frame that numbers are computed in."""
        is_dense = is_dense or any(_runs(sheet) for sheet in sheets)
        is_dense = is_dense and self.grain is not None
        parts = [self._part(i, sheet) for i, sheet in enumerate(sheets, 1)]
        for part in parts:
            if not (is_dense and _runs(part.sheet)):
                self.ctes[part.name] = part.select
        if is_dense:
            self.ctes[PERIODS] = self._periods(parts)
            for part in parts:
                if _runs(part.sheet):
                    self.ctes[part.name] = part.select
        if not self.aliases or all(part.sheet.kind.is_total for part in parts):
            return self._crossed(parts), Joined(parts, {}, None)
        keys = self._keys(parts, is_dense)
        frame = Joined(parts, {alias: exp.column(alias, table=keys) for alias in self.aliases}, self.grain)
        tree = rows_of(keys)
        for part in parts:
            if part.name != keys:
                tree = self._with(tree, part, frame)
        return tree, frame

    def attached(self, tree: exp.Select) -> exp.Select:
        """*tree* with every common table expression."""
        for name, query in self.ctes.items():
            tree = tree.with_(name, as_=query, copy=False)
        return tree

    def _crossed(self, parts: Sequence[Part]) -> exp.Select:
        tree = rows_of(parts[0].name)
        for part in parts[1:]:
            joined(tree, exp.table_(part.name), "cross")
        return tree

    def _with(self, tree: exp.Select, part: Part, frame: Joined) -> exp.Select:
        if not part.sheet.groups:
            return joined(tree, exp.table_(part.name), "cross")
        pairs: list[exp.Expr] = []
        for alias in self.aliases:
            mine, theirs, offset = frame.keys[alias].copy(), part.column(alias), part.sheet.kind.offset
            if alias == self.grain and offset is not None:
                pairs.append(exp.EQ(this=times.moved(mine, offset, back=True), expression=theirs))
            else:
                pairs.append(exp.NullSafeEQ(this=mine, expression=theirs))
        return joined(tree, exp.table_(part.name), "left", pairs)

    # ---- parts

    def _part(self, number: int, sheet: Sheet) -> Part:
        columns = {atom: f"value_{i}" for i, atom in enumerate(sheet.values, 1)}
        return Part(f"part_{number}", sheet, columns, self._select(sheet, columns))

    def _select(self, sheet: Sheet, columns: Mapping[Atom, str]) -> exp.Select:
        special = sheet.kind.special
        if special is None:
            return sheet.named(columns)
        if special.cumulative is None:
            return balances(sheet, columns, self.grain)
        if self.grain is None:
            return sheet.named(columns)
        return self._running(sheet, columns, special)

    def _running(self, sheet: Sheet, columns: Mapping[Atom, str], special: Atom) -> exp.Select:
        """Every row counts in each period that it is still within reach of."""
        assert sheet.time is not None and self.grain is not None and special.cumulative is not None
        period = exp.column(self.grain, table=PERIODS)
        after = times.moved(period, Span(1, self.grain))
        reach: list[exp.Expr] = [exp.LT(this=sheet.time.copy(), expression=after)]
        if special.cumulative.window is not None:
            start: exp.Expr = times.moved(after, special.cumulative.window, back=True)
            reach.append(exp.GTE(this=sheet.time.copy(), expression=start))
        elif special.cumulative.grain_to_date is not None:
            last = times.moved(after, Span(1, "day"), back=True)
            start = times.truncated(last, special.cumulative.grain_to_date, self.calendar)
            reach.append(exp.GTE(this=sheet.time.copy(), expression=start))
        sheet.groups[self.grain] = period
        tree = sheet.named(columns)
        return joined(tree, exp.table_(PERIODS), "inner", reach)

    # ---- groups

    def _periods(self, parts: Sequence[Part]) -> exp.Select:
        """Every period of the answer: of the whole window where empty ones count, else from first to last."""
        assert self.grain is not None
        window = self.query.window
        if (
            window is not None
            and _is_closed(window)
            and (self.query.with_empty or any(map(_is_told_of_nothing, parts)))
        ):
            first = times.first_day(window.start, self.grain, self.calendar)
            last = times.first_day(dates.day_before(window.end), self.grain, self.calendar)
            return times.series(times.day(first), times.day(last), self.grain, self.grain)
        sources: list[exp.Query] = []
        for part in parts:
            if part.sheet.kind.is_total or part.sheet.kind.offset is not None:
                continue
            if _runs(part.sheet):
                assert part.sheet.time is not None
                tree = times.truncated(part.sheet.time, self.grain, self.calendar)
                select = part.sheet.rows.select([named(tree, self.grain)])
                if window is not None:
                    start = exp.GTE(this=part.sheet.time.copy(), expression=times.day(window.start))
                    select = select.where(start, copy=False)
                sources.append(select)
            else:
                sources.append(rows_of(part.name, self.grain))
        if not sources:
            raise Unanswerable("a number that only looks back says nothing of its own", "ask for the number itself too")
        union = reduce(lambda a, b: exp.union(a, b, distinct=False, copy=False), sources)
        column = exp.column(self.grain)
        first_one, last_one = exp.Min(this=column.copy()), exp.Max(this=column.copy())
        return times.series(first_one, last_one, self.grain, self.grain).from_(
            union.subquery("dated", copy=False), copy=False
        )

    def _keys(self, parts: Sequence[Part], is_dense: bool) -> str:
        """The name of the rows that the answer has."""
        told = [part for part in parts if part.sheet.groups and part.sheet.kind.offset is None]
        if not told:
            raise Unanswerable("a number that only looks back says nothing of its own", "ask for the number itself too")
        found: list[exp.Query] = []
        for part in told:
            select = rows_of(part.name, *self.aliases)
            if self.is_over and self.grain:
                select = select.where(exp.not_(is_null(exp.column(self.grain)), copy=False), copy=False)
            found.append(select)
        if len(told) == 1 and not is_dense and self.members is None:
            return told[0].name
        if self.others and (is_dense or self.members is not None):
            groups: list[exp.Query] = [self.members] if self.members is not None else []
            groups += [rows_of(part.name, *self.others) for part in told]
            self.ctes[MEMBERS] = _united(groups)
        if is_dense:
            whole = rows_of(PERIODS, *self.aliases)
            found.insert(0, joined(whole, exp.table_(MEMBERS), "cross") if self.others else whole)
        elif self.members is not None:
            found.insert(0, rows_of(MEMBERS, *self.aliases))
        self.ctes[ANSWER] = _united(found)
        return ANSWER


def balances(sheet: Sheet, columns: Mapping[Atom, str], grain: str | None) -> exp.Select:
    """Aggregates of the rows at the last (or first) moment of each period: a balance is not added up over time."""
    ((atom, name),) = columns.items()
    assert atom.balance is not None
    rows, wanted = sheet.rows, atom.balance
    at = rows.tree(rows.desk.names.field(f"{atom.entity}.{wanted.at}"))
    within = [_grouping(rows, atom.entity, name) for name in wanted.groupings]
    if grain is not None and grain in sheet.groups:
        within.append(sheet.groups[grain].copy())
    order = exp.Order(expressions=[exp.Ordered(this=at.copy(), desc=wanted.is_last, nulls_first=False)])
    place = exp.Window(this=exp.Rank(), partition_by=within, order=order)
    value = sheet.inputs[atom]
    inner = {alias: tree.copy() for alias, tree in sheet.groups.items()}
    inner |= {name: exp.Literal.number(1) if value is None else value.copy(), "place": place}
    tree = rows.select([named(part, alias) for alias, part in inner.items()])
    tree = tree.where(exp.not_(is_null(at), copy=False), copy=False)
    counted = aggregated(atom, exp.column(name), [])
    groups = [exp.column(alias) for alias in sheet.groups]
    outer = exp.select(*groups, named(counted, name)).from_(tree.subquery(LAST, copy=False), copy=False)
    outer = outer.where(exp.EQ(this=exp.column("place"), expression=exp.Literal.number(1)), copy=False)
    return outer.group_by(*(column.copy() for column in groups), copy=False)


def _is_closed(window: Window) -> bool:
    """Does the window begin and end on a day, so that its periods can be counted?"""
    return window.start > dates.FIRST_DAY and window.end < dates.LAST_DAY


def _is_told_of_nothing(part: Part) -> bool:
    """Has a period without rows a number too: what is filled in, or what the periods before it add up to?"""
    return _runs(part.sheet) or any(atom.fill is not None for atom in part.columns)


def _grouping(rows: Rows, entity: str, name: str) -> exp.Expr:
    """A dimension of the entity, or a column of its table."""
    try:
        return rows.tree(rows.desk.names.field(f"{entity}.{name}"))
    except UnknownName:
        return rows.expression(name, entity)


def _runs(sheet: Sheet) -> bool:
    return sheet.kind.special is not None and sheet.kind.special.cumulative is not None and bool(sheet.groups)


def _united(queries: Sequence[exp.Query]) -> exp.Query:
    """The distinct rows of all; a missing value equals a missing value."""
    first, *others = queries
    if not others:
        return first.distinct(copy=False) if isinstance(first, exp.Select) else first
    return reduce(lambda a, b: exp.union(a, b, distinct=True, copy=False), others, first)
