"""A limit is the last that passes: what stands exactly at it is let through, and denied where it is one lower."""

from __future__ import annotations

from dataclasses import replace

import sqlglot

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.effort import LIMITS
from bylaw.sql.gate import check_statement
from tests.rows import each

CATALOGUE = Catalogue({"shop.orders": TableInfo(frozenset({"id"}))})
PLAIN = "SELECT id FROM shop.orders"
THREE = "shop.orders a, shop.orders b, shop.orders c"
SOURCES = [  # how many joins are loose where this stands between two tables: one of few rows is none
    (1, "(SELECT max(id), count(*) FROM shop.orders)"),
    (1, "(SELECT id FROM shop.orders LIMIT 100)"),
    (2, "(SELECT id FROM shop.orders LIMIT 101)"),
    (1, "(VALUES (1), (2))"),
    (1, "range(3)"),
    (1, "(SELECT 1)"),
    (2, "(SELECT id FROM shop.orders UNION SELECT 1)"),
    (2, "(SELECT id, count(*) FROM shop.orders GROUP BY id)"),
    (2, "(SELECT count(*) FROM shop.orders GROUP BY id)"),
    (2, "(SELECT count(*) OVER () FROM shop.orders)"),
    (2, "(SELECT max(id), id FROM shop.orders)"),
    (2, "((SELECT id FROM shop.orders))"),
]
ROWS = [
    ("characters", len(PLAIN), PLAIN),
    ("nodes", len(list(sqlglot.parse_one(PLAIN).walk())), PLAIN),
    ("nesting", 3, "SELECT (((1)))"),
    ("nesting", 2, "SELECT (1), (2), ((3)), (4)"),
    ("joins", 2, "SELECT a.id FROM shop.orders a JOIN shop.orders b USING (id) JOIN shop.orders c USING (id)"),
    ("loose_joins", 2, f"SELECT a.id FROM {THREE}"),
    ("loose_joins", 1, f"SELECT a.id FROM {THREE} WHERE a.id = c.id"),
    ("loose_joins", 2, f"SELECT a.id FROM {THREE} WHERE a.id = 1"),
    ("loose_joins", 2, f"SELECT a.id FROM {THREE} WHERE a.id = b.id OR a.id = 1"),
    ("loose_joins", 1, "SELECT a.id FROM shop.orders a JOIN shop.orders b ON a.id = 1"),
    ("loose_joins", 1, f"SELECT 1 FROM {THREE} WHERE (a.id = c.id AND c.id > 1) OR a.id = b.id"),
    *(("loose_joins", loose, f"SELECT 1 FROM shop.orders a, {source} b, shop.orders c") for loose, source in SOURCES),
    ("loose_joins", 2, "WITH b AS (SELECT id FROM shop.orders) SELECT 1 FROM shop.orders a, b, shop.orders c"),
    ("loose_joins", 1, "WITH b AS (SELECT max(id) FROM shop.orders) SELECT 1 FROM shop.orders a, b, shop.orders c"),
    ("generated_rows", 100, "SELECT range FROM range(100)"),
    ("generated_rows", 100, "SELECT generate_series FROM generate_series(900, 1000)"),
    ("generated_rows", 100, "SELECT 1 FROM range(10) a, range(10) b"),
    ("generated_rows", 100, "SELECT 1 FROM range(100) a, range(1) b, range(0) c"),
    ("generated_rows", 100, "SELECT 1 FROM range(100) a, generate_series(DATE '2026-01-01', DATE '2026-02-01') b"),
    ("generated_letters", 100, "SELECT repeat('x', 100)"),
    ("generated_letters", 100, "SELECT repeat(repeat('x', 10), 10)"),
    ("generated_letters", 100, "SELECT repeat('xy', 50)"),
    ("generated_letters", 100, "SELECT lpad('x', 100, ' ')"),
    ("generated_letters", 100, "SELECT concat(rpad('x', 50, ' '), repeat('y', 50))"),
    ("generated_letters", 100, "SELECT replace(repeat('x', 10), 'x', 'yyyyyyyyyy')"),
    ("generated_letters", 2000, "SELECT list_resize([1], 100)"),
    ("generated_letters", 10_000, "SELECT repeat((SELECT 'x'), 10)"),
    ("generated_letters", 200, "SELECT repeat(max(id), 10) FROM shop.orders"),
    ("generated_letters", 20, "SELECT list_transform([repeat('x', 10)], lambda y: y)"),
]  # fmt: skip


@each("field, most, sql", ROWS)
def test_what_stands_at_a_limit_passes_and_what_is_beyond_it_does_not(field: str, most: int, sql: str) -> None:
    def is_allowed(limit: int) -> bool:
        limits = replace(LIMITS, **{field: limit})
        return check_statement(sql, catalogue=CATALOGUE, schemas=None, limits=limits).is_allowed

    assert (is_allowed(most), is_allowed(most - 1)) == (True, False), (field, most, sql)
