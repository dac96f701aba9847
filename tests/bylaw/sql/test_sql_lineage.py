"""What the gate says is read, held against two others who look: a parser's own qualifier, and DuckDB.

Random trees over a catalogue: nested, joined, united, correlated. Whatever passes reads the tables that DuckDB names
and the columns that the qualifier finds, and DuckDB's plan scans no column beside them.
"""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.gate import judged

COLUMNS = {
    "shop.orders": ("oid", "cid", "amount", "state"),
    "shop.people": ("cid", "email", "region"),
    "shop.items": ("iid", "oid", "price"),
}
CATALOGUE = Catalogue(
    {
        table: TableInfo(frozenset(columns), frozenset({"email"}) & frozenset(columns))
        for table, columns in COLUMNS.items()
    }
)
SCHEMA: dict[str, Any] = {"shop": {t.partition(".")[2]: dict.fromkeys(c, "INT") for t, c in COLUMNS.items()}}


@st.composite
def queries(draw, depth: int = 2, outer: tuple[tuple[str, str], ...] = ()):
    """A SELECT and the names that it gives; *outer* are the columns around it, by alias and name."""
    sources: list[tuple[str, tuple[str, ...], str]] = []
    for i in range(draw(st.integers(1, 3))):
        alias = f"t{depth}{'o' if outer else ''}{i}"
        if depth and draw(st.booleans()):
            sql, names = draw(queries(depth - 1))
            sources.append((alias, names, f"({sql}) AS {alias}"))
        else:
            table = draw(st.sampled_from(sorted(COLUMNS)))
            sources.append((alias, COLUMNS[table], f"{table} AS {alias}"))
    known = [(alias, name) for alias, names, _ in sources for name in names]

    def reference(among=None):
        alias, name = draw(st.sampled_from(among or known + list(outer)))
        return f"{alias}.{name}"

    from_ = sources[0][2]
    for i, (_, _, text) in enumerate(sources[1:], 1):
        here = [(alias, name) for alias, names, _ in sources[: i + 1] for name in names]
        left = draw(st.sampled_from(["JOIN", "LEFT JOIN", ","]))
        from_ += f", {text}" if left == "," else f" {left} {text} ON {reference(here)} = {reference(here)}"
    names = tuple(f"n{i}" for i in range(draw(st.integers(1, 3))))
    shapes = ["{}", "coalesce({}, {})", "{} + {}", "CASE WHEN {} > 1 THEN {} END", "count({}) OVER (ORDER BY {})"]
    parts = []
    for name in names:
        if depth and draw(st.integers(0, 4)) == 0:
            inner, given_ = draw(queries(0, outer=tuple(known)))
            parts.append(f"(SELECT max({given_[0]}) FROM ({inner}) s) AS {name}")
        else:
            shape = draw(st.sampled_from(shapes))
            parts.append(f"{shape.format(*(reference() for _ in range(shape.count('{}'))))} AS {name}")
    sql = f"SELECT {', '.join(parts)} FROM {from_}"
    if draw(st.booleans()):
        sql += f" WHERE {reference()} > {draw(st.integers(0, 9))}"
    if depth and draw(st.integers(0, 3)) == 0:
        inner, given_ = draw(queries(0, outer=tuple(known)))
        sql += f"{' AND' if ' WHERE ' in sql.rsplit(')', 1)[-1] else ' WHERE'} EXISTS ({inner})"
    return sql, names


STATEMENTS = st.one_of(
    queries().map(lambda found: found[0]),
    st.tuples(queries(1), queries(1)).map(
        lambda two: f"WITH w AS ({two[0][0]}) SELECT w.{two[0][1][0]}, q.{two[1][1][0]} FROM w, ({two[1][0]}) AS q"
    ),
    st.tuples(queries(1), queries(1)).map(
        lambda two: (
            f"SELECT u.{two[0][1][0]} FROM (SELECT p.{two[0][1][0]} FROM ({two[0][0]}) AS p "
            f"UNION ALL SELECT r.{two[1][1][0]} FROM ({two[1][0]}) AS r) AS u"
        )
    ),
)


@pytest.fixture(scope="module")
def database():
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE SCHEMA shop")
        for table, columns in COLUMNS.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} INT' for name in columns)})")
        yield connection


def independent(sql: str) -> set[tuple[str, str]]:
    """The base columns that the parser's own qualifier finds."""
    tree = qualify(sqlglot.parse_one(sql, dialect="duckdb"), schema=SCHEMA, dialect="duckdb", quote_identifiers=False)
    found = set()
    for scope in traverse_scope(tree):
        for column in scope.columns:
            at: Any = scope
            while at is not None and column.table not in at.sources:
                at = at.parent
            source = None if at is None else at.sources[column.table]
            if isinstance(source, exp.Table):
                found.add((f"{source.db}.{source.name}", column.name))
    return found


def scanned(database, sql: str) -> set[tuple[str, str]]:
    """The base columns that DuckDB's plan scans."""
    found = set()
    waiting = json.loads(database.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()[-1][-1])
    while waiting:
        node = waiting.pop()
        waiting += node.get("children", [])
        info = node.get("extra_info") or {}
        if "Table" in info:
            columns = info.get("Projections", [])
            table = ".".join(info["Table"].split(".")[-2:])
            found |= {(table, column) for column in ([columns] if isinstance(columns, str) else columns)}
    return found


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(STATEMENTS)
def test_what_the_gate_says_is_read_is_what_others_find(database, sql):
    open_ = Catalogue({table: TableInfo(info.columns) for table, info in CATALOGUE.tables.items()})
    found = judged(sql, catalogue=open_, schemas=None)
    if not found.verdict.is_allowed:
        assert any(word in str(found.verdict.reason) for word in ("limit", "without a condition"))
        return
    assert found.reads == independent(sql)
    assert found.tables == {
        name.partition(" AS ")[0].replace('"', "").removeprefix("memory.")
        for name in database.get_table_names(sql, qualified=True)
    }
    for text in (sql, str(found.verdict.sql)):
        known = {(table, column) for table, column in scanned(database, text) if column in COLUMNS.get(table, ())}
        assert known <= found.reads
    closed = judged(sql, catalogue=CATALOGUE, schemas=None).verdict
    assert closed.is_allowed == (("shop.people", "email") not in found.reads)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(STATEMENTS)
def test_what_is_written_is_read_the_same_and_written_the_same(sql):
    found = judged(sql, catalogue=CATALOGUE, schemas=None)
    if found.verdict.sql is not None:
        again = judged(found.verdict.sql, catalogue=CATALOGUE, schemas=None)
        assert (again.reads, again.verdict.sql) == (found.reads, found.verdict.sql)
