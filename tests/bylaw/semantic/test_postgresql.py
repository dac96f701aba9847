"""The market in a real PostgreSQL: the same queries, compiled for it, have the same answers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery
from bylaw.sql.gate import check_statement
from tests.bylaw.semantic.conftest import MARKET
from tests.fakes.postgresql import new_database

ROWS = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def server(postgresql):
    engine = new_database(postgresql, "market")
    with engine.connect() as connection:
        for statement in MARKET["tables"].split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)
        for table, rows in MARKET["rows"].items():
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
            connection.exec_driver_sql(f"INSERT INTO m.{table} VALUES {values}")
        yield connection
    engine.dispose()


def _literal(cell):
    if cell is None or isinstance(cell, bool):
        return str(cell).upper().replace("NONE", "NULL")
    return str(cell) if isinstance(cell, int) else f"'{cell}'"


def _plain(cell):
    is_number = isinstance(cell, Decimal | float | int) and not isinstance(cell, bool)
    return round(float(cell), 6) if is_number else cell


@pytest.mark.parametrize("row", ROWS["answered"], ids=lambda row: row["title"])
def test_a_query_has_the_same_answer(row, server, market):
    compiled = Compiler(market, "postgres").compile(SemanticQuery.model_validate(row["query"]))
    verdict = check_statement(compiled.sql, catalogue=catalogue_of(market), schemas=None, dialect="postgres")
    assert verdict.reason is None
    found = [[_plain(cell) for cell in row] for row in server.exec_driver_sql(verdict.sql).fetchall()]
    # Databases sort letters differently, so the order of names is theirs.
    assert sorted(map(repr, found)) == sorted(repr([_plain(cell) for cell in expected]) for expected in row["rows"])
