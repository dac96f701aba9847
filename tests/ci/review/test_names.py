"""Names of files that no honest person gives: every one is told, escaped, and nothing of them is our fault."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ci.report.visible import visible
from ci.review.computed.compute import compute
from ci.review.computed.document import read, write
from ci.review.session import in_full
from ci.review.words.render import render
from tests.ci.review.documents import HERE
from tests.ci.review.repository import Repository
from tests.conftest import copy_company
from tests.rows import each

DAY = date(2026, 6, 1)
POLICY = b"""\
policy_id: POL-RENTAL-901
actions: [{type: required, action: no_fee}]
metadata: {source: H, owner: A, domain: rental}
"""
NAMES: dict[bytes, str] = {
    b"policies/rental/a\nb.yaml": "a%0Ab.yaml",
    b"policies/rental/a\tb.yaml": "a%09b.yaml",
    b"policies/rental/a\x1b[31mb.yaml": "a%1B[31mb.yaml",
    "policies/rental/a\u202eb.yaml".encode(): "a%E2%80%AEb.yaml",
    "policies/rental/a\u2028b.yaml".encode(): "a%E2%80%A8b.yaml",
    b"policies/rental/a\xff\xfeb.yaml": "a%5Cxff%5Cxfeb.yaml",
    b'policies/rental/a"b.yaml': 'a"b.yaml',
    b"policies/rental/a\\b.yaml": "a%5Cb.yaml",
    b"policies/rental/ a b .yaml": " a b .yaml",
    b"policies/rental/`a`|<b>.yaml": "`a`|<b>.yaml",
    b"policies/rental/@everyone.yaml": "@everyone.yaml",
    b"policies/re\nntal/a.yaml": "re%0Antal/a.yaml",
    b"rules/ci\r.yaml": "ci%0D.yaml",
    b"policies/rental/" + b"a" * 240 + b".yaml": "a" * 240,
}


@pytest.fixture
def company(tmp_path: Path) -> Repository:
    made = Repository(copy_company(tmp_path / "company"))
    made.commit()
    made.branch()
    return made


def put(company: Repository, name: bytes, data: bytes = POLICY) -> None:
    path = company.folder / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@each("name", NAMES)
def test_a_hostile_name_is_told_and_does_nothing(company: Repository, call: Any, name: bytes) -> None:
    put(company, name)
    company.commit()
    document = compute(company.folder, "main", DAY)
    assert read(write(document).encode()) == document
    assert any(NAMES[name] in finding.at.path for finding in document.new)
    assert any(NAMES[name] in path for path in document.changed_files)
    for line in in_full(render(document, HERE)).split("\n"):
        assert visible(line, tab="\t") == line
    for asked in (("review", "--dry-run"), ("check", "--format", "sarif"), ("check", "--format", "github"), ("check",)):
        done = call(*asked, "--root", company.folder, "--base", "main")
        assert (done.code, done.err) == (1, ""), asked
        assert "\x1b[31mb" not in done.out and "\u202e" not in done.out


def test_a_name_that_is_not_utf8_is_the_same_on_both_sides(company: Repository) -> None:
    company.git("checkout", "-q", "main")
    put(company, b"policies/rental/a\xff.yaml")
    company.commit()
    company.git("checkout", "-q", "-B", "change")
    document = compute(company.folder, "main", DAY)
    assert (document.new, document.changes) == ([], [])


def test_a_submodule_is_no_policy_and_no_fault(company: Repository, call: Any) -> None:
    inner = Repository(company.folder / "policies" / "inner")
    inner.commit()
    company.commit()
    document = compute(company.folder, "main", DAY)
    assert document.changed_files == ["policies/inner"]
    assert call("review", "--dry-run", "--root", company.folder, "--base", "main").code == 0
    inner.commit("Another")
    assert call("check", "--root", company.folder, "--base", "main").code == 0
