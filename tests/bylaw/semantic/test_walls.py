"""The database's own walls, applied to a real PostgreSQL and a real DuckDB: they hold where no gate is before them."""

from __future__ import annotations

import duckdb
import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from bot.operate.doctor import rights
from bylaw.authored.machines.access import Roles
from bylaw.semantic import walls
from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery
from bylaw.sql.gate import check_statement
from bylaw.warehouses.registry import open_warehouse
from tests.bylaw.semantic.conftest import MARKET
from tests.bylaw.semantic.test_postgresql import _literal
from tests.fakes.postgresql import new_database

IN_BONN = {"dimension": "towns@lives_in.town", "values": ["Bonn"], "except": ["towns", "items"]}
ROLES = Roles.model_validate(
    {
        "roles": {
            "bonn": {"schemas": ["m"], "rows": [IN_BONN]},
            "own": {"schemas": ["m"], "rows": [{"dimension": "people.name", "attribute": "id"}]},
            "whole": {"schemas": ["*"]},
            "nothing": {"schemas": []},
        }
    }
)


@pytest.fixture(scope="module")
def private(market):
    """The market, whose people have names that nobody may read."""
    people = market.entities["people"].model_copy(update={"pii": ["name"]})
    return market.model_copy(update={"entities": {**market.entities, "people": people}})


@pytest.fixture(scope="module")
def server(postgresql, private):
    """The market's rows in PostgreSQL with the walls around them; run twice, as an administrator would."""
    engine = new_database(postgresql, "walls")
    with engine.connect() as connection:
        for statement in MARKET["tables"].split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement)
        for table, rows in MARKET["rows"].items():
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
            connection.exec_driver_sql(f"INSERT INTO m.{table} VALUES {values}")
        for _ in range(2):
            connection.exec_driver_sql(walls.for_postgres(private, ROLES))
        yield connection
    engine.dispose()


@pytest.fixture(scope="module")
def reader(postgresql, server):
    address = f"{postgresql}walls".replace("bylaw@", "bylaw_reader@")
    engine = create_engine(address, isolation_level="AUTOCOMMIT", execution_options={"no_parameters": True})
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_what_the_bot_asks_is_answered(private, reader, server):
    query = SemanticQuery.model_validate({"metrics": ["revenue"], "dimensions": ["orders.channel"]})
    sql = Compiler(private, "postgres").compile(query).sql
    verdict = check_statement(sql, catalogue=catalogue_of(private), schemas=None, dialect="postgres")
    assert sorted(reader.exec_driver_sql(verdict.sql).fetchall(), key=repr) == sorted(
        server.exec_driver_sql(sql).fetchall(), key=repr
    )
    assert reader.exec_driver_sql("SELECT count(*) FROM m.people").scalar_one() == 6


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM m.people",
        "SELECT * FROM m.people",
        "SELECT p FROM m.people p",
        "SELECT p.row_to_json FROM m.people p",
        "SELECT to_jsonb(p) FROM m.people p",
        "SELECT count(*) FROM m.people WHERE name LIKE 'A%'",
        "SELECT person_id FROM m.people ORDER BY name",
        "SELECT a.person_id FROM m.people a JOIN m.people b USING (name)",
        "DELETE FROM m.people",
        "CREATE TABLE m.mine (a INT)",
        "CREATE TEMP TABLE mine AS SELECT 1",
        "SELECT * FROM bylaw_whole.m_orders",
        "SET SESSION AUTHORIZATION bylaw",
        "COPY m.people TO PROGRAM 'cat'",
    ],
)
def test_what_the_bot_may_not_read_the_database_refuses(reader, sql):
    with pytest.raises(DBAPIError):
        reader.exec_driver_sql(sql)


def _as_role(server, role, sql):
    server.exec_driver_sql(f"SET ROLE bylaw_{role}")
    try:
        return server.exec_driver_sql(sql).fetchall()
    finally:
        server.exec_driver_sql("RESET ROLE")


def test_a_view_shows_the_rows_and_columns_of_its_role(server):
    all_rows = {row[0] for row in server.exec_driver_sql("SELECT person_id FROM m.people").fetchall()}
    in_bonn = {row[0] for row in server.exec_driver_sql("SELECT person_id FROM m.people WHERE town_id = 1").fetchall()}
    assert {row[0] for row in _as_role(server, "bonn", "SELECT person_id FROM bylaw_bonn.m_people")} == in_bonn
    assert {row[0] for row in _as_role(server, "whole", "SELECT person_id FROM bylaw_whole.m_people")} == all_rows
    assert _as_role(server, "own", "SELECT * FROM bylaw_own.m_people") == []
    for role, sql in (
        ("bonn", "SELECT name FROM bylaw_bonn.m_people"),
        ("bonn", "SELECT * FROM m.people"),
        ("bonn", "SELECT * FROM bylaw_whole.m_people"),
        ("nothing", "SELECT * FROM bylaw_whole.m_people"),
    ):
        with pytest.raises(DBAPIError):
            _as_role(server, role, sql)


def test_no_error_of_a_view_depends_on_a_row_that_it_hides(server):
    """Every amount of an order that the role does not see, divided by its distance from itself."""
    seen = {row[0] for row in _as_role(server, "bonn", "SELECT order_id FROM bylaw_bonn.m_orders")}
    rows = server.exec_driver_sql("SELECT order_id, amount FROM m.orders").fetchall()
    hidden = [(number, amount) for number, amount in rows if number not in seen and amount is not None]
    assert hidden
    for number, _ in hidden:
        found = _as_role(
            server, "bonn", f"SELECT count(*) FROM bylaw_bonn.m_orders WHERE 1 / (order_id - {number}) > 2"
        )
        assert found == [(0,)]


def test_the_doctor_sees_which_walls_stand(postgresql, server, reader, private):
    def states(user):
        opened = open_warehouse(f"{postgresql}walls".replace("bylaw@", f"{user}@"))
        try:
            return {row.check: row.state for row in rights(lambda: private, opened)}
        finally:
            opened.close()

    assert states("bylaw_reader") == {
        "warehouse user": "stands",
        "warehouse writes": "stands",
        "personal columns": "stands",
    }
    assert states("bylaw") == {"warehouse user": "open", "warehouse writes": "open", "personal columns": "open"}


def test_a_published_file_holds_no_personal_column(private, tmp_path):
    source, target = tmp_path / "it's private.duckdb", tmp_path / "open.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(MARKET["tables"])
        for table, rows in MARKET["rows"].items():
            connection.executemany(f"INSERT INTO m.{table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    with duckdb.connect(str(target)) as connection:
        connection.execute(walls.for_duckdb(private, str(source)))
        assert connection.execute("SELECT count(*) FROM m.people").fetchall() == [(6,)]
    found = {}
    for path in (source, target):
        opened = open_warehouse(f"duckdb://{path}")
        found[path] = {row.check: row.state for row in rights(lambda: private, opened)}
        assert ("name" in opened.columns("m", "people")) == (path == source)
        opened.close()
    assert found[source]["personal columns"] == "open"
    assert found[target]["personal columns"] == "stands"


def test_the_verb_prints_what_can_be_run(call, tmp_path, company):
    done = call("rights", "--sql", "--bundle", company.bundle)
    assert done.code == 0 and "CREATE ROLE bylaw_reader" in done.out
    assert call("rights", "--bundle", company.bundle).out
    assert call("rights", "--sql", "--dialect", "duckdb", "--bundle", company.bundle).out.startswith("ATTACH")
