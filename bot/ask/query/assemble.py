"""One semantic query from the items of a data question, or why there is none. Nothing that an item says is dropped.

The items are those that were held, or picked in a form. What the compiler cannot say is refused by name, and so is
what is left out of the query for any other reason: a second limit, an order of nothing, a time of no date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from bot.ask.query.conditions import each_of, read_conditions
from bot.ask.query.groups import Groups, read_groups
from bot.ask.query.names import Means, columns_of, is_entity, spell, spell_field, tells_rows
from bot.ask.query.numbers import Numbers, read_over, told_once
from bot.ask.query.spans import asks_state, read_window, window_before
from bylaw.hold.item import Item, Scalar
from bylaw.hold.targets import Expression, parse_expression
from bylaw.semantic.query import Measure, Order, SemanticQuery, Unanswerable, Window

_MOST_ROWS = 100_000
_TIME = "time"  # what a query calls the period of a row


@dataclass
class _Parts:
    """The parts of the query as far as they are read. `asked` are the numbers that are shown, with their items."""

    means: Means
    items: Sequence[Item]
    numbers: Numbers
    asked: list[tuple[Item, str]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    per: list[str] = field(default_factory=list)
    window: Window | None = None
    date: str | None = None

    def of(self, kind: str) -> list[Item]:
        """The items of that kind."""
        return [one for one in self.items if one.kind == kind]


def assemble(items: Sequence[Item], means: Means) -> SemanticQuery:
    """The query that *items* ask for, its own numbers under temporary names. Raises Unanswerable, naming the item."""
    draft = _Parts(means, items, Numbers(means))
    _read_asked(draft)
    groups = _read_groups(draft)
    later = _read_times(draft, groups)
    _run_on(draft)
    _compare(draft, groups)
    each = each_of(items, means)
    narrowing = [one for one in items if one.kind in ("filter", "having")]
    filters = read_conditions([*narrowing, *later], means, each)
    orders = _read_orders(draft, groups)
    numbers = draft.numbers
    made: dict[str, Any] = {
        "metrics": (*told_once([name for _, name in draft.asked], means), *draft.hidden),
        "measures": tuple(numbers.measures),
        "ratios": tuple(numbers.ratios),
        "differences": tuple(numbers.differences),
        "summaries": tuple(numbers.summaries),
        "dimensions": tuple(dict.fromkeys(draft.shown)),
        "per": tuple(dict.fromkeys(draft.per)),
        "only_members": groups.only_members,
        "filters": filters,
        "window": draft.window,
        "time_dimension": draft.date,
        "grain": groups.grain or _own_grain(draft),
        "with_empty": groups.with_empty,
        "order": orders,
        "hidden": tuple(draft.hidden),
        **_read_limit(draft),
    }
    try:
        return SemanticQuery(**made)
    except ValidationError as problem:
        said = problem.errors(include_url=False, include_input=False)[0]["msg"].removeprefix("Value error, ")
        raise Unanswerable(f"the items ask for nothing that can be answered: {said}") from None


# ---- what is shown


def _read_asked(draft: _Parts) -> None:
    """The numbers and the rows that are asked for."""
    if not draft.of("asks"):
        raise Unanswerable("no item says what is asked for", "give an `asks`: a number, `list(…)` or `values(…)`")
    for item in draft.of("asks"):
        expression = parse_expression(item.name or "")
        if expression.function == "list":
            _show_rows(draft, item, expression)
        elif expression.function == "values":
            _refuse_beside(item)
            draft.shown += [spell(one, draft.means) for one in expression.arguments]
        else:
            draft.asked.append((item, draft.numbers.read(item)))


def _show_rows(draft: _Parts, item: Item, expression: Expression) -> None:
    """The rows of an entity: two that are called alike are two."""
    _refuse_beside(item)
    name = expression.arguments[0].text
    if not is_entity(name, draft.means):
        raise Unanswerable(f"`{name}` is nothing that has rows", "name an entity: `list(orders)`")
    columns = columns_of(name, draft.means)
    draft.shown += columns
    draft.per += [name] if any(tells_rows(one, columns, draft.means) for one in columns) else []


def _refuse_beside(item: Item) -> None:
    if item.of or item.unit:
        raise Unanswerable(f"`{item.name}` is a list, and is not narrowed by itself", "say the filter beside it")


def _read_groups(draft: _Parts) -> Groups:
    found = read_groups(draft.of("group"), draft.means)
    draft.shown += found.shown
    draft.per += found.per
    return found


def _read_times(draft: _Parts, groups: Groups) -> list[Item]:
    """The window and its date; a further time is a condition on the date that it names."""
    draft.date = groups.date
    later = []
    for item in draft.of("time"):
        date = spell_field(item.name, draft.means) if item.name is not None else None
        is_taken = draft.window is not None or (date is not None and draft.date not in (None, date))
        if is_taken:
            later.append(item)
        else:
            draft.window, draft.date = read_window(item, draft.means), date or draft.date
        if asks_state(item, draft.means) and not all(_is_balance(name, draft.means) for _, name in draft.asked):
            raise Unanswerable(f"only a balance stands at a day; “{item.quote}” may be up to it, or on it", "say which")
    return later


def _is_balance(name: str, means: Means) -> bool:
    metric = means.context.metrics.get(name)
    return metric is not None and (metric.non_additive_dimension is not None or metric.type == "cumulative")


def _run_on(draft: _Parts) -> None:
    """Numbers that run on over the groups of the answer: the one that is named, else every one."""
    for item in draft.of("over"):
        found = [k for k, (asked, _) in enumerate(draft.asked) if item.name in (None, asked.name)]
        if not found:
            raise Unanswerable(f"`{item.name or item.value}` runs on, and is not asked for", "ask for the number")
        for k in found:
            asked, name = draft.asked[k]
            draft.asked[k] = asked, draft.numbers.add(Measure(name="", metric=name).model_copy(update=read_over(item)))


def _compare(draft: _Parts, groups: Groups) -> None:
    """Each number in both spans, side by side; by period, its change against the period before."""
    items = draft.of("compare")
    if not items:
        return
    if len(items) > 1 or not draft.asked:
        raise Unanswerable("a comparison is of a number in two times", "ask for a number, and one comparison")
    item = items[0]
    if groups.grain is not None:
        if item.value != "previous":
            raise Unanswerable(f"an answer by {groups.grain} compares each with the one before", "leave the unit out")
        changes = [(one, draft.numbers.add(Measure(name="", metric=name, over="change"))) for one, name in draft.asked]
        draft.asked += changes
        return
    if draft.window is None:
        raise Unanswerable("there is no first time that another is compared with", "give a `time`")
    is_previous = item.value == "previous"
    other = window_before(draft.window, draft.means) if is_previous else read_window(item, draft.means)
    draft.asked = [
        (one, draft.numbers.add(Measure(name="", metric=name, window=window)))
        for one, name in draft.asked
        for window in (draft.window, other)
    ]
    draft.window = None


def _own_grain(draft: _Parts) -> Any:
    """The periods by which a metric is always told."""
    metrics = draft.means.context.metrics
    found = [metrics[name].time_granularity for _, name in draft.asked if name in metrics]
    return next((one for one in found if one is not None), None)


# ---- in which order, and how many


def _read_orders(draft: _Parts, groups: Groups) -> tuple[Order, ...]:
    orders: list[Order] = []
    named = [one for one in draft.of("order") if one.name is not None]
    for item in draft.of("order"):
        if item.name is None and named:  # "the largest areas, ordered from largest to smallest"
            if item.value != named[0].value:
                raise Unanswerable("the rows are put in two orders", "say one of them")
            continue
        by = _sorted_by(draft, item, groups)
        if item.value not in ("asc", "desc"):
            raise Unanswerable("`order` is `asc` or `desc`")
        orders.append(Order(by=by, descending=item.value == "desc"))
    return tuple({one.by: one for one in reversed(orders)}[by] for by in dict.fromkeys(one.by for one in orders))


def _sorted_by(draft: _Parts, item: Item, groups: Groups) -> str:
    """What rows are sorted by: the number that is named, else the first one; a column, or the period."""
    if item.name is None:
        if draft.shown and "alphabetical" in (item.quote or "").casefold():  # as words are sorted
            return draft.shown[0]
        if not draft.asked:
            raise Unanswerable("nothing says what the rows are sorted by", "give the order a `name`")
        return draft.asked[0][1]
    if groups.grain is not None and item.name in (_TIME, groups.date):
        return _TIME
    if item.name == _TIME:
        raise Unanswerable("nothing is told by period, so none comes first", "say by which period")
    same = [(asked, name) for asked, name in draft.asked if asked.name == item.name]
    whole = [name for asked, name in same if _is_alike(asked.of, item.of)]
    if "of" not in item.model_fields_set:  # the number that is asked for, however it is narrowed there
        whole = whole or [name for _, name in same]
    if whole:
        return whole[0]
    name = parse_expression(item.name)
    if (name.function is None and name.text not in draft.means.context.metrics) or name.function in _FIELDS:
        if item.of:
            raise Unanswerable(f"`of` of `{item.name}` says something that has no place there")
        return spell(name, draft.means)
    found = draft.numbers.read(item.model_copy(update={"kind": "asks", "value": None}))
    shown = told_once([name for _, name in draft.asked], draft.means)
    draft.hidden += [found] if found not in (*draft.hidden, *shown) else []
    return found


_FIELDS = frozenset(("days", "hours", "minutes", "seconds", "weekday", "hour_of_day", "day_of_month", "month_of_year"))


def _is_alike(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Do both say the same, in whatever quotes?"""
    return [_unquoted(item) for item in one] == [_unquoted(item) for item in other]


def _unquoted(item: Item) -> Item:
    inner: dict[str, Any] = {key: [_unquoted(one) for one in getattr(item, key)] for key in ("of", "any_of")}
    return item.model_copy(update={"quote": None, **inner})


def _read_limit(draft: _Parts) -> dict[str, Any]:
    """How many rows, or which place in the order; of each group of the columns that it names."""
    items = draft.of("limit")
    if not items:
        return {}
    if len(items) > 1:
        raise Unanswerable("an answer has one limit", "leave the other one out")
    item = items[0]
    count = _whole(item.value)
    names = [item.name] if item.name is not None else []
    names += [one.name for one in item.of if one.name]
    if item.unit == "place":
        if names:
            raise Unanswerable("a place is one in the whole order", f"leave out `{names[0]}`")
        return {"place": count}
    if item.unit not in (None, "ties"):
        raise Unanswerable(f"`{item.unit}` is no way to limit rows", "`place` is one place, `ties` also the equal ones")
    by = tuple(spell_field(name, draft.means) for name in names)
    return {"limit": count, "limit_by": by, "with_ties": item.unit == "ties"}


def _whole(value: Scalar | list[Scalar] | None) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(_MOST_ROWS)):
        value = int(value)  # as models write it
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_ROWS:
        raise Unanswerable(f"`{value}` is no number of rows", f"give a whole number from 1 to {_MOST_ROWS:,}")
    return value
