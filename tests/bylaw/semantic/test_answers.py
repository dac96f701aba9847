"""Queries over the market: what is answered, by what is counted by hand, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery, Unanswerable
from bylaw.sql.gate import check_statement
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text(encoding="utf-8"))
ALWAYS = {"Testers never count.", "Void orders keep their amount."}


@pytest.fixture(scope="module")
def compiler(market):
    return Compiler(market)


def _query(row):
    return SemanticQuery.model_validate(row["query"])


def _rounded(rows):
    return [[round(cell, 6) if isinstance(cell, float) else cell for cell in row] for row in rows]


@each("row", ROWS["answered"], ids=lambda row: row["title"])
def test_a_query_has_this_answer(row, compiler, market, stalls):
    compiled = compiler.compile(_query(row))
    assert check_statement(compiled.sql, catalogue=catalogue_of(market), schemas=None).reason is None
    found = stalls.execute(compiled.sql)
    assert [column[0] for column in found.description] == list(compiled.columns)
    assert _rounded(found.fetchall()) == row["rows"]
    assert [caveat for caveat in compiled.caveats if caveat not in ALWAYS] == row.get("caveats", [])


@each("row", ROWS["refused"], ids=lambda row: row["title"])
def test_a_query_is_refused_and_says_why(row, compiler):
    with pytest.raises(Unanswerable) as caught:
        compiler.compile(_query(row))
    assert (caught.value.message, caught.value.help) == (row["says"], row.get("help"))


@each("row", ROWS["answered"], ids=lambda row: row["title"])
def test_a_query_compiles_to_the_same_text_every_time(row, compiler, market):
    assert compiler.compile(_query(row)).sql == Compiler(market).compile(_query(row)).sql


def test_columns_say_what_they_are(compiler):
    query = SemanticQuery.model_validate(
        {"metrics": ["revenue", "count(orders)"], "dimensions": ["people.name"], "grain": "month"}
    )
    found = [
        (column.name, column.asked, column.kind, column.format, column.unit)
        for column in compiler.compile(query).outputs
    ]
    assert found == [
        ("month", "time", "time", None, None),
        ("name", "people.name", "dimension", None, None),
        ("revenue", "revenue", "metric", "currency", "EUR"),
        ("count_orders", "count(orders)", "metric", None, None),
    ]


def test_a_measure_has_the_format_of_its_metric_unless_it_is_something_else(compiler):
    query = SemanticQuery.model_validate(
        {
            "metrics": ["web", "rank"],
            "dimensions": ["people.name"],
            "measures": [
                {"name": "web", "metric": "revenue", "filters": [{"dimension": "orders.channel", "values": ["web"]}]},
                {"name": "rank", "metric": "revenue", "over": "rank"},
            ],
        }
    )
    assert [column.format for column in compiler.compile(query).outputs] == [None, "currency", None]


def test_entities_that_are_only_asked_about_are_asked_and_touched(compiler):
    query = SemanticQuery.model_validate(
        {"metrics": ["count(items)"], "filters": [{"entity": "items", "metric": "units", "value": 1}]}
    )
    compiled = compiler.compile(query)
    assert compiled.base == "items"
    assert {"items", "lines"} <= set(compiled.asked) <= set(compiled.entities)
    assert {"orders", "people"} <= set(compiled.entities)


def test_a_date_column_is_named_once_for_each_number(compiler):
    query = SemanticQuery.model_validate({"metrics": ["revenue", "order_count", "paid"], "grain": "month"})
    assert compiler.compile(query).time_column == "orders.placed_at and orders.paid_on"
