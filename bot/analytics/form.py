"""The form for a question that was not read whole: what the catalogue can say, what was understood, what was filled in.

A filled form is a query in the words of the catalogue. It needs no language model and no grammar: the compiler says
whether it can be answered, and the answer shows what was compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import combinations
from types import MappingProxyType
from typing import Annotated, Any, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.analytics.reader.understood import Understood
from bot.conversation import Choice, Form, FormField
from bylaw.authored.context import Context, Entity, Grain
from bylaw.authored.machines.access import Rights
from bylaw.language import dates
from bylaw.language.periods import CalendarRules
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Condition, Filter, Order, SemanticQuery, Summary, Unanswerable, Window

OPTION = "form"  # of a Question: what was filled in
PERIODS = (
    "all time", "today", "yesterday", "last 7 days", "last 30 days", "this week", "last week", "this month",
    "last month", "this quarter", "last quarter", "this year", "last year",
)  # fmt: skip
ASKED = "Fill in the form: the number, by what, which rows, which period."
LIMITS = ("1", "3", "5", "10", "20", "50")
_AGGREGATES = ("sum", "avg", "min", "max")
_WORDS = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest", "count_distinct": "number of different"}
_NUMERIC = ("int", "bigint", "smallint", "dec", "num", "double", "float", "real")
_GRAINS: tuple[Grain, ...] = get_args(Grain)
_LONGEST = 300
_OF_EACH = re.compile(r"(avg|median|min|max)\((.+)\) per ([\w@]+)")  # a number of what each row of an entity has
_COMPARED = re.compile(r"([^<>=]+)(<=|>=|<|>|=)(.*)", re.DOTALL)
_SIGNS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": ""}


class Days(BaseModel):
    """A span of days: `start` is included, `end` is not."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: date
    end: date


class Filled(BaseModel):
    """What a person or a program filled in. `query` is a whole semantic query instead of the single fields.

    `metrics` are names of the catalogue, aggregates written out (`avg(payments.amount)`), or an aggregate of what each
    of something has (`avg(order_count) per customers`); without one the rows are listed, with the columns that `by`
    names. `period` is a phrase of time ("last quarter") or two days, of `date` where
    a date is named.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: tuple[Annotated[str, Field(max_length=_LONGEST)], ...] = ()
    by: tuple[Annotated[str, Field(max_length=_LONGEST)], ...] = ()
    grain: Grain | None = None
    filters: tuple[Condition, ...] = ()
    period: Annotated[str, Field(max_length=_LONGEST)] | Days | None = None
    date: Annotated[str, Field(max_length=_LONGEST)] | None = None
    order: tuple[Order, ...] = ()
    limit: Annotated[int, Field(ge=1, le=100_000)] | None = None
    query: SemanticQuery | None = None


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
    window = _window(form.period, today, calendar)
    filters = form.filters
    if window is not None and not form.metrics:
        filters, window = (*filters, *_days(_date_of_list(form, compiler), window)), None
    summaries = {name: found for name in form.metrics if (found := _summary(name)) is not None}
    try:
        return SemanticQuery(
            metrics=tuple(summaries[name].name if name in summaries else name for name in form.metrics),
            summaries=tuple(summaries.values()),
            dimensions=form.by,
            grain=form.grain,
            filters=filters,
            window=window,
            time_dimension=form.date,
            order=form.order,
            limit=form.limit,
        )
    except ValidationError as problem:
        raise Unanswerable(f"the form asks for nothing that can be answered: {problem.errors()[0]['msg']}") from None


def _summary(name: str) -> Summary | None:
    """The number of what each of something has that *name* writes out; None where it writes out no such number."""
    found = _OF_EACH.fullmatch(name)
    if found is None:
        return None
    agg, metric, entity = cast(Any, found[1]), found[2], found[3]
    return Summary(name=_said_of_each(found), agg=agg, metric=metric, per=(entity,))


def _said_of_each(found: re.Match[str]) -> str:
    return f"{_WORDS.get(found[1], found[1])} {readable(_counted(found[2]))} per {readable(found[3])}"


def _counted(metric: str) -> str:
    return f"number of {metric[6:-1]}" if metric.startswith("count(") else metric


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


# ---- what the catalogue can say


def blank(context: Context, rights: Rights | None, known: Understood = MappingProxyType({})) -> Form:
    """The form with everything that somebody with *rights* may ask for, and what was understood chosen."""
    entities = [
        one for one in context.entities.values() if rights is None or one.base_table.schema_name in rights.schemas
    ]
    shown = {one.name for one in entities}
    fields = [
        _field("metrics", "Number", _numbers(context, entities), is_many=True),
        _field("by", "By", _columns(entities, shown), is_many=True),
        _field("filters", "Only", _values(entities, shown), is_many=True),
        _field("period", "Period", (Choice(value=one, label=one) for one in PERIODS)),
        _field("grain", "Each", (Choice(value=one, label=one) for one in _GRAINS)),
        _field("date", "By the date", _dates(entities)),
        _field("order", "Order", _ORDERS),
        _field("limit", "First", (Choice(value=one, label=one) for one in LIMITS)),
    ]
    labels = {one.name: [f"{one.name}.{short}" for short in _told_by(one)] for one in entities}
    return Form(fields=tuple(_chosen(one, known, labels) for one in fields))


def _told_by(entity: Entity) -> Sequence[str]:
    """The dimensions that rows are told by: the label, else the key."""
    key = entity.primary_key.columns if entity.primary_key else []
    return entity.label or [one.name for one in entity.dimensions if one.sql in key]


_ORDERS = (Choice(value="descending", label="highest first"), Choice(value="ascending", label="lowest first"))


def _field(name: str, label: str, options: Iterable[Choice], is_many: bool = False) -> FormField:
    unique = {one.value: one for one in options}
    return FormField(name=cast(Any, name), label=label, options=tuple(unique.values()), is_many=is_many)


def _numbers(context: Context, entities: Sequence[Entity]) -> Iterator[Choice]:
    shown = {one.name for one in entities}
    for name, metric in sorted(context.metrics.items()):
        if _owners(context, name) <= shown:
            yield Choice(value=name, label=readable(metric.name))
    for entity in entities:
        yield Choice(value=f"count({entity.name})", label=f"number of {readable(entity.name)}")
    for entity in entities:
        for fact in entity.facts:
            if fact.name in entity.pii:
                continue
            is_number = fact.data_type is None or fact.data_type.lower().startswith(_NUMERIC)
            for agg in _AGGREGATES if is_number else ("count_distinct",):
                said = f"{_WORDS[agg]} {readable(fact.name)} of {readable(entity.name)}"
                yield Choice(value=f"{agg}({entity.name}.{fact.name})", label=said)

        for first, last in combinations(entity.time_dimensions, 2):
            unit = (
                "hours"
                if all((one.data_type or "").lower().startswith("timestamp") for one in (first, last))
                else "days"
            )
            said = f"average {unit} from {readable(first.name)} to {readable(last.name)} of {readable(entity.name)}"
            ends = ", ".join(f"{entity.name}.{one.name}" for one in (first, last))
            yield Choice(value=f"avg({entity.name}.{unit}({ends}))", label=said)


def _owners(context: Context, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """The entities that a metric is made of."""
    metric = context.metrics.get(name)
    if metric is None or name in seen:
        return set()
    parts = (metric.numerator, metric.denominator, metric.metric, *(one.name for one in metric.inputs))
    found = {metric.entity} if metric.entity else set()
    return found.union(*(_owners(context, part, seen | {name}) for part in parts if part))


def _columns(entities: Sequence[Entity], shown: set[str]) -> Iterator[Choice]:
    """Every dimension, and those of an entity that several relationships lead to by each of them."""
    roles = _roles(entities, shown)
    for entity in entities:
        names = [one.name for one in entity.dimensions if one.name not in entity.pii]
        for name in names:
            yield Choice(value=f"{entity.name}.{name}", label=_labelled(entity, name))
        for role, said in roles.get(entity.name, ()):
            for name in names:
                yield Choice(value=f"{entity.name}@{role}.{name}", label=f"{_labelled(entity, name)}, {said}")
    for entity in entities:
        for moment in (one for one in entity.time_dimensions if one.time_granularity == "day"):
            value = f"{entity.name}.weekday({moment.name})"
            yield Choice(value=value, label=f"weekday of {readable(moment.name)} ({readable(entity.name)})")


def _roles(entities: Sequence[Entity], shown: set[str]) -> dict[str, list[tuple[str, str]]]:
    """The relationships that lead to an entity where several do, with what people call them."""
    roles: dict[str, list[tuple[str, str]]] = {}
    for entity in entities:
        ends = [one.right_entity for one in entity.relationships]
        for one in entity.relationships:
            if ends.count(one.right_entity) > 1 and one.right_entity in shown:
                roles.setdefault(one.right_entity, []).append((one.name, readable(one.name)))
    return roles


def _labelled(entity: Entity, name: str) -> str:
    return f"{readable(name)} ({readable(entity.name)})"


def _values(entities: Sequence[Entity], shown: set[str]) -> Iterator[Choice]:
    roles = _roles(entities, shown)
    for entity in entities:
        for dimension in entity.dimensions:
            if dimension.name in entity.pii:
                continue
            for value in dimension.sample_values:
                name = f"{entity.name}.{dimension.name}"
                label = f"{readable(dimension.name)}: {value}"
                yield Choice(value=f"{name}={value}", label=label)
                for role, said in roles.get(entity.name, ()):
                    place = f"{entity.name}@{role}.{dimension.name}"
                    yield Choice(value=f"{place}={value}", label=f"{label}, {said}")
        for narrowed in entity.filters:
            if narrowed.apply == "on_request":
                yield Choice(value=f"{entity.name}.{narrowed.name}", label=readable(narrowed.name))


def _compared(told: str) -> str | None:
    """`clubs.name=Delfin`, `courses.price<100` as one reads them."""
    found = _COMPARED.fullmatch(told)
    if found is None:
        return None
    sign = f" {_SIGNS[found[2]]}" if found[2] != "=" else ":"
    return f"{readable(found[1].rpartition('.')[2])}{sign} {found[3]}"


def _of_each(told: str) -> str | None:
    found = _OF_EACH.fullmatch(told)
    return _said_of_each(found) if found is not None else None


def _dates(entities: Sequence[Entity]) -> Iterator[Choice]:
    for entity in entities:
        for moment in entity.time_dimensions:
            yield Choice(value=f"{entity.name}.{moment.name}", label=_labelled(entity, moment.name))


def readable(name: str) -> str:
    """A name as one reads it."""
    return name.replace("_", " ")


# ---- what was understood


def _chosen(field: FormField, known: Understood, labels: Mapping[str, Sequence[str]]) -> FormField:
    """*field* with what was understood; a span of time in the words that were said, and an entity by its label.

    A value that was looked up, a comparison, and a number of what each has are offered too: no catalogue lists them.
    """
    said = [name for value in known.get(field.name, ()) for name in labels.get(value, (value,))]
    if field.name in ("filters", "metrics"):
        label = _compared if field.name == "filters" else _of_each
        more = (Choice(value=one, label=told) for one in said if (told := label(one)) is not None)
        unique = {one.value: one for one in (*more, *field.options)}
        field = field.model_copy(update={"options": tuple(unique.values())})
    if field.name in ("period", "limit"):
        names = dict.fromkeys([*said, *(one.value for one in field.options)])
        field = field.model_copy(update={"options": tuple(Choice(value=one, label=one) for one in names)})
    offered = {one.value for one in field.options}
    found = tuple(value for value in said if value in offered)
    return field.model_copy(update={"chosen": found if field.is_many else found[:1]})


def known_of(query: SemanticQuery) -> Understood:
    """What of *query* the fields of the form can say: where it cannot be answered, the person changes it there."""
    filters = [one for one in query.filters if isinstance(one, Filter) and one.operator == "in" and not one.negated]
    order = query.order[:1]
    found: dict[str, tuple[str, ...]] = {
        "metrics": query.metrics,
        "by": query.dimensions,
        "filters": tuple(f"{one.dimension}={value}" for one in filters for value in one.values),
        "period": (query.window.label,) if query.window is not None else (),
        "grain": (query.grain,) if query.grain else (),
        "date": (query.time_dimension,) if query.time_dimension else (),
        "order": ("descending" if order[0].descending else "ascending",) if order else (),
        "limit": (str(query.limit),) if query.limit else (),
    }
    return {name: values for name, values in found.items() if values}


# ---- what a menu or a terminal sends back


def from_choices(picked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The values that were picked in the fields of a form, as a filled form in JSON."""
    metrics, by = list(picked.get("metrics", ())), list(picked.get("by", ()))
    values: dict[tuple[str, str], list[str]] = {}
    for one in picked.get("filters", ()):
        found = _COMPARED.fullmatch(one)
        name, sign, value = found.groups() if found is not None else (one, "=", None)
        values.setdefault((name, sign), []).extend([value] if value is not None else [])
    filters = [_filter(name, sign, given) for (name, sign), given in values.items()]
    made: dict[str, Any] = {"metrics": metrics, "by": by, "filters": filters}
    made |= {name: picked[name][0] for name in ("period", "grain", "date") if picked.get(name)}
    if picked.get("limit"):
        made["limit"] = picked["limit"][0]
    if picked.get("order") and (metrics or by):
        made["order"] = [{"by": (metrics + by)[0], "descending": picked["order"][0] == "descending"}]
    return made


def _filter(name: str, sign: str, values: Sequence[str]) -> dict[str, Any]:
    """One condition of a filled form; what is compared with a number is one."""
    if sign == "=":
        return {"dimension": name, "values": list(values)}
    return {"dimension": name, "operator": sign, "values": [_number(value) for value in values]}


def _number(value: str) -> int | float | str:
    try:
        return int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        return value  # a day
