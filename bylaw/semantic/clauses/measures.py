"""The numbers of a query as formulas over aggregates: metrics of every kind, measures, ratios, `count(orders)`.

An `Atom` is one aggregate over the rows of one entity. A `Number` says which atoms it needs and how it is computed
from their values; where these come from is the business of whoever builds the statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast, get_args

from sqlglot import exp

from bylaw.authored.context import Aggregation, Metric, NonAdditive
from bylaw.authored.record import Grain
from bylaw.semantic import gotchas
from bylaw.semantic.clauses import times, trees
from bylaw.semantic.clauses.times import Span
from bylaw.semantic.expressions import expression
from bylaw.semantic.names import Names
from bylaw.semantic.query import (
    Condition,
    Difference,
    Measure,
    SemanticQuery,
    Summary,
    Unanswerable,
    UnknownName,
    Window,
)

ADDITIVE = ("sum", "count")
_COUNTS = ("count", "count_distinct")
_WRITTEN_OUT = re.compile(rf"({'|'.join(get_args(Aggregation))})\(\s*([\w@]+)(?:\.(\w+(?:\([^()]*\))?))?\s*\)")
_OF_EACH_ROW = re.compile(rf"({'|'.join(get_args(Aggregation))})\(\s*(\w+)\.(\w+)\s*([/-])\s*(\w+)\.(\w+)\s*\)")
_NUMERIC = ("sum", "avg", "median")


@dataclass(frozen=True, slots=True)
class Cumulative:
    """Everything up to the end of a period: of all time, of the last `window`, or since the `grain_to_date` began."""

    window: Span | None = None
    grain_to_date: Grain | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    """Only the rows of the last (or first) moment `at` count, for each of `groupings`."""

    at: str
    is_last: bool
    groupings: tuple[str, ...]

    @staticmethod
    def of(given: NonAdditive | None) -> Balance | None:
        if given is None:
            return None
        return Balance(given.name, given.window_choice == "max", tuple(given.window_groupings))


@dataclass(frozen=True, slots=True)
class Atom:
    """One aggregate over the rows of `entity` of a value that `place` has, the entity itself or one it leads to.

    `fragments` are conditions in SQL and `conditions` those of a query, all on its rows; `window` is a span of time
    of its own. `fill` is what the metric
    says a period without rows has, `is_filled` that the sum of nothing is 0 here.
    """

    entity: str
    agg: Aggregation
    sql: str | None = None
    fragments: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    metric: str = ""
    time: str | None = None
    is_snapshot: bool = False
    offset: Span | None = None
    is_total: bool = False
    cumulative: Cumulative | None = None
    balance: Balance | None = None
    fill: int | None = None
    is_filled: bool = False
    place: str | None = None
    window: Window | None = None

    @property
    def bare(self) -> Atom:
        """The aggregate itself, whatever stands for nothing."""
        return replace(self, fill=None, is_filled=False)

    @property
    def nothing(self) -> int | None:
        """What it is where there are no rows; None where that is no number."""
        if self.fill is not None:
            return self.fill
        return 0 if self.agg in ("sum", *_COUNTS) and self.balance is None else None


class Frame(Protocol):
    """Where the atoms of a number have their values, and what tells one row of the answer from another."""

    @property
    def period(self) -> exp.Expr | None: ...
    @property
    def others(self) -> Sequence[exp.Expr]: ...
    def value(self, atom: Atom) -> exp.Expr: ...


Build = Callable[[Frame], exp.Expr]


@dataclass(frozen=True, slots=True)
class Number:
    """A formula. `needs_time` says that it compares periods, so that none may be missing.

    `is_over` says that it is computed on the groups of the answer, `is_running` that it adds them up over time,
    `counts_rows` that it counts rows by their key, so that no row counts twice.
    """

    atoms: tuple[Atom, ...]
    build: Build
    needs_time: bool = False
    is_over: bool = False
    is_running: bool = False
    counts_rows: bool = False

    @staticmethod
    def of(atom: Atom) -> Number:
        return Number((atom,), lambda frame: frame.value(atom))

    def changed(self, change: Callable[[Atom], Atom]) -> Number:
        """The same formula over other atoms."""

        def build(frame: Frame) -> exp.Expr:
            return self.build(_Through(frame, change))

        return replace(self, atoms=tuple(change(atom) for atom in self.atoms), build=build)


@dataclass(frozen=True, slots=True)
class _Through:
    frame: Frame
    change: Callable[[Atom], Atom]

    @property
    def period(self) -> exp.Expr | None:
        return self.frame.period

    @property
    def others(self) -> Sequence[exp.Expr]:
        return self.frame.others

    def value(self, atom: Atom) -> exp.Expr:
        return self.frame.value(self.change(atom))


def divided(over: exp.Expr, under: exp.Expr) -> exp.Expr:
    """A share as a floating number; nothing where it would divide by nothing."""
    never = exp.Nullif(this=under, expression=exp.Literal.number(0))
    return exp.Div(this=trees.cast(over, "double"), expression=never)


class Numbers:
    """Resolves the names of one query's numbers. Raises Unanswerable and UnknownName."""

    def __init__(self, names: Names, query: SemanticQuery | None = None) -> None:
        self.names = names
        self.measures = {measure.name: measure for measure in query.measures} if query else {}
        self.ratios = {ratio.name: ratio for ratio in query.ratios} if query else {}
        self.differences = {part.name: part for part in query.differences} if query else {}
        self.summaries = {part.name: part for part in query.summaries} if query else {}

    def __contains__(self, name: str) -> bool:
        own = (self.measures, self.ratios, self.differences, self.summaries, self.names.context.metrics)
        is_written = any(form.fullmatch(name) is not None for form in (_WRITTEN_OUT, _OF_EACH_ROW))
        return is_written or any(name in known for known in own)

    def metric(self, name: str) -> Metric | None:
        """The metric of the catalogue that *name* means, through a measure too; None for other numbers."""
        while name in self.measures and self.measures[name].metric != name:
            if self.measures[name].over not in ("value", "running"):
                return None
            name = self.measures[name].metric
        if name in self.differences and not self.differences[name].is_growth:
            return self.metric(self.differences[name].after)
        if name in self.summaries:
            found = self.metric(self.summaries[name].metric)
            return found and summarized(found, self.summaries[name])
        return None if name in self.ratios or name in self.differences else self.names.context.metrics.get(name)

    def number(self, name: str, seen: tuple[str, ...] = ()) -> Number:
        """The formula of *name*. A measure may narrow a metric of its own name."""
        if seen.count(name) > (name in self.measures and name in self.names.context.metrics):
            raise Unanswerable(f"`{name}` is made of itself")
        inside = (*seen, name)
        if name in self.ratios and name not in seen:
            ratio = self.ratios[name]
            found = _ratio(self.number(ratio.numerator, inside), self.number(ratio.denominator, inside))
            return _scaled(found, (100, 1)) if ratio.in_percent else found
        if name in self.differences and name not in seen:
            part = self.differences[name]
            return _difference(self.number(part.before, inside), self.number(part.after, inside), part)
        if name in self.summaries:
            raise Unanswerable(f"`{name}` is a number of several numbers, so nothing is computed with it")
        if name in self.measures and name not in seen:
            measure = self.measures[name]
            found = self.number(measure.metric, inside)
            if measure.filters:
                found = found.changed(lambda atom: replace(atom, conditions=(*atom.conditions, *measure.filters)))
            if measure.window is not None:
                found = found.changed(lambda atom: replace(atom, window=measure.window))
            return _scaled(over(found, measure), measure.scale)
        metric = self.names.context.metrics.get(name)
        return self._written_out(name) if metric is None else self._metric(metric, inside)

    def _written_out(self, name: str) -> Number:
        if (quotient := _OF_EACH_ROW.fullmatch(name)) is not None:
            return self._of_each_row(name, quotient)
        found = _WRITTEN_OUT.fullmatch(name)
        if found is None:
            raise UnknownName(f"there is no metric `{name}`")
        agg, place, part = cast(Aggregation, found[1]), found[2], found[3]
        if "@" in place:
            raise Unanswerable(
                f"`{name}` is a number of all rows of `{place.partition('@')[0]}`, in whatever role",
                "leave the role out, or narrow the rows by it",
            )
        entity = self.names.entity(place).name
        if part is None:
            if agg not in _COUNTS:
                raise Unanswerable(f"`{name}` does not say what it computes with", f"write `{agg}({place}.fact)`")
            return Number.of(Atom(entity, "count"))
        field = self.names.field(f"{entity}.{part}")
        if agg in _NUMERIC and (field.kind == "time" or field.is_text):
            raise Unanswerable(f"`{entity}.{part}` is no number, so it has no {agg}")
        return Number.of(Atom(entity, agg, field.sql))

    def _of_each_row(self, name: str, found: re.Match[str]) -> Number:
        """An aggregate of the quotient, or the difference, that each row has."""
        over, under = (self.names.field(f"{found[i]}.{found[i + 1]}") for i in (2, 5))
        if found[4] == "/" and over.place != under.place:
            raise Unanswerable(f"`{name}` divides facts of different rows", "divide one total by the other")
        done = "divided by" if found[4] == "/" else "taken from"
        for field in (over, under):
            if field.kind == "time" or field.is_text:
                raise Unanswerable(f"`{field.place}.{field.name}` is no number, so nothing is {done} it")
        one, other = (expression(field.sql, field.entity) for field in (over, under))
        tree = divided(one, other) if found[4] == "/" else exp.Sub(this=exp.paren(one), expression=exp.paren(other))
        return Number.of(Atom(over.place, cast(Aggregation, found[1]), tree.sql(dialect="duckdb")))

    def _metric(self, metric: Metric, seen: tuple[str, ...]) -> Number:
        match metric.type:
            case "simple":
                atom = self._atom(metric)
                return replace(Number.of(atom), counts_rows=atom.agg == "count_distinct" and self._is_key(atom))
            case "ratio":
                halves = [self.number(name or "", seen) for name in (metric.numerator, metric.denominator)]
                return self._dated(_ratio(*halves), metric)
            case "derived":
                return self._dated(self._derived(metric, seen), metric)
            case "cumulative":
                return self._dated(self._cumulative(metric, seen), metric)

    def _atom(self, metric: Metric) -> Atom:
        entity = self.names.context.entities.get(metric.entity or "")
        if entity is None:
            raise Unanswerable(f"`{metric.name}` counts `{metric.entity}`, which the catalogue does not declare")
        traps = gotchas.applicable(self.names.context, [metric.name])
        return Atom(
            entity=entity.name,
            agg=metric.agg or "count",
            sql=None if metric.expr in (None, "*") else metric.expr,
            fragments=tuple(filter(None, [metric.filter, *(trap.required_filter for trap in traps)])),
            metric=metric.name,
            time=metric.time_dimension,
            is_snapshot=metric.snapshot,
            balance=Balance.of(metric.non_additive_dimension),
            fill=metric.fill_nulls_with,
        )

    def _is_key(self, atom: Atom) -> bool:
        key = self.names.entity(atom.entity).primary_key
        return key is not None and [atom.sql] == key.columns

    def _dated(self, number: Number, metric: Metric) -> Number:
        """What a metric says of its parts: their date, and whether a span of time applies."""

        def change(atom: Atom) -> Atom:
            traps = gotchas.applicable(self.names.context, [metric.name])
            own = tuple(trap.required_filter for trap in traps if trap.required_filter)
            return replace(
                atom,
                time=metric.time_dimension or atom.time,
                is_snapshot=metric.snapshot or atom.is_snapshot,
                fragments=tuple(dict.fromkeys((*atom.fragments, *own))),
            )

        return number.changed(change)

    def _derived(self, metric: Metric, seen: tuple[str, ...]) -> Number:
        parts: dict[str, Number] = {}
        for given in metric.inputs:
            number = self.number(given.name, seen)
            if given.filter is not None:
                more = (given.filter,)
                number = number.changed(lambda atom, more=more: replace(atom, fragments=(*atom.fragments, *more)))  # type: ignore[misc]  # bound now
            if given.offset_window is not None:
                number = number.changed(_offset(metric.name, times.span(given.offset_window)))
            parts[given.alias or given.name] = number.changed(_filled)
        tree = expression(metric.expr or "", metric.name)
        for column in tree.find_all(exp.Column):
            if column.name not in parts:
                raise UnknownName(f"`{metric.name}` computes with `{column.name}`, which is none of its `metrics`")
        atoms = tuple(atom for name in sorted(parts) for atom in parts[name].atoms)
        needs_time = any(part.needs_time for part in parts.values())
        return Number(atoms, lambda frame: _computed(tree, parts, frame), needs_time)

    def _cumulative(self, metric: Metric, seen: tuple[str, ...]) -> Number:
        inner = self.number(metric.metric or "", seen)
        wanted = Cumulative(times.span(metric.window) if metric.window else None, metric.grain_to_date)

        def change(atom: Atom) -> Atom:
            if atom.cumulative or atom.offset or atom.balance:
                raise Unanswerable(f"`{metric.name}` adds up `{metric.metric}`, which is no sum of rows")
            return replace(atom, cumulative=wanted)

        return inner.changed(change)


def summarized(metric: Metric, summary: Summary) -> Metric:
    """How the number of several numbers is written: the average of whole ones is none itself."""
    is_mean = summary.agg in ("avg", "median") and metric.format == "integer"
    return metric.model_copy(update={"format": "number"}) if is_mean else metric


def over(number: Number, measure: Measure) -> Number:
    """What a measure computes on the groups of the answer."""
    kind = measure.over
    if kind == "value":
        return number
    if number.is_over:
        raise Unanswerable(f"`{measure.name}` computes on a number that is computed on groups itself")
    if kind == "running" and not (_adds_up(number, ADDITIVE) or number.counts_rows):
        raise Unanswerable(f"`{measure.metric}` cannot be added up, so it has no running total")
    if kind == "share" and not _adds_up(number, (*ADDITIVE, "count_distinct")):
        raise Unanswerable(f"`{measure.metric}` is no part of a whole, so it has no share")
    if kind in ("share", "total"):
        whole = number.changed(lambda atom: replace(atom, is_total=True))
        return _ratio(number, whole) if kind == "share" else whole
    filled = number.changed(_filled) if kind != "rank" else number
    build = _moving(filled.build, measure.periods) if kind == "moving" else _OVER[kind](filled.build)
    return replace(filled, build=build, needs_time=kind != "rank", is_over=True, is_running=kind == "running")


def _adds_up(number: Number, aggregations: Sequence[str]) -> bool:
    """Is it one aggregate over rows, of one of these kinds?"""
    (first, *others) = number.atoms
    return not others and first.agg in aggregations and not (first.cumulative or first.balance)


def _window(this: exp.Expr, order: exp.Expr | None, partition: Sequence[exp.Expr]) -> exp.Window:
    ordered = exp.Order(expressions=[order.copy()]) if order is not None else None
    return exp.Window(this=this, partition_by=[part.copy() for part in partition], order=ordered)


def _before(frame: Frame, value: exp.Expr) -> exp.Expr:
    return _window(exp.Lag(this=value), frame.period, frame.others)


def _change(build: Build) -> Build:
    return lambda frame: exp.Sub(this=build(frame), expression=_before(frame, build(frame)))


def _growth(build: Build) -> Build:
    return lambda frame: divided(exp.paren(_change(build)(frame), copy=False), _before(frame, build(frame)))


def _running(build: Build) -> Build:
    return lambda frame: _window(exp.Sum(this=build(frame)), frame.period, frame.others)


def _moving(build: Build, periods: int) -> Build:
    """The average of a period and those before it, as many as there are."""

    def averaged(frame: Frame) -> exp.Expr:
        found = _window(exp.Avg(this=build(frame)), frame.period, frame.others)
        before = {"start": exp.Literal.number(periods - 1), "start_side": "PRECEDING"}
        found.set("spec", exp.WindowSpec(kind="ROWS", end="CURRENT ROW", **before))
        return found

    return averaged


def _rank(build: Build) -> Build:
    def ranked(frame: Frame) -> exp.Expr:
        order = exp.Ordered(this=build(frame), desc=True, nulls_first=False)
        partition = [frame.period] if frame.period is not None and frame.others else []
        return _window(exp.DenseRank(), order, partition)

    return ranked


_OVER: Mapping[str, Callable[[Build], Build]] = {
    "change": _change, "growth": _growth, "running": _running, "rank": _rank,
}  # fmt: skip


def _ratio(over: Number, under: Number) -> Number:
    return Number(
        (*over.atoms, *under.atoms),
        lambda frame: divided(over.build(frame), under.build(frame)),
        over.needs_time or under.needs_time,
        over.is_over or under.is_over,
        over.is_running or under.is_running,
    )


def _difference(before: Number, after: Number, part: Difference) -> Number:
    """Two numbers of the same groups: what has no rows is 0 where that is a number."""
    if before.is_over or after.is_over:
        raise Unanswerable(f"`{part.name}` compares numbers that are computed on groups")
    first, second = before.changed(_filled), after.changed(_filled)

    def build(frame: Frame) -> exp.Expr:
        less = exp.Sub(this=second.build(frame), expression=exp.paren(first.build(frame), copy=False))
        return divided(exp.paren(less, copy=False), first.build(frame)) if part.is_growth else less

    return Number((*first.atoms, *second.atoms), build, before.needs_time or after.needs_time)


def _scaled(number: Number, scale: tuple[int, int]) -> Number:
    """The number times one whole number, divided by another."""
    times, parts = scale
    if times == parts:
        return number

    def build(frame: Frame) -> exp.Expr:
        found = number.build(frame)
        if times != 1:
            found = exp.Mul(this=exp.Literal.number(times), expression=exp.paren(found, copy=False))
        return found if parts == 1 else divided(exp.paren(found, copy=False), exp.Literal.number(parts))

    return replace(number, build=build)


def _filled(atom: Atom) -> Atom:
    """Inside a formula the sum of no rows is 0."""
    return replace(atom, is_filled=True) if atom.nothing is not None else atom


def _offset(name: str, by: Span) -> Callable[[Atom], Atom]:
    def change(atom: Atom) -> Atom:
        if atom.offset or atom.cumulative or atom.balance:
            raise Unanswerable(f"`{name}` looks back at a number that looks back itself")
        return replace(atom, offset=by)

    return change


def _computed(tree: exp.Expr, parts: Mapping[str, Number], frame: Frame) -> exp.Expr:
    """The expression of a derived metric; what is divided is divided as floating numbers, and never by nothing."""

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return exp.paren(parts[node.name].build(frame), copy=False)
        if isinstance(node, exp.Div):
            return divided(put_all(node.this), put_all(node.expression))
        return node

    def put_all(node: exp.Expr) -> exp.Expr:
        return node.copy().transform(put, copy=False)

    return put_all(tree)
