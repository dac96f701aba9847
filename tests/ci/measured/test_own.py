"""Our own context holds in the rows of the demo: what it declares of keys, joins, filters and columns is so."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from bylaw.demos.warehouse import build
from ci.findings import SEVERITIES
from ci.loading.load import load
from ci.measured.registry import measure

ROOT = Path(__file__).parents[3]
DAY = date(2026, 6, 15)


@pytest.mark.slow
def test_our_own_context_measures_without_an_error(tmp_path: Path) -> None:
    build(tmp_path / "rows.duckdb", DAY)
    found = measure(load(ROOT, DAY, DAY), f"duckdb://{tmp_path}/rows.duckdb", DAY).findings
    assert [finding.message for finding in found if SEVERITIES[finding.id] == "error"] == []
    assert not {"relationship-cardinality", "untagged-pii", "stale-data"} & {finding.id for finding in found}
