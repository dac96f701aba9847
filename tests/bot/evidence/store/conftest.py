"""The store on each database it supports: SQLite always, PostgreSQL where its programs and a driver are installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.evidence.store.engine import Store, connect
from bot.evidence.store.migrate import upgrade
from tests.fakes.postgresql import emptied


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return "sqlite:///store.db"
    server: str = request.getfixturevalue("postgresql")
    emptied(server, "bylaw")
    return f"{server}bylaw"


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Iterator[Store]:
    """A store with all its tables."""
    opened = connect(store_url, tmp_path)
    upgrade(opened)
    yield opened
    opened.close()
