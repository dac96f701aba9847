"""`bylaw changelog`: what was written anew and what it does, for people who were not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.changelog import render
from ci.changelog.entries import Changelog, changelog
from ci.diff import compared, sides
from ci.report.changes import render as render_diff
from tests.ci.test_diff import DAY, written

ROWS = yaml.safe_load(Path(__file__).with_name("changelog.yaml").read_text(encoding="utf-8"))
WORDS = """
facts:
  has_receipt: {type: boolean, label: has the receipt}
  is_paid: {type: boolean, label: the order is paid}
  days: {type: integer, unit: days, minimum: 0, label: days since purchase}
  kind: {type: enum, label: kind of thing, values: {electronics: [], shirt: []}}
actions:
  full_refund: {outcome: refund, label: full refund}
  store_credit: {outcome: refund, label: store credit}
  ask_for_identity: {label: ask for an identity card}
outcomes:
  refund: {label: what the customer gets back}
"""
POLICY = """
policy_id: POL-REFUND-001
conditions:
  - {type: time_window, parameter: days, value: 30}
  - {type: time_window, parameter: days, value: 20, target: electronics}
actions:
  - {type: required, action: full_refund, requires: [has_receipt, within_window]}
  - {type: fallback, action: store_credit, requires: [has_receipt]}
metadata: {source: Handbook 2, owner: Service, domain: refund}
"""


def edited(policy: str, edits: list[list[str]]) -> str:
    for old, new in edits:
        assert policy.count(old) == 1, old
        policy = policy.replace(old, new)
    return policy


def between(tmp_path: Path, edits: list[list[str]]) -> Changelog:
    written(tmp_path / "old", POLICY, WORDS)
    written(tmp_path / "new", edited(POLICY, edits), WORDS)
    one, two, day = sides(str(tmp_path / "old"), str(tmp_path / "new"), tmp_path, DAY, DAY)
    return changelog(one, two, compared(one, two, day))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_a_change_is_told_in_words(row: dict[str, Any], tmp_path):
    log = between(tmp_path, row["edits"])
    text = render.text(log)
    if "exactly" in row:
        assert text == row["exactly"]
    for line in row.get("says", ()):
        assert line in text
    for line in row.get("without", ()):
        assert line not in text
    told = json.loads(render.document(log))
    words = [change["words"] for group in told["groups"] for one in group["policies"] for change in one["changes"]]
    assert all(word in text for word in words)
    assert told["nothing_else_changes"]


def test_a_policy_that_takes_the_place_of_another_is_told_as_the_bound_that_moved(tmp_path):
    until = edited(POLICY, [["domain: refund}", 'domain: refund, expiry_date: "2027-02-28"}']])
    after = edited(
        POLICY,
        [["POL-REFUND-001", "POL-REFUND-002"], ["value: 20", "value: 15"],
         ["domain: refund}", 'domain: refund, effective_date: "2027-03-01"}']],
    )  # fmt: skip
    written(tmp_path / "old", POLICY, WORDS)
    folder = written(tmp_path / "new", until, WORDS) / "policies" / "refund"
    (folder / "POL-REFUND-002.yaml").write_text(after, encoding="utf-8")
    one, two, day = sides(str(tmp_path / "old"), str(tmp_path / "new"), tmp_path, DAY, DAY)
    text = render.text(changelog(one, two, compared(one, two, day)))
    assert "from 1 March 2027, takes the place of POL-REFUND-001" in text
    assert "from 1 March 2027, electronics: days since purchase is at most 15 days instead of 20" in text
    assert "from 1 March 2027: where days since purchase is between 16 and 20 days" in text


def test_a_policy_that_is_gone_and_one_that_is_new_are_told(tmp_path):
    written(tmp_path / "old", POLICY, WORDS)
    written(
        tmp_path / "new",
        POLICY.replace("REFUND-001", "REFUND-002").replace("days, value", "days, operator: '<', value"),
        WORDS,
    )
    one, two, day = sides(str(tmp_path / "old"), str(tmp_path / "new"), tmp_path, DAY, DAY)
    text = render.text(changelog(one, two, compared(one, two, day)))
    assert "no longer there" in text and "new, from Handbook 2" in text


def test_markdown_says_the_same_and_nothing_in_it_acts(tmp_path):
    log = between(tmp_path, [["value: 20", "value: 15"], ["owner: Service", "owner: '@acme/all <b>'"]])
    told = render.markdown(log)
    assert "@acme" not in told and "<b>" not in told and told.startswith("## refund")
    assert len(told.splitlines()) > 4


def test_groups_are_domains_with_their_owners(tmp_path, call):
    between(tmp_path, [["value: 20", "value: 15"]])
    done = call("changelog", tmp_path / "old", tmp_path / "new", "--at", "2026-06-01", "--json")
    (group,) = json.loads(done.out)["groups"]
    assert (group["domain"], group["owner"]) == ("refund", "Service")
    assert group["policies"][0]["cases"][0]["after"] == "store credit"
    assert call("changelog", tmp_path / "old", tmp_path / "new", "--markdown").out.startswith("## refund")


def test_the_diff_says_before_which_actions_a_new_condition_stands(tmp_path):
    edits = [["[has_receipt, within_window]", "[has_receipt, is_paid, within_window]"],
             ["[has_receipt]}", "[has_receipt, is_paid]}"]]  # fmt: skip
    told = render_diff(between(tmp_path, edits).comparison)
    assert "POL-REFUND-001: full refund and store credit: now only if the order is paid" in told


def test_a_bundle_is_told_like_its_folder(tmp_path, call):
    between(tmp_path, [["value: 20", "value: 15"]])
    for side in ("old", "new"):
        assert (
            call("compile", "--root", tmp_path / side, "-o", tmp_path / f"{side}.out", "--at", "2026-06-01").code == 0
        )
    folders, bundles = (
        call("changelog", tmp_path / f"old{end}", tmp_path / f"new{end}", "--at", "2026-06-01").out
        for end in ("", ".out")
    )
    assert folders == bundles
