"""Every part that is taken from a policy, and every bound that is moved, is noticed by a case or told with one."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from bylaw.cli import bylaw
from ci.commands.appending import write_cases
from ci.coverage.cases import report
from ci.coverage.mutants import mutants
from ci.scaffold import init
from tests.beside import beside

ROOT = Path(__file__).resolve().parents[3]
DAY = date(2026, 11, 20)
CASES = "policies/refund/cases.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    init(tmp_path / "p")
    return tmp_path / "p"


def test_a_new_repository_notices_every_wrong_edit(root: Path) -> None:
    told = mutants(root, DAY, DAY)
    assert told.survivors == ()
    assert {one.fate for one in told.mutants} >= {"killed", "refused", "equivalent"}


def test_what_no_case_notices_is_told_with_the_case_that_would(root: Path) -> None:
    (root / CASES).write_text("[]\n", encoding="utf-8")
    found = CliRunner().invoke(bylaw, ["cases", "--mutants", "--json", "--root", str(root)])
    told = json.loads(found.output)
    assert found.exit_code == 1 and told["survived"] == len(told["survivors"]) > 5 and told["killed"] == 0
    first = next(one for one in told["survivors"] if one["edit"] == "without the action `ask_manager`")
    assert (first["path"], first["line"]) == ("policies/refund/POL-REFUND-002.yaml", 11)
    assert first["case"]["path"] == CASES and "required: {ask_manager: true}" in first["case"]["text"]
    write_cases(root, mutants(root, DAY, DAY).entries())
    assert mutants(root, DAY, DAY).survivors == ()


def test_a_case_that_fails_already_notices_nothing(root: Path) -> None:
    (root / CASES).write_text(
        "- {name: wrong, facts: {purchase_amount: 600}, expect: {required: []}}\n", encoding="utf-8"
    )
    assert not [one for one in mutants(root, DAY, DAY).mutants if one.fate == "killed"]


ABOVE = "conditions: [{type: amount_threshold, value: 900}]"
ADDED = {
    "without the exception `none`": f"exceptions: [{{{ABOVE}, action: none}}]",
    "without `ask_manager` in `replaces`": f"exceptions: [{{{ABOVE}, action: reject, replaces: [ask_manager]}}]",
    "without the scope `sizes`": "scope: {sizes: [large]}",
}


@pytest.mark.parametrize(("edit", "added"), ADDED.items())
def test_exceptions_replacements_and_scopes_count(root: Path, edit: str, added: str) -> None:
    path, words = root / "policies/refund/POL-REFUND-002.yaml", root / "policies/vocabulary.yaml"
    words.write_text(
        words.read_text(encoding="utf-8").replace(
            "facts:\n", "facts:\n  size: {type: enum, values: {large: [], small: []}}\n"
        )
        + "scope: {sizes: size}\n",
        encoding="utf-8",
    )
    path.write_text(path.read_text(encoding="utf-8").replace("metadata:", f"{added}\nmetadata:"), encoding="utf-8")
    assert edit in {one.mutation.said for one in mutants(root, DAY, DAY).survivors}


TWO = {
    "policies/vocabulary.yaml": "facts: {wet: {type: boolean}, dark: {type: boolean}}\nactions: {drive: {}}\n",
    "policies/road/POL-ROAD-001.yaml": """\
policy_id: POL-ROAD-001
actions:
  - {type: prohibited, action: drive, requires: [wet]}
  - {type: prohibited, action: drive, requires: [dark]}
metadata: {source: Road, owner: Fleet, domain: road}
""",
    "policies/road/cases.yaml": "- {name: both, facts: {wet: true, dark: true}, expect: {prohibited: [drive]}}\n",
}


def test_missing_names_rules_that_could_go_unnoticed_though_each_is_covered(tmp_path: Path) -> None:
    for name, text in TWO.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert report(tmp_path, DAY, DAY).share == 1
    command = ["cases", "--missing", "--root", str(tmp_path), "--at", DAY.isoformat()]
    told = CliRunner().invoke(bylaw, command).output
    assert told.count("# POL-ROAD-001 without the action `drive` would not be noticed\n- name: ") == 2
    CliRunner().invoke(bylaw, [*command, "--write"])
    assert CliRunner().invoke(bylaw, command).output == "no case is missing\n"
    assert not [one for one in mutants(tmp_path, DAY, DAY).survivors if one.mutation.is_whole]


@pytest.mark.slow
@pytest.mark.parametrize("of", ["own", "retail"])
def test_the_cases_that_are_written_notice_everything_that_was_missed(of: str, tmp_path: Path) -> None:
    root = tmp_path / "p"
    for folder in ("policies", "rules"):
        source = (ROOT if of == "own" else beside("realworld", "policies", "retail")) / folder
        if source.is_dir():
            shutil.copytree(source, root / folder)
    first = mutants(root, DAY, DAY)
    if of == "own":
        assert first.survivors == (), "our own cases notice every wrong edit"
        return
    write_cases(root, first.entries())
    assert first.survivors and mutants(root, DAY, DAY).survivors == ()
