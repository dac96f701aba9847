"""No rows in the span of time that was asked for: do the data end before it, or begin after it? Then that is said."""

from __future__ import annotations

from datetime import date, datetime

from bot.analytics.plan import freshness
from bot.analytics.plan.execution import Execution
from bot.analytics.plan.interfaces import ExecutionRequest, Results
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Order, SemanticQuery, Unanswerable
from bylaw.semantic.rights import VisibleRows
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import WarehouseError


def looked_up(
    query: SemanticQuery,
    shown: Results,
    compiler: Compiler,
    execution: Execution,
    request: ExecutionRequest,
    visible: VisibleRows | None,
    now: datetime,
) -> str | None:
    """Where the data end, or begin, that have nothing for the window of *query*; None where they reach into it."""
    window = query.window
    if window is None or any(cell for row in shown.rows for cell in row if not isinstance(cell, date | str)):
        return None
    try:
        dated = _dated(query, compiler)
        if dated is None:
            return None
        for is_last in (True, False):
            order = Order(by=dated, descending=is_last)
            asked = SemanticQuery(dimensions=(dated,), order=(order,), limit=1)
            probe = request.model_copy(update={"sql": written(compiler.compile(asked, visible).sql, execution.dialect)})
            planned = execution.planned(probe)
            found = execution.executed(probe, planned, 1).results if planned.validation.is_allowed else None
            at = _day(found.rows[0][0]) if found is not None and found.rows else None
            if at is not None and (at < window.start if is_last else at >= window.end):
                thing = dated.partition(".")[0].partition("@")[0].replace("_", " ")
                moment = datetime(at.year, at.month, at.day, tzinfo=now.tzinfo)
                return f"The data of {thing} {'end' if is_last else 'begin'} on {freshness.day(moment, now)}."
    except (Unanswerable, WarehouseError):
        return None
    return None


def _dated(query: SemanticQuery, compiler: Compiler) -> str | None:
    """The only date that the answer is told by."""
    if query.time_dimension is not None:
        return query.time_dimension if "." in query.time_dimension else None
    computed = {part.name for part in query.ratios} | {part.name for part in query.differences}
    if query.metrics and query.metrics[0] not in computed:
        dates = compiler.dates_of(query.metrics[0])
        return dates[0] if len(dates) == 1 else None
    return None


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None
