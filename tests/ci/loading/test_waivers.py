"""What people accept counts until its day, for that finding alone, and is told when it accepts nothing."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from bylaw.authored.machines.waivers import Waiver
from ci.findings import Finding, Place
from ci.loading.waivers import PATH, accepted
from tests.benchmarks.generate import generate
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_suffix("").with_name("waivers.yaml").read_text(encoding="utf-8"))
AT = date(2026, 6, 1)


def finding(name: str, severity: str = "error") -> Finding:
    first, *members = name.split("+")
    prints = tuple(finding(one).fingerprint for one in members)
    return Finding("conflict", first, Place("policies/p.yaml"), rules=(first,), severity=severity, members=prints)


def waiver(name: str, until: date) -> Waiver:
    return Waiver(finding=finding(name).fingerprint, id="conflict", until=until, because="we rewrite it", by="ana")


def told(found: Finding) -> str:
    words = next((words for words in ("ended", "accepts nothing") if words in found.message), found.message)
    return f"{found.severity} {words}"


@each("row", ROWS, ids=[row["title"] for row in ROWS])
def test_accepted(row):
    findings = [finding(*one) for one in row["findings"]]
    waivers = [waiver(*one) for one in row["waivers"]]
    never = frozenset([row["never"]] if "never" in row else [])
    assert [told(one) for one in accepted(findings, waivers, AT, row.get("severity"), never=never)] == row["holds"]


def test_an_accepted_finding_says_by_whom_and_why():
    [found] = accepted([finding("a")], [waiver("a", date(2026, 6, 30))], AT)
    assert found.fingerprint == finding("a").fingerprint
    assert found.related == ((Place(PATH, ("waivers", 0)), "accepted until 2026-06-30 by ana: we rewrite it"),)


@each(
    "wrong", [{"finding": "XYZ"}, {"until": 20260630}, {"because": "  "}, {"by": ""}, {"id": "Conflict!"}, {"more": 1}]
)
def test_a_waiver_says_what_and_until_when_and_why(wrong):
    right = {"finding": "0" * 16, "id": "conflict", "until": "2026-06-30", "because": "x", "by": "ana"}
    assert Waiver(**right).until == date(2026, 6, 30)
    with pytest.raises(ValidationError):
        Waiver(**{**right, **wrong})


CLASH = """\
policy_id: POL-REFUND-091
conditions:
  - {type: time_window, operator: "<=", value: 5, unit: days}
actions:
  - {type: required, action: reject}
metadata: {source: handbook, owner: Marketing Dept., domain: refund}
"""
DAY = ("--at", "2026-06-01")


@pytest.fixture
def clashing(tmp_path, call):
    """A new repository with a contradiction in it."""
    root = tmp_path / "shop"
    call("init", root)

    def errors(*words):
        found = call("check", "--root", root, "--format", "json", *DAY, *words).json["findings"]
        return {one["fingerprint"]: one for one in found if one["severity"] == "error"}

    assert errors() == {}
    (root / "policies" / "refund" / "POL-REFUND-091.yaml").write_text(CLASH)
    return root, errors


def test_a_check_passes_what_is_accepted_until_its_day(clashing):
    root, errors = clashing
    new = sorted(errors())
    assert new
    entries = [f"  - {{finding: {one}, id: conflict, until: 2026-06-30, because: a trial, by: ana}}\n" for one in new]
    (root / "rules" / "waivers.yaml").write_text("waivers:\n" + "".join(entries))
    assert errors() == {}
    assert set(errors("--at", "2026-07-01")) == set(new)


def test_a_waiver_that_was_idle_already_is_nothing_new(clashing, git_in, call):
    root, _ = clashing
    (root / "policies" / "refund" / "POL-REFUND-091.yaml").unlink()
    entry = "  - {finding: '0000000000000000', id: conflict, until: 2026-06-30, because: a trial, by: ana}\n"
    (root / "rules" / "waivers.yaml").write_text("waivers:\n" + entry)
    git_in(root)
    (root / "rules" / "waivers.yaml").write_text("waivers:\n" + entry + entry.replace("0'", "1'"))
    found = call("check", "--root", root, "--base", "HEAD", "--format", "json", *DAY).json["findings"]
    idle = {one["message"].split("`")[1]: one["existing"] for one in found if one["id"] == "idle-waiver"}
    assert idle == {"0000000000000000": True, "0000000000000001": False}


@pytest.fixture
def git_in():
    def commit(root: Path) -> None:
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@acme.example")
        for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "Begin")):
            subprocess.run(["git", "-C", root, *words], check=True)

    return commit


@pytest.mark.slow
def test_a_large_set_is_held_to_the_same_waivers(tmp_path, call):
    """More policies than are asked about at once: what is accepted stands with its line, before and after."""
    generate(tmp_path, 320, "sparse")

    def conflicts():
        found = call("check", "--root", tmp_path, "--format", "json", "--all", *DAY).json["findings"]
        return {one["fingerprint"]: one for one in found if one["id"] == "conflict"}

    first = min(conflicts())
    (tmp_path / "rules").mkdir()
    entry = f"  - {{finding: '{first}', id: conflict, until: 2026-06-30, because: a trial, by: ana}}\n"
    (tmp_path / "rules" / "waivers.yaml").write_text("waivers:\n" + entry)
    for _ in range(2):  # the second run reads what the first left behind
        after = conflicts()
        assert {print_ for print_, one in after.items() if one["severity"] == "notice"} == {first}
        assert [place["line"] for place in after[first]["related"] if place["path"] == PATH] == [2]
