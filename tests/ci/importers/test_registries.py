"""Registries of decisions become records in YAML that check clean: rows in registries.yaml."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bylaw.cli import bylaw
from ci.importers.registry import drafted
from ci.loading.load import load
from ci.loading.source import read

ROWS = read("registries.yaml", Path(__file__).with_name("registries.yaml").read_bytes()).data


def _write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_a_registry_becomes_records(tmp_path: Path, row: dict[str, Any]) -> None:
    source, root = _write(tmp_path / "registry", row["files"]), tmp_path / "repository"
    name, draft = drafted(source, "auto", "main", None)
    assert name == row["format"]
    assert sorted((one.where, one.why) for one in draft.dropped if not _told(one, row)) == []
    for where, words in row["dropped"]:
        assert any(one.where == where and words in one.why for one in draft.dropped), (where, draft.dropped)
    done = CliRunner().invoke(bylaw, ["import", str(source), "--format", row["format"], "-o", str(root)])
    assert done.exit_code == 0, done.output
    workspace = load(root, date(2026, 6, 1))
    assert not [one.message for one in workspace.findings]
    found = workspace.decisions.decisions
    assert sorted(found) == sorted(row["records"])
    assert not any("example.com>" in one.read_text(encoding="utf-8") for one in root.rglob("*.yaml"))
    for id, wanted in row["records"].items():
        shown = {key: getattr(found[id], key) for key in wanted}
        assert {key: str(value) if isinstance(value, date) else value for key, value in shown.items()} == wanted
    again = CliRunner().invoke(bylaw, ["import", str(source), "--format", row["format"], "-o", str(root)])
    assert again.exit_code == 0 and "as the source says" in again.output


def _told(one: Any, row: dict[str, Any]) -> bool:
    return any(one.where == where and words in one.why for where, words in row["dropped"])
