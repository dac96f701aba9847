"""The time, and names that nobody used before: the only place that asks the system for either.

Everything else is given them. Nothing is imported with this, so that a verb may know the day without opening the bot.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime


def now() -> datetime:
    """The time."""
    return datetime.now(UTC)


def new_id() -> str:
    """A name nobody used before."""
    return uuid.uuid4().hex
