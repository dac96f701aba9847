"""Keys of several kinds: a payer is a person or a shop of the same number, and only the kind tells which."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date

import duckdb
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Entity
from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery
from bylaw.sql.gate import check_statement

ENTITIES = """
- name: people
  base_table: {schema: k, table: people}
  primary_key: {columns: [id]}
  dimensions: [{name: name}, {name: town}]
  facts: [{name: id}]
- name: shops
  base_table: {schema: k, table: shops}
  primary_key: {columns: [id]}
  dimensions: [{name: shop}]
  facts: [{name: id}]
- name: payments
  base_table: {schema: k, table: payments}
  primary_key: {columns: [payment_id]}
  dimensions: [{name: channel}]
  time_dimensions: [{name: paid_on, data_type: date, default: true}]
  facts: [{name: amount}]
  relationships:
    - {name: paid_by_person, right_entity: people, relationship_type: many_to_one, condition: payer_kind = 'person',
       relationship_columns: [{left_column: payer, right_column: id}]}
    - {name: paid_by_shop, right_entity: shops, relationship_type: many_to_one, condition: payer_kind = 'shop',
       relationship_columns: [{left_column: payer, right_column: id}]}
"""
NAMES = ("Ann", "Ben", "Cleo", "Dan")
TOWNS = ("Bonn", "Jena")
PAYMENTS = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 4, None]),
        st.sampled_from(["person", "shop", None]),
        st.sampled_from(["web", "till"]),
        st.integers(1, 9),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def compiler():
    entities = [Entity.model_validate(entity) for entity in yaml.safe_load(ENTITIES)]
    return Compiler(Context(entities={entity.name: entity for entity in entities}, calendar=Calendar()))


@pytest.fixture(scope="module")
def asked(compiler):
    catalogue = catalogue_of(compiler.context)
    with duckdb.connect() as tables:
        tables.execute("CREATE SCHEMA k; CREATE TABLE k.people (id INT, name TEXT, town TEXT)")
        tables.execute("CREATE TABLE k.shops (id INT, shop TEXT)")
        columns = "payment_id INT, payer INT, payer_kind TEXT, channel TEXT, amount INT, paid_on DATE"
        tables.execute(f"CREATE TABLE k.payments ({columns})")
        for i, name in enumerate(NAMES, 1):
            tables.execute("INSERT INTO k.people VALUES (?, ?, ?)", [i, name, TOWNS[i % 2]])
            tables.execute("INSERT INTO k.shops VALUES (?, ?)", [i, f"shop of {name}"])

        def _asked(query, payments):
            sql = compiler.compile(SemanticQuery.model_validate(query)).sql
            assert check_statement(sql, catalogue=catalogue, schemas=None).reason is None, sql
            tables.execute("DELETE FROM k.payments")
            for i, payment in enumerate(payments):
                tables.execute("INSERT INTO k.payments VALUES (?, ?, ?, ?, ?, ?)", [i, *payment, date(2026, 1, 1)])
            return tables.execute(sql).fetchall()

        yield _asked


def by_person(payments):
    """The payments of each person."""
    found = defaultdict(list)
    for payer, kind, channel, amount in payments:
        if kind == "person" and payer is not None:
            found[NAMES[payer - 1]].append((channel, amount))
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PAYMENTS)
def test_only_those_of_its_kind_are_the_payments_of_a_person(asked, payments):
    theirs = by_person(payments)
    total = {"metrics": ["sum(payments.amount)"]}

    told = dict(asked({**total, "dimensions": ["people.name"]}, payments))
    others = [amount for payer, kind, _, amount in payments if kind != "person" or payer is None]
    assert told == {name: sum(amount for _, amount in paid) for name, paid in theirs.items()} | (
        {None: sum(others)} if others else {}
    )
    shops = dict(asked({**total, "dimensions": ["shops.shop"]}, payments))
    assert sum(shops.values()) == sum(amount for *_, amount in payments)

    town = [{"dimension": "people.town", "values": ["Jena"]}]
    ((jena,),) = asked({**total, "filters": town}, payments)
    in_jena = [
        amount for name, paid in theirs.items() if TOWNS[(NAMES.index(name) + 1) % 2] == "Jena" for _, amount in paid
    ]
    assert (jena or 0) == sum(in_jena)

    web = [{"dimension": "payments.channel", "values": ["web"]}]
    paid_on_the_web = [name for name in NAMES if any(channel == "web" for channel, _ in theirs[name])]
    assert asked({"dimensions": ["people.name"], "per": ["people"], "filters": web}, payments) == [
        (name,) for name in paid_on_the_web
    ]
    for comparison, keep in (("=", lambda n: n == 0), (">=", lambda n: n >= 2), ("<", lambda n: n < 2)):
        related = {"entity": "people", "metric": "count(payments)", "comparison": comparison}
        related["value"] = 0 if comparison == "=" else 2
        rows = asked({"dimensions": ["people.name"], "per": ["people"], "filters": [related]}, payments)
        assert rows == [(name,) for name in NAMES if keep(len(theirs[name]))]

    counted = Counter(channel for name in NAMES for channel in {channel for channel, _ in theirs[name]})
    assert dict(asked({"metrics": ["count(people)"], "dimensions": ["payments.channel"]}, payments)) == dict(counted)
