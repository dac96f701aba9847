"""Rows that a rule hides are hidden from errors too: two databases differ in nothing but those rows.

Whatever passes has the same result in both, or fails in both: a value that cannot be cast, a division by zero or a
number too large tells nothing of a row that is not seen.
"""

from __future__ import annotations

import duckdb
import pytest
from sqlalchemy.exc import DBAPIError

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.gate import judged
from bylaw.sql.rows import Shown
from tests.fakes.postgresql import new_database
from tests.rows import each

CATALOGUE = Catalogue(
    {
        "s.o": TableInfo(frozenset({"oid", "cid", "amount", "note"})),
        "s.c": TableInfo(frozenset({"cid", "r"})),
        "s.free": TableInfo(frozenset({"oid"})),
    }
)
RULES = {
    "a look at another table": "EXISTS (SELECT 1 FROM s.c AS c WHERE c.cid = o.cid AND c.r = 'EU')",
    "a value": "o.note = 'seen'",
    "a list of another table": "o.cid IN (SELECT c.cid FROM s.c AS c WHERE c.r = 'EU')",
}
BAD = {
    "duckdb": [
        "CAST('hidden '||o.amount AS INTEGER) = 1", "1 % (o.amount - 5) IS NOT NULL", "factorial(o.amount * 1000) > 0",
        "CAST(CASE WHEN o.amount = 5 THEN 'x' ELSE '1' END AS INTEGER) = 1", "sqrt(3 - o.amount) > 0",
        "ln(3 - o.amount) > 0", "chr(CASE WHEN o.amount = 5 THEN 100000000 ELSE 65 END) = 'A'",
        "strptime(CASE WHEN o.amount = 5 THEN 'x' ELSE '2020' END, '%Y') > DATE '2000-01-01'",
        "CAST(CASE WHEN o.amount = 5 THEN 'x' ELSE '2020-01-01' END AS DATE) IS NOT NULL",
        "CAST(o.amount * 1000000000 AS INTEGER) > 0", "(SELECT 1 % (o.amount - 5)) IS NULL",
        "EXISTS (SELECT 1 FROM s.free AS f WHERE 1 % (o.amount - 5) = f.oid)",
        "(repeat('a', 3) = o.note OR 1 % (o.amount - 5) = 1)",
    ],
    "postgres": [
        "CAST('hidden '||o.amount AS INTEGER) = 1", "1 / (o.amount - 5) < 9", "sqrt(3 - o.amount) > 0",
        "ln(3 - o.amount) > 0",
        "CAST(CASE WHEN o.amount = 5 THEN 'x' ELSE '1' END AS INTEGER) = 1", "o.amount * 1000000000 > 0",
        "chr(CASE WHEN o.amount = 5 THEN 0 ELSE 65 END) = 'A'", "(SELECT 1 / (o.amount - 5)) IS NULL",
        "EXISTS (SELECT 1 FROM s.free AS f WHERE 1 / (o.amount - 5) = f.oid)",
        "CAST(CASE WHEN o.amount = 5 THEN 'x' ELSE '2020-01-01' END AS DATE) IS NOT NULL",
    ],
}  # fmt: skip
FORMS = [
    "SELECT count(*) FROM s.o AS o WHERE {bad} AND {rule}",
    "SELECT count(*) FROM s.o AS o WHERE {rule} AND {bad}",
    "SELECT {bad} FROM s.o AS o WHERE {rule}",
    "SELECT count(*) FROM s.o AS o WHERE {rule} GROUP BY {bad}",
    "SELECT o.oid FROM s.o AS o WHERE {rule} ORDER BY {bad}, o.oid",
    "SELECT max(CASE WHEN {bad} THEN 1 END) FROM s.o AS o WHERE {rule}",
    "SELECT count(*) FROM (SELECT o.amount, o.oid, o.note FROM s.o AS o WHERE {rule}) AS o WHERE {bad}",
    "WITH o AS (SELECT * FROM s.o AS o WHERE {rule}) SELECT count(*) FROM o WHERE {bad}",
    "SELECT count(*) FROM s.free f JOIN (SELECT * FROM s.o AS o WHERE {rule}) AS o ON f.oid = o.oid AND {bad}",
    "SELECT count(*) FROM s.free f WHERE EXISTS (SELECT 1 FROM s.o AS o WHERE o.oid = f.oid AND {bad} AND {rule})",
    "SELECT o.oid FROM s.o AS o WHERE {rule} AND {bad} UNION ALL SELECT f.oid FROM s.free f",
    "SELECT sum(s.o.amount) FROM s.o AS o WHERE {rule} AND {bad}",
]


def tables(hidden):
    yield "CREATE SCHEMA s"
    yield "CREATE TABLE s.c (cid INT, r VARCHAR)"
    yield "CREATE TABLE s.o (oid INT, cid INT, amount INT, note VARCHAR)"
    yield "CREATE TABLE s.free (oid INT)"
    yield "INSERT INTO s.c VALUES (1, 'EU'), (2, 'US')"
    yield "INSERT INTO s.o VALUES (1, 1, 1, 'seen'), (2, 1, 2, 'seen')"
    yield f"INSERT INTO s.o VALUES (3, 2, {hidden}, 'hidden'), (4, 2, 2, 'hidden')"
    yield "INSERT INTO s.free VALUES (1), (3)"


@pytest.fixture(scope="module")
def ask(postgresql):
    ducks = [duckdb.connect(config={"threads": 1}) for _ in range(2)]
    engines = [new_database(postgresql, f"rows_{i}") for i in range(2)]
    servers = [engine.connect() for engine in engines]
    for hidden, duck, server in zip((5, 2), ducks, servers, strict=True):
        for statement in tables(hidden):
            duck.execute(statement)
            server.exec_driver_sql(statement)
            server.exec_driver_sql("ANALYZE")

    def _ask(dialect, sql):
        found = []
        for duck, server in zip(ducks, servers, strict=True):
            try:
                done = duck.execute(sql) if dialect == "duckdb" else server.exec_driver_sql(sql)
                found.append(sorted(map(repr, done.fetchall())))
            except (duckdb.Error, DBAPIError) as error:
                found.append(type(error).__name__)
        return found

    yield _ask
    for one in (*ducks, *servers):
        one.close()
    for engine in engines:
        engine.dispose()


@pytest.mark.parametrize(
    ("dialect", "rule"),
    [
        pytest.param(dialect, rule, marks=[] if which == row else [pytest.mark.slow])
        for which, dialect in enumerate(BAD)
        for row, rule in enumerate(RULES)
    ],
)
def test_no_error_depends_on_a_row_that_is_hidden(ask, dialect, rule):
    visible = {"s.o": (Shown("o", RULES[rule]),)}
    passed = 0
    for form in FORMS:
        for bad in BAD[dialect]:
            sql = form.format(bad=bad, rule=RULES[rule])
            verdict = judged(sql, catalogue=CATALOGUE, schemas=None, dialect=dialect, visible=visible).verdict
            if verdict.is_allowed:
                passed += 1
                one, other = ask(dialect, verdict.sql)
                assert one == other, verdict.sql
                again = judged(verdict.sql, catalogue=CATALOGUE, schemas=None, dialect=dialect, visible=visible).verdict
                assert again.sql == verdict.sql
            else:
                assert "s.o.amount" in sql or "known column" in str(verdict.reason), verdict.reason
    assert passed > 60


def test_as_they_come_some_of_them_would_tell(ask):
    statements = [form.format(bad=bad, rule=rule) for rule in RULES.values() for form in FORMS for bad in BAD["duckdb"]]
    assert any(one != other for one, other in (ask("duckdb", sql) for sql in statements))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM s.o AS o",
        "SELECT count(*) FROM s.o AS o WHERE {rule} OR true",
        "SELECT count(*) FROM s.o AS o WHERE NOT ({rule})",
        "SELECT count(*) FROM s.o AS x WHERE {rule}",
        "SELECT count(*) FROM s.o AS o JOIN s.free f ON true WHERE {rule}",
        "SELECT count(*) FROM s.o AS o HAVING {rule}",
        "SELECT count(*) FROM (SELECT 1) q WHERE EXISTS (SELECT 1 FROM s.o)",
        "SELECT count(*) FROM s.o AS o WHERE {rule} AND EXISTS (SELECT 1 FROM s.o AS o)",
        "SELECT count(*) FILTER (WHERE {rule}) FROM s.o AS o",
        "WITH visible AS (SELECT * FROM s.o) SELECT * FROM visible AS o WHERE {rule}",
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_does_not_stand_over_the_table_is_no_rule(sql, rule):
    visible = {"s.o": (Shown("o", RULES[rule]),)}
    sql = sql.format(rule=RULES[rule])
    for dialect in BAD:
        verdict = judged(sql, catalogue=CATALOGUE, schemas=None, dialect=dialect, visible=visible).verdict
        assert not verdict.is_allowed, verdict.sql


SHOWN = [
    "SELECT o.oid, o.note FROM s.o AS o WHERE {rule}",
    "SELECT * FROM s.o AS o WHERE {rule}",
    "SELECT * FROM s.o AS o WHERE {rule} AND o.amount > 1",
    "SELECT o.* EXCLUDE (note) FROM s.o AS o WHERE {rule}",
    "SELECT 1 FROM s.o AS o WHERE {rule}",
    "SELECT count(*), max(amount) FROM s.o AS o WHERE ({rule} AND 1 = 1)",
    "SELECT note.upper() FROM s.o AS o WHERE {rule}",
    "SELECT note.upper().lower() AS small, cid FROM s.o AS o WHERE {rule}",
    "SELECT * FROM s.o AS o WHERE {rule} UNION ALL SELECT 7, 8, 9, 'x'",
    "WITH q(a, b, c, d) AS (SELECT * FROM s.o AS o WHERE {rule}) SELECT a FROM q",
    "SELECT * EXCLUDE (note) FROM s.o AS o WHERE {rule} AND length(o.note) > 1",
    "SELECT * EXCLUDE (note), o.* EXCLUDE (note, cid) FROM s.o AS o WHERE {rule}",
    "SELECT o.oid FROM s.o AS o WHERE {rule} AND EXISTS (SELECT * EXCLUDE (oid) FROM (SELECT 1 AS z, 2 AS oid))",
    "SELECT amount AS cid, cid AS amount FROM s.o AS o WHERE {rule} ORDER BY o.cid",
    "SELECT DISTINCT o.cid FROM s.o AS o WHERE {rule}",
    "SELECT o.cid, count(*) FROM s.o AS o WHERE {rule} GROUP BY o.cid HAVING count(*) > 1",
    "SELECT o.oid FROM s.o AS o WHERE {rule} ORDER BY o.amount DESC LIMIT 1",
    "SELECT o.oid FROM s.o AS o WHERE {rule} AND EXISTS (SELECT 1 FROM s.free f WHERE f.oid = o.oid)",
    "SELECT o.oid, row_number() OVER (ORDER BY o.oid) FROM s.o AS o WHERE {rule} QUALIFY row_number() OVER () > 0",
    "SELECT f.oid FROM s.free f JOIN (SELECT * FROM s.o AS o WHERE {rule}) q ON q.oid = f.oid",
    "SELECT o.oid FROM s.o AS o WHERE {rule} UNION ALL SELECT o.amount FROM s.o AS o WHERE {rule}",
    "WITH visible AS MATERIALIZED (SELECT o.oid FROM s.o AS o WHERE {rule}) SELECT * FROM visible",
]


@pytest.fixture(scope="module")
def whole_and_left():
    """The tables, and the same without the rows that are hidden."""
    found = [duckdb.connect(config={"threads": 1}) for _ in range(2)]
    for connection in found:
        for statement in tables(5):
            connection.execute(statement)
    found[1].execute("DELETE FROM s.o WHERE note = 'hidden'")
    yield found
    for connection in found:
        connection.close()


@each("rule", RULES)
@each("sql", SHOWN)
def test_a_statement_sees_what_it_saw_if_the_hidden_rows_were_deleted(sql, rule, whole_and_left):
    visible = {"s.o": (Shown("o", RULES[rule]),)}
    for catalogue in (CATALOGUE, None):
        verdict = judged(sql.format(rule=RULES[rule]), catalogue=catalogue, schemas=None, visible=visible).verdict
        if catalogue is None and verdict.reason is not None:
            assert "write the columns" in verdict.reason
            continue
        assert verdict.reason is None, verdict.reason
        fenced, left = (
            sorted(map(repr, connection.execute(text).fetchall()))
            for connection, text in zip(whole_and_left, (verdict.sql, sql.format(rule=RULES[rule])), strict=True)
        )
        assert fenced == left, verdict.sql
        again = judged(verdict.sql, catalogue=catalogue, schemas=None, visible=visible).verdict
        assert again.sql == verdict.sql, again.reason


@each(
    "sql",
    ["SELECT * FROM s.o AS o WHERE {rule}", "SELECT f.oid FROM s.free f, (SELECT o.* FROM s.o AS o WHERE {rule}) q"],
)
def test_a_star_is_not_fenced_where_the_columns_are_not_known(sql):
    rule = RULES["a value"]
    visible = {"s.o": (Shown("o", rule),)}
    for catalogue in (None, Catalogue({"s.o": TableInfo(None), "s.free": TableInfo(frozenset({"oid"}))})):
        verdict = judged(sql.format(rule=rule), catalogue=catalogue, schemas=None, visible=visible).verdict
        assert "write the columns" in str(verdict.reason)
        counted = judged(
            f"SELECT count(*) FROM s.o AS o WHERE {rule}", catalogue=catalogue, schemas=None, visible=visible
        )
        assert counted.verdict.reason is None
