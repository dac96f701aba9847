"""Which rows are meant: the conditions of a semantic query from the items that say them.

Every key of an item ends in the condition or is refused by name; nothing of it is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from bot.ask.query.names import Means, is_entity, rate_of, spell, spell_field, unit_of
from bot.ask.query.spans import filters_of, read_window
from bylaw.hold.item import Item, Scalar
from bylaw.hold.targets import Expression, parse_expression
from bylaw.language.lexicon import lexicon, stem
from bylaw.language.text import words_of
from bylaw.semantic.query import AnyOf, Apart, Condition, Filter, First, Related, Than, Unanswerable

_COMPARED = ("<", "<=", ">", ">=")
_SEARCHES: Mapping[str, str] = {"contains": "contains", "starts with": "starts_with", "ends with": "ends_with"}
_GRAINS = ("day", "week", "month", "quarter", "year")
_ALONE: Mapping[str, str] = {"is null": "is_null", "is weekend": "is_weekend"}


def read_conditions(items: Iterable[Item], means: Means, each: str | None) -> tuple[Condition, ...]:
    """The conditions that *items* say; *each* is what a number of each row is of, where an item does not say it."""
    found = [(item, one) for item in items for one in _CONDITIONS.get(item.kind, _refuse)(item, means, each)]
    return tuple(_unite(found))


def _refuse(item: Item, _means: Means, _each: str | None) -> tuple[Condition, ...]:
    raise Unanswerable(f"`{item.kind}` is no condition on rows", "conditions are `filter`, `having` and `time`")


def _unite(found: Sequence[tuple[Item, Condition]]) -> Iterable[Condition]:
    """Values of one column that are each said to be equal are any of them; what is said twice is said once."""
    columns: dict[str, int] = {}
    united: list[Condition] = []
    for item, one in found:
        k = len(united)
        if isinstance(one, Filter) and one.values and one.operator == "in" and item.operator in (None, "=="):
            k = columns.setdefault(one.dimension, k)
        if k == len(united):
            united += [one] if one not in united else []
        else:
            values = (*cast(Filter, united[k]).values, *cast(Filter, one).values)
            united[k] = united[k].model_copy(update={"values": tuple(dict.fromkeys(values))})
    return united


# ---- one row


def _read_filter(item: Item, means: Means, each: str | None) -> tuple[Condition, ...]:
    if item.any_of:
        return (_read_any(item, means, each),)
    expression = parse_expression(item.name or "")
    if expression.function == "after":
        return (_read_apart(item, expression, means),)
    if expression.function in ("first", "last"):
        return (_read_first(item, expression, means, each),)
    _refuse_keys(item, "of")
    return _read_column(item, spell_field(item.name, means), means)


def _read_any(item: Item, means: Means, each: str | None) -> AnyOf:
    _refuse_keys(item, "name", "operator", "value", "unit", "of")
    parts: list[Any] = []
    for one in item.any_of:
        found = read_conditions((one,), means, each)
        if len(found) != 1 or isinstance(found[0], AnyOf):
            raise Unanswerable(f"`{one.name}` is two conditions, and one of several is one", "say one side of it")
        parts += found
    return AnyOf(any_of=tuple(parts))


def _read_column(item: Item, name: str, means: Means) -> tuple[Filter, ...]:
    """What is said of one column, or of a named filter."""
    operator, is_negated = _side(item)
    if operator in _ALONE or (operator == "==" and _is_named_filter(item, name, means)):
        _refuse_keys(item, "unit", *(() if operator == "==" else ("value",)))
        is_off = operator == "==" and item.value is False
        sign = cast(Any, _ALONE.get(operator, "in"))
        return (Filter(dimension=name, operator=sign, negated=is_negated is not is_off),)
    if operator not in ("==", "between", *_COMPARED, *_SEARCHES):
        raise Unanswerable(f"`{name}` is not compared by `{item.operator}`")
    values = tuple(_converted(value, item, name, means) for value in item.values)
    if not values:
        raise Unanswerable(f"`{name}` is compared with nothing", "give a `value`")
    if operator == "between":
        if len(values) != 2 or is_negated:
            raise Unanswerable(f"`{name}` is between two values", "give `value` as a list of two")
        ends = zip((">=", "<="), values, strict=True)
        return tuple(Filter(dimension=name, operator=cast(Any, sign), values=(value,)) for sign, value in ends)
    if operator in _COMPARED and len(values) != 1:
        raise Unanswerable(f"`{name}` {operator} takes one value")
    sign = cast(Any, operator if operator in _COMPARED else _SEARCHES.get(operator, "in"))
    return (Filter(dimension=name, operator=sign, values=values, negated=is_negated),)


def _side(item: Item) -> tuple[str, bool]:
    """The operator without its denial, and whether it is denied."""
    operator = item.operator or "=="
    plain = {"!=": "==", "not in": "==", "in": "==", "is": "==", "is not": "==", "not null": "is null",
             "not weekend": "is weekend"}  # fmt: skip
    is_negated = operator in ("!=", "is not") or operator.startswith("not ")
    return plain.get(operator, operator.replace("not ", "", 1) if operator.startswith("not ") else operator), is_negated


def _is_named_filter(item: Item, name: str, means: Means) -> bool:
    is_flag = item.value is None or isinstance(item.value, bool)
    return is_flag and means.compiler.names.named_filter(name) is not None


def _converted(value: Scalar, item: Item, name: str, means: Means) -> Any:
    """The value in the unit of the column."""
    if item.unit is None:
        return value
    if isinstance(value, bool | str):
        raise Unanswerable(f"`{value}` has no unit", f"leave out `{item.unit}`")
    return _plain(Fraction(str(value)) * rate_of(item.unit, unit_of(name, means), name))


def _plain(value: Fraction) -> int | Decimal:
    return int(value) if value.denominator == 1 else Decimal(value.numerator) / Decimal(value.denominator)


def _read_apart(item: Item, expression: Expression, means: Means) -> Apart:
    """How far a moment lies behind another: `after(a, b)`, with `unit`, and one end or two."""
    if len(expression.arguments) != 2:
        raise Unanswerable(f"`{item.name}` is of two dates", "write `after(entity.date, entity.date)`")
    _refuse_keys(item, "of")
    moment, since = (spell(one, means) for one in expression.arguments)
    operator, is_negated = _side(item)
    unit = (item.unit or "day").removesuffix("s")
    if unit not in _GRAINS:
        raise Unanswerable(f"dates are so many days, weeks, months, quarters or years apart, not {item.unit}")
    ends: dict[str, Any] = {"moment": moment, "since": since, "negated": is_negated}
    if operator == "same":
        _refuse_keys(item, "value")
        return Apart(**ends, same=cast(Any, unit))
    numbers = [value for value in item.values if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) != len(item.values) or not numbers or len(numbers) > 2:
        raise Unanswerable(f"`{item.name}` takes one or two whole numbers", "as in `value: 10`, or `value: [0, 10]`")
    is_open = operator in ("<", ">")
    if len(numbers) == 2 and operator in ("between", "<"):
        return Apart(**ends, least=numbers[0], most=numbers[1], unit=cast(Any, unit), is_open=is_open)
    if operator not in _COMPARED or len(numbers) != 1:
        raise Unanswerable(f"`{item.name}` is not compared by `{operator}`", "use `<=`, `>=`, or `between` two numbers")
    end = "most" if operator in ("<", "<=") else "least"
    return Apart(**ends, unit=cast(Any, unit), is_open=is_open, **{end: numbers[0]})


def _read_first(item: Item, expression: Expression, means: Means, each: str | None) -> First:
    """The first or last rows by a date, of each of some things: `last(orders.placed_at, customers)`."""
    _refuse_keys(item, "operator", "value", "unit")
    date, *places = (spell(one, means) for one in expression.arguments)
    if not date:
        raise Unanswerable(f"`{item.name}` is by no date", "write `last(entity.date, entity)`")
    filters = read_conditions(item.of, means, each)
    if strange := [one for one in filters if isinstance(one, First | Related)]:
        raise Unanswerable(f"`{item.name}` takes no condition on other rows", f"say {len(strange)} of them outside")
    return First(by=date, per=tuple(places), is_last=expression.function == "last", filters=cast(Any, filters))


# ---- rows that belong to a row


def _read_having(item: Item, means: Means, each: str | None) -> tuple[Condition, ...]:
    """A number of each row: `of` narrows the rows that are counted, names what it is of, and what it is compared with.

    A `group` in `of` is what each number is of; an `asks` is another number of the same row, or the average of all.
    """
    metric = spell_number(item, means)
    groups = [one for one in item.of if one.kind == "group"]
    others = [one for one in item.of if one.kind == "asks"]
    rest = [one for one in item.of if one.kind not in ("group", "asks")]
    if len(groups) > 1 or len(others) > 1:
        raise Unanswerable(f"`{item.name}` is a number of each of one thing, compared with one number")
    entity = spell_field(groups[0].name, means) if groups else each
    if entity is None:
        raise Unanswerable(f"`{item.name}` is said of each of something", "name it: a `group` in its `of`")
    filters = read_conditions([_dated(one, metric, means) for one in rest], means, None)
    known: dict[str, Any] = {"entity": entity, "metric": metric, "filters": filters}
    known["comparison"] = _comparison(item)
    if others:
        _refuse_keys(item, "value", "unit")
        return (Related(**known, **_other_number(others[0], item, metric, means)),)
    if item.value is None or isinstance(item.value, list):
        raise Unanswerable(f"`{item.name}` is compared with nothing", "give a `value`")
    return (Related(**known, value=_converted(item.value, item, metric, means)),)


def _comparison(item: Item) -> Any:
    operator = item.operator or ">="
    found = "=" if operator == "==" else operator
    if found not in ("=", "!=", *_COMPARED):
        raise Unanswerable(f"`{item.name}` is not compared by `{operator}`", "use =, !=, <, <=, > or >=")
    return found


def _other_number(other: Item, item: Item, metric: str, means: Means) -> dict[str, Any]:
    expression = parse_expression(other.name or "")
    if expression.function in ("avg", "median") and expression.arguments[0].text == item.name:
        _refuse_keys(other, "of", "unit")
        return {"against": expression.function}
    _refuse_keys(other, "unit")
    name = spell_number(other, means)
    filters = read_conditions([_dated(one, name, means) for one in other.of], means, None)
    return {"than": Than(metric=name, filters=cast(Any, filters))}


def _dated(item: Item, metric: str, means: Means) -> Item:
    """A time of the rows that are counted is of their own date, where it names no other."""
    if item.kind != "time" or item.name is not None:
        return item
    dates = means.compiler.dates_of(metric)
    if len(dates) != 1:
        raise Unanswerable(f"the rows of `{metric}` have no date, or several", "give the time a `name`")
    return item.model_copy(update={"name": dates[0]})


def _read_time(item: Item, means: Means, _each: str | None) -> tuple[Condition, ...]:
    if item.name is None:
        raise Unanswerable("a second time is of no date", "give it a `name`, as in `orders.paid_at`")
    return filters_of(spell_field(item.name, means), read_window(item, means))


def spell_number(item: Item, means: Means) -> str:
    """The number that an item names; a count of rows is the metric that its words call by name, where there is one."""
    name = spell_field(item.name, means)
    if item.quote is None or not name.startswith("count("):
        return name
    return _metric_called(item.quote, name, means) or name


def _metric_called(quote: str, name: str, means: Means) -> str | None:
    """The metric that *quote* calls by a name of it and that counts the rows of *name*, or that is called their number:
    "flights" in "how many flights" is the metric whose synonym is "number of flights".
    """
    from bylaw.hold.text import see

    entity = name.removeprefix("count(").removesuffix(")")
    metrics = means.context.metrics
    counting = [
        one
        for one, metric in sorted(metrics.items())
        if metric.entity == entity and metric.agg in ("count", "count_distinct")
    ]
    seen = see(quote)
    tokens = seen.words(0, len(seen.text.seen))
    owners = {owner.name for mention in means.index.find(tokens) for owner in mention.owners}
    called = [one for one in counting if one in owners] or [
        one for one in counting if entity in owners and _is_number_of(one, entity, means)
    ]
    return called[0] if len(called) == 1 else None


def _is_number_of(metric: str, entity: str, means: Means) -> bool:
    """Is the metric called the number of the entity, by one of the names of both?"""
    called, counted = means.index.get("number", metric), means.index.get("part", entity)
    if called is None or counted is None:
        return False
    things = {frozenset(map(stem, words_of(text))) for text in counted.texts}
    return any(frozenset(map(stem, _uncounted(text))) in things for text in called.texts)


def _uncounted(text: str) -> list[str]:
    """The words of *text* without those that count: "number of flights", "flight count"."""
    words = words_of(text)
    counting = {k for first, behind in lexicon()["aggregating_count"].find(words) for k in range(first, behind)}
    return [word for k, word in enumerate(words) if k not in counting]


def _refuse_keys(item: Item, *keys: str) -> None:
    """Raises Unanswerable for a key that says something which has no place there."""
    for key in keys:
        if getattr(item, key) not in (None, []):
            raise Unanswerable(f"`{key}` of `{item.name or item.kind}` says something that has no place there")


def each_of(items: Sequence[Item], means: Means) -> str | None:
    """What a number of each row is of: what is listed or grouped by, else the rows that are counted."""
    for item in items:
        expression = parse_expression(item.name or "")
        if item.kind == "asks" and expression.function == "list":
            return expression.arguments[0].text
        if item.kind == "group" and item.name and item.unit is None and is_entity(item.name, means):
            return item.name
    for item in items:
        expression = parse_expression(item.name or "")
        if item.kind == "group" and item.name and item.unit is None and expression.function is None:
            return item.name
        if item.kind == "asks" and expression.function == "values":
            return expression.arguments[0].text  # of each value that is listed, not of the rows that have it
    return next((place for item in items if item.kind == "asks" for place in _rows_of(item, means)), None)


def _rows_of(item: Item, means: Means) -> tuple[str, ...]:
    try:
        bases = means.compiler.bases_of(spell_field(item.name, means))
    except Unanswerable:
        return ()
    return bases if len(bases) == 1 else ()


_CONDITIONS: Mapping[str, Callable[[Item, Means, str | None], tuple[Condition, ...]]] = {
    "filter": _read_filter,
    "having": _read_having,
    "time": _read_time,
}
