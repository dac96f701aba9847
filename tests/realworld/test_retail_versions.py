"""The two versions of a retail policy that nobody here wrote: diff tells what changed between them, and only that."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
import yaml

from bylaw.logic.boxes.truth import truth
from ci.diff import diff
from tests.beside import beside

REALWORLD = beside("realworld", "policies")
ROWS = yaml.safe_load((Path(__file__).parent / "retail_versions.yaml").read_text(encoding="utf-8"))
DAY = date(2024, 6, 1)


def written(folder: Path, rows: list[dict], side: str) -> Path:
    """A copy of the policies with the edits of one side."""
    shutil.copytree(REALWORLD / "retail", folder)
    for row in rows:
        for edit in (*row.get("both", ()), *row.get(side, ())):
            path = folder / "policies" / edit["file"]
            if "write" in edit:
                path.write_text(edit["write"], encoding="utf-8")
                continue
            text = path.read_text(encoding="utf-8")
            assert edit["replace"] in text, edit
            path.write_text(text.replace(edit["replace"], edit["by"]), encoding="utf-8")
    return folder


def compared(tmp_path: Path, rows: list[dict]):
    one, two = (written(tmp_path / side, rows, side) for side in ("before", "after"))
    return diff(str(one), str(two), tmp_path, DAY, DAY)


def policies_of(comparison, change):
    return {comparison.rule(n, i).policy_id for n in (0, 1) for i in change.causes[n]}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["change"])
def test_each_change_is_told_with_its_direction_and_nothing_else_is(row, tmp_path):
    comparison = compared(tmp_path, [row])
    found = comparison.found
    assert found.unknown == ()
    assert found.changes
    assert {policy for change in found.changes for policy in policies_of(comparison, change)} == {row["policy"]}
    assert {change.tendency for change in found.changes} == {row["effect"]}
    told = {(change.subject.kind, change.subject.name) for change in found.changes}
    variables = comparison.variables
    for subject in row["subjects"]:
        name = subject.get("outcome") or subject["action"]
        assert (subject["kind"], name) in told
        here = [change for change in found.changes if change.subject.name == name]
        assert all(change.after == subject["after"] for change in here if "after" in subject)
        case = {fact: variables[fact].read(value) for fact, value in row["witness"].items()}
        assert any(truth(change.where, case) is not False for change in here)


def test_all_of_them_together_are_the_three_and_no_rule_that_stayed_the_same(tmp_path):
    comparison = compared(tmp_path, ROWS)
    found = comparison.found
    assert found.unknown == ()
    causes = {frozenset(policies_of(comparison, change)) for change in found.changes}
    assert frozenset().union(*causes) == {row["policy"] for row in ROWS}
    for row in ROWS:
        assert {row["policy"]} in causes


def test_the_rows_are_the_changes_that_the_comparison_of_the_documents_lists():
    path = REALWORLD / "extraction" / "retail_version_changes.jsonl"
    listed = {row["id"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    for row in ROWS:
        effect = listed[row["change"]]["effect"]
        assert effect.startswith(row["effect"]) or (effect, row["effect"]) == ("new duty", "changed")
    named = listed["diff-18"]["witness"]
    assert named.items() <= next(row for row in ROWS if row["change"] == "diff-18")["witness"].items()


def test_the_same_version_twice_changes_nothing(tmp_path):
    one = written(tmp_path / "one", [], "before")
    comparison = diff(str(one), str(REALWORLD / "retail"), tmp_path, DAY, DAY)
    assert comparison.found.tendency == "equivalent"
