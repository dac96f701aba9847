"""The gate over rows: what passes, what does not, and that no text makes it raise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.functions import ALLOWED_FUNCTIONS, OPENING_WORDS
from bylaw.sql.gate import Verdict, check_statement, features
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("sql.yaml").read_text(encoding="utf-8"))
HOSTILE = yaml.safe_load(Path(__file__).with_name("sql_hostile.yaml").read_text(encoding="utf-8"))
PLACES, HARMLESS = HOSTILE.pop("places"), HOSTILE.pop("harmless")
CATALOGUE = Catalogue(
    {
        "shop.orders": TableInfo(
            frozenset({"order_id", "customer_id", "status", "ordered_at", "amount", "phone_model"}), frozenset()
        ),
        "shop.customers": TableInfo(
            frozenset({"customer_id", "email", "phone", "region"}), frozenset({"email", "phone"})
        ),
        "shop.events": TableInfo(None, frozenset({"ip"})),
        "finance.refunds": TableInfo(frozenset({"order_id", "reason", "amount"}), frozenset()),
    }
)


def _judge(row: dict[str, Any]) -> Verdict:
    catalogue = CATALOGUE if row.get("catalogue", True) else None
    schemas = frozenset(row["schemas"]) if "schemas" in row else None
    dialect = row.get("dialect", "duckdb")
    return check_statement(row["sql"], catalogue=catalogue, schemas=schemas, dialect=dialect)


@each("row", ROWS["allowed"], ids=lambda row: row["title"])
def test_a_harmless_statement_passes(row):
    verdict = _judge(row)
    assert verdict.reason is None
    assert verdict.is_allowed
    assert verdict.sql_type == row.get("type", "SELECT")
    assert verdict.schemas_blocked == ()


@each("row", ROWS["denied"], ids=lambda row: row["title"])
def test_a_hostile_statement_is_denied_with_its_reason(row):
    verdict = _judge(row)
    assert not verdict.is_allowed
    assert verdict.reason and row["reason"] in verdict.reason
    assert list(verdict.schemas_blocked) == row.get("blocked", [])
    if "type" in row:
        assert verdict.sql_type == row["type"]


@each(
    ("group", "row"),
    [(group, row) for group, rows in HOSTILE.items() for row in rows],
    ids=lambda part: part["title"] if isinstance(part, dict) else part,
)
def test_a_trick_is_seen_through(group, row):
    verdict = _judge({"dialect": "postgres" if group == "postgres" else "duckdb", **row})
    assert not verdict.is_allowed
    assert verdict.reason and row["reason"] in verdict.reason


@each("row", PLACES, ids=lambda row: row["title"])
def test_a_verdict_says_where_what_is_denied_begins(row):
    verdict = _judge(row)
    assert row["at"] == (None if verdict.line is None else f"{verdict.line}:{verdict.column}")


@pytest.mark.parametrize("row", HARMLESS, ids=lambda row: row["title"])
def test_what_only_looks_like_a_trick_passes(row):
    assert _judge(row).reason is None


def test_the_rows_are_many_and_each_is_there_once():
    statements = [(row.get("dialect", group), row["sql"]) for group, rows in HOSTILE.items() for row in rows]
    assert len(ROWS["denied"]) >= 60
    assert len(statements) >= 200
    assert len(set(statements)) == len(statements)


def test_the_verdict_names_the_schemas_it_saw():
    sql = "SELECT 1 FROM shop.orders o JOIN finance.refunds r ON o.order_id = r.order_id"
    verdict = check_statement(sql, catalogue=CATALOGUE, schemas=frozenset({"shop"}))
    assert json.loads(verdict.model_dump_json()) == {
        "is_allowed": False,
        "sql_type": "SELECT",
        "schemas_referenced": ["finance", "shop"],
        "schemas_blocked": ["finance"],
        "reason": "your roles do not grant the schema `finance`",
        "line": 1,
        "column": 34,
        "columns_checked": True,
        "sql": None,
    }


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + "(" * 3_000 + "1" + ")" * 3_000,
        "SELECT " + "not " * 4_000 + "true",
        "SELECT " + "abs(" * 33 + "1" + ")" * 33,
        "SELECT 1" + "::int" * 3_000,
        "SELECT * FROM " + "(SELECT * FROM " * 400 + "t" + ")" * 400,
        "SELECT 1 FROM shop.orders" + " JOIN shop.orders ON true" * 200,
        "SELECT '" + "x" * 30_000 + "'",
        "SELECT " + "case when 1 then " * 33 + "1" + " end" * 33,
    ],
    ids=["parens", "nots", "calls", "casts", "selects", "joins", "long", "cases"],
)
def test_an_oversized_statement_is_denied_and_never_raises(sql):
    assert not check_statement(sql, catalogue=CATALOGUE, schemas=None).is_allowed


def test_a_long_statement_within_the_limits_is_judged_like_any_other():
    assert check_statement("SELECT 1" + " UNION ALL SELECT 1" * 900, catalogue=CATALOGUE, schemas=None).is_allowed
    for opened, closed in (("[", "]"), ("abs(", ")"), ("case when 1 then ", " end")):
        deep = "SELECT " + opened * 32 + "1" + closed * 32
        assert check_statement(deep, catalogue=CATALOGUE, schemas=None).is_allowed


def test_a_word_is_never_both_a_table_reader_and_allowed():
    dangerous = {"query", "query_table", "glob", "getenv", "getvariable", "nextval", "current_setting", "sleep_ms"}
    assert not dangerous & (ALLOWED_FUNCTIONS | OPENING_WORDS)
    assert not [name for name in ALLOWED_FUNCTIONS if name.startswith(("read_", "pragma_", "duckdb_", "pg_s"))]


@pytest.mark.parametrize(
    "written",
    [
        "SELECT email FROM shop.customers",
        "SELECT phone_model FROM shop.orders",
        "SELECT status FROM finance.refunds",
        "SELECT status FROM shop.orders, finance.refunds",
        "SELECT getenv(status) FROM shop.orders",
        "SELECT status FROM shop.orders; DROP TABLE shop.orders",
        "DROP TABLE shop.orders",
        "SELECT status, email FROM shop.orders",
        "SELECT CURRENT_USER, status FROM shop.orders",
        "SELECT st\u00adatus FROM shop.orders",
        "",
    ],
)
def test_a_text_that_does_not_say_what_was_judged_never_runs(written, monkeypatch):
    monkeypatch.setattr("bylaw.sql.gate.regenerated", lambda _tree, _dialect: written)
    verdict = check_statement("SELECT status FROM shop.orders", catalogue=CATALOGUE, schemas=frozenset({"shop"}))
    assert (verdict.is_allowed, verdict.sql, verdict.line) == (False, None, None), verdict.sql
    assert verdict.reason


def test_a_text_of_other_schemas_never_runs_where_only_the_shape_is_judged(monkeypatch):
    monkeypatch.setattr("bylaw.sql.gate.regenerated", lambda _tree, _dialect: "SELECT status FROM finance.refunds")
    verdict = check_statement("SELECT status FROM shop.orders", catalogue=None, schemas=None)
    assert (verdict.is_allowed, verdict.sql) == (False, None)


def test_features_count_what_makes_a_statement_hard():
    import sqlglot

    tree = sqlglot.parse_one(
        "WITH a AS (SELECT 1) SELECT sum(x), row_number() OVER () FROM a JOIN b ON a.i = b.i JOIN (SELECT 2) c ON true",
        dialect="duckdb",
    )
    found = features(tree)
    assert (found.joins, found.ctes, found.windows, found.subqueries, found.aggregations) == (2, 1, 1, 1, 1)


_WORDS = (
    "SELECT FROM WHERE WITH AS UNION email phone customers shop . , ( ) * c ; ' \" query( count( = 1 JOIN ON "
    "orders RECURSIVE -- /* */ [ ] { } :: $1 ? # @ lambda"
)
WORDS = st.sampled_from(_WORDS.split())


@settings(max_examples=400, deadline=None)
@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_no_text_makes_the_gate_raise_and_none_gets_personal_data_past_it(text):
    verdict = check_statement("SELECT " + text, catalogue=CATALOGUE, schemas=None)
    assert verdict.is_allowed == (verdict.reason is None)
