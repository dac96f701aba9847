"""Which answers are worth another try, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import yaml

from bylaw.github.patience import Outcome, Patience, wait_for
from tests.rows import each

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
ROWS = yaml.safe_load(Path(__file__).with_name("patience.yaml").read_text(encoding="utf-8"))


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_waiting(row):
    method, path = row["send"].split()
    outcome = Outcome(method, path, row["status"], row.get("headers", {}), row.get("message", ""))
    patience = Patience(lambda: NOON, lambda _: None)
    assert wait_for(outcome, row.get("attempt", 0), patience) == row["wait"]
