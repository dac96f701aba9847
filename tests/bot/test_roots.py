"""The bot's verbs know the repository around the folder that somebody stands in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci.scaffold import init


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    init(tmp_path / "rules-of-ours")
    monkeypatch.chdir(tmp_path / "rules-of-ours" / "policies" / "refund")
    return tmp_path / "rules-of-ours"


def test_a_case_is_decided_from_a_folder_inside(inside, call):
    done = call("decide", "--facts", json.dumps({"days_since_purchase": 3, "has_receipt": True}))
    assert done.code == 0 and "full refund" in done.out
    assert not (inside / "policies" / "refund" / ".bylaw").exists() and (inside / ".bylaw").is_dir()


def test_what_was_asked_inside_is_kept_at_the_root(inside, call):
    assert call("ask", "What does POL-REFUND-001 say?").code == 0
    assert call("stats").code == 0
    assert call("rights").code == 0
    assert not list((inside / "policies").rglob(".bylaw"))
