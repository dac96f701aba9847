"""How the organisation counts time: where its weeks and years begin, and by which clocks its days do."""

from datetime import datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, StrictInt, StringConstraints

from bylaw.authored.record import AuthoredFile

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # no such file, or no name of one
        raise ValueError(f"`{name}` is no time zone: write one like Europe/Amsterdam, or UTC") from None
    return name


TimeZone = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_+/-]+$", max_length=100), AfterValidator(_known_zone)]


class Calendar(AuthoredFile):
    """What time words mean here.

    `year` says whether an unqualified "quarter" or "year" is a calendar or a fiscal one; `relative_window` whether
    "last 3 months" rolls back from today or takes whole months before this one. In `time_zone` the organisation's days
    begin and end, today among them; without one that is UTC.
    """

    week_start: Weekday = "monday"
    fiscal_year_start: Annotated[StrictInt, Field(ge=1, le=12)] = 1
    year: Literal["calendar", "fiscal"] = "calendar"
    relative_window: Literal["rolling", "complete"] = "rolling"
    time_zone: TimeZone | None = None

    def local(self, moment: datetime) -> datetime:
        """*moment* as the organisation's clocks show it; without a time zone as it was said."""
        return moment if self.time_zone is None else moment.astimezone(ZoneInfo(self.time_zone))
