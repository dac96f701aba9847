"""The pages of the finding ids: each `bad` example really has its finding, each `good` one has no finding at all."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import duckdb
import pytest

from ci.check import Checked, Gating, Rows, against, against_rows
from ci.findings import SEVERITIES, Finding
from ci.help.meanings import MEANINGS
from ci.help.page import BASE, PAGES, Page, base, page, pages
from ci.pipeline import Run, run
from tests.rows import one_of

ROOT = Path(__file__).resolve().parents[3]
AT = date(2026, 6, 15)
ALSO = {"never-wins": {"resolved-conflict"}}  # a rule that never wins loses to something
BY_ID = pytest.mark.parametrize("told", one_of(3, pages()), ids=lambda told: told.id)


def checked(root: Path, files: Mapping[str, str]) -> Run:
    for name, text in {**base(), **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return run(root, AT, AT)


def findings(told: Page, files: Mapping[str, str], folder: Path) -> tuple[Finding, ...]:
    after = checked(folder / "after", files)
    if told.data:
        duckdb.connect(str(folder / "rows.duckdb")).execute(told.data).close()
        plain = Checked(after.workspace, after.findings)
        return against_rows(plain, folder / "after", None, AT, Rows(f"duckdb://{folder}/rows.duckdb")).findings
    if told.before is None:
        return after.findings
    return against(checked(folder / "before", told.before), after, Gating()).findings


def test_every_id_has_a_page_whose_example_the_check_finds_and_there_is_no_other_page() -> None:
    """What `explain` describes is found: the bad example of each page is checked below."""
    assert {path.stem for path in PAGES.glob("*.yaml")} == {*SEVERITIES, *MEANINGS, BASE}
    assert [told.id for told in pages()] == list(SEVERITIES)
    assert page("no-such-id") is None


def test_every_id_that_the_code_writes_into_a_finding_is_explained() -> None:
    written = {
        first.value
        for path in sorted((ROOT / "ci").rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and call.args and _called(call.func) in ("Finding", "report")
        for first in ast.walk(call.args[0])
        if isinstance(first, ast.Constant) and isinstance(first.value, str)
    }
    assert len(written) > 50 and written - set(SEVERITIES) == set()


def _called(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


@BY_ID
def test_the_bad_example_has_its_finding_and_no_other_kind(told: Page, tmp_path: Path) -> None:
    found = findings(told, told.bad, tmp_path)
    assert {finding.id for finding in found} == {told.id} | ALSO.get(told.id, set())
    assert all(finding.at.path in told.bad for finding in found), "a finding lies in a file that the page shows"


@BY_ID
def test_the_good_example_has_no_finding(told: Page, tmp_path: Path) -> None:
    assert findings(told, told.good, tmp_path) == ()
