"""Single days that the grammar of periods leaves out: weekdays, tomorrow.

What can be read in two ways is not read: "last Tuesday" said on a Friday.
"""

from __future__ import annotations

import re
from calendar import day_name
from datetime import date, timedelta

_WEEKDAYS = {name[:length].lower(): k for k, name in enumerate(day_name) for length in (3, len(name))}
_WEEKDAYS |= {"tues": 1, "thurs": 3, "thur": 3}
_SHORT = ("sun", "sat", "wed", "mon")  # words of their own, or names: only behind "on" or "last"
_WEEK = timedelta(days=7)
_DAY = re.compile(
    r"(?i)(?<![\w./-])(?:on )?(?P<tomorrow>tomorrow)(?![\w/-]|[.,]\d)"
    rf"|\b(?P<which>on |last |this |this past )?(?P<weekday>{'|'.join(sorted(_WEEKDAYS, key=len, reverse=True))})\b"
)


def find_days(text: str, today: date) -> tuple[tuple[int, int, date | None], ...]:
    """The days of *text*: (start, end, day) in order; None where it is not clear which. A weekday is the latest one."""
    return tuple((*match.span(), _day_of(match, today)) for match in _DAY.finditer(text))


def _day_of(match: re.Match[str], today: date) -> date | None:
    if match["tomorrow"]:
        return today + timedelta(days=1)
    return _weekday(match["weekday"].lower(), (match["which"] or "").strip().lower(), today)


def _weekday(name: str, which: str, today: date) -> date | None:
    if name in _SHORT and not which:
        return None
    latest = today - timedelta(days=(today.weekday() - _WEEKDAYS[name]) % 7)
    if latest == today:
        return None if which != "last" else today - _WEEK
    is_this_week = latest > today - timedelta(days=today.weekday() + 1)
    return None if which == "last" and is_this_week else latest
