"""Days, weeks, months, quarters and years as a calendar file counts them: where one begins, what it is called."""

from __future__ import annotations

from calendar import month_name
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Unit = Literal["day", "week", "month", "quarter", "year"]
UNITS: tuple[Unit, ...] = ("day", "week", "month", "quarter", "year")


@dataclass(frozen=True, slots=True)
class CalendarRules:
    """What the calendar file says: first day of the week (Monday is 0), first month of the fiscal year.

    `is_ahead`: a month without a year is the next one, and not the latest.
    """

    week_start: int = 0
    fiscal_start: int = 1
    fiscal_by_default: bool = False
    whole_periods: bool = False
    is_ahead: bool = False


def period_of(day: date, unit: Unit, calendar: CalendarRules = CalendarRules(), fiscal: bool | None = None) -> date:
    """The first day of the *unit* that holds *day*."""
    by_fiscal = calendar.fiscal_by_default if fiscal is None else fiscal
    first = calendar.fiscal_start if by_fiscal else 1
    match unit:
        case "day":
            return day
        case "week":
            return day - timedelta(days=(day.weekday() - calendar.week_start) % 7)
        case "month":
            return day.replace(day=1)
        case "quarter":
            return shifted(day.replace(day=1), "month", -((day.month - first) % 3))
        case "year":
            return shifted(day.replace(day=1), "month", -((day.month - first) % 12))


def shifted(day: date, unit: Unit, count: int) -> date:
    """*day* moved by *count* units; the day of the month is cut to the length of the month."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(months, 12)
    following = date(year + month // 11, (month + 1) % 12 + 1, 1)
    return date(year, month + 1, min(day.day, (following - timedelta(days=1)).day))


def whole(start: date, unit: Unit, calendar: CalendarRules, fiscal: bool | None = None) -> tuple[date, date, str]:
    """The period that begins on *start*, and its name."""
    by_fiscal = (calendar.fiscal_by_default if fiscal is None else fiscal) and calendar.fiscal_start != 1
    return start, shifted(start, unit, 1), label_of(start, unit, calendar, by_fiscal)


def label_of(start: date, unit: Unit, calendar: CalendarRules, fiscal: bool) -> str:
    """What the period that begins on *start* is called."""
    named = fiscal_year(start, calendar) if fiscal else start.year
    number = (start.month - (calendar.fiscal_start if fiscal else 1)) % 12 // 3 + 1
    match unit:
        case "day":
            return start.isoformat()
        case "week":
            return f"the week of {start.isoformat()}"
        case "month":
            return f"{month_name[start.month]} {start.year}"
        case "quarter":
            return f"Q{number} FY{named}" if fiscal else f"Q{number} {named}"
        case "year":
            return f"FY{named}" if fiscal else str(named)


def fiscal_year(day: date, calendar: CalendarRules) -> int:
    """A fiscal year is named after the year in which it ends."""
    return day.year + (1 if calendar.fiscal_start > 1 and day.month >= calendar.fiscal_start else 0)


def is_askable(day: date) -> bool:
    """Is there room around *day* for what is counted from it, in years and centuries?"""
    return 1000 <= day.year <= 9000
