"""The days and times that people write in records: ISO 8601, and the other common forms that can mean one day only.

A day before a month and a month before a day look alike (`03/04/2020`): such a date is refused, never guessed.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

EXAMPLE = "2012-04-30T09:00:00Z"
LONGEST = 80  # characters; no form of a date is longer

# Tried one after the other; each names day, month and year without doubt.
FORMS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d %B %Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d-%B-%Y",
    "%B %d %Y",
    "%b %d %Y",
    "%Y %B %d",
    "%Y %b %d",
    "%d.%m.%Y",
)
_ORDINAL = re.compile(r"(?<=\d)(st|nd|rd|th)\b", re.IGNORECASE)
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, the day it was where it was written, and the offset from UTC that was written with it.

    `zone` is None in UTC and where nobody wrote one; `is_day` where only a day was written.
    """

    at: datetime
    day: date
    zone: str | None = None
    is_day: bool = False

    @property
    def utc(self) -> str:
        """ISO 8601 in UTC, whole seconds, with `Z`: such texts sort as the moments do."""
        return self.at.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def moment_of(text: str) -> Moment:
    """What *text* says; without an offset it is UTC. Raises ValueError where it is no date, or could be two."""
    written = " ".join(text.split())
    if not written or len(written) > LONGEST:
        raise ValueError("no date")
    return _iso(written) or _spelled(written) or _mailed(written)


def day_of(text: str) -> date:
    """The day that *text* says where it was written. Raises ValueError where it is no date, or could be two."""
    return moment_of(text).day


def on(day: date) -> Moment:
    """The beginning of *day*, in UTC."""
    return Moment(datetime.combine(day, time(), UTC), day, is_day=True)


def _iso(text: str) -> Moment | None:
    try:
        parsed = datetime.fromisoformat(text)
        return _aware(parsed, is_day="T" not in text and ":" not in text)
    except ValueError:
        return None


def _spelled(text: str) -> Moment | None:
    plain = _ORDINAL.sub("", text).replace(",", " ").replace(" of ", " ")
    plain = " ".join(plain.split())
    if slashed := _SLASHED.fullmatch(plain):
        return on(_slashed(*(int(part) for part in slashed.groups())))
    for form in FORMS:
        try:
            return on(datetime.strptime(plain, form).date())
        except ValueError:
            continue
    return None


def _slashed(first: int, second: int, year: int) -> date:
    """A day with slashes, where only one of the two ways to read it is a day."""
    if first != second and first <= 12 and second <= 12:
        raise ValueError("day and month cannot be told apart")
    return date(year, second, first) if first > 12 else date(year, first, second)


def _mailed(text: str) -> Moment:
    """A date as mail has it: `Mon, 30 Apr 2012 09:00:00 +0200`."""
    from email.utils import parsedate_to_datetime  # loads sockets, and few records have such a date

    try:
        return _aware(parsedate_to_datetime(text), is_day=False)
    except (TypeError, ValueError, IndexError, OverflowError):
        raise ValueError("no date") from None


def _aware(parsed: datetime, *, is_day: bool) -> Moment:
    at = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    try:
        at.astimezone(UTC)
    except OverflowError:
        raise ValueError("no date that can be told in UTC") from None
    zone = at.replace(microsecond=0).isoformat()[19:] if at.utcoffset() else None
    return Moment(at, parsed.date(), zone, is_day)
