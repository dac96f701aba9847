"""Families of hostile statements: what the gate lets through learns nothing of personal data, in real databases.

Two databases of each kind differ in nothing but personal data. What passes has the same result, or the same error, in
both, as it came and as it is written out.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import duckdb
import pytest
import yaml
from sqlalchemy.exc import DBAPIError

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.gate import check_statement
from tests.fakes.postgresql import new_database
from tests.rows import one_of

FAMILIES = yaml.safe_load(Path(__file__).with_name("sql_families.yaml").read_text(encoding="utf-8"))
CATALOGUE = Catalogue(
    {
        "shop.customers": TableInfo(
            frozenset({"id", "email", "phone", "region", "spent"}), frozenset({"email", "phone"})
        ),
        "shop.orders": TableInfo(frozenset({"id", "customer_id", "phone_model"})),
        "shop.visits": TableInfo(None, frozenset({"ip"}), frozenset({"ip", "customer_id", "page"})),
    }
)
PERSONS = [("ada@x.org", "+1 555", "1.1.1.1"), ("zed@w.net", "+9 111", "9.9.9.9")]


def expanded(family):
    """Each template with each of its pieces."""
    for template in family["templates"]:
        names = [name for name in "ab" if f"<{name}>" in template]
        for pieces in itertools.product(*(family[name] for name in names)):
            sql = template
            for name, piece in zip(names, pieces, strict=True):
                sql = sql.replace(f"<{name}>", piece)
            yield sql


def tables(email, phone, ip):
    yield "CREATE SCHEMA shop"
    yield "CREATE TABLE shop.customers (id INT, email VARCHAR, phone VARCHAR, region VARCHAR, spent INT)"
    yield "CREATE TABLE shop.orders (id INT, customer_id INT, phone_model VARCHAR)"
    yield "CREATE TABLE shop.visits (ip VARCHAR, customer_id INT, page VARCHAR)"
    yield f"INSERT INTO shop.customers VALUES (1, '{email}', '{phone}', 'EU', 1), (2, 'bo@y.org', '+2 666', 'US', 2)"
    yield "INSERT INTO shop.orders VALUES (1, 1, 'A'), (2, 2, 'B')"
    yield f"INSERT INTO shop.visits VALUES ('{ip}', 1, '/1')"


@pytest.fixture(scope="module")
def ask(postgresql):
    """The results of a statement in the two databases of a dialect."""
    ducks = [duckdb.connect(config={"threads": 1}) for _ in PERSONS]
    engines = [new_database(postgresql, f"families_{i}") for i in range(len(PERSONS))]
    servers = [engine.connect() for engine in engines]
    for person, duck, server in zip(PERSONS, ducks, servers, strict=True):
        for statement in tables(*person):
            duck.execute(statement)
            server.exec_driver_sql(statement)

    def _ask(dialect, sql):
        found = []
        for duck, server in zip(ducks, servers, strict=True):
            try:
                done = duck.execute(sql) if dialect == "duckdb" else server.exec_driver_sql(sql)
                found.append(sorted(map(repr, done.fetchall())))
            except (duckdb.Error, DBAPIError) as error:
                found.append(str(error))
        return found

    yield _ask
    for one in (*ducks, *servers):
        one.close()
    for engine in engines:
        engine.dispose()


def test_they_are_many():
    assert sum(len(set(expanded(family))) for family in FAMILIES) >= 1_000


@pytest.mark.parametrize(
    ("family", "dialect"),
    one_of(3, itertools.product(FAMILIES, ("duckdb", "postgres"))),
    ids=lambda one: one if isinstance(one, str) else one["title"],
)
def test_nothing_personal_is_learned(family, dialect, ask):
    denied = 0
    for sql in dict.fromkeys(expanded(family)):
        verdict = check_statement(sql, catalogue=CATALOGUE, schemas=None, dialect=dialect)
        denied += not verdict.is_allowed
        if verdict.is_allowed:
            for text in (sql, verdict.sql):
                one, other = ask(dialect, text)
                assert one == other, text
    assert denied > 0
