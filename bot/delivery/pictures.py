"""The chart of a reply as a picture: one look for Slack, pages and files. It is described in the words of Vega-Lite.

The same reply gives the same bytes: the fonts come with the library, and nothing is fetched.
"""

from __future__ import annotations

import importlib
import json
from importlib.util import find_spec
from typing import Any, Literal

from bot.conversation import Chart, Reply
from bot.delivery.render import safe
from bylaw.errors import UsageError

_INK, _PALE, _GRID = "#1f2933", "#52606d", "#e4e7eb"
_COLOURS = ["#2f6fab", "#c8553d", "#4c956c", "#8f6bb3", "#d49a2a", "#3a9ea5", "#b04a7a", "#6b7280"]
_FONT = "Liberation Sans"
_WIDTH, _HEIGHT, _BAR = 640, 300, 26
_LABEL = 60  # letters of a name
_TITLE = 270
_FORMATS = {"integer": ",d", "currency": ",.2~f", "percent": ".1~%", "number": ",.3~f"}
_DATES = {4: "%Y", 7: "%b %Y", 10: "%-d %b %Y"}
_SPOKEN = {"integer": ",.0f", "currency": ",.2f", "percent": ".1%", "number": ",.10g"}


def is_installed() -> bool:
    """Can charts be drawn here?"""
    return find_spec("vl_convert") is not None


def picture(reply: Reply, kind: Literal["png", "svg"]) -> bytes | None:
    """The chart of *reply*, None where it has none. Raises UsageError where charts are not installed."""
    described = specification(reply)
    if described is None:
        return None
    try:
        drawing = importlib.import_module("vl_convert")
    except ImportError:
        raise UsageError("drawing charts is not installed", "install `bylaw-policies[charts]`") from None
    text = json.dumps(described, sort_keys=True)
    if kind == "svg":
        return str(drawing.vegalite_to_svg(text, allowed_base_urls=[])).encode()
    return bytes(drawing.vegalite_to_png(text, scale=2, allowed_base_urls=[]))


def specification(reply: Reply) -> dict[str, Any] | None:
    """The chart as a Vega-Lite document with its rows inside, None where the reply has none.

    Columns are called `x`, `y` and `s` in there: a name with a dot would be taken for a path.
    """
    chart = reply.chart
    if chart is None or not {chart.x, *chart.y, *([chart.series] if chart.series else [])} <= set(reply.columns):
        return None
    points = list(_points(reply, chart))
    is_many = len(chart.y) > 1 or chart.series is not None
    value = {
        "field": "y",
        "type": "quantitative",
        "title": _clipped(chart.unit or "") or None,
        "axis": {"format": _FORMATS[chart.format], "tickCount": 6},
    }
    names = _series(points)
    colour: dict[str, Any] = {"value": _COLOURS[0]}
    if is_many:
        scale = {"domain": names, "range": [_COLOURS[i % len(_COLOURS)] for i in range(len(names))]}
        colour = {"field": "s", "type": "nominal", "title": None, "sort": names, "scale": scale}
    made = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 16,
        "width": _WIDTH,
        "title": _wrapped(chart.title),
        "data": {"values": points},
        "config": _config(),
    }
    if chart.kind == "line":
        x = {
            "field": "x",
            "type": "temporal",
            "title": None,
            "scale": {"type": "utc"},
            "axis": {"format": _date_format(points), "labelOverlap": True},
        }
        mark = {"type": "line", "strokeWidth": 2.5, "point": {"size": 40, "filled": True}}
        return {**made, "height": _HEIGHT, "mark": mark, "encoding": {"x": x, "y": value, "color": colour}}
    order = list(dict.fromkeys(point["x"] for point in points))
    y = {"field": "x", "type": "nominal", "title": None, "sort": order, "axis": {"labelLimit": 220}}
    encoding: dict[str, Any] = {"y": y, "x": value, "color": colour}
    if is_many:
        encoding["yOffset"] = {"field": "s", "sort": names}
    return {**made, "height": {"step": _BAR}, "mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": encoding}


def description(reply: Reply) -> str:
    """The chart of *reply* in words, for who does not see it; empty where it has none."""
    described, chart = specification(reply), reply.chart
    if described is None or chart is None:
        return ""
    points = described["data"]["values"]
    kind = "Line" if chart.kind == "line" else "Bar"
    series = [_reach([one for one in points if one["s"] == name], chart) for name in _series(points)]
    named = [f"{name}: {told}" for name, told in zip(_series(points), series, strict=True)]
    return " ".join([f"{kind} chart: {_clipped(chart.title, _TITLE)}.", *(named if len(named) > 1 else series)])


def _reach(points: list[dict[str, Any]], chart: Chart) -> str:
    """How many there are, and the lowest and the highest."""
    lowest, highest = (choose(points, key=lambda point: float(point["y"])) for choose in (min, max))
    unit = f" {_clipped(chart.unit)}" if chart.unit else ""
    low, high = (f"{one['y']:{_SPOKEN[chart.format]}}{unit} at {one['x']}" for one in (lowest, highest))
    times = sorted(str(one["x"]) for one in points)
    span = f" from {times[0]} to {times[-1]}" if chart.kind == "line" else ""
    return f"{len(points)} values{span}, lowest {low}, highest {high}."


def _series(points: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(point["s"] for point in points))


def _points(reply: Reply, chart: Chart) -> Any:
    at = {name: i for i, name in enumerate(reply.columns)}
    for row in reply.rows:
        for measure in chart.y:
            value = row[at[measure]]
            named = row[at[chart.series]] if chart.series else measure.replace("_", " ")
            if value is not None:
                yield {"x": _name(row[at[chart.x]]), "y": float(value), "s": _name(named)}


def _name(value: Any) -> str:
    return "(none)" if value is None else _clipped(str(value))


def _clipped(text: str, limit: int = _LABEL) -> str:
    flat = " ".join(safe(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _wrapped(title: str, width: int = _TITLE // 3) -> list[str]:
    """A title in at most three lines."""
    lines = [""]
    for word in _clipped(title, _TITLE).split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[:3]


def _date_format(points: list[dict[str, Any]]) -> str:
    """As fine as the dates are: years, months, days."""
    days = [str(point["x"])[:10] for point in points]
    if all(day.endswith("-01-01") for day in days):
        return _DATES[4]
    return _DATES[7] if all(day.endswith("-01") for day in days) else _DATES[10]


def _config() -> dict[str, Any]:
    text = {
        "labelColor": _PALE,
        "labelFontSize": 12,
        "titleColor": _PALE,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    return {
        "font": _FONT,
        "title": {"anchor": "start", "color": _INK, "fontSize": 15, "fontWeight": "bold", "offset": 14},
        "axis": {**text, "gridColor": _GRID, "domainColor": _GRID, "tickColor": _GRID, "labelPadding": 6},
        "legend": {"labelColor": _PALE, "labelFontSize": 12, "orient": "bottom", "labelLimit": 220},
        "view": {"stroke": None},
    }
