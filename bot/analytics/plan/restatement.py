"""What a plan computes, in words that are made of the plan alone: every field of it, and nothing that a model said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bot.analytics.headline import conditions, headline, listed, named, readable
from bylaw.authored.context import Context, Metric
from bylaw.language import dates
from bylaw.semantic.compiler import Compiled
from bylaw.semantic.expressions import expression
from bylaw.semantic.query import (
    Difference,
    Measure,
    Order,
    Ratio,
    SemanticQuery,
    Summary,
    Window,
)


def restated(query: SemanticQuery, metrics: Mapping[str, Metric], compiled: Compiled, context: Context) -> str:
    """*query* in one line: what, by what, of which rows, when, in which order, over which relationships."""
    return "; ".join((headline(query, metrics), *_clauses(query, compiled, context)))


def _clauses(query: SemanticQuery, compiled: Compiled, context: Context) -> Iterator[str]:
    for part in query.differences:
        yield f"from {_inner(part.before, query)} to {_inner(part.after, query)}"
    if query.per:
        rest = "" if query.leaves_out or query.summaries else ", and one for what belongs to none"
        yield f"one row for each of {listed(map(readable, query.per))}{rest}"
    if query.with_empty:
        yield "also those without any"
    if query.limit is not None:
        rows = "row" if query.limit == 1 else f"{query.limit} rows"
        each = (
            f" of each {listed(readable(name.partition('.')[2]) for name in query.limit_by)}" if query.limit_by else ""
        )
        yield f"only the first {rows}{each}{' and those that rank equal' if query.with_ties else ''}"
    elif query.with_ties:
        yield "with those that rank equal"
    if query.order:
        yield f"sorted by {listed(_sorted(order, query, context) for order in query.order)}"
    if days := list(_days(query)):
        yield listed(days)
    if query.windows or query.grain:
        yield f"dated by {_date(compiled, context)}" if compiled.time_column else "not dated"
    elif query.time_dimension is not None:
        yield f"dated by {query.time_dimension}"
    if roles := list(_roles(compiled, context)):
        yield listed(roles)


def _date(compiled: Compiled, context: Context) -> str:
    """The names of the dates that rows are told by; SQL where a date has none."""
    told = compiled.time_column or ""
    for name, entity in context.entities.items():
        for one in entity.time_dimensions:
            for sql in (f"{name}.{one.sql}", str(expression(one.sql, name).sql())):
                told = told.replace(sql, f"{readable(name)} {readable(one.name)}")
    return told


def _sorted(order: Order, query: SemanticQuery, context: Context) -> str:
    owner, _, short = order.by.partition(".")
    entity = context.entities.get(owner.partition("@")[0])
    is_date = entity is not None and any(one.name == short for one in entity.time_dimensions)
    is_text = entity is not None and entity.dimension(short) is not None
    if is_date or order.by == "time":
        way = "latest first" if order.descending else "earliest first"
    elif is_text:
        way = "from Z to A" if order.descending else "from A to Z"
    else:
        way = "highest first" if order.descending else "lowest first"
    name = named(order.by, query) if entity is None else readable(short)
    return f"{name}, {way}"


def _days(query: SemanticQuery) -> Iterator[str]:
    """The days of each span: its name may be read in more than one way."""
    for window in query.windows:
        yield days_of(window)


def days_of(window: Window) -> str:
    """`from 2025-01-01 to 2025-12-31`."""
    first = "" if window.start <= dates.FIRST_DAY else f"from {window.start.isoformat()} "
    last = "" if window.end >= dates.LAST_DAY else f"to {dates.day_before(window.end).isoformat()}"
    return f"{first}{last}".strip()


def _roles(compiled: Compiled, context: Context) -> Iterator[str]:
    """Which of several relationships between the same two entities is meant."""
    for name in compiled.walked:
        owner, _, short = name.partition(".")
        found = context.entities[owner].relationships
        meant = next((one for one in found if one.name == short), None)
        if meant is not None and sum(one.right_entity == meant.right_entity for one in found) > 1:
            yield f"{readable(meant.right_entity)} by `{readable(short)}`"


# ---- our own names


def renamed(query: SemanticQuery) -> SemanticQuery:
    """*query* with names for its own numbers that say what they are, whatever a model called them.

    A number of the catalogue under another name is that number.
    """
    plain_ones = {one.name: one.metric for one in query.measures if _is_plain(one) and one.metric not in query.metrics}
    if plain_ones:
        return renamed(_unnamed(query, plain_ones))
    names: dict[str, str] = {}
    made: tuple[Measure | Ratio | Difference | Summary, ...] = (
        *query.measures, *query.ratios, *query.differences, *query.summaries,
    )  # fmt: skip
    for part in made:
        said = plain = _told(part, query)
        count = 2
        while said in names.values() or said in query.metrics:
            said, count = f"{plain} {count}", count + 1
        names[part.name] = said

    def new(name: str) -> str:
        return names.get(name, name)

    # a measure may narrow a number of its own name: inside it that is the number of the catalogue
    return query.model_copy(
        update={
            "metrics": tuple(map(new, query.metrics)),
            "hidden": tuple(map(new, query.hidden)),
            "order": tuple(one.model_copy(update={"by": new(one.by)}) for one in query.order),
            "measures": tuple(
                one.model_copy(
                    update={"name": new(one.name), "metric": one.metric if one.metric == one.name else new(one.metric)}
                )
                for one in query.measures
            ),
            "ratios": tuple(
                one.model_copy(
                    update={
                        "name": new(one.name),
                        "numerator": _half(one.numerator, one.name, new),
                        "denominator": _half(one.denominator, one.name, new),
                    }
                )
                for one in query.ratios
            ),
            "differences": tuple(
                one.model_copy(update={"name": new(one.name), "before": new(one.before), "after": new(one.after)})
                for one in query.differences
            ),
            "summaries": tuple(
                one.model_copy(
                    update={"name": new(one.name), "metric": one.metric if one.metric == one.name else new(one.metric)}
                )
                for one in query.summaries
            ),
        }
    )


def _is_plain(part: Measure) -> bool:
    """Is it a number of the catalogue, and nothing done to it?"""
    return part == Measure(name=part.name, metric=part.metric) and part.name != part.metric


def _unnamed(query: SemanticQuery, names: Mapping[str, str]) -> SemanticQuery:
    """*query* with the numbers of the catalogue in place of other names for them."""

    def new(name: str) -> str:
        return names.get(name, name)

    def inside(part: Measure | Ratio | Difference | Summary, *fields: str) -> dict[str, str]:
        return {field: new(getattr(part, field)) for field in fields}

    return query.model_copy(
        update={
            "metrics": tuple(dict.fromkeys(map(new, query.metrics))),
            "hidden": tuple(dict.fromkeys(map(new, query.hidden))),
            "order": tuple(one.model_copy(update={"by": new(one.by)}) for one in query.order),
            "measures": tuple(
                one.model_copy(update=inside(one, "metric")) for one in query.measures if one.name not in names
            ),
            "ratios": tuple(one.model_copy(update=inside(one, "numerator", "denominator")) for one in query.ratios),
            "differences": tuple(one.model_copy(update=inside(one, "before", "after")) for one in query.differences),
            "summaries": tuple(one.model_copy(update=inside(one, "metric")) for one in query.summaries),
        }
    )


def _half(name: str, own: str, new: Callable[[str], str]) -> str:
    return name if name == own else new(name)


def _told(part: Measure | Ratio | Difference | Summary, query: SemanticQuery) -> str:
    match part:
        case Measure():
            return _told_measure(part, query)
        case Ratio():
            percent = " in percent" if part.in_percent else ""
            return f"{_inner(part.numerator, query)} divided by {_inner(part.denominator, query)}{percent}"
        case Difference():
            return f"{'growth' if part.is_growth else 'change'} of {_inner(part.after, query)}"
        case Summary():
            each = [*map(readable, part.per), *(readable(name.partition(".")[2]) for name in part.dimensions)]
            each += [part.grain] if part.grain else []
            word = {"avg": "average", "median": "median", "min": "lowest", "max": "highest"}[part.agg]
            empty = ", also of those without any" if part.with_empty else ""
            return f"{word} of {_inner(part.metric, query)} for each of {listed(each)}{empty}"


def _told_measure(part: Measure, query: SemanticQuery) -> str:
    number = _inner(part.metric, query) if part.metric != part.name else readable(part.metric)
    turned = {
        "value": number,
        "change": f"change of {number} against the period before",
        "growth": f"growth of {number} against the period before",
        "running": f"running total of {number}",
        "moving": f"average of {number} over {part.periods} periods",
        "share": f"share of all {number}",
        "total": f"{number} of all groups",
        "rank": f"rank by {number}",
    }[part.over]
    inside = f" with {listed(conditions(part.filters))}" if part.filters else ""
    window = f" {part.window.label}" if part.window is not None else ""
    unit = f" in {part.unit}" if part.unit else ""
    return f"{turned}{inside}{window}{unit}"


def _inner(name: str, query: SemanticQuery) -> str:
    made: tuple[Measure | Ratio | Difference | Summary, ...] = (
        *query.measures, *query.ratios, *query.differences, *query.summaries,
    )  # fmt: skip
    part = next((one for one in made if one.name == name), None)
    is_same = isinstance(part, Measure | Summary) and part.metric == name
    return readable(name) if part is None or is_same else _told(part, _but(query, part))


def _but(query: SemanticQuery, part: object) -> SemanticQuery:
    """The query without one number: one that is named like a metric it is made of does not tell itself again."""
    made = ("measures", "ratios", "differences", "summaries")
    return query.model_copy(update={key: tuple(one for one in getattr(query, key) if one is not part) for key in made})
