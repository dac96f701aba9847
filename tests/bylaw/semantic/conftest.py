"""The library of `library.yaml` and the market of `market.yaml` as contexts, the market with its rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Entity, Gotcha, Metric
from bylaw.semantic.compiler import Compiler

MARKET = yaml.safe_load(Path(__file__).with_name("market.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def library():
    return _context(yaml.safe_load(Path(__file__).with_name("library.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def market():
    return _context(MARKET["context"])


@pytest.fixture(scope="session")
def stalls():
    """The tables of the market in DuckDB."""
    with duckdb.connect() as connection:
        connection.execute(MARKET["tables"])
        for table, rows in MARKET["rows"].items():
            connection.executemany(f"INSERT INTO m.{table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        yield connection


def _context(raw):
    return Context(
        entities={item["name"]: Entity.model_validate(item) for item in raw["entities"]},
        metrics={item["name"]: Metric.model_validate(item) for item in raw["metrics"]},
        gotchas={item["id"]: Gotcha.model_validate(item) for item in raw["gotchas"]},
        calendar=Calendar.model_validate(raw["calendar"]),
    )


@pytest.fixture(scope="session")
def compiler(library):
    return Compiler(library)
