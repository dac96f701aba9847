"""A pull request cannot switch off its own checks: what gates comes from the base, and what changes is told first."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.check import check
from ci.diff import diff
from ci.findings import ID_OF_GATES
from ci.gating.gates import GATES
from ci.report.changes import render, render_json
from tests.ci.review.repository import Repository
from tests.rows import one_of

DAY = date(2026, 6, 1)
ROWS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "gates.yaml").read_text(encoding="utf-8"))
SHOP = {
    "policies/vocabulary.yaml": """\
facts:
  days: {type: integer, unit: days, minimum: 0, maximum: 365, label: days since purchase}
  kind: {type: enum, values: {food: [], toys: []}}
actions: {refund: {outcome: result}, reject: {outcome: result}, tell: {}, hide: {}}
outcomes: {result: {}, paper: {complete: true}}
relations: {excludes: [[tell, hide]]}
""",
    "policies/shop/POL-SHOP-001.yaml": """\
policy_id: POL-SHOP-001
conditions: [{type: fact, parameter: days, operator: "<=", value: 30}]
actions: [{type: required, action: refund}]
metadata: {source: Handbook, owner: Sales, domain: shop}
""",
    "policies/shop/POL-IMP-SHOP-001.yaml": """\
policy_id: POL-IMP-SHOP-001
conditions: [{type: fact, parameter: days, operator: "<=", value: 10}]
actions: [{type: prohibited, action: tell}]
discovery: {human_validated: true}
metadata: {source: Log, owner: Sales, domain: shop}
""",
    "policies/shop/cases.yaml": "- name: in time\n  facts: {days: 10}\n  expect: {result: refund}\n",
    ".github/workflows/policies.yml": "name: policies\n",
    ".github/CODEOWNERS": "* @acme/all\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Repository:
    """A shop with two policies, on a branch."""
    made = Repository(tmp_path / "shop")
    for path, text in SHOP.items():
        made.write(path, text)
    made.commit()
    made.branch()
    return made


def changed(shop: Repository, files: dict[str, str | None]) -> None:
    for path, text in files.items():
        if text is None:
            (shop.folder / path).unlink()
        else:
            shop.write(path, text)
    shop.commit()


def with_fingerprint(shop: Repository, row: dict[str, Any]) -> dict[str, Any]:
    """The row with the fingerprint of the contradiction that it brings."""
    if "FINGERPRINT" not in json.dumps(row):
        return row
    changed(shop, {path: text for path, text in row["files"].items() if "waivers" not in path})
    (clash,) = [one for one in check(shop.folder, DAY, DAY, "main").new if one.id == "conflict"]
    return json.loads(json.dumps(row).replace("FINGERPRINT", clash.fingerprint))


@pytest.mark.parametrize("row", one_of(1, ROWS), ids=[row["title"] for row in ROWS])
def test_what_a_change_does_to_its_own_checks_is_told_first(shop: Repository, row: dict[str, Any]) -> None:
    row = with_fingerprint(shop, row)
    changed(shop, row["files"])
    found = check(shop.folder, DAY, DAY, "main")
    gates = [one for one in found.new if one.id == ID_OF_GATES]
    assert list(found.findings[: len(gates)]) == gates
    for told in row["told"]:
        assert any(told in one.message for one in gates), [one.message for one in gates]
    assert bool(gates) == bool(row["told"])
    hidden = {one.detail["hidden"] for one in gates if "hidden" in one.detail}
    assert hidden == set(row.get("hidden", ()))
    assert {one.id for one in found.new if one.severity == "error"} == set(row.get("fails", ()))
    assert all(one.help for one in gates)


def test_every_gate_has_a_row() -> None:
    """A row of the table whose difference nobody has seen told is no promise."""
    told = " ".join(text for row in ROWS for text in row["told"])
    names = {
        "severities": "`conflict`", "waivers": "the waiver of", "limits": "rules/ci.yaml", "PII patterns": "pii.yaml",
        "features": "features.yaml", "priorities": "priorities.yaml", "invariants": "the invariant",
        "minimum": "`minimum`", "maximum": "`maximum`", "values": "`values`", "complete": "`complete`",
        "exclusions": "exclude each other", "outcomes": "the outcome of", "periods": "expiry_date",
        "validations": "takes part", "audiences": "the audience", "owners": "the owner", "cases": "the case",
        "guards": ".github", "drafts": "is compiled", "idle words": "the `idle` words",
        "enforcement": "enforcement.yaml",
    }  # fmt: skip
    assert all(words in told for words in names.values())
    assert {gate.name for gate in GATES} - {*names} == {"roles", "evaluation", "types", "personal columns"}


def test_a_change_that_is_merged_is_judged_by_itself(shop: Repository) -> None:
    changed(shop, ROWS[0]["files"])
    found = check(shop.folder, DAY, DAY, "main", is_merged=True)
    assert not found.failed
    assert ID_OF_GATES not in {one.id for one in found.findings}


def test_a_contradiction_in_other_cases_is_another_one(shop: Repository) -> None:
    """Its name is that of the old one: the ids of policies and rules. The old one fails nothing, the new one does."""
    old = ROWS[0]["files"]["policies/shop/POL-SHOP-002.yaml"]
    shop.git("checkout", "-q", "main")
    changed(shop, {"policies/shop/POL-SHOP-002.yaml": old.replace('">="', '"=="')})
    shop.git("checkout", "-q", "-B", "change")
    changed(shop, {"policies/shop/POL-SHOP-002.yaml": old.replace('">=", value: 20', '"==", value: 5')})
    found = check(shop.folder, DAY, DAY, "main")
    assert [one.id for one in found.new if one.severity == "error"] == ["conflict"]
    changed(shop, {"policies/shop/POL-SHOP-002.yaml": old.replace('">="', '"=="') + "# the old one\n"})
    assert not check(shop.folder, DAY, DAY, "main").failed


@pytest.mark.parametrize("row", one_of(3, ROWS), ids=[row["title"] for row in ROWS])
def test_a_large_set_tells_the_same(shop: Repository, row: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is hidden is not asked of one."""
    row = with_fingerprint(shop, row)
    changed(shop, row["files"])
    whole = check(shop.folder, DAY, DAY, "main")
    monkeypatch.setattr("ci.check.SMALL", 0)
    parts = check(shop.folder, DAY, DAY, "main")
    hidden = [one for one in parts.findings if one.rules == ("hidden", "unknown")]
    assert bool(hidden) <= bool(row["told"])
    assert [one.message for one in parts.findings if one not in hidden] == [
        one.message for one in whole.findings if "hidden" not in one.detail
    ]


def test_diff_tells_it_first_in_words_and_as_json(shop: Repository) -> None:
    changed(shop, {**ROWS[0]["files"], **ROWS[3]["files"]})
    found = diff("main", "HEAD", shop.folder, DAY, DAY)
    first, *_ = render(found).split("\n")
    assert first == "this changes what is checked: `conflict` off (before: error)"
    told = json.loads(render_json(found))["checks"]
    assert [(one["gate"], one["about"], one["before"], one["after"]) for one in told[:1]] == [
        ("severities", "`conflict`", "error", "off")
    ]
    assert told[1]["case"]["facts"]["days"] in range(20, 31)
