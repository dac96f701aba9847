"""Repositories that tests only read, compiled once for all the modules of a process."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

from bot.index import BundleIndex
from bylaw.bundle import parse
from ci import pipeline

TODAY = date(2026, 11, 20)


@cache
def index_of(root: Path) -> BundleIndex:
    """The index of the repository at *root*, on the day of the questions."""
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(root, None, TODAY))))
