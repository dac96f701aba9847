"""Units: a number is told in the unit that was asked for, converted where that is exact, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bot.analytics.reader.headline import readable
from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.numbers import Decided
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import UnitSaid
from bylaw.language.units import Unit

_ROUNDED = ("avg", "median")


def in_units(draft: QueryDraft, numbers: Sequence[Decided]) -> list[Decided]:
    """The numbers, each in the unit that it was asked for in. Raises Stop where nothing says that it has one."""
    found = list(numbers)
    if not found and draft.said.ratio is None:
        return []  # a list, whose columns are checked when they are known
    for said in draft.said.units:
        if said.unit.kind == "percent" and draft.said.ratio is not None:
            draft.said.ratio.in_percent = True
            continue
        places = places_of(draft, said, found)
        if not places:
            raise nothing_says(said)
        for place in places:
            stop_at_unit(draft, found[place], said)
    stop_at_rounding(draft, found)
    return found


def places_of(draft: QueryDraft, said: UnitSaid, numbers: Sequence[Decided]) -> list[int]:
    """Which numbers a unit is said of: the one named before it, else the only one."""
    name = draft.names.get(said.of.words) if said.of is not None else None
    named = [i for i, number in enumerate(numbers) if name is not None and name in (number.name, metric_of(number))]
    return named or ([0] if len(numbers) == 1 else [])


def metric_of(number: Decided) -> str:
    return number.measure.metric if number.measure is not None else number.name


def stop_at_unit(draft: QueryDraft, number: Decided, said: UnitSaid) -> None:
    """A number is told in the unit that it has. Raises Stop where another one is asked for."""
    is_plain = number.measure is None or number.measure.over == "value"
    if not is_plain or converted(draft, metric_of(number), said.unit) != 1:
        raise nothing_says(said, metric_of(number), draft)


def converted(draft: QueryDraft, name: str, unit: Unit) -> Fraction | None:
    """How many *unit* one of what *name* is told in is; None where nothing says so."""
    declared, named = draft.unit_of(name)
    if declared is not None:
        return declared.into(unit)
    return Fraction(1) if unit in named else None


def stop_at_units(draft: QueryDraft, names: Sequence[str]) -> None:
    """Columns of a list are shown as they are, so they must be in the unit that was asked for."""
    for said in draft.said.units:
        name = draft.names.get(said.of.words) if said.of is not None else None
        shown = [name] if name in names else []
        if not shown or any(converted(draft, one, said.unit) != 1 for one in shown if one is not None):
            raise nothing_says(said, shown[0] if shown else None, draft)
    stop_at_rounding(draft, [])


def stop_at_rounding(draft: QueryDraft, numbers: Sequence[Decided]) -> None:
    """Whole numbers are asked for: what is an average or a quotient is not rounded silently."""
    if not draft.said.is_whole:
        return
    inexact = [number for number in numbers if aggregation(draft, metric_of(number)) in _ROUNDED]
    means = [part for part in draft.summaries if part.agg in _ROUNDED]
    if inexact or means or draft.said.ratio is not None:
        raise Stop(not_understood("I do not round numbers", "ask without `as an integer`", ("integer",)))


def aggregation(draft: QueryDraft, name: str) -> str:
    metric = draft.context.metrics.get(name)
    return (metric.agg or metric.type) if metric is not None else name.partition("(")[0]


def nothing_says(said: UnitSaid, name: str | None = None, draft: QueryDraft | None = None) -> Stop:
    declared = draft.unit_of(name)[0] if draft is not None and name is not None else None
    if declared is not None and name is not None:
        message = f"`{readable(name)}` is in {declared.name}, not in `{said.words}`"
        return Stop(not_understood(message, f"ask for it in {declared.name}", (said.words,)))
    message = f"nothing says that the number is in `{said.words}`"
    return Stop(not_understood(message, "ask without the unit", (said.words,)))
