"""Whether a picture of the rows helps, and which: a line over time, bars by category. The picture is made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

from bot.analytics.plan.interfaces import Results
from bot.conversation import Chart
from bylaw.semantic.compiler import Column

_BARS = 30  # more categories than this are read in the table
_SERIES = 8  # more lines than this cannot be told apart
_POINTS = 1_000
_MEASURES = 3


def chart(outputs: Sequence[Column], title: str, results: Results) -> Chart | None:
    """The chart of *results*, None where a sentence or a table says it better."""
    if results.truncated or not 2 <= results.row_count <= _POINTS:
        return None
    at = {column.name: i for i, column in enumerate(outputs)}
    if tuple(at) != results.columns:
        return None
    times = [column for column in outputs if column.kind == "time"]
    groups = [column for column in outputs if column.kind == "dimension"]
    numbers = [column for column in outputs if column.kind == "metric" and _is_number(results, at[column.name])]
    if not numbers:
        return None
    alike = [column for column in numbers if (column.format, column.unit) == (numbers[0].format, numbers[0].unit)]
    made = Chart(
        kind="line" if times else "bars",
        title=title,
        x=(times or groups or outputs)[0].name,
        y=tuple(column.name for column in alike[:_MEASURES]),
        format=cast(Any, numbers[0].format or "number"),
        unit=numbers[0].unit,
    )
    if len(times) == 1 and not groups:
        return made
    if len(times) == 1 and len(groups) == 1:
        lines = {row[at[groups[0].name]] for row in results.rows}
        one = made.model_copy(update={"y": made.y[:1], "series": groups[0].name})
        return one if len(lines) <= _SERIES and len(lines) < results.row_count else None
    categories = [row[at[groups[0].name]] for row in results.rows] if len(groups) == 1 else []
    is_told_apart = len(set(categories)) == len(categories)
    return made if not times and categories and is_told_apart and len(categories) <= _BARS else None


def _is_number(results: Results, at: int) -> bool:
    """Has the column numbers, and nothing else but holes?"""
    cells = [row[at] for row in results.rows if row[at] is not None]
    return bool(cells) and all(_is_finite(cell) for cell in cells)


def _is_finite(cell: Any) -> bool:
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return False
    return Decimal(cell).is_finite()
