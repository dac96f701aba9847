"""The same two tables in each kind of warehouse that can be had here."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import pytest

from bylaw.warehouses import process
from bylaw.warehouses.port import Warehouse
from bylaw.warehouses.registry import open_warehouse
from tests.fakes.postgresql import new_database

COUNT = 20_000
_PARTS = "i AS order_id, i % 7 AS status, i * 1.5 AS amount, 'n' || i AS note"
_RUN = {
    "duckdb": f"CREATE TABLE {{schema}}.orders AS SELECT {_PARTS} FROM range(1, {COUNT + 1}) t(i)",
    "postgresql": f"CREATE TABLE {{schema}}.orders AS SELECT {_PARTS} FROM generate_series(1, {COUNT}) t(i)",
    "sqlite": f"CREATE TABLE {{schema}}.orders AS WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t "
    f"WHERE i < {COUNT}) SELECT {_PARTS} FROM t",
}


@pytest.fixture(scope="module", autouse=True)
def _warehouses_start_as_usual() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "subprocess", subprocess)
        yield


@dataclass(frozen=True)
class Place:
    """One warehouse: where it is, the schema that its table lies in, and a statement that would run for hours."""

    kind: str
    url: str
    schema: str

    @property
    def endless(self) -> str:
        table = f"{self.schema}.orders"
        return (
            f"SELECT count(*) FROM {table} a, {table} b, {table} c WHERE (a.order_id + b.order_id * c.order_id) % 7 = 3"
        )

    def open(self, seconds: int = 20) -> Warehouse:
        return open_warehouse(self.url, statement_seconds=seconds)


@pytest.fixture(scope="session", params=["duckdb", "postgresql", "sqlite"])
def place(request, tmp_path_factory) -> Place:
    """Each kind of warehouse with `orders`: 20,000 rows."""
    kind = request.param
    if kind == "postgresql":
        return _postgresql(request.getfixturevalue("postgresql"))
    path = tmp_path_factory.mktemp("place") / f"place.{kind}"
    schema = "main"
    if kind == "duckdb":
        schema = "shop"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE SCHEMA shop")
            connection.execute(_RUN[kind].format(schema=schema))
    else:
        connection = sqlite3.connect(path)
        connection.execute(_RUN[kind].format(schema=schema))
        connection.commit()
        connection.close()
    return Place(kind, f"{kind}:///{path}", schema)


def _postgresql(server: str) -> Place:
    inside = new_database(server, "place")
    with inside.connect() as connection:
        connection.exec_driver_sql("CREATE SCHEMA shop")
        connection.exec_driver_sql(_RUN["postgresql"].format(schema="shop"))
        connection.exec_driver_sql("ANALYZE")
    inside.dispose()
    return Place("postgresql", f"{server}place", "shop")


@pytest.fixture(scope="session")
def opened(place: Place) -> Iterator[Warehouse]:
    """One warehouse that all tests share."""
    found = place.open()
    yield found
    found.close()
