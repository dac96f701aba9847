"""How long the gate takes for a verdict: `pytest -m benchmark -s tests/benchmarks/test_sql.py` prints a table.

Processor time of one verdict, without any cache. The statements: our own rows, the published statements that the gate
is held to, and the published questions' answers where they lie beside this repository. Nothing here fails for being
slow except against the promise, 5 ms for nineteen of twenty.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml
from sqlglot import tokenizer_core

from bylaw.sql.catalogue import Catalogue, TableInfo
from bylaw.sql.gate import check_statement
from tests.beside import find_beside

HERE = Path(__file__).parent
REAL = find_beside("realworld", "analytics")
CATALOGUE = Catalogue(
    {
        "shop.orders": TableInfo(frozenset({"order_id", "customer_id", "status", "ordered_at", "amount"})),
        "shop.customers": TableInfo(frozenset({"customer_id", "email", "region"}), frozenset({"email"})),
    }
)
ROUNDS = 5
PROMISED_MS = 5.0

pytestmark = pytest.mark.benchmark


def own() -> list[str]:
    rows = yaml.safe_load((HERE.parent / "bylaw" / "sql" / "sql.yaml").read_text(encoding="utf-8"))
    tricks = yaml.safe_load((HERE.parent / "bylaw" / "sql" / "sql_hostile.yaml").read_text(encoding="utf-8"))
    return [row["sql"] for group in (*rows.values(), *tricks.values()) for row in group]


def published(pattern: str) -> list[str]:
    found = []
    for path in sorted(REAL.glob(pattern) if REAL else ()):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            sql = row.get("sql") or row.get("gold_sql")
            found += [sql] if isinstance(sql, str) else []
    return found


def milliseconds(sql: str, catalogue: Catalogue | None) -> float:
    started = time.process_time()
    for _ in range(ROUNDS):
        check_statement(sql, catalogue=catalogue, schemas=None)
    return (time.process_time() - started) * 1000 / ROUNDS


def test_a_verdict_is_quick():
    sets = {
        "our own rows, with a catalogue": (own(), CATALOGUE),
        "published statements for gates": (published("sql_gate/dev/*.jsonl"), None),
        "published answers to questions": (published("defog_*/dev/*.jsonl"), None),
    }
    build = "plain" if str(tokenizer_core.__file__).endswith(".py") else "compiled"
    print(f"\nsqlglot: {build}\n{'statements':34} {'count':>6} {'p50 ms':>8} {'p95 ms':>8} {'max ms':>8}")
    for name, (statements, catalogue) in sets.items():
        if not statements:
            print(f"{name:34} {'–':>6}  (not here)")
            continue
        milliseconds(statements[0], catalogue)
        times = sorted(milliseconds(sql, catalogue) for sql in statements)
        p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
        print(f"{name:34} {len(times):6} {p50:8.2f} {p95:8.2f} {times[-1]:8.2f}")
        assert p95 < PROMISED_MS, name
