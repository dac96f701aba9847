"""Aggregates over the rows of one entity, by the groups of a query: the parts that an answer is put together from.

A sheet holds the atoms that have rows, date and reach in common. Conditions that all of them share narrow the rows,
the others stay inside their aggregate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import TimeDimension
from bylaw.authored.record import Grain
from bylaw.semantic.clauses import times
from bylaw.semantic.clauses.conditions import Conditions, is_false
from bylaw.semantic.clauses.measures import Atom
from bylaw.semantic.clauses.rows import Desk, Rows
from bylaw.semantic.clauses.times import Span
from bylaw.semantic.clauses.trees import is_null, named, or_else
from bylaw.semantic.names import Field
from bylaw.semantic.query import Condition, Filter, SemanticQuery, Unanswerable, UnknownName, Window

PERIODS = "periods"


@dataclass(frozen=True, slots=True)
class Group:
    """What the rows of the answer are told apart by: the grain of time (no field), a dimension, a hidden key."""

    alias: str
    field: Field | None = None
    is_hidden: bool = False

    @property
    def told_by(self) -> tuple[str, str, bool] | None:
        """What it is, whatever it is called; None for the grain of time."""
        return None if self.field is None else (self.field.place, self.field.name, self.is_hidden)


@dataclass(frozen=True, slots=True)
class Kind:
    """What the atoms of one sheet have in common."""

    entity: str
    time: str | None
    offset: Span | None
    is_total: bool
    special: Atom | None
    window: Window | None = None

    @staticmethod
    def of(atom: Atom, time: str | None) -> Kind:
        special = atom.bare if atom.cumulative or atom.balance else None
        return Kind(atom.entity, time, atom.offset, atom.is_total, special, atom.window)

    def is_simple(self, grain: Grain | None) -> bool:
        """Are its values nothing but aggregates of the rows of a group?"""
        is_whole = self.special is None or (self.special.cumulative is not None and grain is None)
        return is_whole and self.offset is None


@dataclass(slots=True)
class Sheet:
    """The rows of one kind of atoms, with the tree of each group and each aggregate."""

    kind: Kind
    rows: Rows
    groups: dict[str, exp.Expr] = field(default_factory=dict)
    values: dict[Atom, exp.Expr] = field(default_factory=dict)
    inputs: dict[Atom, exp.Expr | None] = field(default_factory=dict)
    time: exp.Expr | None = None

    def has_shared_periods(self, grain: str | None) -> bool:
        """Does one row count in several periods?"""
        return any(grain in fan.offers for fan in self.rows.fans.values())

    def plain(self) -> exp.Select:
        """FROM, WHERE and GROUP BY: columns are for whoever finishes it."""
        return self.rows.select([]).group_by(*(tree.copy() for tree in self.groups.values()), copy=False)

    def named(self, values: Mapping[Atom, str]) -> exp.Select:
        """The groups and the values under their names, as a part of a larger statement."""
        columns = [named(tree.copy(), alias) for alias, tree in self.groups.items()]
        columns += [named(tree.copy(), values[atom]) for atom, tree in self.values.items()]
        return self.plain().select(*columns, copy=False)


@dataclass(frozen=True, slots=True)
class Direct:
    """The frame of a statement over one sheet: the values are its aggregates."""

    sheet: Sheet
    grain: str | None

    @property
    def period(self) -> exp.Expr | None:
        found = self.sheet.groups.get(self.grain or "")
        return found.copy() if found is not None else None

    @property
    def others(self) -> Sequence[exp.Expr]:
        return [tree.copy() for alias, tree in self.sheet.groups.items() if alias != self.grain]

    def value(self, atom: Atom) -> exp.Expr:
        tree = self.sheet.values[atom.bare].copy()
        if atom.fill is None and not (atom.is_filled and atom.agg == "sum"):
            return tree
        return or_else(tree, exp.Literal.number(atom.nothing or 0))


class Sheets:
    """Builds the sheets of one query."""

    def __init__(self, desk: Desk, conditions: Conditions, query: SemanticQuery, calendar: Calendar) -> None:
        self.desk = desk
        self.conditions = conditions
        self.query = query
        self.calendar = calendar
        self.time_columns: dict[str, None] = {}

    def kind(self, atom: Atom) -> Kind:
        """What tells the sheet of *atom*: its rows, and its date where time is asked for."""
        if self.query.window is None and self.query.grain is None and atom.window is None:
            if atom.offset is not None:
                raise Unanswerable(
                    f"`{atom.metric}` is wanted as of {atom.offset.count} {atom.offset.unit} before, but before what?",
                    "name a span of time, or ask by month",
                )
            self._check_reach(atom)
            return Kind.of(atom, None)
        self._check_reach(atom)
        timed = self.time_field(atom)
        return Kind.of(atom, f"{timed.place}.{timed.name}")

    def _check_reach(self, atom: Atom) -> None:
        """What is counted up to a day needs to know which; of all time it is everything up to the end."""
        reach, grain = atom.cumulative, self.query.grain
        if reach is None:
            return
        if grain is not None:
            whole = reach.grain_to_date
            if whole and grain != "day" and not Span(1, whole).fits(grain):
                raise Unanswerable(f"`{atom.metric}` begins anew by {whole}, which does not fit {grain}")
            return
        if reach.window or reach.grain_to_date:
            raise Unanswerable(f"`{atom.metric}` is counted up to each day, week or month", "ask for it by one of them")

    def sheet(self, kind: Kind, atoms: Sequence[Atom], groups: Sequence[Group]) -> Sheet:
        """The rows of *kind* by *groups* (a total has none), with every aggregate of *atoms*."""
        groups = () if kind.is_total else groups
        rows = Rows(self.desk, kind.entity)
        sheet = Sheet(kind, rows)
        trees: dict[str, exp.Expr] = {}
        for group in groups:
            if group.field is not None:
                trees[group.alias] = _grouped(rows, group.field, group.alias)
        timed = self.desk.names.field(kind.time) if kind.time else None
        grain = next((group.alias for group in groups if group.field is None), None)
        if timed is not None and grain is not None and not rows.leads_to(timed.place):
            trees[grain] = self.period(rows, timed)
        for condition in self.query.filters:
            self.conditions.narrow(rows, condition)
        if timed is not None:
            self._date(sheet, timed, kind)
            if grain is not None and grain not in trees:
                trees[grain] = self.period(rows, timed)
        for group in groups:
            sheet.groups[group.alias] = trees[group.alias]
        self.desk.notes.asked |= rows.entities()
        self._fill(sheet, atoms)
        for group in groups:
            if group.is_hidden and self.query.leaves_out:
                self._leave_out(rows, group, trees[group.alias])
            elif group.field is not None and self._is_ranked(group, group.field):
                # what has no name takes nobody's place
                self._leave_out(rows, group, trees[group.alias], f"{group.field.place}.{group.field.name}")
            elif (key := self._inner_key(rows, group)) is not None:
                self._leave_out(rows, group, key)
        return sheet

    def _is_ranked(self, group: Group, field: Field) -> bool:
        """Do the values of *group* compete for places, and not merely say of what, or within what others do?"""
        names = {group.alias, f"{field.place}.{field.name}"}
        is_told = field.place in self.query.per or not names.isdisjoint(self.query.limit_by)
        return self.query.is_ranked and not is_told

    def _inner_key(self, rows: Rows, group: Group) -> exp.Expr | None:
        """What a row finds in the place of *group*, where a join on the way is declared to leave out who finds none."""
        place = group.field.place if group.field is not None else rows.base
        if place == rows.base or not rows.leads_to(place):
            return None
        way = self.desk.joins.way(rows.base, place)
        is_inner = any(step.is_inner for step in way)
        return exp.column(way[-1].columns[0][1], table=rows.reach(place)) if is_inner else None

    def _leave_out(self, rows: Rows, group: Group, key: exp.Expr, value: str | None = None) -> None:
        """Keep the rows that have one of what *group* tells; count the others as without that *value*, or place."""
        place = None if group.field is None else group.field.place
        if value is not None or (place is not None and place != rows.base):
            count = rows.select([named(exp.Count(this=exp.Star()), "n")]).where(is_null(key.copy()), copy=False)
            self.desk.notes.left_out.setdefault((rows.base, value or str(place)), count)
        rows.add(exp.not_(is_null(key.copy()), copy=False))

    def _fill(self, sheet: Sheet, atoms: Sequence[Atom]) -> None:
        rows = sheet.rows
        conditions = {atom: self._own(rows, atom) for atom in atoms}
        shared = _shared(list(conditions.values()))
        values = {atom: self._value(rows, atom) for atom in atoms}
        rows.guard()
        self.check_contradictions(rows, conditions)
        for tree in shared.values():
            rows.add(tree)
        for atom in atoms:
            own = [tree for text, tree in conditions[atom].items() if text not in shared]
            sheet.inputs[atom] = values[atom]
            sheet.values[atom] = aggregated(atom, values[atom], own)

    def _own(self, rows: Rows, atom: Atom) -> dict[str, exp.Expr]:
        trees = [rows.expression(text, atom.entity) for text in atom.fragments]
        trees += [self.conditions.tree(rows, condition) for condition in atom.conditions]
        return {tree.sql(dialect=self.desk.dialect): tree for tree in trees}

    def _value(self, rows: Rows, atom: Atom) -> exp.Expr | None:
        if atom.sql is None:
            return None
        place = atom.place or atom.entity
        rows.reach(place)
        return rows.expression(atom.sql, place)

    # ---- time

    def time_field(self, atom: Atom) -> Field:
        """The time dimension that *atom* is dated by. Raises Unanswerable where there is none, or no span applies."""
        if atom.is_snapshot:
            window = atom.window or self.query.window
            said = window.label if window else f"by {self.query.grain}"
            raise Unanswerable(f"`{atom.metric}` counts what is true now, `{said}` does not apply to it")
        return self.dated(atom.entity, self.query.time_dimension or atom.time)

    def dated(self, entity: str, named: str | None) -> Field:
        """The time dimension *named*, else the one of *entity* that is meant where nobody says which."""
        if named is None:
            default = self.desk.names.context.default_time(entity)
            if default is None:
                raise Unanswerable(f"`{entity}` has no date, so a span of time does not apply to it")
            return self.desk.names.field(default)
        name = named if "." in named else f"{entity}.{named}"
        try:
            found = self.desk.names.field(name)
        except UnknownName as error:
            raise UnknownName(f"there is no time dimension `{named}`") from error
        if not found.is_moment:
            raise UnknownName(f"there is no time dimension `{named}`")
        return found

    def period(self, rows: Rows, timed: Field) -> exp.Expr:
        grain = self.query.grain
        assert grain is not None
        part = timed.part
        if isinstance(part, TimeDimension) and _is_finer(grain, part.time_granularity):
            raise Unanswerable(f"`{timed.name}` is known by {part.time_granularity}, so nothing can be told by {grain}")
        return rows.group(timed.place, lambda at: times.truncated(at.tree(timed), grain, self.calendar), grain)

    def _date(self, sheet: Sheet, timed: Field, kind: Kind) -> None:
        """Keep the rows of the window. What looks back has a window of its own, a running total no beginning."""
        rows, window = sheet.rows, kind.window or self.query.window
        if kind.offset is not None:
            self._check_offset(kind.offset)
            window = times.earlier(window, kind.offset) if window else None
        if rows.leads_to(timed.place):
            sheet.time = rows.tree(timed)
            self.time_columns.setdefault(times.said(sheet.time, self.desk.dialect))
        elif self.query.time_dimension is None or kind.special is not None:
            self.desk.joins.way(rows.base, timed.place)  # raises, and says why
        if window is None:
            return
        self.check_whole(timed, window)
        if kind.special is not None and kind.special.cumulative is not None:
            assert sheet.time is not None
            rows.add(exp.LT(this=sheet.time.copy(), expression=times.day(window.end)))
        elif sheet.time is not None:
            rows.add(times.within(sheet.time, window))
        else:
            name = f"{timed.place}.{timed.name}"
            for operator, day in ((">=", window.start), ("<", window.end)):
                self.conditions.narrow(
                    rows, Filter.model_validate({"dimension": name, "operator": operator, "values": [day.isoformat()]})
                )

    def _check_offset(self, offset: Span) -> None:
        grain = self.query.grain
        if grain is not None and not offset.fits(grain):
            raise Unanswerable(f"{offset.count} {offset.unit} before is no whole number of periods by {grain}")

    def check_whole(self, timed: Field, window: Window) -> None:
        """A date that is known by month says nothing about half a month."""
        known = timed.part.time_granularity if isinstance(timed.part, TimeDimension) else "day"
        if known != "day" and any(times.first_day(day, known, Calendar()) != day for day in (window.start, window.end)):
            raise Unanswerable(f"`{timed.name}` is known by {known}, and `{window.label}` is no whole number of them")

    def check_contradictions(self, rows: Rows, conditions: Mapping[Atom, Mapping[str, exp.Expr]]) -> None:
        """A value that is left out on principle gives an empty answer, and an empty answer looks like zero."""
        first = self.query.metrics[0] if self.query.metrics else rows.base
        guards = [(first, tree) for tree in rows.guards]
        own = [(atom.metric or first, tree) for atom, trees in conditions.items() for tree in trees.values()]
        for condition in self.query.filters:
            self._check_principles(rows, condition, [*guards, *own])
        for atom in conditions:
            fragments = [(atom.metric or first, rows.expression(text, atom.entity)) for text in atom.fragments]
            for condition in atom.conditions:
                self._check_principles(rows, condition, [*guards, *fragments])

    def _check_principles(self, rows: Rows, condition: Condition, principles: Sequence[tuple[str, exp.Expr]]) -> None:
        if not isinstance(condition, Filter) or condition.negated or condition.operator != "in":
            return
        if not condition.values or not rows.leads_to(condition.dimension.partition(".")[0]):
            return
        column = rows.tree(self.desk.names.field(condition.dimension))
        for value in condition.values:
            for said, tree in principles:
                if is_false(tree, column, value):
                    raise Unanswerable(
                        f"`{said}` leaves `{value}` out on principle, so the answer would be empty",
                        "ask for a metric that counts them",
                    )


def aggregated(atom: Atom, value: exp.Expr | None, own: Sequence[exp.Expr]) -> exp.Expr:
    """The aggregate of *value* (of rows, where there is none) over the rows that meet the conditions *own*."""
    one: exp.Expr = value if value is not None else exp.Literal.number(1)
    if own:
        one = exp.Case(ifs=[exp.If(this=exp.and_(*own), true=one)])
    match atom.agg:
        case "count":
            return exp.Count(this=one if value is not None or own else exp.Star())
        case "count_distinct":
            return exp.Count(this=exp.Distinct(expressions=[one]))
        case "avg":
            return exp.Avg(this=one)
        case "min":
            return exp.Min(this=one)
        case "max":
            return exp.Max(this=one)
        case "median":
            return exp.Median(this=one)
        case "sum":
            return exp.Sum(this=one)


def _grouped(rows: Rows, field: Field, alias: str) -> exp.Expr:
    return rows.group(field.place, lambda at: at.tree(field), alias)


def _shared(conditions: Sequence[Mapping[str, exp.Expr]]) -> dict[str, exp.Expr]:
    """The conditions that every atom has."""
    if not conditions:
        return {}
    first, *others = conditions
    return {text: tree for text, tree in first.items() if all(text in other for other in others)}


def _is_finer(grain: Grain, known: Grain) -> bool:
    return times.GRAINS.index(grain) < times.GRAINS.index(known)
