"""What `context/` declares of the demo company is true of its data: columns, keys, values, joins, freshness, owners."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from pathlib import Path

import duckdb
import pytest
import yaml

from bylaw.demos.warehouse import build
from bylaw.semantic.catalogue import catalogue_of
from bylaw.sql.gate import check_statement
from ci.loading.load import load
from tests.rows import each

ROOT = Path(__file__).parents[2]
ROWS = yaml.safe_load(Path(__file__).with_name("demo_company.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 20)
PLANS = {"sales_targets", "budgets"}  # they speak of the future on purpose


@cache
def workspace():
    return load(ROOT, today=TODAY)


def entities():
    return workspace().context.entities


def names():
    return sorted(entities())


def dated():
    return sorted(name for name, entity in entities().items() if entity.freshness)


def enums():
    return [(name, one) for name, entity in sorted(entities().items()) for one in entity.dimensions if one.is_enum]


def joins():
    return [(name, one) for name, entity in sorted(entities().items()) for one in entity.relationships]


def schemas():
    return {entity.base_table.schema_name for entity in entities().values()}


@cache
def catalogue():
    return catalogue_of(workspace().context)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("company") / "demo.duckdb"
    build(path, TODAY)
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


def _one(demo, sql):
    return demo.execute(sql).fetchone()[0]


def _table(name):
    return f"{entities()[name].base_table.qualified} AS {name}"


def test_every_table_is_described(demo):
    tables = {
        f"{schema}.{table}"
        for schema, table in demo.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
    }
    assert tables == {entity.base_table.qualified for entity in entities().values()}


@each("name", names)
def test_every_declared_column_is_there_and_holds_something(demo, name):
    entity = entities()[name]
    parts = [part.sql for part in (*entity.dimensions, *entity.time_dimensions, *entity.facts)] + entity.pii
    for part in parts:
        assert _one(demo, f"SELECT count({part}) FROM {_table(name)}") > 0, part


@each("name", names)
def test_a_key_tells_rows_apart(demo, name):
    keys = entities()[name].primary_key.columns
    for key in (keys, entities()[name].label or keys):
        columns = ", ".join(key)
        unknown = " OR ".join(f"{column} IS NULL" for column in key)
        assert demo.execute(f"SELECT {columns} FROM {_table(name)} GROUP BY ALL HAVING count(*) > 1").fetchall() == []
        assert _one(demo, f"SELECT count(*) FROM {_table(name)} WHERE {unknown}") == 0


@each(("name", "dimension"), enums, ids=lambda value: getattr(value, "name", value))
def test_the_values_of_an_enum_are_those_in_the_data(demo, name, dimension):
    rows = demo.execute(f"SELECT DISTINCT {dimension.sql} FROM {_table(name)}").fetchall()
    held = {value for (value,) in rows if value is not None}
    told = set(dimension.sample_values)
    assert held >= told
    assert held - told <= ({"United States"} if dimension.name == "country" else set())


def _matches(join, left):
    pairs = " AND ".join(f"l.{pair.left_column} = r.{pair.right_column}" for pair in join.relationship_columns)
    tables = (
        f"{entities()[left].base_table.qualified} AS l",
        f"{entities()[join.right_entity].base_table.qualified} AS r",
    )
    return tables, pairs


@each(("name", "join"), joins, ids=lambda value: getattr(value, "name", value))
def test_a_row_finds_as_many_as_is_declared(demo, name, join):
    (left, right), pairs = _matches(join, name)
    keys = [f"l.{pair.left_column}" for pair in join.relationship_columns]
    wanted = " AND ".join(f"{key} IS NOT NULL" for key in keys)
    assert (
        _one(demo, f"SELECT count(*) FROM {left} WHERE {wanted} AND NOT EXISTS (SELECT 1 FROM {right} WHERE {pairs})")
        == 0
    )
    assert _one(demo, f"SELECT count(*) FROM {left} JOIN {right} ON {pairs}") > 0
    most = f"SELECT max(n) FROM (SELECT count(*) AS n FROM {left} JOIN {right} ON {pairs} GROUP BY {{}}.rowid)"
    of_a_left, of_a_right = (_one(demo, most.format(side)) for side in ("l", "r"))
    assert of_a_left == 1 or join.relationship_type in ("one_to_many", "many_to_many")
    assert of_a_right == 1 or join.relationship_type in ("many_to_one", "many_to_many")


@each("name", dated)
def test_the_data_are_as_fresh_as_is_promised(demo, name):
    freshness = entities()[name].freshness
    at = freshness.as_of_column
    newest = _one(demo, f"SELECT max({at})::DATE FROM {_table(name)} WHERE {at} < DATE '2026-11-21'")
    count, unit = freshness.max_age.split()
    assert unit in ("day", "days")
    assert timedelta(0) <= TODAY - newest <= timedelta(days=int(count))


@each("name", dated)
def test_nothing_has_happened_after_today(demo, name):
    if name in PLANS:
        return
    for moment in entities()[name].time_dimensions:
        if moment.name in ("due_on", "expected_on", "promised_on", "warranty_ends_on"):
            continue  # what is agreed for later
        assert _one(demo, f"SELECT max({moment.sql}) < DATE '2026-11-21' FROM {_table(name)}"), moment.name


@each("name", names)
def test_the_registry_says_whose_it_is_and_how_old_it_may_be(name):
    entity = entities()[name]
    assert entity.owner
    assert entity.domain in workspace().context.guides or entity.domain in ("catalogue", "customers", "membership")
    assert entity.freshness or {"reference", "detail"} & set(entity.tags), "neither dated nor said why not"
    assert entity.tags


def test_every_entity_stands_in_one_guide():
    listed = [name for guide in workspace().context.guides.values() for name in guide.entities]
    assert sorted(listed) == sorted(entities())


def test_the_company_is_large_enough_to_get_lost_in():
    context = workspace().context
    kinds = [metric.type for metric in context.metrics.values()]
    assert len(entities()) >= 36
    assert {entity.domain for entity in entities().values()} >= {"growth", "finance", "revenue", "marketing", "product"}
    assert len(kinds) >= 40
    assert set(kinds) == {"simple", "ratio", "derived", "cumulative"}
    assert sum(metric.non_additive_dimension is not None for metric in context.metrics.values()) >= 2
    assert len(context.gotchas) >= 11
    assert len(context.verified_queries) >= 30


@each("row", ROWS["traps"], ids=lambda row: row["gotcha"])
def test_forgetting_a_trap_gives_another_number(demo, row):
    assert row["gotcha"] in workspace().context.gotchas
    assert _one(demo, row["sql"]) > row["more_than"]


def test_every_trap_but_that_of_the_calendar_is_measured():
    assert set(workspace().context.gotchas) - {row["gotcha"] for row in ROWS["traps"]} == {"partial-period"}


@each("row", ROWS["none"], ids=lambda row: row["title"])
def test_what_must_not_be_found(demo, row):
    assert _one(demo, row["sql"]) == 0


# ---- who may read what


@each("name", names)
def test_a_table_is_read_with_its_schema_granted_and_refused_without(name):
    schema = entities()[name].base_table.schema_name
    sql = f"SELECT count(*) FROM {entities()[name].base_table.qualified}"
    assert check_statement(sql, catalogue=catalogue(), schemas=frozenset({schema})).is_allowed
    refused = check_statement(sql, catalogue=catalogue(), schemas=frozenset(schemas() - {schema}))
    assert not refused.is_allowed
    assert schema in refused.reason


@each(
    ("user", "reads", "never"),
    lambda: [
        ("nobody in particular", {"shop"}, schemas() - {"shop"}),
        ("amara", {"shop", "growth", "marketing", "product"}, {"finance", "revenue"}),
        ("chiara", {"shop", "support"}, {"finance", "revenue", "growth"}),
        ("jo", {"shop", "growth", "marketing"}, {"finance", "revenue", "support"}),
        ("kira", {"shop", "growth", "product"}, {"finance", "revenue", "marketing"}),
        ("liam", {"shop", "supply"}, {"finance", "revenue", "growth"}),
        ("ben", {"shop", "finance", "revenue"}, {"growth", "marketing", "support"}),
        ("grace", schemas(), set()),
        ("farid", schemas(), set()),
    ],
)
def test_a_role_reads_the_schemas_of_its_desk(user, reads, never):
    granted = workspace().rules.roles.schemas_of(user, schemas())
    assert reads <= granted
    assert not never & granted
