"""A semantic query written as the items that say it: the inverse of assembling one."""

from __future__ import annotations

from bylaw.hold.item import Item
from bylaw.language.dates import FIRST_DAY, LAST_DAY
from bylaw.semantic.query import AnyOf, Apart, First, Related


def render(query):
    """The items that say *query*."""
    items = [asked(name, query) for name in query.shown]
    items += [] if query.shown else [Item(kind="asks", name=f"values({spoken(query.dimensions[0])})")]
    items += grouped(query.dimensions[0 if query.shown else 1 :], query.per)
    ways = [way for way, is_so in (("all", query.with_empty), ("members", query.only_members)) if is_so]
    if query.grain:
        items.append(Item(kind="group", unit=query.grain, name=query.time_dimension))
    if ways:  # said of any group, or of the rows
        items.append(Item(kind="group", value=ways))
    items += [item for one in query.filters for item in said(one)]
    if query.window:
        items.append(Item(kind="time", value=span_of(query.window), name=query.time_dimension))
    items += [ordered(one, query) for one in query.order]
    count = query.limit or query.place
    if count:
        unit = "place" if query.place else "ties" if query.with_ties else None
        items.append(
            Item(kind="limit", value=count, unit=unit, of=[Item(kind="group", name=name) for name in query.limit_by])
        )
    return items


def grouped(dimensions, per):
    return [Item(kind="group", name=f"values({spoken(name)})") for name in dimensions] + [
        Item(kind="group", name=name, value="each") for name in per
    ]


def spoken(name):
    """A column as items name it."""
    if "weekday(" in name:
        return f"weekday({name.partition('.')[0]}.{name.partition('(')[2]}"
    return name


def span_of(window):
    start = ".." if window.start == FIRST_DAY else window.start
    return f"{start}/{'..' if window.end == LAST_DAY else window.end}"


def asked(name, query):
    """The number *name* of *query* as an item."""
    for one in query.measures:
        if one.name == name:
            inner = asked(one.metric, query)
            of = [*inner.of, *(item for part in one.filters for item in said(part))]
            of += [Item(kind="time", value=span_of(one.window))] if one.window else []
            over = ["moving", one.periods] if one.over == "moving" else one.over
            of += [Item(kind="over", value=over)] if one.over != "value" else []
            return inner.model_copy(update={"of": of, "unit": one.unit or inner.unit})
    for one in query.ratios:
        if one.name == name:
            return of_two(
                "ratio",
                asked(one.numerator, query),
                asked(one.denominator, query),
                "percent" if one.in_percent else None,
            )
    for one in query.differences:
        if one.name == name:
            return of_two(
                "growth" if one.is_growth else "difference", asked(one.before, query), asked(one.after, query)
            )
    for one in query.summaries:
        if one.name == name:
            groups = grouped(one.dimensions, one.per) + ([Item(kind="group", unit=one.grain)] if one.grain else [])
            if one.with_empty:
                groups[0] = groups[0].model_copy(update={"value": [*groups[0].values, "all"]})
            return Item(kind="asks", name=f"{one.agg}({one.metric})", of=groups)
    return Item(kind="asks", name=name)


def of_two(function, one, other, unit=None):
    return Item(kind="asks", name=f"{function}({one.name}, {other.name})", of=[one, other], unit=unit)


def ordered(order, query):
    side = "desc" if order.descending else "asc"
    if order.by in query.metrics:
        number = asked(order.by, query)
        return Item(kind="order", value=side, name=number.name, of=number.of)
    return Item(kind="order", value=side, name=spoken(order.by))


def said(one):
    """A condition as items."""
    match one:
        case AnyOf():
            return [Item(kind="filter", any_of=[item for part in one.any_of for item in said(part)])]
        case Apart():
            return [said_apart(one)]
        case First():
            name = ", ".join((one.by, *one.per))
            return [
                Item(
                    kind="filter",
                    name=f"{'last' if one.is_last else 'first'}({name})",
                    of=[i for part in one.filters for i in said(part)],
                )
            ]
        case Related():
            return [said_related(one)]
    negation = "not " if one.negated else ""
    if one.operator == "in":
        operator = ("is not" if one.negated else "is") if not one.values else f"{negation}in"
        return [Item(kind="filter", name=spoken(one.dimension), operator=operator, value=list(one.values) or None)]
    plain = {"is_null": "is null", "is_weekend": "is weekend"}.get(one.operator, one.operator.replace("_", " "))
    operator = {"not is null": "not null", "not is weekend": "not weekend"}.get(
        f"{negation}{plain}", f"{negation}{plain}"
    )
    return [Item(kind="filter", name=spoken(one.dimension), operator=operator, value=list(one.values) or None)]


def said_apart(one):
    name = f"after({one.moment}, {one.since})"
    negation = "not " if one.negated else ""
    if one.same:
        return Item(kind="filter", name=name, operator=f"{negation}same", unit=one.same)
    ends = [end for end in (one.least, one.most) if end is not None]
    if len(ends) == 2:
        operator = "<" if one.is_open else "between"
    else:
        operator = ("<" if one.most is not None else ">") + ("" if one.is_open else "=")
    return Item(kind="filter", name=name, operator=f"{negation}{operator}", value=ends, unit=one.unit)


def said_related(one):
    of = [Item(kind="group", name=one.entity), *(item for part in one.filters for item in said(part))]
    known = {"kind": "having", "name": one.metric, "operator": "==" if one.comparison == "=" else one.comparison}
    if one.against:
        return Item(**known, of=[*of, Item(kind="asks", name=f"{one.against}({one.metric})")])
    if one.than:
        inner = [item for part in one.than.filters for item in said(part)]
        return Item(**known, of=[*of, Item(kind="asks", name=one.than.metric, of=inner)])
    return Item(**known, value=one.value, of=of)
