"""The promise behind the gate, measured: whoever gets past it learns nothing that depends on personal data.

Two databases differ in nothing but personal data. Whatever statement the gate lets through has the same result on both.
"""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.gate import check_statement
from tests.rows import each

CATALOGUE = Catalogue(
    {
        "shop.customers": TableInfo(
            frozenset({"id", "email", "phone", "region", "spent"}), frozenset({"email", "phone"})
        ),
        "shop.orders": TableInfo(frozenset({"id", "customer_id", "phone_model"}), frozenset()),
        "shop.visits": TableInfo(None, frozenset({"ip"})),
    }
)
PEOPLE = [("ada@x.org", "+1 555", "1.1.1.1"), ("bo@y.org", "+2 666", "2.2.2.2"), ("cy@z.org", "+3 777", "3.3.3.3")]
OTHERS = [("zed@w.net", "+9 111", "9.9.9.9"), ("aba@w.net", "+8 222", "8.8.8.8"), ("mim@w.net", "+7 333", "7.7.7.7")]


def _database(people):
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        """
        CREATE SCHEMA shop;
        CREATE TABLE shop.customers (id INT, email VARCHAR, phone VARCHAR, region VARCHAR, spent INT);
        CREATE TABLE shop.orders (id INT, customer_id INT, phone_model VARCHAR);
        CREATE TABLE shop.visits (ip VARCHAR, customer_id INT, page VARCHAR);
        INSERT INTO shop.orders VALUES (1, 1, 'A'), (2, 1, 'B'), (3, 3, 'A');
        """
    )
    for i, (email, phone, ip) in enumerate(people, start=1):
        region = "EU" if i % 2 else "US"
        connection.execute("INSERT INTO shop.customers VALUES (?, ?, ?, ?, ?)", [i, email, phone, region, i])
        connection.execute("INSERT INTO shop.visits VALUES (?, ?, ?)", [ip, i, f"/{i}"])
    return connection


@pytest.fixture(scope="module")
def databases():
    found = _database(PEOPLE), _database(OTHERS)
    yield found
    for connection in found:
        connection.close()


def _results(databases, sql):
    found = []
    for connection in databases:
        try:
            found.append(sorted(connection.execute(sql).fetchall(), key=repr))
        except duckdb.Error as error:
            found.append(type(error).__name__)
    return found


ATOMS = [
    "email", "c.email", "customers.email", "shop.customers.email", "phone", "region", "c.region", "spent", "c",
    "customers", "shop.customers", "c.*", "*", "count(*)", "* EXCLUDE (email)", "* EXCLUDE (email, phone)",
    "COLUMNS('e.*')", "#2", "ip", "v.ip", "v", "page", "o.phone_model", "o", "1", "max(email)", "max(region)",
    "c::VARCHAR", "to_json(c)", "struct_extract(c, 'email')", "c.email.lower()", "c['email']", "row(c.*)",
    "list(c)", "hash(c)", "length(email)", "(SELECT max(email) FROM shop.customers)",
    "(SELECT count(*) FROM shop.orders)", "email AS x", "x", "unnest([email])", "{'a': email}", "[email]",
    "email || ''", "CASE WHEN email < 'b' THEN 1 END", "c.id", "o.id", "rowid", "n", "* REPLACE ('' AS email)",
    "any_value(c)", "min(c)", "c IS NULL", "c = c", "coalesce(email, '')", "[y.email FOR y IN [c]]",
    "list_transform([c], lambda y: y.email)", "email::VARCHAR", "customers['phone']", "c.phone IS NULL",
    "md5(phone)",
]  # fmt: skip
SOURCES = [
    "shop.customers c", "shop.customers", "shop.customers AS c(a, b, d, e, f)", "(SELECT * FROM shop.customers) c",
    "(SELECT email AS x, region FROM shop.customers) c",
    "(SELECT region, count(*) AS n FROM shop.customers GROUP BY 1) c", "shop.visits v", "shop.orders o",
    "shop.customers c JOIN shop.orders o ON c.id = o.customer_id", "shop.customers c NATURAL JOIN shop.visits v",
    "shop.customers c JOIN shop.visits v USING (customer_id)",
    "shop.customers c JOIN shop.customers d USING (email)", "shop.customers c, LATERAL (SELECT c.email AS x) l",
    "shop.customers c PIVOT (count(*) FOR region IN ('EU'))", "(FROM shop.customers) c", "(TABLE shop.customers) c",
    "(VALUES (1)) c(n)", "query('SELECT email FROM shop.customers') c", "query_table('shop.customers') c",
    "customers", "(SELECT c AS x FROM shop.customers c) c",
    "(SELECT region FROM shop.customers ORDER BY email LIMIT 1) c",
]  # fmt: skip
TAILS = [
    "", "WHERE email > 'b'", "WHERE region = 'EU'", "ORDER BY email", "ORDER BY ALL", "GROUP BY ALL",
    "GROUP BY email", "GROUP BY region", "HAVING max(email) > 'b'",
    "QUALIFY row_number() OVER (ORDER BY email) = 1", "LIMIT 1",
    "WHERE EXISTS (SELECT 1 FROM shop.customers d WHERE d.email > 'c')", "ORDER BY 1", "WHERE c > c",
    "LIMIT length(email)", "WHERE (SELECT email FROM shop.customers LIMIT 1) > 'b'",
    "WHERE id IN (SELECT id FROM shop.customers WHERE phone > '+2')", "WINDOW w AS (ORDER BY email)",
    "UNION ALL SELECT email FROM shop.customers", "ORDER BY c",
]  # fmt: skip
HEADS = [
    "", "WITH c AS (SELECT * FROM shop.customers) ", "WITH c AS (SELECT region, spent FROM shop.customers) ",
    "WITH email AS (SELECT 1 AS n) ", "WITH customers AS (SELECT email AS x FROM shop.customers) ",
]  # fmt: skip

STATEMENTS = st.builds(
    "{}SELECT {} FROM {} {}".format,
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3).map(", ".join),
    st.sampled_from(SOURCES),
    st.sampled_from(TAILS),
)


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STATEMENTS)
def test_what_passes_the_gate_does_not_depend_on_personal_data(databases, sql):
    verdict = check_statement(sql, catalogue=CATALOGUE, schemas=None)
    for text in (sql, verdict.sql):
        if verdict.is_allowed:
            one, other = _results(databases, text)
            assert one == other


@pytest.mark.parametrize(
    ("head", "source"),
    [
        pytest.param(head, source, marks=[pytest.mark.slow] if (which + row) % 4 else [])  # each of both more than once
        for which, head in enumerate(HEADS)
        for row, source in enumerate(SOURCES)
    ],
)
def test_each_column_of_each_source_one_by_one(databases, head, source):
    for atom in ATOMS:
        sql = f"{head}SELECT {atom} FROM {source}"
        verdict = check_statement(sql, catalogue=CATALOGUE, schemas=None)
        if verdict.is_allowed:
            one, other = _results(databases, verdict.sql)
            assert one == other, sql
            assert one == _results(databases, sql)[0], sql


def test_the_two_databases_do_differ(databases):
    one, other = _results(databases, "SELECT max(email), min(phone) FROM shop.customers")
    assert one != other


def test_ordinary_questions_are_not_caught_by_this(databases):
    for sql in (
        "SELECT region, sum(spent) FROM shop.customers GROUP BY ALL ORDER BY ALL",
        "SELECT c.region, count(*) FROM shop.customers c JOIN shop.orders o ON c.id = o.customer_id GROUP BY 1",
        "SELECT * EXCLUDE (email, phone) FROM shop.customers ORDER BY id",
        "SELECT page, count(*) FROM shop.visits GROUP BY page ORDER BY page",
    ):
        assert check_statement(sql, catalogue=CATALOGUE, schemas=None).reason is None
        one, other = _results(databases, sql)
        assert one == other != []


OPEN = Catalogue(
    {
        "lab.requests": TableInfo(None, frozenset({"patient"}), frozenset({"id", "note"})),
        "lab.staff": TableInfo(None, frozenset({"email"}), frozenset({"id", "post"})),
    }
)


@each(
    "sql",
    [
        "SELECT requests.note FROM lab.requests",
        "SELECT lab.requests.note FROM lab.requests",
        "SELECT note.note FROM lab.requests AS note, lab.staff",
        "SELECT r.note FROM lab.requests AS r JOIN lab.staff AS s ON r.id = s.id WHERE s.post = 'x'",
        "SELECT r.note FROM lab.requests r WHERE EXISTS (SELECT 1 FROM lab.staff s WHERE s.id = r.id)",
        "WITH a AS (SELECT r.id FROM lab.requests r) SELECT a.id FROM a JOIN lab.staff s ON a.id = s.id",
        "SELECT r.note, COUNT(*) AS many FROM lab.requests r GROUP BY r.note ORDER BY many DESC",
    ],
)
def test_a_known_column_behind_its_table_is_no_field_of_another_column(sql):
    assert check_statement(sql, catalogue=OPEN, schemas=None, dialect="postgres").reason is None


@each(
    "sql",
    [
        "SELECT r.patient FROM lab.requests r",
        "SELECT r.name FROM lab.requests r",
        "SELECT r.row_to_json FROM lab.requests r",
        "SELECT r.id AS row_to_json, r.row_to_json FROM lab.requests r",
        "SELECT r.id AS patient FROM lab.requests r ORDER BY patient",
        "SELECT (r).note FROM lab.requests r",
        "SELECT (info).note FROM lab.requests",
        "SELECT info.note FROM lab.requests",
        "SELECT note.patient FROM lab.requests AS note",
        "SELECT patient.note FROM lab.requests AS patient",
        "SELECT requests.note FROM lab.requests AS r",
        "SELECT r.note.patient FROM lab.requests r",
        "SELECT s.note FROM lab.requests r JOIN lab.staff s ON true",
        "SELECT r.note FROM lab.requests r WHERE EXISTS (SELECT 1 FROM lab.staff r WHERE r.note = 'x')",
        "SELECT x.row_to_json FROM (SELECT r.id FROM lab.requests r) x JOIN lab.staff s ON true",
        "SELECT r.id FROM lab.requests r WHERE EXISTS (SELECT r.to_json FROM lab.staff r)",
    ],
)
def test_what_may_be_a_row_or_a_field_of_one_is_denied_on_postgresql(sql):
    assert check_statement(sql, catalogue=OPEN, schemas=None, dialect="postgres").reason is not None
