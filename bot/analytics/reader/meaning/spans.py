"""Several spans of time of one date, and other things side by side: compared, taken as one, or asked back about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import pairwise

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.numbers import Decided, identifier
from bot.analytics.reader.meaning.times import is_bare, parts_of_date, time_of_done, time_of_related
from bot.analytics.reader.reading import NotUnderstood, Stop, Unclear, not_understood
from bot.analytics.reader.said import TimeSaid
from bot.conversation import Choice
from bylaw.language.dates import Shift, Span
from bylaw.semantic.query import Condition, Filter, Measure, Order, SemanticQuery, Window

_BETWEEN = re.compile(
    r"[\s,]*(and|or|vs|versus|against|with|to|than|compared to|compared with|as compared to|relative to|over)?\.?\s*"
    r"((in|of|for|during|on|the|that of|those of|what it was|it was)\s*)*"
)
_NAMED = re.compile(r"(?:Q[1-4] |[A-Z][a-z]+ )?\d{4}")  # the label of a month, a quarter or a year
_LONGEST_YEAR = 366
_MOST = 6  # more spans than this are asked for by month or quarter


@dataclass(frozen=True, slots=True)
class Side:
    """One of the spans: a window, or conditions where rows have only parts of dates."""

    label: str
    window: Window | None = None
    parts: tuple[Condition, ...] = ()
    starts: date = date.min


def decide_spans(draft: QueryDraft) -> None:
    """Give "the month before" its days, and take apart "from Q1 to Q2" where what lies at its ends is compared."""
    said = draft.said
    if said.compares:
        split = [time.span.sides or (time.span,) for time in said.times]
        said.times = [replace(time, span=span) for time, spans in zip(said.times, split, strict=True) for span in spans]
    before: tuple[date, date] | None = None
    if draft.previous is not None and len(draft.previous.windows) == 1:
        (window,) = draft.previous.windows
        before = (window.start, window.end)
    for i, time in enumerate(said.times):
        span = time.span
        known = said.times[i - 1].span if i else None
        shift = span.shift
        if known is not None and (span.start, span.end) == (known.start, known.end) and known.shift is None:
            shift = _previous(draft, span)
        if shift is not None:
            time.span = span = _shifted(draft, span, shift, before)
        if span.start is not None and span.end is not None:
            before = (span.start, span.end)


def _previous(draft: QueryDraft, span: Span) -> Shift | None:
    """ "Last quarter against the previous quarter": the one before it, not the same again."""
    words = draft.text[span.begins : span.ends].lower()
    found = re.fullmatch(r"(?:previous|prior) (day|week|month|quarter|year)", words)
    return Shift(1, found[1]) if found else None  # type: ignore[arg-type]  # one of the units


def _shifted(draft: QueryDraft, span: Span, shift: Shift, before: tuple[date, date] | None) -> Span:
    days = shift.of(*before) if before is not None else None
    if days is None and before is not None and draft.said.compares and shift.unit == "year":
        days = _beside(*before, -shift.count)
    words = draft.text[span.begins : span.ends]
    if days is None:
        raise Stop(not_understood(f"I do not see which days `{words}` are", "name them", (words,)))
    first, last = days
    return replace(span, start=first, end=last, label=label_of(first, last), shift=None)


def label_of(start: date, end: date) -> str:
    """How a span is called: by its month, quarter or year where it is one."""
    months = (end.year - start.year) * 12 + end.month - start.month if start.day == end.day == 1 else 0
    if months == 12 and start.month == 1:
        return str(start.year)
    if months == 3 and start.month % 3 == 1:
        return f"Q{start.month // 3 + 1} {start.year}"
    if months == 1:
        return f"{start:%B %Y}"
    return f"{start.isoformat()} up to {end.isoformat()}"


def joined_spans(draft: QueryDraft) -> list[TimeSaid]:
    """The spans that stand one after the other and are said of one date; fewer than two are none."""
    times = [time for time in draft.said.times if time.span.start is not None]
    goes_on = draft.previous is not None and (draft.follows or not draft.said.numbers)
    if draft.said.compares and len(times) == 1 and goes_on and draft.previous and len(draft.previous.windows) == 1:
        (window,) = draft.previous.windows  # "how does that compare to the month before?"
        known = Span(window.start, window.end, window.label, 0, 0)
        times[0].span = _like(window, times[0].span)
        return [TimeSaid(known), *times]
    if len(times) < 2 or len(times) > _MOST:
        return []
    refs = {time.ref.words for time in times if time.ref is not None}
    text = draft.text.lower()
    for first, second in pairwise(times):
        between = text[first.span.ends : second.span.begins]
        is_joined = _BETWEEN.fullmatch(between) is not None or (first.span.ends > second.span.begins)
        if not is_joined and not (draft.said.compares and not refs):
            return []
    return times if len(refs) < 2 else []


def _like(window: Window, span: Span) -> Span:
    """*span*, which is compared with *window*: of a whole year only what lies beside a part of another one."""
    start, end = span.start, span.end
    assert start is not None and end is not None
    is_year = (start.month, start.day) == (1, 1) and end == start.replace(year=start.year + 1)
    years = start.year - window.start.year
    days = _beside(window.start, window.end, years) if is_year and years else None
    return span if days is None else replace(span, start=days[0], end=days[1], label=label_of(*days))


def _beside(start: date, end: date, years: int) -> tuple[date, date] | None:
    """The same days so many years on; None for a span that is a year or longer."""
    return None if end > _years_on(start, 1) - timedelta(days=1) else (_years_on(start, years), _years_on(end, years))


def stop_at_one_side(draft: QueryDraft) -> None:
    """ "Against last year": what lies on the other side was not said."""
    for time in draft.said.times:
        known = [at for at in draft.said.compared_at if at <= time.span.begins]
        if any(_BETWEEN.fullmatch(draft.text[at : time.span.begins].lower()) for at in known):
            words = draft.text[time.span.begins : time.span.ends]
            raise Stop(not_understood(f"I do not see what to compare `{words}` with", "name both spans", (words,)))


def is_one(times: Sequence[TimeSaid]) -> bool:
    """Does each span begin where the one before it ends?"""
    return all(first.span.end == second.span.start for first, second in pairwise(times))


def merge_spans(draft: QueryDraft, times: Sequence[TimeSaid]) -> None:
    """Take spans that follow each other as the one that they make up."""
    first, last = times[0].span, times[-1].span
    assert first.start is not None and last.end is not None
    whole = Span(first.start, last.end, f"{first.label} to {last.label}", first.begins, last.ends)
    draft.said.times = [time for time in draft.said.times if time not in times]
    draft.said.times.append(TimeSaid(whole, times[0].ref or times[-1].ref, times[0].near))


def merge_joined(draft: QueryDraft) -> None:
    """Of rows that are listed, those of one month and the next are those of both."""
    times = joined_spans(draft)
    ordered = sorted(times, key=lambda time: time.span.start or date.min)
    if times and is_one(ordered):
        is_or = any(re.search(r"\bor\b", draft.text[a.span.ends : b.span.begins].lower()) for a, b in pairwise(times))
        if not is_or and any(time.clause in draft.clauses for time in times):
            words = draft.text[times[0].span.begins : times[-1].span.ends]
            message = f"I do not see whether `{words}` is one span, or asks for rows in each"
            raise Stop(not_understood(message, f"say `{words.replace(' and ', ' or ')}` for one span", (words,)))
        merge_spans(draft, ordered)


def decide_sides(draft: QueryDraft) -> list[Side]:
    """The spans that each have their own column. Those that are meant as one are made one."""
    said = draft.said
    times = joined_spans(draft)
    if not times:
        return []
    ordered = sorted(times, key=lambda time: time.span.start or date.min)
    is_or = any(re.search(r"\bor\b", draft.text[a.span.ends : b.span.begins].lower()) for a, b in pairwise(times))
    if is_one(ordered) and (said.grain or is_or):
        merge_spans(draft, ordered)
        return []
    if said.grain or is_or:
        return []  # two spans that are no one: it is said that they are two
    is_plain = not said.compares and times == ordered and is_one(ordered)
    if is_plain and all(_NAMED.fullmatch(time.span.label) for time in times):
        raise Stop(_each_or_all(draft, times))
    sides = [_side(draft, time) for time in times]
    said.times = [time for time in said.times if time not in times]
    return sides


def _side(draft: QueryDraft, time: TimeSaid) -> Side:
    assert time.span.start is not None and time.span.end is not None
    parts = parts_of_date(draft, time, time.span.start, time.span.end)
    if parts is not None:
        return Side(time.span.label, None, tuple(parts), time.span.start)
    window = Window(start=time.span.start, end=time.span.end, label=time.span.label)
    return Side(time.span.label, window, (), time.span.start)


def date_of_sides(draft: QueryDraft, times: Sequence[TimeSaid], filters: Sequence[Condition]) -> str | None:
    """The time dimension that is named beside the spans. Related rows are counted in one span at a time."""
    for time in times:
        if (known := draft.clauses.get(time.clause)) in filters and known is not None and not is_bare(known):
            words = draft.text[time.span.begins : time.span.ends]
            message = f"I do not compare rows by what belongs to them in several spans, as in `{words}`"
            raise Stop(not_understood(message, "ask for one span at a time"))
        if time.ref is None:
            found = time_of_related(draft, time) or time_of_done(draft, time.clause)
        else:
            found = draft.choose(time.ref, time.ref.of("time"), time.near).name
            if found.partition(".")[0] != draft.base:
                raise Stop(not_understood(f"I cannot compare spans of `{time.ref.words}`", "ask for one at a time"))
        if found is not None:
            return found
    return None


def _each_or_all(draft: QueryDraft, times: Sequence[TimeSaid]) -> Unclear | NotUnderstood:
    """ "In March and April": each month, or both together? "In both" may be what was there in each of them."""
    first, last = times[0].span, times[-1].span
    if draft.text[: first.begins].lower().rstrip().endswith("both"):
        help = f"say `{' versus '.join(time.span.label for time in times)}` for each of them"
        return not_understood("I do not see what `both` is said of", help, ("both",))
    before, after = draft.text[: first.begins], draft.text[last.ends :]
    labels = [time.span.label for time in times]
    each, whole = f"in {' versus '.join(labels)}", f"from {labels[0]} to {labels[-1]}"
    return Unclear(
        draft.text[first.begins : last.ends],
        (
            Choice(value=f"{before}{each}{after}", label=f"each: {' and '.join(labels)}"),
            Choice(value=f"{before}{whole}{after}", label=f"all together: {whole}"),
        ),
    )


def aligned(draft: QueryDraft, query: SemanticQuery) -> SemanticQuery:
    """*query* with the periods that it compares side by side: January beside January, up to the same day.

    Raises Stop where a span is compared with itself, or periods of that grain have no counterparts.
    """
    compared = [one for one in query.measures if one.window is not None]
    windows = [one.window for one in compared if one.window is not None]
    if len(windows) < 2:
        return query
    if len({(one.metric, one.filters, one.window) for one in compared}) < len(compared):
        words = windows[0].label
        raise Stop(not_understood(f"I would compare `{words}` with itself", "name the other span", (words,)))
    if query.grain is None:
        return query
    dates = {date for one in compared for date in draft.compiler.dates_of(one.metric)}
    column = query.time_dimension or (dates.pop() if len(dates) == 1 else None)
    years = {(one.start.month, one.start.day) for one in windows}
    is_yearly = all((one.end - one.start).days <= _LONGEST_YEAR for one in windows)
    if query.grain != "month" or column is None or len(years) > 1 or not is_yearly:
        message = f"I do not see which {query.grain} of one span lies beside which of the other"
        raise Stop(not_understood(message, "compare months of two years, or leave the grain out", (query.grain,)))
    owner, _, short = column.partition(".")
    cut = {one: _cut(one, windows, draft.today) for one in windows}
    measures = [
        one if one.window is None else one.model_copy(update={"window": cut[one.window]}) for one in query.measures
    ]
    month = f"{owner}.month_of_year({short})"
    changed = {"measures": tuple(measures), "grain": None, "dimensions": (month, *query.dimensions), "order": ()}
    return query.model_copy(update=changed)


def _cut(window: Window, windows: Sequence[Window], today: date) -> Window:
    """*window* up to the day that one which is not over has come to."""
    running = next((one for one in windows if one.start <= today < one.end), None)
    if running is None or running is window:
        return window
    until = _years_on(today, window.start.year - running.start.year) + timedelta(days=1)
    if not window.start < until < window.end:
        return window
    return window.model_copy(update={"end": until, "label": f"{window.label} until {until - timedelta(days=1)}"})


def _years_on(day: date, years: int) -> date:
    leap = (day.month, day.day) == (2, 29)
    return (day - timedelta(days=1) if leap else day).replace(year=day.year + years)


@dataclass(slots=True)
class Compared:
    """The numbers of the answer. `instead` says which of them stands for a number when rows are sorted by it."""

    names: list[str]
    instead: dict[str, str] = field(default_factory=dict)

    def sorted_by(self, orders: Sequence[Order]) -> tuple[Order, ...]:
        """*orders* by what stands in the answer."""
        return tuple(order.model_copy(update={"by": self.instead.get(order.by, order.by)}) for order in orders)


def compared_spans(draft: QueryDraft, numbers: Sequence[Decided], sides: Sequence[Side]) -> Compared:
    """A measure for each number and span, and how far the later one lies above the earlier one where that is asked."""
    said = draft.said
    if draft.more or said.ratio is not None:
        raise Stop(not_understood("I cannot put these numbers side by side for several spans", "ask for one at a time"))
    found = Compared([])
    for number in numbers:
        known = number.measure
        if known is not None and (known.over != "value" or known.window is not None):
            raise Stop(not_understood("I cannot compare spans of a number that compares periods itself"))
        if known in draft.measures:
            draft.measures.remove(known)
        metric, filters = (known.metric, known.filters) if known is not None else (number.name, ())
        made = [
            Measure(
                name=identifier(f"{number.name}_{side.label}").lower(),  # PostgreSQL folds what is not quoted
                metric=metric,
                filters=(*filters, *side.parts),
                window=side.window,
                scale=known.scale if known is not None else (1, 1),
                unit=known.unit if known is not None else None,
            )
            for side in sides
        ]
        draft.measures += made
        names = [measure.name for measure in made]
        found.instead[number.name] = names[0]
        found.names += names
    return found


def stop_at_ranked(draft: QueryDraft) -> None:
    """ "The top 3 of 2025 against 2026": by which of the two columns? Raises Stop."""
    if draft.said.limit is not None or draft.said.is_ranking:
        raise Stop(not_understood("I do not see by which column `top` ranks", "ask for one span", ("top",)))


def decide_compared(draft: QueryDraft, found: Compared, filters: list[Condition], dimensions: list[str]) -> None:
    """What is compared where it is no spans: values, numbers, or each period with the one before."""
    said = draft.said
    if said.compares and len(found.names) < 2:
        several = [part.dimension for part in filters if isinstance(part, Filter) and len(part.values) > 1]
        dimensions += [name for name in dict.fromkeys(several) if name not in dimensions]
        if not dimensions and said.grain is None:
            words = said.compares
            message = f"I do not see what to put side by side with `{words}`"
            raise Stop(not_understood(message, "name two spans of time, two values or a group", (words,)))
