"""The tiny company: every fault that is in it on purpose is found, each once, and nothing else is."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.logic.decide.evaluate import Decision, Evaluator
from ci.findings import Finding
from ci.pipeline import Run, run

HERE = Path(__file__).resolve().parent
ROWS = yaml.safe_load((HERE / "company.yaml").read_text(encoding="utf-8"))
DAY = date(2026, 6, 1)


@pytest.fixture(scope="module")
def checked() -> Run:
    return run(HERE / "company", DAY, DAY)


def _matching(checked: Run, row: dict[str, Any]) -> list[Finding]:
    return [
        finding
        for finding in checked.findings
        if (finding.id, finding.at.path, list(finding.policies)) == (row["id"], row["path"], row["policies"])
    ]


def _decide(checked: Run, facts: dict[str, Any]) -> Decision:
    exact = {name: Fraction(value) if type(value) is int else value for name, value in facts.items()}
    return Evaluator(checked.ruleset).decide(exact, DAY.toordinal())


@pytest.mark.parametrize("row", ROWS["findings"], ids=lambda row: row["title"])
def test_the_fault_is_found_once_at_its_file(checked: Run, row: dict[str, Any]) -> None:
    (finding,) = _matching(checked, row)
    assert finding.severity == row["severity"]
    assert [place.path for place, _ in finding.related] == row.get("related", [])


@pytest.mark.parametrize("row", [row for row in ROWS["findings"] if "case" in row], ids=lambda row: row["title"])
def test_the_case_is_the_one_found_by_hand(checked: Run, row: dict[str, Any]) -> None:
    (finding,) = _matching(checked, row)
    assert finding.counterexample is not None
    assert finding.counterexample["facts"] == row["case"]


def test_nothing_else_is_found(checked: Run) -> None:
    assert len(checked.findings) == len(ROWS["findings"])
    assert checked.failed


@pytest.mark.parametrize("row", ROWS["decisions"], ids=lambda row: row["title"])
def test_a_case_is_decided_as_by_hand(checked: Run, row: dict[str, Any]) -> None:
    decision = _decide(checked, row["facts"])
    assert {name: decision.outcomes[name].action for name in row["outcomes"]} == row["outcomes"]
    for outcome, missing in row.get("missing", {}).items():
        assert list(decision.undecided[outcome]) == missing
    for kind in ("required", "prohibited"):
        if kind in row:
            assert list(getattr(decision, kind)) == row[kind]
    assert [list(conflict.policies) for conflict in decision.conflicts] == row.get("conflicts", [])


def test_the_page_about_the_company_names_every_finding() -> None:
    page = (HERE / "company" / "EXPECTED.md").read_text(encoding="utf-8")
    for row in ROWS["findings"]:
        assert f"`{row['id']}` | {row['severity']}" in page
        assert Path(row["path"]).stem in page
    for row in ROWS["decisions"]:
        told = ", ".join(f"{name}: {str(value).lower()}" for name, value in row["facts"].items())
        assert f"| `{told}` |" in page or (not told and "| nothing |" in page)
