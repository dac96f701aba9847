"""Which date a weekend is that of."""

from __future__ import annotations

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import Narrowing


def date_of_numbers(draft: QueryDraft, words: str) -> str | None:
    """The date that the numbers of the question are told by. Raises Stop where they are told by several."""
    dates = sorted({date for name in draft.counted for date in draft.compiler.dates_of(name)})
    if len(dates) > 1:
        named = " and ".join(f"`{date}`" for date in dates)
        raise Stop(not_understood(f"I do not see whether `{words}` is said of {named}", "ask for one number", (words,)))
    return dates[0] if dates else None


def date_of_days(draft: QueryDraft, base: str, narrowing: Narrowing) -> str:
    """The date that weekends, or weekdays, are said of: the one named, that of the related rows, or of the numbers."""
    ref = narrowing.ref
    if ref.of("time"):
        return draft.choose(ref, ref.of("time")).name
    related = [part for part in draft.said.related if part.clause == narrowing.clause > 0]
    inside = [name for part in related for name in part.entity.entities]
    found = draft.default_time(inside[0]) if len(inside) == 1 else None
    if not inside:
        found = date_of_numbers(draft, ref.words) or draft.default_time(base)
    if found is None:
        owner = inside[0] if inside else base
        raise Stop(not_understood(f"`{owner}` has no date, so `{ref.words}` does not apply to it"))
    return found
