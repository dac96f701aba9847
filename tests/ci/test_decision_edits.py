"""What a change does to accepted decisions, told by `check --base`, `diff`, `changelog`: see decision_edits.yaml."""

from __future__ import annotations

import json
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bylaw.cli import bylaw
from ci.check import check
from ci.diff import diff
from ci.loading.source import read

TABLE = read("decision_edits.yaml", Path(__file__).with_name("decision_edits.yaml").read_bytes()).data
DAY = date(2026, 6, 1)


def _git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", "-C", str(root), *who, *words], check=True, capture_output=True)


def _write(root: Path, files: dict[str, str | None]) -> None:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink()
        else:
            file.write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "records"
    _write(root, TABLE["base"])
    _git(tmp_path, "init", "-q", str(root))
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    return root


@pytest.mark.parametrize("row", TABLE["rows"], ids=lambda row: row["title"])
def test_what_a_change_does_to_decisions(repository: Path, row: dict[str, Any]) -> None:
    _write(repository, row["files"])
    checked = check(repository, DAY, DAY, base="HEAD")
    found = [one for one in checked.findings if one.id == "decision-edited"]
    assert [(Path(one.at.path).name, checked.workspace.position(one.at)[0]) for one in found] == [
        (name, line) for name, line, _ in row["told"]
    ]
    for one, (_, _, words) in zip(found, row["told"], strict=True):
        assert words in one.message
        assert "supersedes it" in (one.help or "")
        assert one.severity == "warning"
    if "diff" in row:
        assert list(diff("HEAD", str(repository), repository, DAY, DAY).decisions) == row["diff"]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("title", ["the reason is rewritten", "a document is rewritten", "a document is deleted"])
def test_a_check_in_parts_says_the_same(repository: Path, tmp_path: Path, kept: bool, title: str) -> None:
    row = next(row for row in TABLE["rows"] if row["title"] == title)
    _write(repository, row["files"])
    cache = tmp_path / "cache" if kept else None
    for _ in range(2):
        checked = check(repository, DAY, DAY, base="HEAD", cache=cache)
        assert [one.id for one in checked.findings] == ["decision-edited"]


def test_diff_and_changelog_tell_what_was_decided(repository: Path) -> None:
    row = next(row for row in TABLE["rows"] if row["title"].startswith("it is superseded"))
    _write(repository, row["files"])
    runner = CliRunner()

    def said(*words: str) -> str:
        done = runner.invoke(bylaw, [*words, "--root", str(repository), "--at", "2026-06-01"])
        assert done.exit_code in (0, 1), done.output
        return done.output

    told = said("diff", "HEAD", str(repository))
    assert "decisions: decided on 2026-05-01: Return to plasma (`return-2026`), in place of `plasma-2012`" in told
    assert "no case is decided differently" in told
    assert json.loads(said("diff", "HEAD", str(repository), "--json"))["decisions"] == row["diff"]
    log = said("changelog", "HEAD", str(repository))
    assert "Decisions\n  - `plasma-2012` is now superseded by `return-2026`" in log
    assert "## Decisions\n" in said("changelog", "HEAD", str(repository), "--markdown")
