"""A thousand policies that nobody wrote by hand: what is found in them is what their recipe says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generate import generate

DAY = "2026-01-01"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thousand")
    generate(folder, 1_000, "sparse")
    return folder


def test_the_only_conflicts_are_between_neighbours(root: Path, bylaw: Callable[..., Any]) -> None:
    done = bylaw("check", "--root", root, "--format", "json", "--at", DAY, timeout=600)
    assert done.err == ""
    counts = Counter(finding["id"] for finding in done.json["findings"])
    assert done.code == (1 if counts["conflict"] else 0)
    assert set(counts) <= {"conflict", "gap", "redundant-rule", "unused-word", "unaskable"}
    assert counts["gap"] == 1
    for finding in done.json["findings"]:
        if finding["id"] != "conflict":
            continue
        assert len(finding["policies"]) == 2
        assert finding["counterexample"]["facts"]
        assert finding["related"]
    again = bylaw("check", "--root", root, "--format", "json", "--at", DAY, timeout=600, PYTHONHASHSEED="7")
    assert again.out == done.out


def test_a_conflict_is_one_that_decide_shows(root: Path, tmp_path: Path, bylaw: Callable[..., Any], call: Any) -> None:
    found = bylaw("check", "--root", root, "--format", "json", "--at", DAY, timeout=600).json["findings"]
    compiled = bylaw("compile", "--root", root, "-o", tmp_path, "--at", DAY, timeout=600)
    assert "1000 records" in compiled.err
    conflicts = [finding for finding in found if finding["id"] == "conflict"]
    assert conflicts
    for finding in conflicts[:5]:
        facts = json.dumps(finding["counterexample"]["facts"])
        bundle = tmp_path / "compiled_policy_bundle.json"
        done = call("decide", "--bundle", bundle, "--facts", facts, "--json", "--at", DAY)
        assert finding["policies"] in [conflict["policies"] for conflict in done.json["conflicts"]]
