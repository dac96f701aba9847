"""Whoever may see some rows gets the answers of a database that holds no others, or is told why not."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bylaw.authored.machines.access import Grant, Rights, Roles, RowRule
from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Related, SemanticQuery, Unanswerable
from bylaw.semantic.rights import verdict_on
from bylaw.sql.gate import check_statement
from tests.bylaw.semantic.conftest import MARKET
from tests.bylaw.semantic.naive import COLUMNS
from tests.bylaw.semantic.test_anything import QUERIES
from tests.bylaw.semantic.test_naive import MARKETS, queries, wide_queries

ROWS = yaml.safe_load(Path(__file__).with_name("rights.yaml").read_text(encoding="utf-8"))
RANDOM = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
SCHEMAS = frozenset({"m"})

# how a row of each table finds the rows that a rule speaks of, known by heart
UP = {
    "orders": [("person_id", "people", "person_id")],
    "tickets": [("person_id", "people", "person_id")],
    "balances": [("person_id", "people", "person_id")],
    "lines": [("order_id", "orders", "order_id"), ("item_id", "items", "item_id")],
    "item_tags": [("item_id", "items", "item_id"), ("tag_id", "tags", "tag_id")],
}
NAMED = {"people.name": ("people", "name"), "people.nick": ("people", "name"), "orders.channel": ("orders", "channel")}
NAMED |= {"orders.amount": ("orders", "amount"), "items.kind": ("items", "kind")}
NAMED |= {"towns@lives_in.town": ("homes", "town"), "towns@sent_to.town": ("targets", "town")}
ROLES_OF_TOWNS = {"homes": ("people", "town_id"), "targets": ("orders", "to_town")}

RULES = st.one_of(
    st.builds(
        lambda name, values, operator, spared: RowRule.model_validate(
            {"dimension": name, "values": values, "operator": operator, "except": spared}
        ),
        st.sampled_from(["people.name", "people.nick", "orders.channel", "items.kind", "towns@lives_in.town"]),
        st.lists(st.sampled_from(["Ann", "Ben", "web", "phone", "pot", "Bonn", "Ulm", "ann"]), min_size=1, max_size=3),
        st.sampled_from(["in", "in", "not_in"]),
        st.lists(st.sampled_from([*COLUMNS, "forecasts"]), max_size=6),
    ),
    st.builds(
        lambda operator, value, spared: RowRule.model_validate(
            {"dimension": "orders.amount", "operator": operator, "values": [value], "except": spared}
        ),
        st.sampled_from(["<", ">=", "in"]),
        st.sampled_from([0, 50, 100]),
        st.lists(st.sampled_from([*COLUMNS, "forecasts"]), min_size=4),
    ),
)
GRANTS = st.builds(Grant, st.just(SCHEMAS), st.lists(RULES, max_size=2).map(tuple))
RIGHTS = st.builds(Rights, st.lists(GRANTS, min_size=1, max_size=2).map(tuple))


def _found(data, table, row, target):
    """The row of *target* that a row of *table* leads to; False where no declared way goes there."""
    if table == target:
        return row
    if target in ROLES_OF_TOWNS:
        owner, column = ROLES_OF_TOWNS[target]
        holder = _found(data, table, row, owner)
        if holder is False or holder is None:
            return holder
        return next((town for town in data["towns"] if town["town_id"] == holder[column] is not None), None)
    for column, other, key in UP.get(table, ()):
        if _leads(other, target):
            found = next((one for one in data[other] if one[key] == row[column] is not None), None)
            return None if found is None else _found(data, other, found, target)
    return False


def _leads(table, target):
    target = ROLES_OF_TOWNS.get(target, (target,))[0]
    return table == target or any(_leads(other, target) for _, other, _ in UP.get(table, ()))


def _meets(data, table, row, rule):
    target, column = NAMED[rule.dimension]
    found = _found(data, table, row, target)
    value = found and found[column]
    if value is None or value is False:
        return False
    kept = {
        "in": lambda: value in rule.values,
        "not_in": lambda: value not in rule.values,
        "<": lambda: value < rule.values[0],
        ">=": lambda: value >= rule.values[0],
    }
    return kept[rule.operator]()


def permitted(data, rights):
    """The rows of each table that may be seen, read in Python; a table that is closed has none."""
    named = {table: [dict(zip(columns, row, strict=True)) for row in data.get(table, [])]
             for table, columns in COLUMNS.items()}  # fmt: skip

    def is_seen(table, row):
        return any(
            all(_meets(named, table, row, rule) for rule in grant.rules if table not in rule.spared)
            for grant in rights.grants
        )

    return {table: [tuple(row.values()) for row in rows if is_seen(table, row)] for table, rows in named.items()}


@pytest.fixture(scope="module")
def ask(market):
    """The rows of a query over this data, as somebody with these rights gets them; None where it is refused."""
    compiler, catalogue = Compiler(market), catalogue_of(market)
    with duckdb.connect() as connection:
        connection.execute(MARKET["tables"])

        def _ask(data, query, rights=None):
            for table in COLUMNS:
                connection.execute(f"TRUNCATE m.{table}")
                if rows := data.get(table, []):
                    marks = ", ".join(f"({', '.join('?' * len(row))})" for row in rows)
                    connection.execute(f"INSERT INTO m.{table} VALUES {marks}", [cell for row in rows for cell in row])
            visible = compiler.visible(rights)
            try:
                compiled = compiler.compile(query, visible)
            except Unanswerable:
                return None
            shown = None if visible is None else visible.visible("duckdb")
            verdict = check_statement(compiled.sql, catalogue=catalogue, schemas=SCHEMAS, visible=shown)
            assert verdict.reason is None or "is the limit" in verdict.reason
            return connection.execute(verdict.sql or compiled.sql).fetchall()

        yield _ask


def _agree(ask, data, query, rights):
    """Is the narrowed answer that of the permitted rows?"""
    mine = ask(data, query, rights)
    if mine is not None:
        assert mine == ask(permitted(data, rights), query)


ONE_TOWN = Rights((Grant(SCHEMAS, (RowRule(dimension="towns@lives_in.town", values=["Bonn"]),)),))
WITHOUT_TICKETS = SemanticQuery(
    metrics=("revenue", "count(people)"),
    dimensions=("people.name",),
    filters=(Related(entity="people", metric="count(tickets)", comparison="=", value=0),),
)


@RANDOM
@given(MARKETS, queries(), RIGHTS)
@example({table: rows for table, rows in MARKET["rows"].items() if table in COLUMNS}, WITHOUT_TICKETS, ONE_TOWN)
def test_an_answer_is_that_of_a_database_of_permitted_rows(ask, data, query, rights):
    _agree(ask, data, query, rights)


@RANDOM
@given(MARKETS, wide_queries(), RIGHTS)
def test_so_is_an_answer_from_rows_of_several_entities(ask, data, query, rights):
    _agree(ask, data, query, rights)


@RANDOM
@given(MARKETS, QUERIES, RIGHTS)
def test_so_is_any_answer_at_all(ask, data, query, rights):
    _agree(ask, data, query, rights)


@pytest.fixture(scope="module")
def house():
    return Roles.model_validate(ROWS["roles"])


@pytest.mark.parametrize("row", ROWS["answers"], ids=lambda row: row["title"])
def test_who_gets_what(market, stalls, house, row):
    compiler = Compiler(market)
    query = SemanticQuery.model_validate(row["query"])
    visible = compiler.visible(house.rights_of(row["as"], ["m"]))
    if "refused" in row:
        with pytest.raises(Unanswerable) as problem:
            compiler.compile(query, visible)
        assert f"{problem.value.message} | {problem.value.help}" == row["refused"]
        return
    compiled = compiler.compile(query, visible)
    found = [
        [str(cell) if cell is not None else None for cell in one] for one in stalls.execute(compiled.sql).fetchall()
    ]
    assert found == row["rows"]
    assert (compiled.caveats[0] if compiled.caveats else None) == row["said"]


@pytest.mark.parametrize("row", ROWS["statements"], ids=lambda row: row["title"])
def test_a_statement_of_a_person_is_held_to_the_same_rows(market, house, row):
    verdict = verdict_on(row["sql"], market, house, row["as"])
    assert verdict.is_allowed is ("denied" not in row)
    assert verdict.reason == row.get("denied")


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "snowflake", "bigquery", "trino", "sqlite"])
def test_the_gate_knows_the_condition_in_every_dialect(market, house, dialect):
    from bylaw.warehouses.dialects import written

    compiler = Compiler(market)
    visible = compiler.visible(house.rights_of("ann", ["m"]))
    for metrics in (("revenue",), ("units", "minutes"), ("count(people)",)):
        sql = compiler.compile(SemanticQuery(metrics=metrics), visible).sql
        shown = visible.visible(dialect)
        judged = {"catalogue": catalogue_of(market), "schemas": SCHEMAS, "dialect": dialect}
        assert check_statement(written(sql, dialect), visible=shown, **judged).reason is None
        careless = compiler.compile(SemanticQuery(metrics=metrics)).sql
        assert "your roles show you" in check_statement(written(careless, dialect), visible=shown, **judged).reason
