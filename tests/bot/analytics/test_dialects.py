"""The same questions to PostgreSQL: the same answers as from DuckDB, over the same rows."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
import yaml
from sqlalchemy import create_engine, text

from bot.analytics.answer import answer
from bot.conversation import Question, spoken
from bylaw.demos.warehouse import build
from bylaw.sql.gate import check_statement
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import WarehouseError
from bylaw.warehouses.registry import open_warehouse
from tests.bot.analytics.conftest import TODAY

pytestmark = pytest.mark.slow

ROWS = yaml.safe_load(Path(__file__).with_name("answer.yaml").read_text(encoding="utf-8"))["answers"]
ANSWERED = [row["text"] for row in ROWS if row["status"] == "answered"]
TYPES = {"DOUBLE": "double precision", "TIMESTAMP WITH TIME ZONE": "timestamptz"}


@pytest.fixture(scope="module")
def shop(postgresql, tmp_path_factory):
    """The demo warehouse, copied table by table into a PostgreSQL."""
    path = tmp_path_factory.mktemp("copied") / "demo.duckdb"
    build(path, TODAY)
    admin = create_engine(f"{postgresql}postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE shop")
    admin.dispose()
    engine = create_engine(f"{postgresql}shop")
    with duckdb.connect(str(path), read_only=True) as source, engine.begin() as target:
        tables = source.execute(
            "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2"
        ).fetchall()
        for schema in sorted({schema for schema, _ in tables}):
            target.exec_driver_sql(f"CREATE SCHEMA {schema}")
        for schema, table in tables:
            columns = source.execute(f"DESCRIBE {schema}.{table}").fetchall()
            declared = ", ".join(f"{name} {TYPES.get(kind, kind)}" for name, kind, *_ in columns)
            target.exec_driver_sql(f"CREATE TABLE {schema}.{table} ({declared})")
            names = [name for name, *_ in columns]
            rows = [dict(zip(names, row, strict=True)) for row in source.execute(f"FROM {schema}.{table}").fetchall()]
            marks = ", ".join(f":{name}" for name in names)
            if rows:
                target.execute(text(f"INSERT INTO {schema}.{table} VALUES ({marks})"), rows)
    engine.dispose()
    opened = open_warehouse(f"{postgresql}shop", statement_seconds=20)
    yield opened
    opened.close()


def asked(question, index, warehouse):
    at = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    turn = answer(Question(text=question, asked_at=at, request_id="r", session_id="s"), {}, index, warehouse, None)
    return spoken(turn.reply)


def alike(one, other):
    if isinstance(one, float | int | Decimal) and isinstance(other, float | int | Decimal):
        return float(one) == pytest.approx(float(other), rel=1e-9)
    return one == other


@pytest.mark.parametrize("question", ANSWERED)
def test_a_question_has_the_same_answer_there(question, index, warehouse, shop):
    here, there = asked(question, index, warehouse), asked(question, index, shop)
    assert (there.status, there.text, there.columns) == ("answered", here.text, here.columns)
    assert len(here.rows) == len(there.rows)
    for one, other in zip(here.rows, there.rows, strict=True):
        assert all(map(alike, one, other)), (one, other)
    assert (here.level, here.caveats, here.data_until) == (there.level, there.caveats, there.data_until)


def test_every_statement_passes_the_gate_in_its_own_words(index, shop):
    said = asked(ANSWERED[0], index, shop)
    assert check_statement(said.sql, catalogue=None, schemas=None, dialect="postgres").is_allowed


@pytest.mark.parametrize(
    ("sql", "dialect", "expected"),
    [
        ("SELECT a, sum(b) FROM s.t GROUP BY ALL", "postgres", "SELECT a, SUM(b) FROM s.t GROUP BY a"),
        ("SELECT sum(b) FROM s.t GROUP BY ALL", "postgres", "SELECT SUM(b) FROM s.t"),
        ("SELECT a / b FROM s.t", "postgres", "SELECT CAST(a AS DOUBLE PRECISION) / b FROM s.t"),
        ("SELECT a FROM s.t ORDER BY a DESC", "postgres", "SELECT a FROM s.t ORDER BY a DESC NULLS LAST"),
        ("SELECT a FROM s.t", "duckdb", "SELECT a FROM s.t"),
    ],
)
def test_a_statement_in_other_words(sql, dialect, expected):
    assert " ".join(written(sql, dialect).split()) == expected


def test_what_another_database_has_no_words_for_is_no_answer():
    with pytest.raises(WarehouseError, match="cannot be put"):
        written("SELECT FROM WHERE", "postgres")
