"""A decision about a package that nothing here uses any more is told; where nobody knows all packages, none is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ci.lint.decision_links import unresolved_affects
from ci.loading.load import load
from ci.loading.source import read
from tests.rows import each

ROWS = read("packages.yaml", Path(__file__).with_name("packages.yaml").read_bytes()).data
RECORD = "id: one-queue\noption: One\nrationale: So.\ndecided_on: 2025-01-01\naffects: {package: [queue-client]}\n"


@each("row", ROWS, ids=lambda row: row["title"])
def test_a_package_is_looked_for(tmp_path: Path, row: dict[str, Any]) -> None:
    root = tmp_path / row["title"]
    for path, text in {"context/decisions/decisions/one-queue.yaml": RECORD, **row["files"]}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    told = [(one.at.route, one.message) for one in unresolved_affects(load(root))]
    message = "decision `one-queue` governs the package `queue-client`, which is not there"
    assert told == ([(("affects", "package", 0), message)] if row["told"] else [])
