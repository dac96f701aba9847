"""The gate against statements that nobody here wrote, judged by their shape alone."""

from __future__ import annotations

import json

from bylaw.sql.gate import check_statement
from tests.beside import beside

FOLDER = beside("realworld", "analytics", "sql_gate", "dev")

# Statements whose expected verdict does not follow from their shape, with the reason. None so far.
NOT_BY_SHAPE: dict[str, str] = {}


def _statements() -> list[dict[str, str]]:
    path = FOLDER / "statements.jsonl"
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def test_every_statement_gets_the_verdict_its_source_expects():
    wrong = []
    for row in _statements():
        verdict = check_statement(row["sql"], catalogue=None, schemas=None)
        if row["id"] not in NOT_BY_SHAPE and verdict.is_allowed != (row["expected"] == "allow"):
            wrong.append(f"{row['id']}: expected {row['expected']}, {verdict.reason}")
    assert wrong == []
