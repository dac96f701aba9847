"""Rows → what a person reads: one sentence with the figures in their units. Personal data is masked before anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from bot.analytics.headline import headline, listed, named
from bot.analytics.plan.interfaces import Results
from bot.analytics.reply.ties import MOST_NAMED
from bylaw.authored.context import Context, Metric
from bylaw.semantic.clauses.measures import summarized
from bylaw.semantic.names import BETWEEN
from bylaw.semantic.query import SemanticQuery
from bylaw.warehouses.port import Rows

_LISTED = 5
_MOST_PLACES = 6  # of a share, or of a number below one
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
        known = known if measure.metric == name and known is not None else _metric(measure.metric, query, context)
        if measure.unit is not None:
            return known.model_copy(update={"unit": measure.unit, "format": "number"})
    if known is not None and measure is None:
        return known
    is_share = difference is not None or (measure is not None and measure.over in ("growth", "share"))
    format_ = "percent" if is_share else "number"
    if known is not None and measure is not None and measure.over == "moving":
        return known.model_copy(update={"format": "number"}) if known.format == "integer" else known
    if known is not None and measure is not None and measure.over in ("value", "change", "running"):
        return known
    inside = name.partition("(")[2].partition(".")[0].partition("@")[0].strip("() ")
    entity = inside if inside in context.entities else next(iter(context.entities), "rows")
    between = BETWEEN.search(name)
    unit = between[1] if between is not None else None
    return Metric(name="number", type="simple", entity=entity, agg="count", format=format_, unit=unit)


def sentence(
    query: SemanticQuery,
    metrics: Mapping[str, Metric],
    rows: Rows | Results,
    ranked: Sequence[Sequence[Any]] = (),
) -> str:
    """The answer in one sentence; of many groups the first few, with the figures that they were *ranked* by."""
    about = headline(query, metrics)
    if not rows.rows:
        return f"{about}: there are no such rows."
    count = len(query.shown)
    if not query.shown:
        lines = [" / ".join(_group(cell) for cell in row) for row in rows.rows[:_LISTED]]
        for i, cells in enumerate(ranked[: len(lines)]):
            said = [figure(cell, metrics[name]) for cell, name in zip(cells, query.hidden, strict=False)]
            lines[i] += f" ({' and '.join(said)})" if said else ""
        more = len(rows.rows) - len(lines)
        return f"{about}: {', '.join(lines)}{f' and {more} others' if more > 0 else ''}."
    if len(rows.rows[0]) == count and len(rows.rows) == 1:
        if all(cell is None for cell in rows.rows[0]):
            return f"{about}: there are no such rows."
        return f"{about}: {_figures(rows.rows[0], query, metrics)}."
    lines = [
        f"{' / '.join(_group(cell) for cell in row[:-count])} {_figures(row[-count:], query, metrics)}"
        for row in rows.rows[:_LISTED]
    ]
    more = len(rows.rows) - len(lines)
    tail = f" and {more}{' or more' if rows.truncated else ''} others" if more > 0 else ""
    return f"{about}: {', '.join(lines)}{tail}."


def figure_of(said: str) -> str:
    """The figures of a sentence, without what they are about."""
    return said.partition(": ")[2].rstrip(".")


def tied(query: SemanticQuery, shown: Results, equal: Sequence[Sequence[Any]]) -> str:
    """A second sentence: what ranks equal with the last of the shown rows. Empty where nothing does."""
    if not equal:
        return ""
    count = len(query.shown)
    names = [" / ".join(map(_group, row[:-count] if count else row)) for row in equal[:MOST_NAMED]]
    if len(equal) > len(names):
        names.append("others")
    who = "it" if shown.row_count == 1 else "them" if query.limit_by else "the last"
    return f" Tied with {who}: {listed(names)}."


def _figures(cells: Sequence[Any], query: SemanticQuery, metrics: Mapping[str, Metric]) -> str:
    """The numbers of one row; where they have spans of time of their own, each says which."""
    spans = {part.name: part.window.label for part in query.measures if part.window is not None}
    spans |= {part.name: named(part.name, query) for part in query.differences}
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
        return f"{_precise(value * 100, places)} %"
    if metric.format != "number":
        said = f"{value:,.{places}f}"
    else:
        said = _precise(value, places)
        said = said.rstrip("0").rstrip(".") if "." in said else said
    return f"{said} {metric.unit}" if metric.unit else said


def _precise(value: float | Decimal, places: int) -> str:
    """A number to *places*, or to as many more as keep it from reading as nothing, or as the whole: 0.04, 99.97."""
    for more in range(places, _MOST_PLACES + 1):
        said = f"{value:,.{more}f}"
        read = Decimal(said.replace(",", ""))
        if value in (0, 100) or read not in (0, 100):
            break
    return said


def _group(cell: Any) -> str:
    if cell is None:
        return "(none)"
    if isinstance(cell, datetime):
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, date) else str(cell)
