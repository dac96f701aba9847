"""`check --fix` writes the one right word, nothing else of a line changes, and running it again changes nothing."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest
import yaml

from ci.commands.fix import fix
from ci.scaffold import init

DAY = date(2026, 1, 1)
ROWS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fix") / "policies"
    init(root)
    return root


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "p")
    return tmp_path / "p"


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_slip_is_corrected_where_it_stands(root: Path, row: dict[str, str]) -> None:
    path = root / row["file"]
    right = path.read_text(encoding="utf-8")
    assert row["right"] in right
    path.write_text(right.replace(row["right"], row["wrong"], 1), encoding="utf-8")
    found = fix(root, DAY, DAY)
    expected = right if "becomes" not in row else right.replace(row["right"], row["becomes"], 1)
    assert path.read_text(encoding="utf-8") == expected
    assert list(found.after) == ([row["file"]] if row.get("becomes") != row["wrong"] else [])
    assert fix(root, DAY, DAY).after == {}, "what is fixed stays as it is"


def test_one_slip_that_hides_another_is_no_obstacle(root: Path) -> None:
    path = root / "policies/refund/POL-REFUND-001.yaml"
    right = path.read_text(encoding="utf-8")
    wrong = (
        right.replace("type: required", "type: requird")
        .replace("has_receipt", "has_reciept")
        .replace("full_refund", "ful_refund")
    )
    path.write_text(wrong, encoding="utf-8")
    fix(root, DAY, DAY)
    assert path.read_text(encoding="utf-8") == right


def test_only_the_named_files_change_and_a_dry_run_changes_none(root: Path) -> None:
    one, other = root / "policies/refund/POL-REFUND-001.yaml", root / "policies/refund/POL-REFUND-002.yaml"
    for path in (one, other):
        path.write_text(path.read_text(encoding="utf-8").replace("type: required", "type: requird"), encoding="utf-8")
    before = {path: path.read_bytes() for path in (one, other)}
    shown = fix(root, DAY, DAY, dry_run=True)
    assert len(shown.after) == 2 and "+  - type: required" in shown.difference
    assert {path: path.read_bytes() for path in (one, other)} == before
    fix(root, DAY, DAY, only=["policies/refund/POL-REFUND-002.yaml"])
    assert one.read_bytes() == before[one] and other.read_bytes() != before[other]


def test_lines_ended_as_on_windows_stay_so(root: Path) -> None:
    path = root / "policies/refund/POL-REFUND-002.yaml"
    right = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(right.replace(b"type: required", b"type: requird"))
    fix(root, DAY, DAY)
    assert path.read_bytes() == right
