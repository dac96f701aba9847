"""What an answer is about, in words: its numbers, groups and conditions, whichever rows they are said of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise

from bylaw.authored.context import Metric
from bylaw.language import dates
from bylaw.semantic.names import BETWEEN
from bylaw.semantic.parts import PART
from bylaw.semantic.query import (
    PLACES,
    AnyOf,
    Apart,
    Condition,
    Filter,
    First,
    Order,
    Related,
    SemanticQuery,
    Than,
    Value,
)

_COMPARED = {
    "<": "fewer than ",
    "<=": "at most ",
    ">": "more than ",
    ">=": "at least ",
    "=": "exactly ",
    "!=": "other than ",
}
_ORDERED = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "is_null": "missing"}


def headline(query: SemanticQuery, metrics: Mapping[str, Metric]) -> str:
    """What the answer is about: `Net revenue by region, Q3 2026`."""
    columns = [column(name) for name in query.dimensions]
    groups = columns + ([query.grain] if query.grain else [])
    about = listed(dict.fromkeys(named(name, query) for name in query.shown))
    if query.metrics and not query.shown:
        about = f"{listed(groups)} with the {_rank(query)}"
    elif not query.metrics:
        rows = readable(query.dimensions[0].partition(".")[0])
        about = f"{rows} ({listed(columns)})" if len(columns) > 1 else columns[0]
    elif groups:
        about += f" by {listed(groups)}"
    said = f"{about[:1].upper()}{about[1:]}{''.join(f', {part}' for part in conditions(query.filters))}"
    if query.place and not (query.metrics and not query.shown):
        order = query.order[0]
        said += f", the {_end(query, order)} {named(order.by, query)}"
    spans = listed(window.label for window in query.windows)
    if spans:
        return f"{said}, {spans}"
    return said if _now(query, metrics) or any(map(_is_dated, query.filters)) else f"{said}, all time"


def conditions(parts: Sequence[Condition]) -> list[str]:
    """Each condition in words; two that hold a date between them are one span."""
    said: list[str] = []
    bounds = [part for part in parts if _is_bound(part)]
    spans = {
        id(first): (first, second)
        for first, second in pairwise(bounds)
        if isinstance(first, Filter) and isinstance(second, Filter)
        if (first.dimension, first.operator, second.operator) == (second.dimension, ">=", "<")
    }
    ends = {id(second) for _, second in spans.values()}
    for part in parts:
        if id(part) in spans:
            said.append(_span(*spans[id(part)]))
        elif id(part) not in ends:
            said.append(condition(part))
    return said


def condition(part: Condition) -> str:
    """One condition in words: `status not cancelled`, `with no orders (ordered at in 2026)`."""
    match part:
        case Apart():
            return apart(part)
        case AnyOf():
            return " or ".join(condition(one) for one in part.any_of)
        case Related():
            inside = listed(conditions(part.filters))
            counted = f"{_counted(part)}{f' ({inside})' if inside else ''}"
            return f"with {counted}{_than(part.than) if part.than is not None else ''}"
        case First():
            owners = "".join(f" of each of {readable(owner)}" for owner in part.per)
            inside = listed(conditions(part.filters))
            rows = f"the {'last' if part.is_last else 'first'} by {readable(part.by)}{owners}"
            return f"{rows} ({inside})" if inside else rows
        case Filter():
            return _filter(part)


def column(name: str) -> str:
    """What a field is called; behind it the relationship that leads to it, where one is named."""
    place, _, short = name.partition(".")
    role = place.partition("@")[2]
    return f"{readable(short)} ({readable(role)})" if role else readable(short)


def _filter(part: Filter) -> str:
    name = column(part.dimension)
    negated = "not " if part.negated else ""
    if part.operator == "is_null":
        return f"with {name}" if part.negated else f"without {name}"
    if part.operator == "is_weekend":
        return f"{name} {negated}on weekends"
    values = " or ".join(map(_value, part.values))
    operator = "" if part.operator == "in" else f"{_ORDERED.get(part.operator, readable(part.operator))} "
    if part.operator != "in" and _day(part.values[0]) is not None:
        operator = {"<": "before ", "<=": "up to ", ">": "after ", ">=": "from "}.get(part.operator, operator)
    return f"{name} {negated}{operator}{values}".rstrip()


def _counted(part: Related) -> str:
    """How many related rows, or how much of a number: `no orders`, `at least 3 orders`, `net revenue above 100`."""
    if part.against is not None:
        return _against(part)
    if part.than is not None:
        return f"{'more' if part.comparison == '>' else 'fewer'} {_rows(part.metric)}"
    if not part.metric.startswith("count("):
        comparison = _ORDERED.get(part.comparison, part.comparison.replace("!=", "not").replace("=", "of"))
        return f"{readable(part.metric)} {comparison} {_value(part.value)}"
    rows = readable(part.metric[len("count(") : -1])
    match part.comparison, part.value:
        case ("=", 0) | ("<", 1) | ("<=", 0):
            return f"no {rows}"
        case (">=", 1) | (">", 0) | ("!=", 0):
            return rows
    return f"{_COMPARED[part.comparison]}{_value(part.value)} {rows}"


def _than(than: Than) -> str:
    """The other number that it is compared with: ` than reviews (in 2026)`."""
    inside = listed(conditions(than.filters))
    return f" than {_rows(than.metric)}{f' ({inside})' if inside else ''}"


def _rows(metric: str) -> str:
    return readable(metric.removeprefix("count(").removesuffix(")"))


def _against(part: Related) -> str:
    """ "More orders than average", "list price above the median": put against that of all of them."""
    agg, _, inside = part.metric.partition("(")
    word = "average" if part.against == "avg" else "median"
    if agg == "count" and inside:
        return f"{'more' if '>' in part.comparison else 'fewer'} {readable(inside[:-1])} than {word}"
    owner, _, short = inside[:-1].partition(".")
    name = short if owner == part.entity else part.metric  # each row has one of its own
    return f"{readable(name)} {_ORDERED.get(part.comparison, part.comparison)} the {word}"


def _span(first: Filter, second: Filter) -> str:
    start, end = _day(first.values[0]), _day(second.values[0])
    assert start is not None and end is not None
    name = readable(first.dimension.partition(".")[2])
    last = dates.day_before(end)
    if (start.month, start.day, end.month, end.day) == (1, 1, 1, 1) and end.year == start.year + 1:
        return f"{name} in {start.year}"
    if start.day == end.day == 1 and (end.year - start.year) * 12 + end.month - start.month == 1:
        return f"{name} in {start:%B %Y}"
    return (
        f"{name} on {start.isoformat()}" if start == last else f"{name} from {start.isoformat()} to {last.isoformat()}"
    )


def _is_bound(part: Condition) -> bool:
    return (
        isinstance(part, Filter)
        and part.operator in (">=", "<")
        and _day(part.values[0]) is not None
        and not part.negated
    )


def _is_dated(part: Condition) -> bool:
    """Does it hold any rows to a date?"""
    match part:
        case Related():
            return any(map(_is_dated, part.inside))
        case AnyOf():
            return any(map(_is_dated, part.any_of))
        case Filter():
            return bool(part.values) and part.operator != "in" and _day(part.values[0]) is not None
    return False


def _day(value: Value) -> date | None:
    try:
        return date.fromisoformat(value) if isinstance(value, str) and len(value) == len("2026-01-31") else None
    except ValueError:
        return None


def _value(value: Value) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = list(words) or [""]
    return f"{', '.join(before)} and {last}" if before else last


def named(name: str, query: SemanticQuery) -> str:
    """What a number is called: one of a span of its own by the number itself, the span stands beside the figure."""
    measure = next((part for part in query.measures if part.name == name), None)
    difference = next((part for part in query.differences if part.name == name), None)
    ratio = next((part for part in query.ratios if part.name == name), None)
    if difference is not None:
        return "growth" if difference.is_growth else "change"
    if ratio is not None:
        over, under = (named(half, query) for half in (ratio.numerator, ratio.denominator))
        return f"{over} {'in percent of' if ratio.in_percent else 'divided by'} {under}"
    if measure is None or (measure.window is None and measure.over not in ("value", "total")):
        return readable(name)
    inside = listed(conditions(measure.filters))
    whole = "all " if measure.over == "total" else ""
    unit = f" in {measure.unit}" if measure.unit else ""
    return f"{whole}{readable(measure.metric)}{f' ({inside})' if inside else ''}{unit}"


def _rank(query: SemanticQuery) -> str:
    """What the rows of an answer without a number were ranked by: `lowest refund rate`."""
    order = next(order for order in query.order if order.by in query.hidden)
    return f"{_end(query, order)} {named(order.by, query)}"


def _end(query: SemanticQuery, order: Order) -> str:
    """From which end, and how far: `second highest`."""
    nth = f"{PLACES[query.place - 1]} " if query.place else ""
    return f"{nth}{'highest' if order.descending else 'lowest'}"


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
    name = PART.sub(r"\1 of \2", name)
    return (
        name.replace("_", " ").replace("(", " ").replace(")", "").replace(".", " ").replace("count distinct", "count")
    )


def _now(query: SemanticQuery, metrics: Mapping[str, Metric]) -> bool:
    return bool(query.metrics) and all(metrics[name].snapshot for name in query.metrics)
