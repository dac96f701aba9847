"""What a statement is said to read, row by row: no column more, and none less."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.gate import judged
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("sql_reads.yaml").read_text(encoding="utf-8"))
CATALOGUE = Catalogue(
    {
        "shop.orders": TableInfo(frozenset({"id", "customer_id", "status"})),
        "shop.regions": TableInfo(frozenset({"id", "name"})),
        "shop.visits": TableInfo(None, frozenset({"ip"}), frozenset({"ip", "page"})),
    }
)


@each("row", ROWS, ids=lambda row: row["title"])
def test_exactly_what_is_read_is_said_to_be_read(row: dict[str, Any]) -> None:
    found = judged(row["sql"], catalogue=CATALOGUE, schemas=None)
    assert found.verdict.reason is None
    assert {f"{table}.{column}" for table, column in found.reads} == set(row["reads"])
    assert found.tables >= {table for table, _ in found.reads}
