"""The form for a question that was not read whole: what was understood, what was filled in, the query that asks it.

A filled form is a query in the words of the catalogue, made of the values of its options. It needs no language model
and no grammar: the compiler says whether it can be answered, and the answer shows what was compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bot.analytics import offered, spelled
from bot.analytics.reading import Understood
from bot.conversation import Choice, Form, FormField
from bylaw.authored.context import Context, Entity
from bylaw.authored.machines.access import Rights
from bylaw.authored.record import Grain
from bylaw.hold.item import Item
from bylaw.language import dates
from bylaw.language.periods import CalendarRules
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import (
    Condition,
    Filter,
    Measure,
    Order,
    Related,
    SemanticQuery,
    SeveralUnits,
    Unanswerable,
    Window,
)

OPTION = "form"  # of a Question: what was filled in
ASKED = "Fill in the form: the number, by what, which rows, which period."
_LONGEST = 300
_WORD = re.compile(r"\w+")
_WORD_ENDS = re.compile(r"\W+")
_Text = Annotated[str, Field(max_length=_LONGEST)]


class Days(BaseModel):
    """A span of days: `start` is included, `end` is not."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    start: date
    end: date


def _several(given: object) -> object:
    return (given,) if isinstance(given, str) else given


Direction = Literal["ascending", "descending"]


class Filled(BaseModel):
    """What a person or a program filled in. `query` is a whole semantic query instead of the single fields.

    `metrics`, `by`, `filters` and `order` take the values of the form's options as they are; one that ends with `?`
    takes a value, or a sign and a value, in place of the `?`. Without a number the rows are listed, with the columns
    that `by` names. `period` is a phrase of time ("last quarter") or two days, of `date` where a date is named: of the
    rows that are asked for, or of those that a condition counts. The numbers of the period that it is `compared_with`
    stand beside its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    metrics: tuple[_Text, ...] = ()
    by: tuple[_Text, ...] = ()
    grain: Grain | None = None
    filters: tuple[_Text | Condition, ...] = ()
    period: _Text | Days | None = None
    compared_with: _Text | Days | None = None
    date: _Text | None = None
    order: Annotated[tuple[Direction | Order, ...], BeforeValidator(_several)] = ()
    limit: Annotated[int, Field(ge=1, le=100_000)] | None = None
    query: SemanticQuery | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Which rows are meant. Raises Unanswerable for an option that nobody completed."""
        return spelled.conditions(self.filters)


def filled(given: Any) -> Filled:
    """The form in *given*. Raises Unanswerable for what is none."""
    try:
        return Filled.model_validate(given)
    except ValidationError as problem:
        first = problem.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Unanswerable(f"the form cannot be read at `{place}`: {first['msg']}", _HELP) from None
    except RecursionError:
        raise Unanswerable("the form is nested too deeply", _HELP) from None


_HELP = 'a form is written like {"metrics": ["revenue"], "by": ["customers.region"], "period": "last month"}'


def query_of(form: Filled, compiler: Compiler, today: date, calendar: CalendarRules) -> SemanticQuery:
    """The query that *form* asks for. Raises Unanswerable where it asks for nothing, or for a period that is none."""
    if form.query is not None:
        if form != Filled(query=form.query):
            raise Unanswerable("the form has a whole query and single fields", "send one of both")
        return form.query
    if not form.metrics and not form.by:
        raise Unanswerable("the form names no number and no column", "choose one of them")
    filters, window, dated = _timed(form, compiler, _window(form.period, today, calendar))
    summaries = {name: found for name in form.metrics if (found := spelled.summary(name)) is not None}
    numbers = tuple(summaries[name].name if name in summaries else name for name in form.metrics)
    compared = _beside(form, numbers, window, _window(form.compared_with, today, calendar))
    numbers = tuple(one.name for one in compared) or numbers
    first = (*numbers, *form.by)[0]
    try:
        query = SemanticQuery(
            metrics=numbers,
            measures=compared,
            summaries=tuple(summaries.values()),
            dimensions=form.by,
            grain=form.grain,
            filters=filters,
            window=None if compared else window,
            time_dimension=dated,
            order=tuple(
                Order(by=first, descending=one == "descending") if isinstance(one, str) else one for one in form.order
            ),
            limit=form.limit,
        )
    except ValidationError as problem:
        raise Unanswerable(f"the form asks for nothing that can be answered: {problem.errors()[0]['msg']}") from None
    return _by_units(query, compiler)


def _by_units(query: SemanticQuery, compiler: Compiler) -> SemanticQuery:
    """*query*, grouped by the units of its rows where they have several: an option of the form is always answered."""
    try:
        compiler.compile(query)
    except SeveralUnits as problem:
        if problem.by is not None and problem.by not in query.dimensions:
            return query.model_copy(update={"dimensions": (*query.dimensions, problem.by)})
    except Unanswerable:
        pass  # whoever answers the form says why
    return query


def _timed(
    form: Filled, compiler: Compiler, window: Window | None
) -> tuple[tuple[Condition, ...], Window | None, str | None]:
    """The conditions, and the period of the numbers by which date: it may be one of rows that a condition counts."""
    found = form.conditions
    of = form.date.partition(".")[0] if form.date else ""
    counted = [one for one in found if isinstance(one, Related) and one.metric == f"count({of})"]
    if counted and form.date is not None:
        days = _days(form.date, window) if window is not None else ()
        narrowed = [one.model_copy(update={"filters": days}) if one in counted else one for one in found]
        return tuple(narrowed), None, None
    if window is not None and not form.metrics:
        return (*found, *_days(_date_of_list(form, compiler), window)), None, form.date
    return found, window, form.date


def _beside(form: Filled, numbers: Sequence[str], window: Window | None, other: Window | None) -> tuple[Measure, ...]:
    """Each of *numbers* in both periods, where two are compared. Raises Unanswerable where there are no two."""
    if other is None:
        return ()
    if window is None or not numbers or (window.start, window.end) == (other.start, other.end):
        raise Unanswerable("the form compares nothing with that period", "choose a number, and two periods")
    if form.grain is not None or any(spelled.summary(name) is not None for name in form.metrics):
        raise Unanswerable("two periods stand side by side as one figure each", "leave out the grain and the averages")
    return tuple(
        Measure(name=_WORD_ENDS.sub("_", f"{name} {one.label}".lower()).strip("_"), metric=name, window=one)
        for name in numbers
        for one in (window, other)
    )


def _window(period: str | Days | None, today: date, calendar: CalendarRules) -> Window | None:
    if isinstance(period, Days):
        if period.start >= period.end:
            raise Unanswerable("the period ends before it begins", "`end` is the day behind the last one")
        last = dates.day_before(period.end)
        return Window(start=period.start, end=period.end, label=f"{period.start} to {last}")
    if period is None or not period.strip():
        return None
    found = dates.find(period, today, calendar)
    whole = [one for one in found if period[one.begins : one.ends].strip(" .") == period.strip(" .")]
    if len(whole) != 1:
        raise Unanswerable(f"`{period}` is no period that I know", "write `last month`, `2025`, or give two days")
    start, end = whole[0].start, whole[0].end
    return None if start is None or end is None else Window(start=start, end=end, label=whole[0].label)


def _days(column: str, window: Window) -> tuple[Filter, Filter]:
    ends: tuple[tuple[Any, date], tuple[Any, date]] = ((">=", window.start), ("<", window.end))
    first, last = (Filter(dimension=column, operator=sign, values=(day.isoformat(),)) for sign, day in ends)
    return first, last


def _date_of_list(form: Filled, compiler: Compiler) -> str:
    """The date that a list is narrowed by: the one named, else that of the rows of its first column."""
    if form.date is not None:
        return form.date
    owner = form.by[0].partition(".")[0]
    entity = compiler.context.entities.get(owner.partition("@")[0])
    default = entity.default_time() if entity is not None else None
    if default is None:
        raise Unanswerable(f"`{owner}` has no date of its own", "name the `date` that the period is of")
    return f"{owner}.{default.name}"


# ---- what was understood


def blank(context: Context, rights: Rights | None, known: Understood = MappingProxyType({})) -> Form:
    """The form with everything that somebody with *rights* may ask for, and what was understood chosen.

    What is said of the things that were understood comes first: a menu may not have room for everything.
    """
    labels = {one.name: [f"{one.name}.{short}" for short in _told_by(one)] for one in context.entities.values()}
    open_ = unsaid(context, known)
    known = {name: tuple(one for one in values if _place(one) not in open_) for name, values in known.items()}
    near = {*open_} | {name for values in known.values() for value in values for name in _things(value, context)}
    fields = [_chosen(one, known, labels) for one in offered.fields(context, rights)]
    return Form(fields=tuple(_sorted(one, near, context) if near else one for one in fields))


def unsaid(context: Context, known: Understood) -> dict[str, tuple[str, ...]]:
    """By the entities that were understood: by which of several ways the rows that are counted lead there."""
    counted = sorted(name for value in known.get("metrics", ())[:1] for name in _things(value, context))
    spoken = {_place(value) for name in ("by", "filters") for value in known.get(name, ())}
    found = offered.unsaid(context, counted[0]) if len(counted) == 1 and spoken else {}
    return {name: ways for name, ways in found.items() if name in spoken}


def which_way(context: Context, known: Understood) -> str:
    """The question by which way, one sentence for each entity; empty where there is nothing to ask."""
    asked = unsaid(context, known).items()
    return "".join(f" Which {spelled.readable(name)}: {', '.join(ways)}?" for name, ways in asked)


def _place(value: str) -> str:
    return value.partition(".")[0]


def _things(value: str, context: Context) -> set[str]:
    """The entities that an option speaks of."""
    metric = context.metrics.get(value)
    words = {metric.entity} if metric is not None and metric.entity else set(_WORD.findall(value))
    return words & set(context.entities)


def _sorted(field: FormField, near: set[str], context: Context) -> FormField:
    if field.name not in ("metrics", "by", "filters", "date"):
        return field
    options = sorted(field.options, key=lambda one: not near & _things(one.value, context))
    return field.model_copy(update={"options": tuple(options)})


def _told_by(entity: Entity) -> Sequence[str]:
    """The dimensions that rows are told by: the label, else the key."""
    key = entity.primary_key.columns if entity.primary_key else []
    return entity.label or [one.name for one in entity.dimensions if one.sql in key]


def _chosen(field: FormField, known: Understood, labels: Mapping[str, Sequence[str]]) -> FormField:
    """*field* with what was understood; a span of time in the words that were said, and an entity by its label.

    A value that was looked up, a comparison, and a number of what each has are offered too: no catalogue lists them.
    """
    said = [name for value in known.get(field.name, ()) for name in labels.get(value, (value,))]
    if field.name in ("filters", "metrics"):
        more = (Choice(value=one, label=told) for one in said if (told := spelled.told(one)) is not None)
        unique = {one.value: one for one in (*more, *field.options)}
        field = field.model_copy(update={"options": tuple(unique.values())})
    if field.name in ("period", "compared_with", "limit"):
        names = dict.fromkeys([*said, *(one.value for one in field.options)])
        field = field.model_copy(update={"options": tuple(Choice(value=one, label=one) for one in names)})
    known_here = {one.value for one in field.options}
    found = tuple(value for value in said if value in known_here)
    return field.model_copy(update={"chosen": found if field.is_many else found[:1]})


def known_of(query: SemanticQuery) -> Understood:
    """What of *query* the fields of the form can say: where it cannot be answered, the person changes it there."""
    order = query.order[:1]
    numbers = {one.name: spelled.of_each(one) for one in query.summaries}
    found: dict[str, tuple[str, ...]] = {
        "metrics": tuple(numbers.get(name) or name for name in query.metrics),
        "by": query.dimensions,
        "filters": tuple(option for one in query.filters for option in spelled.options_of(one)),
        "period": (query.window.label,) if query.window is not None else (),
        "grain": (query.grain,) if query.grain else (),
        "date": (query.time_dimension,) if query.time_dimension else (),
        "order": ("descending" if order[0].descending else "ascending",) if order else (),
        "limit": (str(query.limit),) if query.limit else (),
    }
    return {name: values for name, values in found.items() if values}


def with_units(known: Understood, problem: object) -> Understood:
    """*known* with the group by which rows of several units are told apart, so that the form may be sent as it is."""
    by = problem.by if isinstance(problem, SeveralUnits) else None
    return known if by is None else {**known, "by": tuple(dict.fromkeys((*known.get("by", ()), by)))}


def known_of_items(items: Sequence[Item]) -> Understood:
    """What of *items* that make no query the fields of the form can say."""
    found: dict[str, list[str]] = {}
    for one in items:
        for name, value in _fields(one):
            found.setdefault(name, []).append(value)
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}


def _fields(one: Item) -> Iterator[tuple[str, str]]:
    """The fields that an item fills in, each with what."""
    name, values = one.name or "", [str(value) for value in one.values]
    match one.kind:
        case "asks" if name.startswith(("values(", "list(")):
            yield "by", name.partition("(")[2].removesuffix(")")
        case "asks" if not one.of:
            yield "metrics", name
        case "asks" if [part.kind for part in one.of] == ["group"] and one.of[0].unit is None:
            yield "metrics", f"{name} per {one.of[0].name}"
        case "group" if one.unit is not None:
            yield "grain", one.unit
        case "group" if name:
            yield "by", name
        case "filter" if not one.any_of and one.operator in ("==", "in", None) and "(" not in name:
            yield from (("filters", f"{name}={value}") for value in values)
        case "filter" if one.operator == "is":
            yield "filters", name
        case "filter" if one.operator in ("<", "<=", ">", ">=") and len(values) == 1 and one.unit is None:
            yield "filters", f"{name}{one.operator}{values[0]}"
        case "time" | "compare" if one.quote is not None:
            spans = dates.find(one.quote, date(2100, 1, 1))  # whatever the day, its words are the same
            field = "period" if one.kind == "time" else "compared_with"
            yield from ((field, one.quote[span.begins : span.ends]) for span in spans[:1])
        case "order":
            yield "order", "descending" if one.value == "desc" else "ascending"
        case "limit":
            yield "limit", values[0]


# ---- what a menu or a terminal sends back


def from_choices(picked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The options that were picked, as a filled form in JSON. `values` complete the open ones, in their order."""
    typed = iter(picked.get("values", ()))
    filters = [
        spelled.completed(one, next(typed, "")) if one.endswith(spelled.OPEN) else one
        for one in picked.get("filters", ())
    ]
    made: dict[str, Any] = {"metrics": list(picked.get("metrics", ())), "by": list(picked.get("by", ()))}
    made["filters"] = filters
    single = ("period", "compared_with", "grain", "date", "order", "limit")
    return made | {name: picked[name][0] for name in single if picked.get(name)}
