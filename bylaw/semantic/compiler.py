"""A semantic query and the context → one SQL tree. The only author of SQL that needs no checking by people.

Rows of the metric's own entity are counted once: other entities are joined only where each row finds at most one of
theirs. Conditions of gotchas and of `apply: always` filters are added and said. A metric that cannot be computed
faithfully is refused (`Unanswerable`), never approximated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.simplify import simplify

from bylaw.authored.context import Context, Entity, Metric, TimeDimension
from bylaw.semantic import gotchas
from bylaw.semantic.expressions import entities_of, expression
from bylaw.semantic.joins import Joins, Step
from bylaw.semantic.query import Filter, Order, SemanticQuery, Unanswerable, UnknownName, Value, Window
from bylaw.sql import Features


@dataclass(frozen=True, slots=True)
class Compiled:
    """What will run, and what a reader of the result has to know. `features` count what was asked, not added."""

    tree: exp.Select
    sql: str
    columns: tuple[str, ...]
    caveats: tuple[str, ...]
    conditions: tuple[str, ...]
    entities: tuple[str, ...]
    asked: tuple[str, ...]
    base: str
    time_column: str | None
    features: Features


@dataclass(frozen=True, slots=True)
class _Part:
    """A simple metric inside the query, with the conditions under which a row counts for it."""

    metric: Metric
    entity: Entity
    conditions: dict[str, exp.Expr]


@dataclass(slots=True)
class _Sheet:
    """What one compilation has gathered so far."""

    base: Entity
    joined: dict[str, Step] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    conditions: dict[str, exp.Expr] = field(default_factory=dict)
    caveats: list[str] = field(default_factory=list)


class Compiler:
    """Compiles queries over one context; build it once."""

    def __init__(self, context: Context, dialect: str = "duckdb") -> None:
        self.context = context
        self.joins = Joins(context)
        self.dialect = dialect

    def base_of(self, name: str) -> str:
        """The entity whose rows the metric *name* counts. Raises Unanswerable for what cannot be computed."""
        entities = {part.entity.name for part in self._parts(self._metric(name))}
        if len(entities) > 1:
            raise Unanswerable(
                f"`{name}` divides rows of different entities ({', '.join(f'`{e}`' for e in sorted(entities))}), "
                "which cannot be computed without counting some of them twice"
            )
        return entities.pop()

    def compile(self, query: SemanticQuery) -> Compiled:
        """The SQL of *query*. Raises Unanswerable, saying which part of it and why."""
        metrics = [self._metric(name) for name in query.metrics]
        if not metrics:
            raise Unanswerable("the question names no metric")
        bases = sorted({self.base_of(metric.name) for metric in metrics})
        if len(bases) > 1:
            things = ", ".join(f"`{base}`" for base in bases)
            raise Unanswerable(f"these metrics count different things ({things}), ask for one at a time")
        sheet = _Sheet(self.context.entities[bases[0]])
        dimensions = {self._dimension_alias(query, name): self._dimension(name, sheet) for name in query.dimensions}
        filters = [part for part in query.filters if isinstance(part, Filter)]
        if len(filters) < len(query.filters):
            raise Unanswerable("alternatives and numbers of related rows cannot be computed yet")
        for narrowed in filters:
            self._narrow(sheet, narrowed)
        time_column = self._time(sheet, query, metrics)
        sheet.asked = set(sheet.joined)
        parts = [part for metric in metrics for part in self._parts(metric)]
        self._always(sheet)
        self._traps(sheet, metrics, parts)
        self._check_contradictions(query, sheet, parts)
        shared = _shared(parts)
        for text, condition in shared.items():
            self._add(sheet, text, condition)
        selected = [exp.alias_(tree, alias, quoted=False) for alias, tree in dimensions.items()]
        if query.grain is not None and time_column is not None:
            selected.insert(0, exp.alias_(self._truncated(time_column, query.grain), query.grain, quoted=False))
        measures = [(metric.name, self._measure(metric, sheet, shared)) for metric in metrics]
        tree = self._select(sheet, selected, measures)
        tree = self._ordered(tree, query, [part.alias for part in selected])
        return Compiled(
            tree=tree,
            sql=tree.sql(dialect=self.dialect, pretty=True),
            columns=tuple(column.alias for column in tree.expressions),
            caveats=tuple(dict.fromkeys(sheet.caveats)),
            conditions=tuple(sheet.conditions),
            entities=tuple(sorted({sheet.base.name, *sheet.joined})),
            asked=tuple(sorted({sheet.base.name, *sheet.asked})),
            base=sheet.base.name,
            time_column=None if time_column is None else time_column.sql(dialect=self.dialect),
            features=Features(len(sheet.asked), 0, 0, 0, len(parts)),
        )

    # ---- metrics

    def _metric(self, name: str) -> Metric:
        metric = self.context.metrics.get(name)
        if metric is None:
            raise UnknownName(f"there is no metric `{name}`")
        return metric

    def _parts(self, metric: Metric) -> list[_Part]:
        """The simple metrics that *metric* is made of: itself, or numerator and denominator."""
        match metric.type:
            case "simple":
                entity = self.context.entities.get(metric.entity or "")
                if entity is None:
                    raise Unanswerable(
                        f"`{metric.name}` counts `{metric.entity}`, which the catalogue does not declare"
                    )
                return [_Part(metric, entity, self._conditions(metric, entity))]
            case "ratio":
                halves = [self._metric(name or "") for name in (metric.numerator, metric.denominator)]
                for half in halves:
                    if half.type != "simple":
                        raise Unanswerable(f"`{metric.name}` divides `{half.name}`, which is not a simple metric")
                return [part for half in halves for part in self._parts(half)]
            case "derived" | "cumulative":
                raise Unanswerable(
                    f"`{metric.name}` is a {metric.type} metric, and only simple and ratio metrics can be computed",
                    "ask for the metrics it is made of",
                )

    def _conditions(self, metric: Metric, entity: Entity) -> dict[str, exp.Expr]:
        found = [metric.filter] if metric.filter else []
        found += [
            trap.required_filter for trap in gotchas.applicable(self.context, [metric.name]) if trap.required_filter
        ]
        trees = [expression(text, entity.name) for text in found]
        return {tree.sql(dialect=self.dialect): tree for tree in trees}

    def _measure(self, metric: Metric, sheet: _Sheet, shared: dict[str, exp.Expr]) -> exp.Expr:
        parts = self._parts(metric)
        trees = [self._aggregate(part, sheet, shared) for part in parts]
        if len(trees) == 1:
            return trees[0]
        number = exp.cast(trees[0], "double")
        return exp.Div(this=number, expression=exp.func("NULLIF", trees[1], exp.Literal.number(0)))

    def _aggregate(self, part: _Part, sheet: _Sheet, shared: dict[str, exp.Expr]) -> exp.Expr:
        metric = part.metric
        text = None if metric.expr in (None, "*") else metric.expr
        value: exp.Expr = expression(text, part.entity.name) if text else exp.Literal.number(1)
        own = [tree for key, tree in part.conditions.items() if key not in shared]
        self._need(sheet, [value, *own])
        if own:
            value = exp.Case(ifs=[exp.If(this=exp.and_(*own), true=value)])
        match metric.agg:
            case "count":
                return exp.Count(this=value if text or own else exp.Star())
            case "count_distinct":
                return exp.Count(this=exp.Distinct(expressions=[value]))
            case "avg":
                return exp.Avg(this=value)
            case "min":
                return exp.Min(this=value)
            case "max":
                return exp.Max(this=value)
            case "median":
                return exp.Median(this=value)
            case _:
                return exp.Sum(this=value)

    # ---- what rows count

    def _always(self, sheet: _Sheet) -> None:
        """Filters marked `apply: always`, and filters of gotchas, of every entity that a row leads to.

        Wherever a filter stands, it holds for all questions alike: a total and the sum of its groups are equal.
        """
        for name in sorted(self.joins.reachable(sheet.base.name)):
            if name != sheet.base.name and name not in sheet.joined and not self.joins.is_plain(sheet.base.name, name):
                continue
            entity = self.context.entities[name]
            for trap in gotchas.applicable(self.context, [name]):
                if trap.required_filter:
                    self._guarded(sheet, name, trap.required_filter, gotchas.said(trap))
            for narrowed in entity.filters:
                if narrowed.apply == "always":
                    text = narrowed.description or f"only {narrowed.name.replace('_', ' ')}"
                    self._guarded(sheet, name, narrowed.sql, text)

    def _guarded(self, sheet: _Sheet, name: str, text: str, caveat: str) -> None:
        """Add a condition of entity *name*. A row that leads to none of its rows is not dropped by it."""
        tree = expression(text, name)
        if name != sheet.base.name:
            self._join(sheet, name)
            key = exp.column(sheet.joined[name].columns[0][1], table=name)
            tree = exp.or_(exp.Is(this=key, expression=exp.null()), tree)
        key_text = tree.sql(dialect=self.dialect)
        if key_text in sheet.conditions:
            return
        self._add(sheet, key_text, tree)
        sheet.caveats.append(caveat)

    def _traps(self, sheet: _Sheet, metrics: list[Metric], parts: list[_Part]) -> None:
        names = {metric.name for metric in metrics} | {part.metric.name for part in parts}
        for trap in gotchas.applicable(self.context, {*names, sheet.base.name, *sheet.asked}):
            concerns_metric = not names.isdisjoint(trap.applies_to)
            if trap.check is None and (concerns_metric or trap.required_filter is None):
                sheet.caveats.append(gotchas.said(trap))

    def _check_contradictions(self, query: SemanticQuery, sheet: _Sheet, parts: list[_Part]) -> None:
        """A value that a metric leaves out on principle gives an empty answer, and an empty answer looks like zero."""
        conditions = {**sheet.conditions}
        for part in parts:
            conditions |= part.conditions
        for narrowed in query.filters:
            if not isinstance(narrowed, Filter) or narrowed.negated:
                continue
            column = self._dimension(narrowed.dimension, sheet)
            for condition in conditions.values():
                for value in narrowed.values:
                    if _is_false(condition, column, value):
                        raise Unanswerable(
                            f"`{query.metrics[0]}` leaves `{value}` out on principle, so the answer would be empty",
                            "ask for a metric that counts them",
                        )

    def _narrow(self, sheet: _Sheet, narrowed: Filter) -> None:
        column = self._dimension(narrowed.dimension, sheet)
        values = [_literal(value) for value in narrowed.values]
        tree: exp.Expr = exp.In(this=column, expressions=values)
        if narrowed.negated:
            missing = exp.Is(this=column.copy(), expression=exp.null())
            tree = exp.or_(missing, exp.not_(tree))
        self._add(sheet, tree.sql(dialect=self.dialect), tree)

    def _add(self, sheet: _Sheet, text: str, tree: exp.Expr) -> None:
        self._need(sheet, [tree])
        sheet.conditions.setdefault(text, tree)

    # ---- dimensions and time

    def _dimension(self, name: str, sheet: _Sheet) -> exp.Expr:
        owner, _, short = name.partition(".")
        entity = self.context.entities.get(owner)
        dimension = entity.dimension(short) if entity else None
        if entity is None or dimension is None:
            raise UnknownName(f"there is no dimension `{name}`")
        tree = expression(dimension.sql, owner)
        self._join(sheet, owner)
        self._need(sheet, [tree])
        for column in tree.find_all(exp.Column):
            holder = self.context.entities.get(column.table)
            if holder is not None and column.name in holder.pii:
                raise Unanswerable(f"`{name}` is personal data, answers are not grouped or narrowed by it")
        return tree

    def _dimension_alias(self, query: SemanticQuery, name: str) -> str:
        short = name.partition(".")[2]
        taken = [other.partition(".")[2] for other in query.dimensions] + list(query.metrics)
        return name.replace(".", "_") if taken.count(short) > 1 else short

    def _time(self, sheet: _Sheet, query: SemanticQuery, metrics: list[Metric]) -> exp.Expr | None:
        """The column that time is measured by; the window over it is added. None where no time is asked for."""
        if query.window is None and query.grain is None:
            return None
        columns = {}
        for whole in metrics:
            for metric in (part.metric for part in self._parts(whole)):
                if metric.snapshot or whole.snapshot:
                    said = query.window.label if query.window else f"by {query.grain}"
                    raise Unanswerable(f"`{whole.name}` counts what is true now, `{said}` does not apply to it")
                owner, dimension = self._time_dimension(sheet.base, whole.time_dimension or metric.time_dimension)
                tree = expression(dimension.sql, owner)
                columns[tree.sql(dialect=self.dialect)] = (owner, tree)
        if len(columns) > 1:
            raise Unanswerable(f"these metrics are dated differently ({', '.join(sorted(columns))})")
        owner, column = next(iter(columns.values()))
        self._join(sheet, owner)
        if query.window is not None:
            tree = _within(column, query.window)
            self._add(sheet, tree.sql(dialect=self.dialect), tree)
        return column

    def _time_dimension(self, base: Entity, named: str | None) -> tuple[str, TimeDimension]:
        if named is None:
            default = base.default_time()
            if default is None:
                raise Unanswerable(f"`{base.name}` has no date, so a span of time does not apply to it")
            return base.name, default
        owner, dot, short = named.rpartition(".")
        entity = self.context.entities.get(owner) if dot else base
        found = [part for part in entity.time_dimensions if part.name == short] if entity else []
        if entity is None or not found:
            raise UnknownName(f"there is no time dimension `{named}`")
        return entity.name, found[0]

    def _truncated(self, column: exp.Expr, grain: str) -> exp.Expr:
        """The first day of the period that a date falls in; periods of the calendar file are shifted ones."""
        calendar = self.context.calendar
        unit, offset = "MONTH", 0
        if grain == "week":
            weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
            unit, offset = "DAY", weekdays.index(calendar.week_start)
        elif calendar.year == "fiscal" and grain in ("quarter", "year"):
            offset = (calendar.fiscal_year_start - 1) % (3 if grain == "quarter" else 12)
        shift = exp.Interval(this=exp.Literal.string(str(offset)), unit=exp.var(unit))
        start: exp.Expr = exp.Sub(this=column.copy(), expression=shift) if offset else column.copy()
        tree: exp.Expr = exp.TimestampTrunc(this=start, unit=exp.var(grain.upper()))
        return exp.cast(exp.Add(this=tree, expression=shift.copy()) if offset else tree, "date")

    # ---- the statement

    def _need(self, sheet: _Sheet, trees: Iterable[exp.Expr]) -> None:
        for tree in trees:
            for name in entities_of(tree):
                self._join(sheet, name)

    def _join(self, sheet: _Sheet, name: str) -> None:
        if name not in self.context.entities:
            raise UnknownName(f"there is no entity `{name}`")
        if name != sheet.base.name and name not in sheet.joined:
            for step in self.joins.way(sheet.base.name, name):
                sheet.joined.setdefault(step.right, step)

    def _select(self, sheet: _Sheet, groups: list[exp.Expr], measures: list[tuple[str, exp.Expr]]) -> exp.Select:
        tree = exp.select(*groups, *(exp.alias_(measure, name, quoted=False) for name, measure in measures))
        tree = tree.from_(_table(sheet.base))
        for name, step in sheet.joined.items():
            pairs = [
                exp.EQ(this=exp.column(left, table=step.left), expression=exp.column(right, table=step.right))
                for left, right in step.columns
            ]
            tree = tree.join(_table(self.context.entities[name]), on=exp.and_(*pairs), join_type="left")
        if sheet.conditions:
            tree = tree.where(*(condition for _, condition in sorted(sheet.conditions.items())))
        for group in groups:
            tree = tree.group_by(group.unalias().copy())
        return tree

    def _ordered(self, tree: exp.Select, query: SemanticQuery, groups: list[str]) -> exp.Select:
        """A total order wherever there is more than one row: the same question gives the same rows."""
        if not groups:
            return tree
        time = [query.grain] if query.grain is not None else []
        natural = [Order(by=name) for name in time] or [Order(by=query.metrics[0], descending=True)]
        orders = [*(query.order or natural), *(Order(by=name) for name in groups)]
        seen: dict[str, Order] = {}
        for order in orders:
            name = query.grain if order.by == "time" and query.grain else order.by.rpartition(".")[2]
            seen.setdefault(name, order)
        for name, order in seen.items():
            ordered = exp.Ordered(this=exp.column(name), desc=order.descending, nulls_first=False)
            tree = tree.order_by(ordered)
        return tree.limit(query.limit) if query.limit else tree


def _shared(parts: list[_Part]) -> dict[str, exp.Expr]:
    """The conditions that every part has: they narrow the rows; the others stay inside their aggregate."""
    first, *others = [part.conditions for part in parts]
    return {text: tree for text, tree in first.items() if all(text in other for other in others)}


def _is_false(condition: exp.Expr, column: exp.Expr, value: Value) -> bool:
    """Does *condition* rule out that *column* is *value*, whatever the other columns hold?"""
    if not any(part == column for part in condition.walk()):
        return False
    if isinstance(condition, exp.In) and condition.this == column:
        return False  # the filter itself
    fixed = condition.transform(lambda node: _literal(value) if node == column else node)
    return bool(simplify(fixed) == exp.false())


def _within(column: exp.Expr, window: Window) -> exp.Expr:
    start = exp.GTE(this=column.copy(), expression=exp.cast(exp.Literal.string(window.start.isoformat()), "date"))
    end = exp.LT(this=column.copy(), expression=exp.cast(exp.Literal.string(window.end.isoformat()), "date"))
    return exp.and_(start, end)


def _table(entity: Entity) -> exp.Table:
    return exp.table_(entity.base_table.table, db=entity.base_table.schema_name, alias=entity.name)


def _literal(value: Value) -> exp.Expr:
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(str(value))
