"""The pages of the finding ids: each `bad` example really has its finding, each `good` one has no finding at all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import duckdb
import pytest

from ci.check import Checked, Gating, Rows, against, against_rows
from ci.findings import SEVERITIES, Finding
from ci.help.page import BASE, PAGES, Page, base, page, pages
from ci.pipeline import Run, run
from tests.rows import one_of

AT = date(2026, 6, 15)
# Nothing finds these yet; the day something does, its page is missing here.
WITHOUT = {
    "unmapped-sentence",
    "semantic-overlap",
    "stale-verified-query",
}
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


def test_every_id_that_a_check_can_find_has_a_page() -> None:
    assert {told.id for told in pages()} == set(SEVERITIES) - WITHOUT


def test_no_page_is_of_an_id_that_does_not_exist() -> None:
    assert {path.stem for path in PAGES.glob("*.yaml")} <= {*SEVERITIES, BASE}


def test_an_id_without_examples_still_says_what_it_means() -> None:
    told = page("semantic-overlap")
    assert told is not None
    assert told.what
    assert not told.bad
    assert page("no-such-id") is None


@BY_ID
def test_the_bad_example_has_its_finding_and_no_other_kind(told: Page, tmp_path: Path) -> None:
    found = findings(told, told.bad, tmp_path)
    assert {finding.id for finding in found} == {told.id} | ALSO.get(told.id, set())
    assert all(finding.at.path in told.bad for finding in found), "a finding lies in a file that the page shows"


@BY_ID
def test_the_good_example_has_no_finding(told: Page, tmp_path: Path) -> None:
    assert findings(told, told.good, tmp_path) == ()
