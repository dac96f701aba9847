"""Time as SQL: windows, the first day of the period a date falls in, the periods of a span, moving by periods."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import get_args

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.authored.record import Grain
from bylaw.semantic.clauses.trees import cast, named
from bylaw.semantic.query import Unanswerable, Window

GRAINS: tuple[Grain, ...] = get_args(Grain)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SPAN = re.compile(r"\s*(\d{1,4})\s+(day|week|month|quarter|year)s?\s*", re.IGNORECASE)
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time: `count` of a unit."""

    count: int
    unit: Grain

    @property
    def sql(self) -> exp.Interval:
        """An interval, in days or months: the units that every database knows."""
        unit = "DAY" if self.unit in _DAYS else "MONTH"
        count = self.count * (_DAYS.get(self.unit) or _MONTHS[self.unit])
        return exp.Interval(this=exp.Literal.string(str(count)), unit=exp.var(unit))

    def before(self, day: date) -> date:
        """The same day earlier; the last day of a month where it has no such day."""
        if self.unit in _DAYS:
            return day - timedelta(days=self.count * _DAYS[self.unit])
        index = day.year * 12 + day.month - 1 - self.count * _MONTHS[self.unit]
        for last in (day.day, 30, 29, 28):
            try:
                return date(index // 12, index % 12 + 1, min(day.day, last))
            except ValueError:
                continue
        raise AssertionError("every month has 28 days")

    def fits(self, grain: Grain) -> bool:
        """Is it a whole number of periods of *grain*?"""
        mine, theirs = (_DAYS, _DAYS) if grain in _DAYS else (_MONTHS, _MONTHS)
        if self.unit not in mine:
            return False
        return self.count * mine[self.unit] % theirs[grain] == 0


def span(text: str) -> Span:
    """The length of time that an author wrote: "7 days", "1 month". Raises Unanswerable."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise Unanswerable(f"`{text}` is no length of time", "write a number of days, weeks, months, quarters or years")
    unit = found[2].lower()
    return Span(int(found[1]), next(grain for grain in GRAINS if grain == unit))


def day(value: date) -> exp.Expr:
    return cast(exp.Literal.string(value.isoformat()), "date")


def point(value: datetime) -> exp.Expr:
    return cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")


def moment(text: str) -> date | datetime:
    """The day or the moment that a value names. Raises Unanswerable."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise Unanswerable(f"`{text}` is no date", "dates are written as 2026-07-01") from error


def said(column: exp.Expr, dialect: str) -> str:
    """A date as a reader is told of it: the column, and the time zone that its moments were moved to."""
    if not isinstance(column, exp.AtTimeZone):
        return column.sql(dialect=dialect)
    inner: exp.Expr = column
    while isinstance(inner, exp.AtTimeZone | exp.Paren):
        inner = inner.this
    return f"{inner.sql(dialect=dialect)} in {column.args['zone'].name} time"


def within(column: exp.Expr, window: Window) -> exp.Expr:
    """From the first day up to, not including, the last."""
    start = exp.GTE(this=column.copy(), expression=day(window.start))
    end = exp.LT(this=column.copy(), expression=day(window.end))
    return exp.and_(start, end)


def earlier(window: Window, offset: Span) -> Window:
    return Window(start=offset.before(window.start), end=offset.before(window.end), label=window.label)


def _shift(grain: Grain, calendar: Calendar) -> exp.Interval | None:
    """How far the periods of the calendar file lie behind the ordinary ones."""
    unit, offset = "MONTH", 0
    if grain == "week":
        unit, offset = "DAY", _WEEKDAYS.index(calendar.week_start)
    elif calendar.year == "fiscal" and grain in ("quarter", "year"):
        offset = (calendar.fiscal_year_start - 1) % _MONTHS[grain]
    return exp.Interval(this=exp.Literal.string(str(offset)), unit=exp.var(unit)) if offset else None


def truncated(column: exp.Expr, grain: Grain, calendar: Calendar) -> exp.Expr:
    """The first day of the period that a date falls in, as a date."""
    shift = _shift(grain, calendar)
    start: exp.Expr = exp.Sub(this=column.copy(), expression=shift) if shift else column.copy()
    tree: exp.Expr = exp.TimestampTrunc(this=start, unit=exp.var(grain.upper()))
    return cast(exp.Add(this=tree, expression=shift.copy()) if shift else tree, "date")


def first_day(value: date, grain: Grain, calendar: Calendar) -> date:
    """The same, of a day that is known."""
    if grain in _DAYS:
        back = (value.weekday() - _WEEKDAYS.index(calendar.week_start)) % 7 if grain == "week" else 0
        return value - timedelta(days=back)
    months = _MONTHS[grain]
    offset = (calendar.fiscal_year_start - 1) % months if calendar.year == "fiscal" else 0
    index = value.year * 12 + value.month - 1
    index -= (index - offset) % months
    return date(index // 12, index % 12 + 1, 1)


def moved(column: exp.Expr, by: Span, *, back: bool = False) -> exp.Expr:
    """A day moved by a length of time, as a date."""
    kind = exp.Sub if back else exp.Add
    return cast(kind(this=column.copy(), expression=by.sql), "date")


def series(first: exp.Expr, last: exp.Expr, grain: Grain, alias: str) -> exp.Select:
    """One row for each period from *first* to *last*, both first days of periods."""
    made = exp.GenerateSeries(start=first, end=last, step=Span(1, grain).sql)
    return exp.select(named(cast(exp.Explode(this=made), "date"), alias))
