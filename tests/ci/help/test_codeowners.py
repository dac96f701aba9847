"""Who reviews what: the owners of the policies as teams, people's own lines left alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ci.help.codeowners import FILE, MARK, codeowners, team
from ci.loading.load import Workspace, load
from ci.scaffold import init
from tests.rows import each

ROOT = Path(__file__).resolve().parents[3]
Command = Callable[..., Any]


def policy(number: int, owner: str) -> str:
    return f"policy_id: POL-A-00{number}\nactions: []\nmetadata: {{source: s, owner: '{owner}', domain: a}}\n"


def lines(text: str) -> list[str]:
    return text.partition(MARK)[2].splitlines()[1:]


@each(
    ("owner", "asked"),
    [
        ("Customer Service Dept.", "@shop/customer-service-dept"),
        ("  Legal  ", "@shop/legal"),
        ("@shop/legal", "@shop/legal"),
        ("@ana", "@ana"),
        ("ana@example.com", "ana@example.com"),
        ("@ana @everybody", "@shop/ana-everybody"),
        ("Legal\n* @mallory", "@shop/legal-mallory"),
    ],
)
def test_an_owner_is_an_account_or_a_team(owner: str, asked: str) -> None:
    assert team(owner, "shop") == asked


def test_a_folder_of_one_owner_is_one_line(workspace_of: Callable[..., Workspace]) -> None:
    found = workspace_of({"policies/a/POL-A-001.yaml": policy(1, "Ana"), "policies/a/POL-A-002.yaml": policy(2, "Ana")})
    assert lines(codeowners(found.policies, "shop")) == ["/policies/a/ @shop/ana"]


def test_where_owners_differ_each_policy_goes_to_its_own(workspace_of: Callable[..., Workspace]) -> None:
    found = workspace_of({"policies/a/POL-A-001.yaml": policy(1, "Ben"), "policies/a/POL-A-002.yaml": policy(2, "Ana")})
    assert lines(codeowners(found.policies, "shop")) == [
        "/policies/a/ @shop/ana @shop/ben",
        "/policies/a/POL-A-001.yaml @shop/ben",
        "/policies/a/POL-A-002.yaml @shop/ana",
    ]


def test_nobody_owns_nothing(workspace_of: Callable[..., Workspace]) -> None:
    found = workspace_of({"policies/a/POL-A-001.yaml": policy(1, "TBD")})
    assert lines(codeowners(found.policies, "shop")) == []


def test_a_folder_name_makes_no_line_and_no_pattern_of_its_own(workspace_of: Callable[..., Workspace]) -> None:
    found = workspace_of({"policies/a b* @mallory/POL-A-001.yaml": policy(1, "Ana")})
    assert lines(codeowners(found.policies, "shop")) == ["/policies/a?b??@mallory/ @shop/ana"]


def test_lines_above_the_mark_stay_and_writing_twice_changes_nothing(
    workspace_of: Callable[..., Workspace],
) -> None:
    found = workspace_of({"policies/a/POL-A-001.yaml": policy(1, "Ana")})
    once = codeowners(found.policies, "shop", "# ours\n/rules/ @shop/platform\n")
    assert once.startswith("# ours\n/rules/ @shop/platform\n\n" + MARK)
    assert codeowners(found.policies, "shop", once) == once


def test_ours_is_that_of_our_policies() -> None:
    text = (ROOT / FILE).read_text(encoding="utf-8")
    assert codeowners(load(ROOT).policies, "voltmark", text) == text, "run `bylaw init . --codeowners voltmark`"


def test_that_of_a_new_repository_is_that_of_its_policies(tmp_path: Path) -> None:
    init(tmp_path)
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert codeowners(load(tmp_path).policies, "your-org", text) == text


def test_the_command_writes_this_file_and_no_other(tmp_path: Path, call: Command) -> None:
    init(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = call("init", tmp_path, "--codeowners", "shop")
    assert (done.code, done.out) == (0, f"wrote {tmp_path / FILE}\n")
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path for path in after if after[path] != before.get(path)} == {tmp_path / FILE}
    assert "@shop/customer-service-dept" in (tmp_path / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("organisation", ["", "a b", "-a", "a/b", "a\n* @mallory"])
def test_an_organisation_is_a_name(organisation: str, tmp_path: Path, call: Command) -> None:
    done = call("init", tmp_path, f"--codeowners={organisation}")
    assert done.code == 2
    assert not (tmp_path / FILE).exists()
