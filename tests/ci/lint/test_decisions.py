"""Decisions that do not fit together: rows in decisions.yaml, each a small repository of records."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.lint.confirmations import unkept_by
from ci.lint.registry import lint
from ci.loading.load import load
from ci.loading.source import read
from ci.pipeline import run
from tests.rows import each

ROWS = read("decisions.yaml", Path(__file__).with_name("decisions.yaml").read_bytes()).data
ROWS += yaml.safe_load(Path(__file__).with_name("confirmations.yaml").read_text(encoding="utf-8"))
FILLED: dict[str, dict[str, Any]] = {
    "decisions": {"option": "An option", "rationale": "A reason"},
    "events": {"summary": "Something happened"},
    "transitions": {"reason": "One led to the other"},
}


def _write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _repository(root: Path, row: dict[str, Any]) -> Path:
    for kind, filled in FILLED.items():
        for id, record in row.get("records" if kind == "decisions" else kind, {}).items():
            written = {"id": id, **filled, **record}
            text = "".join(f"{key}: {json.dumps(value, default=str)}\n" for key, value in written.items())
            _write(root, f"context/decisions/{kind}/{id}.yaml", text)
    folders = sorted({path.rpartition("/")[0] for path in row.get("adr", {})})
    if folders:
        listed = "".join(f"  - {{folder: {folder}}}\n" for folder in folders)
        _write(root, "context/decisions/sources.yaml", f"sources:\n{listed}")
    for path, text in {**row.get("adr", {}), **row.get("files", {}), **row.get("tools", {})}.items():
        _write(root, path, text)
    (root / "context").mkdir(exist_ok=True)
    return root


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_what_is_told(tmp_path: Path, row: dict[str, Any]) -> None:
    workspace = load(_repository(tmp_path, row), date(2026, 6, 1))
    if "files" in row:
        raw = run(tmp_path, date(2026, 6, 1), date(2026, 6, 1)).raw
        told = [one for one in raw if one.at.path.startswith("context/decisions")]
    else:
        told = [*workspace.findings, *lint(workspace)]
        told += unkept_by(told, workspace)
    shown = [(one.id, Path(one.at.path).stem, workspace.position(one.at)[0]) for one in told]
    assert shown == [tuple(expected[:3]) for expected in row["told"]], [one.message for one in told]
    for one, (_, _, _, words, help) in zip(told, row["told"], strict=True):
        assert words in one.message
        assert help in (one.help or "")


@each("template", ["who_decides_v1", "../../secret", ""])
def test_a_template_that_is_not_there_is_told(tmp_path: Path, template: str) -> None:
    from ci.loading.rules import load_defaults

    intents = load_defaults()["intents"]["intents"]
    who = {**intents["who_decided"], "template": template or "why_decision_v0"}
    _write(tmp_path, "rules/intents.yaml", yaml.safe_dump({"intents": {"who_decided": who}}))
    workspace = load(tmp_path)
    (told,) = [one for one in lint(workspace) if one.id == "missing-template"]
    assert told.at.route == ("intents", "who_decided", "template")
    assert "there are " in (told.help or "") and "who_decided_v1" in (told.help or "")


def test_the_bounds_of_a_repository_are_those_that_a_notice_tells(tmp_path: Path) -> None:
    _write(tmp_path, "rules/intents.yaml", "lengths: {rationale: 40}\n")
    record = "id: a-record\noption: One\nrationale: So many words that nobody reads all of them at once.\n"
    _write(tmp_path, "context/decisions/decisions/a-record.yaml", f"{record}decided_on: 2020-01-01\n")
    (told,) = load(tmp_path).findings
    assert told.id == "long-text" and "shows the first 40" in told.message


def test_far_more_than_thirty_bad_inputs_are_caught_by_name() -> None:
    """Rows that are told something with its line and its words, in the tables of records, documents and edits."""
    tests = Path(__file__).parents[2]
    linted = [tuple(one) for row in ROWS for one in row["told"]]
    documents = read("bad.yaml", (tests / "ci/loading/records/bad.yaml").read_bytes()).data
    edits = read("decision_edits.yaml", (tests / "ci/decision_edits.yaml").read_bytes()).data["rows"]
    refused = (tests / "bylaw/authored/decisions.yaml").read_text(encoding="utf-8").count("refused: {at:")
    named = [one[:1] + one[3:4] for one in linted] + [tuple(row["says"]) for row in documents]
    named += [tuple(one) for row in edits for one in row["told"]]
    assert len(set(named)) + refused >= 90, (len(set(named)), refused)
