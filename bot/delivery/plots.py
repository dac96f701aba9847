"""The chart of a reply in plain letters, for a terminal: a bar for each category or period."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from bot.conversation import Reply

_BARS = 24  # more of them say less than the table
_WIDTH = 40
_LABEL = 24


def plot(reply: Reply) -> str:
    """Bars as long as their numbers, `#` for what is above nothing and `-` for what is below; empty where none help."""
    chart = reply.chart
    if chart is None or chart.series is not None or len(chart.y) != 1 or not 2 <= len(reply.rows) <= _BARS:
        return ""
    at = {name: i for i, name in enumerate(reply.columns)}
    if chart.x not in at or chart.y[0] not in at:
        return ""
    bars = [(_label(row[at[chart.x]]), row[at[chart.y[0]]]) for row in reply.rows]
    largest = max((abs(Decimal(str(value))) for _, value in bars if value is not None), default=Decimal(0))
    if not largest or not largest.is_finite():
        return ""
    width = max(len(label) for label, _ in bars)
    return "\n".join(f"{label:<{width}}  {_bar(value, largest)}".rstrip() for label, value in bars)


def _bar(value: Any, largest: Decimal) -> str:
    if value is None:
        return ""
    number = Decimal(str(value))
    length = int((abs(number) / largest * _WIDTH).to_integral_value())
    return ("#" if number > 0 else "-") * (length or (1 if number else 0))


def _label(value: Any) -> str:
    text = "(none)" if value is None else " ".join(str(value).split())
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"
