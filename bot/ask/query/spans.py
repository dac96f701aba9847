"""The days that an item of time says: those that the one grammar reads in its quote, else those of its value."""

from __future__ import annotations

from datetime import date

from bot.ask.query.names import Means
from bylaw.hold.item import Item
from bylaw.hold.values import interval_of, written_interval
from bylaw.language import dates
from bylaw.language.periods import UNITS, period_of, shifted, whole
from bylaw.semantic.query import Filter, Unanswerable, Window


def read_window(item: Item, means: Means) -> Window:
    """The days of *item*. Raises Unanswerable where it says none."""
    given = interval_of(item.value)
    for span in dates.find(item.quote or "", means.clock.today, means.clock.calendar):
        if not span.is_untold and (item.value is None or interval_of(written_interval(span)) == given):
            return _window(span.start, span.end, span.label)
    if given is None or given == (None, None):
        said = f"`{item.value}`" if item.value is not None else "a time without days"
        raise Unanswerable(f"{said} is no span of days", "write `2026-07-01/2026-10-01`: the second day is left out")
    return _window(*given, "")


def asks_state(item: Item, means: Means) -> bool:
    """Do the words ask how things stood at an end, "at the end of October", and not for what happened up to there?"""
    return any(span.is_state for span in dates.find(item.quote or "", means.clock.today, means.clock.calendar))


def _window(start: date | None, end: date | None, label: str) -> Window:
    first, behind = start or dates.FIRST_DAY, end or dates.LAST_DAY
    if first >= behind:
        raise Unanswerable(f"the time ends on {behind}, before it begins", "the second day is the one behind the last")
    return Window(start=first, end=behind, label=label or label_of(first, behind))


def label_of(start: date, end: date) -> str:
    """What days without a name are called."""
    if start == dates.FIRST_DAY:
        return f"until {dates.day_before(end)}"
    return f"since {start}" if end == dates.LAST_DAY else f"{start} to {dates.day_before(end)}"


def window_before(window: Window, means: Means) -> Window:
    """The span of the same kind right before: the month before a month, as many days before any others."""
    if window.start == dates.FIRST_DAY or window.end == dates.LAST_DAY:
        raise Unanswerable("a time without a beginning or an end has none before it", "name both spans")
    calendar = means.clock.calendar
    for unit in reversed(UNITS):
        is_whole = shifted(window.start, unit, 1) == window.end and period_of(window.start, unit, calendar)
        if is_whole == window.start:
            start, end, label = whole(shifted(window.start, unit, -1), unit, calendar)
            return Window(start=start, end=end, label=label)
    start = window.start - (window.end - window.start)
    return Window(start=start, end=window.start, label=label_of(start, window.start))


def filters_of(name: str, window: Window) -> tuple[Filter, ...]:
    """The conditions that a date lies in *window*."""
    found = []
    if window.start != dates.FIRST_DAY:
        found.append(Filter(dimension=name, operator=">=", values=(window.start.isoformat(),)))
    if window.end != dates.LAST_DAY:
        found.append(Filter(dimension=name, operator="<", values=(window.end.isoformat(),)))
    return tuple(found)
