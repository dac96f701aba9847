"""Do others rank equal with the last one shown? "Toyota" is half an answer where Honda has sold as many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.analytics.plan.execution import Execution
from bot.analytics.plan.interfaces import ExecutionRequest, Results
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery
from bylaw.semantic.rights import VisibleRows
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import WarehouseError

MOST_NAMED = 5
UNSEEN = "Whether others rank equal with the last one shown could not be looked up."


@dataclass(frozen=True, slots=True)
class Ties:
    """The rows that rank equal with the last shown ones, at most one more than are named; None: it was not seen.

    `statement` is what was asked and `found` what came of it, to be kept with the answer. `figures` are the numbers
    that the shown rows were ranked by and that have no column, of each row those of the query's `hidden`.
    """

    statement: str
    rows: tuple[tuple[Any, ...], ...] | None
    figures: tuple[tuple[Any, ...], ...] = ()
    found: tuple[tuple[Any, ...], ...] = ()

    @property
    def papers(self) -> dict[str, Any]:
        return {self.statement: None if self.rows is None else {"rows": [list(row) for row in self.found]}}


def looked_up(
    query: SemanticQuery,
    shown: Results,
    compiler: Compiler,
    execution: Execution,
    request: ExecutionRequest,
    visible: VisibleRows | None,
) -> Ties | None:
    """What is tied with the last of the first rows; None where all rows are shown, or none was to be first.

    One more statement: the same question "with ties", of which what is shown is taken off.
    """
    if query.limit is None or (shown.row_count < query.limit and not query.limit_by):
        return None
    tree = compiler.compile(query.model_copy(update={"with_ties": True, "hidden": ()}), visible)
    asked = request.model_copy(update={"sql": written(tree.sql, execution.dialect)})
    statement = asked.sql
    try:
        planned = execution.planned(asked)
        statement = planned.sql or statement
        found = execution.executed(asked, planned, shown.row_count + MOST_NAMED + 1).results
    except WarehouseError:
        found = None
    if found is None:
        return Ties(statement, None)
    seen = [i for i, column in enumerate(tree.outputs) if column.asked not in query.hidden]
    places = {column.asked: i for i, column in enumerate(tree.outputs)}
    ranked = [places[name] for name in query.hidden]
    rows = tuple(map(tuple, found.rows))
    if any(len(row) < len(tree.outputs) for row in rows):  # kept before ranks were: what is shown is all there is
        return Ties(statement, _beyond(rows, shown.rows), found=rows)
    figures = {tuple(row[i] for i in seen): tuple(row[i] for i in ranked) for row in rows}
    beyond = _beyond([tuple(row[i] for i in seen) for row in rows], shown.rows)
    told = tuple(figures.get(tuple(row), ()) for row in shown.rows) if ranked else ()
    return Ties(statement, beyond, told, rows)


def _beyond(rows: Sequence[tuple[Any, ...]], shown: Sequence[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    """*rows* without *shown*; of equal ones as many stay as there are more."""
    left, found = Counter(shown), []
    for row in rows:
        if left[row]:
            left[row] -= 1
        else:
            found.append(row)
    return tuple(found)
