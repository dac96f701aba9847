"""Every lint against its rows: what it says, where, and that it is silent about what is right."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.findings import SEVERITIES, graded
from ci.lint.registry import LINTS, lint
from ci.loading.load import Workspace, load

SECTIONS = yaml.safe_load((Path(__file__).parent / "lint.yaml").read_text(encoding="utf-8"))
BASE = SECTIONS.pop("base")
BY_NAME = {check.__name__: check for check in LINTS}
ROWS = [(name, row) for name, rows in SECTIONS.items() for row in rows]
ROOT = Path(__file__).parent.parent.parent.parent

VOCABULARY, CASES = "policies/vocabulary.yaml", "policies/refund/cases.yaml"
POLICY = "policies/refund/POL-REFUND-002.yaml"
HEAD = """\
policy_id: POL-REFUND-002
actions:
  - {type: required, action: reject}
metadata: {source: s, owner: Anna, domain: refund}
"""


def files_of(row: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The files of a row, and the one its places are in."""
    files = dict(row.get("files", {}))
    if "vocabulary" in row:
        return {**files, VOCABULARY: row["vocabulary"]}, VOCABULARY
    if "cases" in row:
        return {**files, CASES: row["cases"]}, CASES
    return ({**files, POLICY: HEAD + row["policy"]} if "policy" in row else files), POLICY


ELSEWHERE = {
    "catalog",  # catalog.yaml
    *("chronology", "decision_cycles", "supersessions", "duplicate_numbers"),  # decisions.yaml
    *("overdue_reviews", "unresolved_affects", "unresolved_markers", "missing_templates", "unnamed_folders"),
    *("unknown_confirmations", "unkept_decisions"),  # confirmations.yaml
}


def test_every_lint_has_rows() -> None:
    assert set(SECTIONS) == set(BY_NAME) - ELSEWHERE


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}: {row['title']}" for name, row in ROWS])
def test_a_lint_says_what_its_row_says(
    name: str,
    row: dict[str, Any],
    workspace_of: Callable[..., Workspace],
    told: Callable[..., list[dict[str, Any]]],
) -> None:
    files, path = files_of(row)
    workspace = workspace_of(BASE, files)
    findings = sorted(BY_NAME[name](workspace), key=lambda f: (f.at.path, *workspace.position(f.at)))
    found = told(workspace, findings)
    expected = row.get("told", [])
    assert [f["at"] for f in found] == [f"{e.get('path', path)}:{e['at']}" for e in expected], found
    for finding, said, wanted in zip(findings, found, expected, strict=True):
        assert said["id"] == wanted["id"]
        if "starts" in wanted:
            assert said["says"].startswith(wanted["starts"])
        else:
            assert said["says"] == wanted["says"]
        for key in ("help", "related"):
            if key in wanted:
                assert said.get(key) == wanted[key]
        if "policies" in wanted:
            assert list(finding.policies) == wanted["policies"]
        assert finding.id in SEVERITIES


def test_nothing_is_said_about_a_repository_in_order(workspace_of: Callable[..., Workspace]) -> None:
    workspace = workspace_of(BASE)
    assert [finding.message for finding in (*workspace.findings, *lint(workspace))] == []


def test_findings_about_a_policy_name_it(workspace_of: Callable[..., Workspace]) -> None:
    text = HEAD + "overrides: [POL-Z-001]\nreason: r\nsteps: [x]\naudience: [nobody]\nexceptions: [{description: d}]\n"
    workspace = workspace_of(BASE, {POLICY: text})
    found = lint(workspace)
    assert {finding.id for finding in found} == {"dangling-reference", "unformalized-exception"}
    assert {finding.policies for finding in found} == {("POL-REFUND-002",)}


def test_one_unreadable_vocabulary_does_not_make_every_word_wrong(workspace_of: Callable[..., Workspace]) -> None:
    workspace = workspace_of(BASE, {VOCABULARY: "facts: {a: *x}\n"})
    assert [finding.id for finding in workspace.findings] == ["unreadable-file"]
    assert [finding.message for finding in lint(workspace)] == []


def test_one_slip_in_a_word_is_told_once(workspace_of: Callable[..., Workspace]) -> None:
    slip = BASE[VOCABULARY].replace("has_receipt: {type: boolean,", "has_receipt: {type: bool,")
    workspace = workspace_of(BASE, {VOCABULARY: slip})
    assert [finding.id for finding in workspace.findings] == ["schema"]
    assert [finding.message for finding in lint(workspace)] == []


@pytest.mark.parametrize("root", [ROOT, ROOT / "ci" / "template"], ids=["our own organisation", "a new repository"])
def test_what_we_ship_has_no_error_and_no_warning(root: Path) -> None:
    workspace = load(root)
    found = [one for one in graded(lint(workspace), workspace.rules.ci.severities) if one.severity != "notice"]
    assert [one.message for one in found] == []
