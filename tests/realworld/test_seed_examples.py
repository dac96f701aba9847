"""The two policies that the format was specified with, as they stand in the specification, beside a vocabulary."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.beside import beside

FOUND = sorted(beside("seeds").glob("000*.txt"))
VOCABULARY = """\
schema_version: "1.0"
facts:
  has_receipt: {type: boolean}
  days_since_purchase: {type: integer, unit: days, minimum: 0}
  purchase_amount: {type: decimal, unit: USD, minimum: 0}
  amount_over_200: {type: boolean}
  product_category: {type: enum, values: {electronics: [tv], clothing: []}}
  customer_tier: {type: enum, values: {standard: [], VIP: []}}
  channel: {type: enum, values: {online: [], in-store: [], phone: []}}
actions:
  full_refund: {outcome: refund}
  store_credit: {outcome: refund}
  auto_approve_refund: {}
outcomes: {refund: {}}
defaults: {"*": {time_window: days_since_purchase, amount_threshold: purchase_amount}}
terms: {vip_status: [{type: customer_tier, value: VIP, parameter: customer_tier}]}
scope: {customer_segments: customer_tier, product_categories: product_category, channels: channel}
"""


def example(heading: str) -> dict[str, Any]:
    """The JSON block under a heading of the specification."""
    text = FOUND[0].read_text(encoding="utf-8").split(f"### {heading}", 1)[1]
    block = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert block is not None
    found: dict[str, Any] = json.loads(block[1])
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seed")
    (folder / "policies" / "refund").mkdir(parents=True)
    (folder / "policies" / "vocabulary.yaml").write_text(VOCABULARY, encoding="utf-8")
    for heading in ("Explicit Policy Example", "Implicit Policy Example"):
        policy = example(heading)
        path = folder / "policies" / "refund" / f"{policy['policy_id']}.json"
        path.write_text(json.dumps(policy, indent=2, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def out(root: Path, call: Callable[..., Any]) -> Path:
    done = call("compile", "--root", root, "-o", root / "out", "--at", "2026-06-01")
    assert done.code == 0, done.err
    return root / "out"


def test_they_load_unchanged_and_check_without_an_error(root: Path, call: Callable[..., Any]) -> None:
    done = call("check", "--root", root, "--format", "json", "--at", "2026-06-01")
    assert (done.code, done.err) == (0, "")
    told = {(f["id"], f["policies"][0] if f["policies"] else None) for f in done.json["findings"]}
    assert told >= {
        ("inactive-policy", "POL-IMP-REFUND-003"),
        ("missing-owner", "POL-IMP-REFUND-003"),
        ("unformalized-exception", "POL-REFUND-001"),
    }


def test_what_was_written_is_kept_and_only_added_to(out: Path) -> None:
    for heading in ("Explicit Policy Example", "Implicit Policy Example"):
        written = example(heading)
        record = json.loads((out / "policies" / f"{written['policy_id']}.json").read_text(encoding="utf-8"))
        assert {key: record[key] for key in written if key != "processing_status"} == {
            key: value for key, value in written.items() if key != "processing_status"
        }
        assert set(record["processing_status"]) == set(written["processing_status"])
        assert record["processing_status"]["formalization"] == "complete"


DECIDED: list[tuple[dict[str, Any], str | None]] = [
    ({"has_receipt": True, "days_since_purchase": 30, "product_category": "clothing"}, "full_refund"),
    ({"has_receipt": True, "days_since_purchase": 31, "product_category": "clothing"}, None),
    ({"has_receipt": True, "days_since_purchase": 15, "product_category": "electronics"}, "full_refund"),
    ({"has_receipt": True, "days_since_purchase": 16, "product_category": "electronics"}, None),
    ({"has_receipt": False, "days_since_purchase": 90, "product_category": "electronics"}, "store_credit"),
    ({"has_receipt": False}, "store_credit"),
    ({"has_receipt": True, "days_since_purchase": 15}, "full_refund"),
    ({"has_receipt": True, "days_since_purchase": 16}, None),
]


@pytest.mark.parametrize(("facts", "action"), DECIDED, ids=lambda value: str(value))
def test_the_explicit_one_decides_as_it_reads(
    facts: dict[str, Any], action: str | None, out: Path, call: Callable[..., Any]
) -> None:
    bundle = out / "compiled_policy_bundle.json"
    done = call("decide", "--bundle", bundle, "--facts", json.dumps({"channel": "online", **facts}), "--json")
    assert done.json["outcomes"]["refund"]["action"] == action


def test_it_says_nothing_outside_its_scope(out: Path, call: Callable[..., Any]) -> None:
    facts = json.dumps({"channel": "phone", "has_receipt": False})
    done = call("decide", "--bundle", out / "compiled_policy_bundle.json", "--facts", facts, "--json")
    assert done.json["outcomes"]["refund"] == {"action": None, "policy_id": None, "rule_id": None}
    assert (done.json["fired"], done.json["missing_facts"]) == ([], [])


def test_the_mined_one_decides_nothing_until_a_person_confirms_it(
    root: Path, out: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    facts = json.dumps({"customer_tier": "VIP", "purchase_amount": 300, "amount_over_200": True})
    silent = call("decide", "--bundle", out / "compiled_policy_bundle.json", "--facts", facts, "--json")
    assert silent.json["required"] == []
    (tmp_path / "policies" / "refund").mkdir(parents=True)
    (tmp_path / "policies" / "vocabulary.yaml").write_text(VOCABULARY, encoding="utf-8")
    policy = example("Implicit Policy Example")
    policy["discovery"]["human_validated"] = True
    (tmp_path / "policies" / "refund" / f"{policy['policy_id']}.json").write_text(json.dumps(policy))
    spoken = call("decide", "--root", tmp_path, "--facts", facts, "--json")
    assert (spoken.code, spoken.json["required"]) == (0, ["auto_approve_refund"])


def blocks() -> list[dict[str, Any]]:
    """The JSON blocks of the specification that are whole."""
    found = re.findall(r"```json\n(.*?)```", FOUND[0].read_text(encoding="utf-8"), re.DOTALL)
    read = []
    for block in found:
        try:
            read.append(json.loads(block))
        except json.JSONDecodeError:
            continue
    return read


def test_the_enriched_example_loads_with_the_keys_of_every_stage(tmp_path: Path, call: Callable[..., Any]) -> None:
    """Its hand-written logic is an illustration whose names are no declared facts; all else is read."""
    record = example("Explicit Policy Example")
    for block in blocks():
        if block.get("policy_id") == record["policy_id"]:
            record |= block
    assert {"formal", "conflicts", "layer_assignment"} <= set(record)
    (tmp_path / "policies/refund").mkdir(parents=True)
    (tmp_path / "policies/vocabulary.yaml").write_text(VOCABULARY, encoding="utf-8")
    path = tmp_path / "policies/refund/POL-REFUND-001.json"
    path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    told = call("check", "--root", tmp_path, "--format", "json", "--at", "2026-06-01").json["findings"]
    assert {one["id"] for one in told if one["severity"] == "error"} == {"invalid-expression"}
    del record["formal"]
    path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    told = call("check", "--root", tmp_path, "--format", "json", "--at", "2026-06-01")
    assert told.code == 0, told.out
    facts = '{"has_receipt": false, "channel": "online"}'  # its scope leaves a channel out
    done = call("decide", "--root", tmp_path, "--facts", facts, "--json", "--at", "2026-06-01")
    assert done.json["outcomes"]["refund"]["action"] == "store_credit"


@pytest.mark.parametrize(
    "status", [{"extracted": "complete"}, {"extraction": "done"}, {"formalization": True}, "complete"]
)
def test_a_processing_status_of_an_unknown_word_is_a_schema_error(
    status: Any, tmp_path: Path, call: Callable[..., Any]
) -> None:
    (tmp_path / "policies/refund").mkdir(parents=True)
    (tmp_path / "policies/vocabulary.yaml").write_text(VOCABULARY, encoding="utf-8")
    record = {**example("Explicit Policy Example"), "processing_status": status}
    (tmp_path / "policies/refund/POL-REFUND-001.json").write_text(json.dumps(record), encoding="utf-8")
    told = call("check", "--root", tmp_path, "--format", "json", "--at", "2026-06-01").json["findings"]
    assert [one["id"] for one in told if one["severity"] == "error"] == ["schema"]
