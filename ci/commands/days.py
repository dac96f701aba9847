"""The day that a verb is asked for, as people write it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from bylaw.language.periods import is_askable


class Day(click.DateTime):
    """A day like 2026-01-31, with room around it for what is counted from there."""

    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The day at midnight; wrong usage where no calendar reaches around it."""
        day: datetime = super().convert(value, param, ctx)
        if not is_askable(day):
            self.fail(f"`{value}` is too far away: name a day of the years 1000 to 9000", param, ctx)
        return day
