"""Who is asked about a file is read as GitHub reads it, and from a trusted file alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ci.help.codeowners import codeowners
from ci.loading.load import Workspace
from ci.review.computed.owners import MOST_BYTES, owners_in, read
from tests.rows import each

ROWS = yaml.safe_load((Path(__file__).parent / "owners.yaml").read_text(encoding="utf-8"))


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_the_last_line_that_matches_decides(row: dict[str, Any]) -> None:
    owners = read(row["text"])
    assert {path: list(owners.of(path)) for path in row["asks"]} == row["asks"]


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_text_is_read_and_names_only_accounts(text: str, path: str) -> None:
    assert all(handle.startswith("@") and " " not in handle for handle in read(text).of(path))


@pytest.mark.parametrize("place", [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"])
def test_the_file_lies_in_one_of_three_places(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("* @ana\n", encoding="utf-8")
    assert owners_in(tmp_path).of("a") == ("@ana",)


def test_the_first_of_the_places_counts(tmp_path: Path) -> None:
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github/CODEOWNERS").write_text("* @first\n", encoding="utf-8")
    (tmp_path / "CODEOWNERS").write_text("* @second\n", encoding="utf-8")
    assert owners_in(tmp_path).of("a") == ("@first",)


def test_a_link_a_huge_file_and_none_name_nobody(tmp_path: Path) -> None:
    assert owners_in(tmp_path).of("a") == ()
    (tmp_path / "real").write_text("* @ana\n", encoding="utf-8")
    (tmp_path / "CODEOWNERS").symlink_to(tmp_path / "real")
    assert owners_in(tmp_path).of("a") == ()
    (tmp_path / "CODEOWNERS").unlink()
    (tmp_path / "CODEOWNERS").write_text("* @ana\n" + "#" * MOST_BYTES, encoding="utf-8")
    assert owners_in(tmp_path).of("a") == ()


def test_what_the_product_writes_is_read_back(workspace_of: Any) -> None:
    policy = """\
policy_id: POL-A-00{n}
conditions: []
actions: []
metadata: {{source: Book, owner: {owner}, domain: a}}
"""
    files = {
        f"policies/a/POL-A-00{n}.yaml": policy.format(n=n, owner=owner)
        for n, owner in ((1, "Refund Desk"), (2, "Refund Desk"), (3, "'@ana'"))
    }
    workspace: Workspace = workspace_of({"policies/vocabulary.yaml": "facts: {}\n"}, files)
    owners = read(codeowners(workspace.policies, "acme"))
    assert owners.of("policies/a/POL-A-001.yaml") == ("@acme/refund-desk",)
    assert owners.of("policies/a/POL-A-003.yaml") == ("@ana",)
    assert set(owners.of("policies/a/cases.yaml")) == {"@acme/refund-desk", "@ana"}
