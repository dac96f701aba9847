"""No statement is our fault: what the library stumbles over is denied as any other that cannot be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.gate import check_statement
from tests.rows import each

HERE = Path(__file__).parent
CATALOGUE = Catalogue(
    {
        "shop.orders": TableInfo(frozenset({"order_id", "customer_id", "status", "ordered_at", "amount"})),
        "shop.customers": TableInfo(frozenset({"customer_id", "email", "region"}), frozenset({"email"})),
    }
)
DIALECTS = ("duckdb", "postgres", "snowflake", "bigquery", "trino")
PIECE = re.compile(r"\w+|\s+|[^\w\s]")
WORDS = (
    *[
        "SELECT",
        "FROM",
        "WHERE",
        "JOIN",
        "ON",
        "USING",
        "LATERAL",
        "ROWS",
        "(",
        ")",
        ",",
        ".",
        "*",
        "AS",
        "[",
        "]",
        "{",
        "}",
        ":",
        "::",
        "->",
        "WITH",
        "VALUES",
        "UNNEST",
        "TABLE",
        "PIVOT",
    ],
    *[
        "UNION",
        "OVER",
        "GROUP",
        "BY",
        "ORDER",
        "LIMIT",
        "CASE",
        "WHEN",
        "END",
        "INTERVAL",
        "CAST",
        "EXTRACT",
        "FOR",
        "IN",
        "NOT",
        "?",
        "$1",
        "@",
        "#",
        "WITHIN",
        "FILTER",
    ],
    *[
        "QUALIFY",
        "WINDOW",
        "RECURSIVE",
        "ORDINALITY",
        "TABLESAMPLE",
        "FETCH",
        "ROW",
        "FIRST",
        "'",
        '"',
        "shop.orders",
        "amount",
        "1",
    ],
)


def statements() -> list[list[str]]:
    """Those of our own rows, in pieces."""
    files = [yaml.safe_load((HERE / name).read_text(encoding="utf-8")) for name in ("sql.yaml", "sql_hostile.yaml")]
    texts = [row["sql"] for groups in files for group in groups.values() for row in group]
    return [PIECE.findall(text) for text in texts if 0 < len(text) < 300]


@each(
    ("sql", "dialect", "says"),
    [
        ("SELECT * FROM ROWS FROM(range(1), range(3)) AS t(a, b)", "duckdb", "`rows from` is not a table"),
        ("SELECT * FROM ROWS FROM(generate_series(1, 2)) AS t", "postgres", "`rows from` is not a table"),
        ("SELECT {:1}", "postgres", "cannot be read as SQL"),
        ("SELECT regexp_extract(text(text, , 'a',0) FROM shop.orders", "bigquery", "cannot be read as SQL"),
        ("SELECT regexp_extract() FROM shop.orders", "bigquery", "cannot be read as SQL"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("catalogue", [CATALOGUE, None], ids=["catalogue", "shape"])
def test_what_the_library_cannot_read_is_denied(sql: str, dialect: str, says: str | None, catalogue) -> None:
    verdict = check_statement(sql, catalogue=catalogue, schemas=None, dialect=dialect)
    assert not verdict.is_allowed
    assert says is None or says in (verdict.reason or "")


@settings(max_examples=6_000)
@given(data=st.data())
def test_whatever_is_cut_and_put_together_gets_a_verdict(data: st.DataObject) -> None:
    pieces = [*data.draw(st.sampled_from(STATEMENTS))]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(pieces)))
        if data.draw(st.booleans()):
            del pieces[at : at + 2]
        else:
            pieces[at:at] = [" ", data.draw(st.sampled_from(WORDS)), " "]
    catalogue = data.draw(st.sampled_from([CATALOGUE, None]))
    check_statement("".join(pieces), catalogue=catalogue, schemas=None, dialect=data.draw(st.sampled_from(DIALECTS)))


STATEMENTS = statements()
