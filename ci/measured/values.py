"""Values: enums against what the rows hold, filters that no row meets, and how old the newest row is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from math import ceil
from typing import Any

from sqlglot import exp

from bylaw.authored.context import Dimension
from bylaw.warehouses.port import WarehouseError
from ci.findings import Finding, Place
from ci.measured.survey import Survey, Table, refused

NAMED = 5  # values in a message
_SPAN = re.compile(r"(\d+)\s*(minute|hour|day|week|month|year)s?", re.IGNORECASE)
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 31, "year": 366}


def enums(survey: Survey) -> Iterator[Finding]:
    """The `sample_values` of an enum are the values that there are; of other dimensions, each is there."""
    for table in survey.measured():
        for i, dimension in enumerate(table.entity.dimensions):
            tree = survey.tree(dimension.sql, table) if dimension.sample_values else None
            if tree is None or not table.rows:
                continue
            route = ("dimensions", i, "sample_values")
            try:
                yield from _enum(survey, table, dimension, tree, survey.at_entity(table.name, *route))
            except WarehouseError as problem:
                yield refused(f"the values of `{dimension.name}`", problem, survey.at_entity(table.name, *route))


def _enum(survey: Survey, table: Table, dimension: Dimension, tree: exp.Expr, place: Place) -> Iterator[Finding]:
    asked = exp.select(exp.alias_(tree.copy(), "held")).distinct().from_(survey.source(table))
    asked = asked.where(exp.Is(this=tree.copy(), expression=exp.null()).not_())
    if not dimension.is_enum:
        # Only the values that are listed matter, so only they are looked for.
        texts = [exp.Literal.string(spelled(value)) for value in dimension.sample_values]
        asked = asked.where(exp.In(this=exp.cast(tree.copy(), "varchar"), expressions=texts))
    found = survey.ask(asked, survey.limits.values)
    note = survey.sampled(table)
    if found.truncated:
        most = survey.limits.values
        message = f"`{dimension.name}` of `{table.name}` is declared an enum and has more than {most:,} values"
        yield Finding(
            "enum-drift", message, place, help="leave out `is_enum`, or raise `warehouse.values` in rules/ci.yaml"
        )
        return
    held = {spelled(value) for (value,) in found.rows}
    listed = {spelled(value) for value in dimension.sample_values}
    unknown, missing = sorted(held - listed), sorted(listed - held)
    if unknown and dimension.is_enum:
        is_hidden = dimension.sql in table.entity.pii
        shown = f"{len(unknown)} other {'value' if len(unknown) == 1 else 'values'}" if is_hidden else _listed(unknown)
        message = (
            f"rows of `{table.name}` have {shown} as `{dimension.name}`, which `sample_values` does not list{note}"
        )
        yield Finding("enum-drift", message, place, help="list them, with the words that people use for them")
    if missing and not survey.is_sampled(table):
        message = f"no row of `{table.name}` has {_listed(missing)} as `{dimension.name}`"
        near = {spelled_.casefold(): spelled_ for spelled_ in held}
        other = next((near[value.casefold()] for value in missing if value.casefold() in near), None)
        help = (
            f"the rows say `{other}`" if other else "an answer that is narrowed to it is empty, which looks like zero"
        )
        first = next(i for i, value in enumerate(dimension.sample_values) if spelled(value) in missing)
        yield Finding("enum-drift", message, replace(place, route=(*place.route, first)), help=help)


def spelled(value: Any) -> str:
    """A value as the text that both sides are compared by."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def filters(survey: Survey) -> Iterator[Finding]:
    """Each filter of an entity, a metric or a gotcha leaves some row. One pass over each table."""
    for table in survey.measured():
        asked = [found for found in _filters(survey, table) if found[1] is not None]
        if not asked or not table.rows:
            continue
        counts = [exp.Sum(this=_when(tree)) for _, tree, _ in asked if tree is not None]
        whole = exp.select(*(exp.alias_(count, f"met_{i}") for i, count in enumerate(counts))).from_(
            survey.source(table)
        )
        try:
            met = list(survey.row(whole).values())
        except WarehouseError:
            met = []
        for i, (what, _, place) in enumerate(asked):
            try:
                count = (
                    met[i]
                    if met
                    else next(iter(survey.row(exp.select(counts[i]).from_(survey.source(table))).values()))
                )
            except WarehouseError as problem:
                yield refused(what, problem, place)
                continue
            if not count:
                message = f"{what} leaves none of the rows of `{table.name}`{survey.sampled(table)}"
                yield Finding("empty-filter", message, place, help="compare its values with those in the data")


def _filters(survey: Survey, table: Table) -> Iterator[tuple[str, exp.Expr | None, Place]]:
    for i, narrowed in enumerate(table.entity.filters):
        place = survey.at_entity(table.name, "filters", i, "expr" if narrowed.expr else "name")
        yield f"the filter `{narrowed.name}`", survey.tree(narrowed.sql, table), place
    for i, join in enumerate(table.entity.relationships):
        if join.condition is not None:
            place = survey.at_entity(table.name, "relationships", i, "condition")
            yield f"the condition of the relationship `{join.name}`", survey.tree(join.condition, table), place
    for name, metric in sorted(survey.context.metrics.items()):
        if metric.type == "simple" and metric.entity == table.name and metric.filter is not None:
            place = survey.at_record("metrics", name, "filter")
            yield f"the filter of the metric `{name}`", survey.tree(metric.filter, table), place
    for key, gotcha in sorted(survey.context.gotchas.items()):
        if gotcha.required_filter is not None and table.name in gotcha.applies_to:
            place = survey.at_record("gotchas", key, "required_filter")
            yield f"the filter of the gotcha `{key}`", survey.tree(gotcha.required_filter, table), place


def freshness(survey: Survey) -> Iterator[Finding]:
    """The newest row is no older than `max_age`, counted in whole days from the day that is asked for."""
    for table in survey.measured():
        fresh = table.entity.freshness
        if fresh is None or not survey.has(table, [fresh.as_of_column]):
            continue
        place = survey.at_entity(table.name, "freshness", "max_age")
        allowed = days(fresh.max_age)
        if allowed is None:
            message = f"`max_age: {fresh.max_age}` is no span of hours, days, weeks or months"
            yield Finding("unmeasured", message, place, help="write it like `1 day` or `36 hours`")
            continue
        base = table.entity.base_table
        newest = exp.alias_(exp.Max(this=exp.column(fresh.as_of_column)), "newest")
        try:
            found = survey.row(exp.select(newest).from_(exp.table_(base.table, db=base.schema_name)))["newest"]
        except WarehouseError as problem:
            yield refused(f"the freshness of `{table.name}`", problem, place)
            continue
        last = _day(found)
        age = None if last is None else (survey.at - last).days
        if last is None or age is None:
            message = f"`{table.name}` has no row with a date in `{fresh.as_of_column}`"
            yield Finding("stale-data", message, place)
        elif age > allowed:
            old = f"is of {last}, {age:,} days before {survey.at}"
            message = f"the newest row of `{table.name}` {old}; {fresh.max_age} is allowed"
            yield Finding("stale-data", message, place, detail={"newest": last.isoformat(), "age_days": age})


def days(span: str) -> int | None:
    """Whole days of `36 hours`, rounded up; None where it is no span."""
    found = _SPAN.fullmatch(span.strip())
    return None if found is None else ceil(int(found[1]) * _DAYS[found[2].lower()])


def _day(value: Any) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return datetime.fromisoformat(value).date() if isinstance(value, str) else None
    except ValueError:
        return None


def _when(condition: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))


def _listed(values: list[str]) -> str:
    shown = ", ".join(f"`{value[:60]}`" for value in values[:NAMED])
    return f"{shown} and {len(values) - NAMED} more" if len(values) > NAMED else shown
