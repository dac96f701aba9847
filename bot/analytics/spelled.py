"""What an option of the form asks for, written as one string: a condition, or a number of what each of something has.

    shops.city=Leeds   orders.amount>100   not orders.paid   missing(orders.paid_at)   count(orders) per shops=0

One that ends with `?` is open: what a person types completes it, a value (`Leeds`) or a sign and a value (`> 40`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, cast

from bylaw.semantic.query import Condition, Filter, Related, Summary, Unanswerable

OPEN = "?"
WORDS = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest", "count_distinct": "number of different"}
_SIGNS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": "", "!=": "not"}
_OF_EACH = re.compile(r"(avg|median|min|max)\((.+)\) per ([\w@]+)")
_COMPARED = re.compile(r"([^<>=!]+)(<=|>=|!=|<|>|=)(.*)", re.DOTALL)
_EMPTY = re.compile(r"(missing|present)\((.+)\)")
_SIGN = re.compile(r"\s*(<=|>=|!=|<|>|=)?(.*)", re.DOTALL)


def completed(option: str, typed: str) -> str:
    """An open *option* with what was typed; still open where nothing was."""
    sign, value = cast(re.Match[str], _SIGN.fullmatch(typed)).groups()
    return f"{option.removesuffix(OPEN)}{sign or '='}{value.strip()}" if value.strip() else option


def conditions(given: Iterable[Condition | str]) -> tuple[Condition, ...]:
    """The conditions that are *given*; of several values of one column each is meant."""
    found = [_condition(one) if isinstance(one, str) else one for one in given]
    return tuple(_united(found))


def summary(name: str) -> Summary | None:
    """The number of what each of something has that *name* writes out; None where it writes out no such number."""
    found = _OF_EACH.fullmatch(name)
    if found is None:
        return None
    return Summary(name=_said_of_each(found), agg=cast(Any, found[1]), metric=found[2], per=(found[3],))


def told(option: str) -> str | None:
    """How one reads an option that no catalogue lists: a comparison, or a number of what each has."""
    if (each := _OF_EACH.fullmatch(option)) is not None:
        return _said_of_each(each)
    found = _COMPARED.fullmatch(option)
    if found is None:
        return None
    sign = f" {_SIGNS[found[2]]}" if found[2] != "=" else ":"
    return f"{readable(found[1].rpartition('.')[2])}{sign} {found[3]}"


def options_of(condition: Condition) -> Iterator[str]:
    """The options of the form that ask for *condition*; none where no option can."""
    match condition:
        case Filter(operator="in", values=()):
            yield f"{'not ' if condition.negated else ''}{condition.dimension}"
        case Filter(operator="in"):
            sign = "!=" if condition.negated else "="
            yield from (f"{condition.dimension}{sign}{value}" for value in condition.values)
        case Filter(operator="is_null"):
            yield f"{'present' if condition.negated else 'missing'}({condition.dimension})"
        case Filter(operator="<" | "<=" | ">" | ">=", negated=False):
            yield f"{condition.dimension}{condition.operator}{condition.values[0]}"
        case Related(against=None, than=None, filters=()):
            yield f"{condition.metric} per {condition.entity}{condition.comparison}{condition.value}"


def of_each(number: Summary) -> str | None:
    """The option for a number of what each of something has; None where no option asks for it."""
    is_plain = not (number.dimensions or number.grain or number.with_empty) and len(number.per) == 1
    return f"{number.agg}({number.metric}) per {number.per[0]}" if is_plain else None


def readable(name: str) -> str:
    """A name as one reads it."""
    return name.replace("_", " ")


def _condition(option: str) -> Condition:
    if option.endswith(OPEN):
        name = option.removesuffix(OPEN)
        raise Unanswerable(f"`{name}` is compared with nothing", f"write a value: `{name}=Leeds`, `{name}>40`")
    if empty := _EMPTY.fullmatch(option):
        return Filter(dimension=empty[2], operator="is_null", negated=empty[1] == "present")
    if (found := _COMPARED.fullmatch(option)) is None:
        return Filter(dimension=option.removeprefix("not "), negated=option.startswith("not "))
    name, sign, value = found.groups()
    metric, _, entity = name.rpartition(" per ")
    if metric:
        return Related(entity=entity, metric=metric, comparison=cast(Any, sign), value=_number(value))
    if sign in ("=", "!="):
        return Filter(dimension=name, values=(value,), negated=sign == "!=")
    return Filter(dimension=name, operator=cast(Any, sign), values=(_number(value),))


def _united(found: Iterable[Condition]) -> Iterator[Condition]:
    """Conditions on one column that are met by being equal, as one that takes any of the values."""
    for (_, is_listed), same in groupby(sorted(found, key=_column), key=_column):
        group = list(same)
        if not is_listed:
            yield from group
            continue
        values = tuple(dict.fromkeys(value for one in group if isinstance(one, Filter) for value in one.values))
        yield cast(Filter, group[0]).model_copy(update={"values": values})


def _column(one: Condition) -> tuple[str, bool]:
    is_listed = isinstance(one, Filter) and one.operator == "in" and bool(one.values)
    return (f"{one.dimension} {one.negated}" if is_listed and isinstance(one, Filter) else "", is_listed)


def _number(value: str) -> int | float | str:
    try:
        return int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        return value  # a day


def _said_of_each(found: re.Match[str]) -> str:
    metric = found[2]
    counted = f"number of {metric[6:-1]}" if metric.startswith("count(") else metric
    return f"{WORDS.get(found[1], found[1])} {readable(counted)} per {readable(found[3])}"
