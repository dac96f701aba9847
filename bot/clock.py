"""The time, chance, and names that nobody used before: the only place that asks the system for any of them.

Everything else is given them. Nothing is imported with this, so that a verb may know the day without opening the bot.
"""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime


def now() -> datetime:
    """The time."""
    return datetime.now(UTC)


def new_id() -> str:
    """A name nobody used before."""
    return uuid.uuid4().hex


def chance() -> float:
    """A number from 0 up to 1 that nobody foresees: so that what failed together is not tried again together."""
    return random.random()
