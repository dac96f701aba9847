"""What there is one row of the answer for: columns, things that have a row each, periods of a date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from bot.ask.query.names import Means, is_date, is_entity, labels_of, spell, tells_rows
from bylaw.authored.record import Grain
from bylaw.hold.item import Item
from bylaw.hold.targets import parse_expression
from bylaw.semantic.query import Unanswerable


@dataclass(frozen=True)
class Groups:
    """`dimensions` are the columns that items name, `shown` these and the labels of things that have a row each.

    `date` is the one that `grain` is of, where an item names it.
    """

    dimensions: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    per: tuple[str, ...] = ()
    grain: Grain | None = None
    date: str | None = None
    with_empty: bool = False
    only_members: bool = False


def read_groups(items: Sequence[Item], means: Means) -> Groups:
    """What *items* group by. Raises Unanswerable for two grains, or a unit of what is no date."""
    found = Groups()
    names = [item.name for item in items if item.name and "." in item.name and item.unit is None]
    spoken = {name.partition(".")[0] for name in names if tells_rows(name, names, means)}
    for item in items:
        wishes = {str(one) for one in item.values}
        if strange := sorted(wishes - {"all", "members", "each"}):
            raise Unanswerable(f"`{strange[0]}` is no way to group", "`all` are also those without any, `members` only")
        is_labelled = "each" not in wishes and item.name not in spoken
        found = replace(
            _read_grain(item, found, means) if item.unit is not None else _read_group(item, found, is_labelled, means),
            with_empty=found.with_empty or "all" in wishes,
            only_members=found.only_members or "members" in wishes,
        )
    return found


def _read_group(item: Item, known: Groups, is_labelled: bool, means: Means) -> Groups:
    if item.name is None:
        return known
    expression = parse_expression(item.name)
    if expression.function == "values":
        return _add(known, (spell(expression.arguments[0], means),))
    name = spell(expression, means)
    if is_entity(name, means):
        labels = tuple(labels_of(name, means)) if is_labelled else ()
        per = tuple(dict.fromkeys((*known.per, name)))
        return replace(known, per=per, shown=tuple(dict.fromkeys((*known.shown, *labels))))
    found = _add(known, (name,))
    place = name.partition(".")[0]
    return replace(found, per=(*found.per, place)) if _is_told(name, place, found, means) else found


def _is_told(name: str, place: str, known: Groups, means: Means) -> bool:
    """Two rows that are called alike are two."""
    return place not in known.per and tells_rows(name, known.dimensions, means)


def _add(known: Groups, names: tuple[str, ...]) -> Groups:
    return replace(known, dimensions=(*known.dimensions, *names), shown=tuple(dict.fromkeys((*known.shown, *names))))


def _read_grain(item: Item, known: Groups, means: Means) -> Groups:
    if item.unit not in get_args(Grain):
        raise Unanswerable(f"a date is grouped by day, week, month, quarter or year, not by {item.unit}")
    if item.name is not None and not is_date(item.name, means):
        raise Unanswerable(f"`{item.name}` is no date, and has no {item.unit}s")
    if known.grain == item.unit and item.name in (None, known.date):
        return known  # said again
    if known.grain is not None:
        raise Unanswerable(f"an answer is by {known.grain} or by {item.unit}, not by both")
    return replace(known, grain=cast(Any, item.unit), date=item.name)
