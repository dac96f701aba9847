"""Which dates a span of time is said of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from bot.analytics.reader.headline import readable
from bot.analytics.reader.meaning.draft import QueryDraft, normal_words
from bot.analytics.reader.meaning.links import link_of, links
from bot.analytics.reader.meaning.metrics import base_of
from bot.analytics.reader.meaning.narrowed import NO_QUERY, gather_related, narrowed, owner_of
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import NumberSaid, TimeSaid
from bot.analytics.reader.verbs import is_done, said_of
from bylaw.language.dates import FIRST_DAY, LAST_DAY
from bylaw.semantic.query import (
    Condition,
    Filter,
    Related,
    SemanticQuery,
    Window,
)

_WITHOUT = re.compile(r"\b(?:without|with (?:no|zero)|that (?:have|had) no|having no)\b", re.IGNORECASE)


def window_of(draft: QueryDraft, filters: list[Condition]) -> tuple[Window | None, str | None]:
    """The window of the metrics; spans said of other dates become conditions."""
    window: Window | None = None
    dimension: str | None = None
    for start, end, time in dated(draft, filters):
        named = None if time.ref is None else draft.choose(time.ref, time.ref.of("time"), time.near).name
        elsewhere = named is not None and named.partition(".")[0] != draft.base
        if elsewhere:
            assert named is not None
            place(draft, filters, within(named, time), clause=time.clause)
            continue
        if named is None:
            named = time_of_related(draft, time) or time_of_done(draft, time.clause)
        if window is not None:
            first, second = draft.said.times[0].span, time.span
            said = " and ".join(f"`{draft.text[span.begins : span.ends]}`" for span in (first, second))
            raise Stop(not_understood(f"I read two spans of time, {said}", "ask for one of them at a time"))
        window = Window(start=start, end=shown_until(draft, time, start, end), label=time.span.label)
        dimension = named
    return window, dimension


def stop_at_spans(draft: QueryDraft) -> None:
    """Two spans of the same rows, and "the month before", of which nothing names the days. Raises Stop."""
    seen: set[tuple[str, int]] = set()
    for time in draft.said.times:
        words, of = draft.text[time.span.begins : time.span.ends], (time.ref.words if time.ref else "", time.clause)
        if time.span.is_untold:
            raise Stop(not_understood(f"I do not see which days `{words}` are", "name them", (words,)))
        if of in seen:
            message = f"I read two spans of time, the second is `{words}`"
            raise Stop(not_understood(message, "ask for one of them", (words,)))
        seen.add(of)


def dated(
    draft: QueryDraft, filters: list[Condition], times: Sequence[TimeSaid] | None = None
) -> Iterator[tuple[date, date, TimeSaid]]:
    """The spans that a date of the rows is needed for. Where rows have only parts of dates, conditions are added."""
    for time in draft.said.times if times is None else times:
        start, end = time.span.start, time.span.end
        if start is None or end is None:
            continue
        if (parts := parts_of_date(draft, time, start, end)) is not None:
            place(draft, filters, parts, clause=time.clause)
        elif not stands_in_clause(draft, time, filters):
            yield start, end, time


def stands_in_clause(draft: QueryDraft, time: TimeSaid, filters: list[Condition]) -> bool:
    """ "Authors who wrote papers in 2020", "customers who use the feature export in May": when that was.

    It is the date of the rows behind the verb, or of those that connect them. Adds the condition where it belongs.
    """
    assert draft.base is not None
    if time.ref is not None:
        return False
    leads = draft.nearness.leads_to_one
    for part in draft.said.conditions:
        far = [name for name in part.ref.owners if name in time.beside and not leads(draft.base, name)]
        if part.verb is not None and far and part.clause not in draft.clauses:
            link = link_of(draft, draft.base, far[0], part.verb)
            dates = [found for name in (link, far[0]) if (found := draft.default_time(name))]
            if dates:
                filters += within(dates[0], time)
            return bool(dates)
    if time.clause in draft.nested:
        words = draft.text[time.span.begins : time.span.ends]
        raise Stop(not_understood(f"I do not see which rows `{words}` is said of", "ask for fewer at a time", (words,)))
    for known in [one for one in filters if isinstance(one, Related)]:
        name = base_of(draft, known.metric, NO_QUERY)
        undated = [one for one in time.near if one in draft.context.entities and draft.default_time(one) is None]
        is_spoken_of = name in time.near or any(leads(name, one) for one in undated)
        is_theirs = draft.clauses[time.clause] is known if time.clause in draft.clauses else is_spoken_of
        if not is_theirs or (is_bare(known) and leads(name, draft.base)):
            continue
        put_inside(draft, filters, known, time)
        return True
    return False


def put_inside(draft: QueryDraft, filters: list[Condition], known: Related, time: TimeSaid) -> None:
    """Hold the rows that *known*, one of *filters*, counts to the span."""
    name = base_of(draft, known.metric, NO_QUERY)
    dates = [found for one in (*links(draft, known.entity, name), name) if (found := draft.default_time(one))]
    if (of_metric := time_of_metric(draft, known.metric)) is not None:
        dates = [of_metric]
    if not dates:
        raise Stop(not_understood(f"`{name}` has no date, so `{time.span.label}` does not apply to it"))
    stop_at_either(draft, time, known, name, dates[0])
    inside = [*known.filters, *(one for one in within(dates[0], time) if isinstance(one, Filter))]
    replaced(draft, filters, known, narrowed(draft, known, name, inside))


def stop_at_either(draft: QueryDraft, time: TimeSaid, known: Related, name: str, dated: str) -> None:
    """ "Orders without refunds in May": is May of the orders, or of the refunds?

    Only where both happen: customers are there all the time. What happens is dated and belongs to others.
    """
    base, leads = known.entity, draft.nearness.leads_to_one
    if base != draft.base or draft.default_time(base) is None or (known.comparison, known.value) != ("=", 0):
        return
    begins, ends = time.span.begins, time.span.ends
    without = [found.start() for found in _WITHOUT.finditer(draft.text[:begins])]
    happens = any(one != base and leads(base, one) for one in draft.context.entities)
    if not without or not happens or not leads(name, base):
        return
    if any(is_done(word.lower()) for word in draft.text[without[-1] : begins].split()):
        return  # "without refunds paid in May"
    said, dates = draft.text[begins:ends], readable(dated.partition(".")[2])
    message = f"I do not see whether `{said}` is said of the `{base.replace('_', ' ')}`, or of what is missing"
    raise Stop(not_understood(message, f"say it before `without`, or `with {dates} {said}`", (said,)))


def time_of_metric(draft: QueryDraft, name: str) -> str | None:
    """The date that a metric says it is told by."""
    metric = draft.context.metrics.get(name)
    return None if metric is None else metric.dated_by


def is_bare(part: Related) -> bool:
    """Does it only ask whether there are any such rows, whichever they are?"""
    return (part.filters, part.comparison, part.value) == ((), ">=", 1)


def replaced(draft: QueryDraft, filters: list[Condition], known: Related, new: Related) -> None:
    """Put *new* in the place of *known*, one of *filters*."""
    filters[next(i for i, one in enumerate(filters) if one is known)] = new
    draft.clauses.update({number: new for number, one in draft.clauses.items() if one is known})


def dated_related(draft: QueryDraft, query: SemanticQuery) -> list[Related]:
    """The conditions of *query* on related rows of some days: "with no orders in 2026"."""
    related = [one for one in query.filters if isinstance(one, Related)]
    return [one for one in related if any(is_date(draft, part) for part in one.filters)]


def is_date(draft: QueryDraft, part: Condition) -> bool:
    """Does it hold rows to the date that they have by default?"""
    return isinstance(part, Filter) and part.dimension == draft.default_time(part.dimension.partition(".")[0])


def shown_until(draft: QueryDraft, time: TimeSaid, start: date, end: date) -> date:
    """Where a window ends. Periods without rows are shown up to today and from a first day, never without end."""
    if not draft.said.with_empty:
        return end
    if start == FIRST_DAY:
        words = draft.text[time.span.begins : time.span.ends]
        raise Stop(not_understood(f"`{words}` has no first day to show empty periods from", "say from when", (words,)))
    return min(end, max(start, draft.today) + timedelta(days=1))


def parts_of_date(draft: QueryDraft, time: TimeSaid, start: date, end: date) -> list[Condition] | None:
    """A year or a month of rows that have no date but columns for its parts. None where a date is at hand."""
    assert draft.base is not None
    if time.ref is not None and time.ref.of("time"):
        return None
    is_year = (start.month, start.day) == (1, 1) and end == start.replace(year=start.year + 1)
    spoken = [name for head in draft.said.heads for name in head.entities]
    for name in dict.fromkeys((draft.base, *time.near, *spoken, *time.beside)):
        if name not in draft.context.entities:
            continue
        if draft.default_time(name) is not None:
            return None
        year = draft.part(name, "year")
        if year is not None and is_year:
            return [Filter(dimension=f"{name}.{year.name}", values=(start.year,))]
    return None


def time_of_related(draft: QueryDraft, time: TimeSaid) -> str | None:
    """ "How many patients had treatments last month": the date of the treatments, which stand beside it."""
    assert draft.base is not None
    for name in time.near:
        is_far = name in draft.context.entities and not draft.nearness.leads_to_one(draft.base, name)
        if is_far and draft.nearness.leads_to_one(name, draft.base) and (found := draft.default_time(name)):
            return found
    return None


def time_of_done(draft: QueryDraft, clause: int = 0) -> str | None:
    """ "Which agent solved the most tickets in October": when that was done which the condition says was done."""
    assert draft.base is not None
    done = [part for part in draft.said.conditions if part.clause == clause and not part.negated]
    words = [normal_words(part.ref.words) for part in done if part.ref.of("value")]
    for date_ in draft.context.entities[draft.base].time_dimensions:
        told = [normal_words(said) for phrase in (date_.name, *date_.synonyms) for said in said_of(phrase)]
        if any(one in told for one in words):
            return f"{draft.base}.{date_.name}"
    return None


def time_of_rows(draft: QueryDraft, filters: Sequence[Condition], window: Window | None) -> str | None:
    """ "How many customers placed orders each month": when they did, not when they became customers. Raises Stop."""
    assert draft.base is not None
    if window is not None or any(time.ref is not None for time in draft.said.times) or draft.previous is not None:
        return None
    found: dict[str, bool] = {}  # the dates of the rows that are there, and whether all of these rows are meant
    for part in filters:
        if isinstance(part, Related) and (part.comparison, part.value) != (">=", 1):
            continue
        name = base_of(draft, part.metric, NO_QUERY) if isinstance(part, Related) else owner_of(part)
        if draft.nearness.leads_to_one(draft.base, name) or name in draft.per:
            continue
        dates = [date for one in (*links(draft, draft.base, name), name) if (date := draft.default_time(one))]
        found |= dict.fromkeys(dates[:1], isinstance(part, Related) and not part.filters)
    if not found:
        return None
    name, is_all = next(iter(found.items()))
    owner = name.partition(".")[0]
    if len(found) > 1 or not is_all or not draft.nearness.leads_to_one(owner, draft.base):
        grain, base = draft.said.grain, draft.base.replace("_", " ")
        message = f"I do not see whether `{grain}` is that of `{base}`, or of `{owner.replace('_', ' ')}`"
        raise Stop(not_understood(message, "ask for one of them by itself", (str(grain),)))
    return name


def list_window(draft: QueryDraft, filters: list[Condition], times: Sequence[TimeSaid] | None = None) -> None:
    """Spans in a list are conditions: on the date named, of the related rows, or of the rows themselves."""
    assert draft.base is not None
    for _, _, time in dated(draft, filters, times):
        if time.ref is not None:
            name: str | None = draft.choose(time.ref, time.ref.of("time"), time.near).name
        else:
            places = [*(part for part in time.near), draft.base]
            dates = (time_of_done(draft, time.clause), *map(draft.default_time, places))
            name = next((found for found in dates if found), None)
        if name is None:
            raise Stop(not_understood(f"`{draft.base}` has no date, so `{time.span.label}` does not apply to it"))
        place(draft, filters, within(name, time), clause=time.clause)


def times_of_number(draft: QueryDraft, number: NumberSaid, filters: list[Condition]) -> None:
    """Spans that are said of one number alone are conditions on its own rows."""
    if number.times:
        list_window(draft, filters, number.times)
        filters[:] = gather_related(draft, filters, [])  # both ends of a span hold for one and the same row


def place(
    draft: QueryDraft, filters: list[Condition], parts: Sequence[Condition], owner: str | None = None, clause: int = 0
) -> None:
    """Add conditions on one entity where they belong: inside the related rows that lead to it, else beside others.

    Of several such relations it is that of the number *clause*.
    """
    assert draft.base is not None
    owner = owner or (owner_of(parts[0]) if parts else draft.base)
    leads = draft.nearness.leads_to_one
    known = [one for one in filters if isinstance(one, Related) and leads(base_of(draft, one.metric, NO_QUERY), owner)]
    if leads(draft.base, owner) or not known:
        filters += parts
        return
    home = next((one for one in known if one is draft.clauses.get(clause)), known[0])
    inside = [part for part in parts if not isinstance(part, Related)]
    replaced(draft, filters, home, home.model_copy(update={"filters": (*home.filters, *inside)}))


def within(name: str, time: TimeSaid) -> list[Condition]:
    assert time.span.start is not None and time.span.end is not None
    sides: list[Condition] = []
    if time.span.start > FIRST_DAY:
        sides.append(Filter(dimension=name, operator=">=", values=(time.span.start.isoformat(),)))
    if time.span.end < LAST_DAY:
        sides.append(Filter(dimension=name, operator="<", values=(time.span.end.isoformat(),)))
    return sides
