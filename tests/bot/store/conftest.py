"""The store on each database it supports: SQLite always, PostgreSQL where its programs and a driver are installed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.store.engine import Store, connect
from bot.store.migrate import upgrade

_NUMBERS = count(1)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return "sqlite:///store.db"
    server = request.getfixturevalue("postgresql")
    name = f"bylaw_{next(_NUMBERS)}"
    admin = connect(server + "postgres", Path())
    with admin.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    admin.close()
    return server + name


@pytest.fixture
def store(store_url: str, tmp_path: Path) -> Iterator[Store]:
    """A store with all its tables."""
    opened = connect(store_url, tmp_path)
    upgrade(opened)
    yield opened
    opened.close()
