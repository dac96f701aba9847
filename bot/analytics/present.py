"""Rows → what a person reads: one sentence with the figures in their units. Personal data is masked before anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from bot.analytics.interfaces import Results
from bylaw.authored.context import Context, Metric
from bylaw.semantic.measures import summarized
from bylaw.semantic.names import BETWEEN
from bylaw.semantic.query import Apart, Filter, First, Related, SemanticQuery
from bylaw.warehouses.port import Rows

_LISTED = 5
_PLACES = {"currency": 2, "percent": 1, "integer": 0, "number": 2}


def metrics_of(query: SemanticQuery, context: Context) -> dict[str, Metric]:
    """Every number of the query with how it is written; one that only the query knows is made up for it."""
    return {name: _metric(name, query, context) for name in query.metrics}


def _metric(name: str, query: SemanticQuery, context: Context) -> Metric:
    known = context.metrics.get(name)
    difference = next((part for part in query.differences if part.name == name), None)
    if difference is not None and not difference.is_growth:
        return _metric(difference.after, query, context)
    summary = next((part for part in query.summaries if part.name == name), None)
    if summary is not None:
        return summarized(_metric(summary.metric, query, context), summary)
    measure = next((part for part in query.measures if part.name == name), None)
    ratio = next((part for part in query.ratios if part.name == name), None)
    if ratio is not None:
        entity = next(iter(context.entities), "rows")
        return Metric(name="number", entity=entity, agg="count", unit="%" if ratio.in_percent else None)
    if measure is not None:
        known = _metric(measure.metric, query, context)
        if measure.unit is not None:
            return known.model_copy(update={"unit": measure.unit, "format": "number"})
    if known is not None and measure is None:
        return known
    is_share = difference is not None or (measure is not None and measure.over in ("growth", "share"))
    format_ = "percent" if is_share else "number"
    if known is not None and measure is not None and measure.over in ("value", "change", "running"):
        return known
    entity = name.partition("(")[2].rstrip(")").partition(".")[0] or next(iter(context.entities), "rows")
    between = BETWEEN.search(name)
    unit = between[1] if between is not None else None
    return Metric(name="number", type="simple", entity=entity, agg="count", format=format_, unit=unit)


def headline(query: SemanticQuery, metrics: Mapping[str, Metric]) -> str:
    """What the answer is about: `Net revenue by region, Q3 2026`."""
    groups = [readable(name.partition(".")[2]) for name in query.dimensions] + ([query.grain] if query.grain else [])
    about = " and ".join(dict.fromkeys(readable(_named(name, query)) for name in query.shown or query.dimensions))
    if query.metrics and not query.shown:
        about = f"{' and '.join(groups)} with the {_rank(query)}"
    elif groups:
        about += f" by {' and '.join(groups)}"
    said = f"{about[:1].upper()}{about[1:]}"
    for narrowed in query.filters:
        inside = narrowed.filters if isinstance(narrowed, Related) else (narrowed,)
        said += "".join(f", {apart(part)}" for part in inside if isinstance(part, Apart))
        if isinstance(narrowed, First):
            owners = "".join(f" of each of {readable(owner)}" for owner in narrowed.per)
            said += f", the {'last' if narrowed.is_last else 'first'} by {readable(narrowed.by)}{owners}"
        if not isinstance(narrowed, Filter):
            continue
        values = " or ".join(str(value) for value in narrowed.values)
        operator = "" if narrowed.operator == "in" else f"{readable(narrowed.operator)} "
        named = readable(narrowed.dimension.partition(".")[2])
        said += f", {named} {'not ' if narrowed.negated else ''}{operator}{values}".rstrip()
    spans = " and ".join(window.label for window in query.windows)
    return f"{said}, {spans}" if spans else f"{said}, all time" if not _now(query, metrics) else said


def _named(name: str, query: SemanticQuery) -> str:
    """What a number of a span of time of its own is called: the number itself, the span stands beside the figure."""
    measure = next((part for part in query.measures if part.name == name and part.window is not None), None)
    difference = next((part for part in query.differences if part.name == name), None)
    if difference is not None:
        return "growth" if difference.is_growth else "change"
    return measure.metric if measure is not None else name


def sentence(query: SemanticQuery, metrics: Mapping[str, Metric], rows: Rows | Results) -> str:
    """The answer in one sentence; of many groups the first few."""
    about = headline(query, metrics)
    if not rows.rows:
        return f"{about}: there are no such rows."
    count = len(query.shown)
    if not query.shown:
        listed = [" / ".join(_group(cell) for cell in row) for row in rows.rows[:_LISTED]]
        more = len(rows.rows) - len(listed)
        return f"{about}: {', '.join(listed)}{f' and {more} others' if more > 0 else ''}."
    if len(rows.rows[0]) == count and len(rows.rows) == 1:
        if all(cell is None for cell in rows.rows[0]):
            return f"{about}: there are no such rows."
        return f"{about}: {_figures(rows.rows[0], query, metrics)}."
    listed = [
        f"{' / '.join(_group(cell) for cell in row[:-count])} {_figures(row[-count:], query, metrics)}"
        for row in rows.rows[:_LISTED]
    ]
    more = len(rows.rows) - len(listed)
    tail = f" and {more}{' or more' if rows.truncated else ''} others" if more > 0 else ""
    return f"{about}: {', '.join(listed)}{tail}."


def _rank(query: SemanticQuery) -> str:
    """What the rows of an answer without a number were ranked by: `lowest refund rate`."""
    order = next(order for order in query.order if order.by in query.hidden)
    return f"{'highest' if order.descending else 'lowest'} {readable(order.by)}"


def apart(condition: Apart) -> str:
    """ "Arrived at more than 3 days after promised on": how far two moments may lie apart."""
    moment, since = (readable(name.partition(".")[2]) for name in (condition.moment, condition.since))
    sign = "not " if condition.negated else ""
    if condition.same is not None:
        place = "on" if condition.same == "day" else "in"
        return f"{moment} {sign}{place} the same {condition.same} as {since}"
    least, most = condition.least, condition.most
    if most is not None and least is not None:
        if least == most:
            return f"{moment} {sign}{_far(least, condition)} {since}"
        if 0 in (least, most):
            how = "less than" if condition.is_open else "within"
            return f"{moment} {sign}{how} {_far(least + most, condition)} {since}"
        return f"{moment} {sign}from {_far(least, condition)} to {_far(most, condition)} {since}"
    if least is not None:
        how = "more than" if condition.is_open else "at least"
        return f"{moment} {sign}{how} {_far(least, condition)} {since}" if least else _ordered(condition, "after")
    assert most is not None
    how = "more than" if condition.is_open else "at least"
    return f"{moment} {sign}{how} {_far(most, condition)} {since}" if most else _ordered(condition, "before")


def _far(count: int, condition: Apart) -> str:
    plural = "" if abs(count) == 1 else "s"
    return f"{abs(count)} {condition.unit}{plural} {'before' if count < 0 else 'after'}"


def _ordered(condition: Apart, side: str) -> str:
    moment, since = (readable(name.partition(".")[2]) for name in (condition.moment, condition.since))
    return f"{moment} {'not ' if condition.negated else ''}{'' if condition.is_open else 'on or '}{side} {since}"


def readable(name: str) -> str:
    """A name as one writes it in a sentence."""
    if (between := BETWEEN.search(name)) is not None:
        since, until = (moment.partition(".")[2] or moment for moment in between.groups()[1:])
        name = f"{name[: between.start()].rpartition('(')[0]} {between[1]} from {since} to {until}".strip()
    return (
        name.replace("_", " ").replace("(", " ").replace(")", "").replace(".", " ").replace("count distinct", "count")
    )


def _now(query: SemanticQuery, metrics: Mapping[str, Metric]) -> bool:
    return bool(query.metrics) and all(metrics[name].snapshot for name in query.metrics)


def _figures(cells: Sequence[Any], query: SemanticQuery, metrics: Mapping[str, Metric]) -> str:
    """The numbers of one row; where they have spans of time of their own, each says which."""
    spans = {part.name: part.window.label for part in query.measures if part.window is not None}
    spans |= {part.name: _named(part.name, query) for part in query.differences}
    said = [
        f"{figure(cell, metrics[name])}{f' ({spans[name]})' if name in spans else ''}"
        for cell, name in zip(cells, query.shown, strict=True)
    ]
    return " and ".join(said)


def figure(value: Any, metric: Metric) -> str:
    """One number as the metric is written: thousands apart, its unit behind it."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return "nothing" if value is None else str(value)
    places = _PLACES[metric.format]
    if metric.format == "percent":
        return f"{value * 100:,.{places}f} %"
    said = f"{value:,.{places}f}"
    if metric.format == "number":
        said = said.rstrip("0").rstrip(".")
    return f"{said} {metric.unit}" if metric.unit else said


def _group(cell: Any) -> str:
    if cell is None:
        return "(none)"
    if isinstance(cell, datetime):
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, date) else str(cell)
