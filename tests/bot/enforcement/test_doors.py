"""One case, every door: a scope that lists every channel there is leaves none of them waiting for a channel."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORDS = """facts:
  has_receipt: {type: boolean, label: has the receipt, phrases: {"false": [lost the receipt]}}
  channel: {type: enum, values: {online: [], in-store: []}, label: channel}
actions:
  full_refund: {outcome: refund, label: a full refund}
  store_credit: {outcome: refund, label: store credit}
outcomes: {refund: {label: what the customer gets back, phrases: [get back]}}
scope: {channels: channel}
"""
POLICY = """policy_id: POL-REFUND-001
scope: {channels: [in-store, online]}
actions:
  - {type: required, action: full_refund, requires: [has_receipt]}
  - {type: fallback, action: store_credit, requires: [no_receipt]}
metadata: {source: s, owner: Desk, domain: refund}
"""
ASKED = "I lost the receipt. What do I get back?"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "policies/refund").mkdir(parents=True)
    (tmp_path / "policies/vocabulary.yaml").write_text(WORDS)
    (tmp_path / "policies/refund/POL-REFUND-001.yaml").write_text(POLICY)
    return tmp_path


def test_decide_ask_guide_and_enforce_agree(root: Path, call: Callable[..., Any]) -> None:
    decided = call("decide", "--root", root, "--facts", '{"has_receipt": false}', "--json").json
    assert decided["outcomes"]["refund"]["action"] == "store_credit"
    assert "channel" not in decided["missing_facts"]
    assert call("ask", "--root", root, ASKED, "--json").json["outcomes"]["refund"]["action"] == "store_credit"
    guided = call("guide", "--root", root, ASKED, "--json").json
    assert (guided["outcomes"]["refund"]["action"], guided["missing"]) == ("store_credit", [])
    for said, verdict in (("You get store credit.", "valid"), ("You get a full refund.", "invalid")):
        judged = call("enforce", "--root", root, "--query", ASKED, "--response", said, "--json").json
        assert (judged["verdict"], judged["outcomes"], judged["missing_facts"]) == (
            verdict,
            {"refund": "store_credit"},
            [],
        )
    out = root / ".bylaw"
    call("compile", "--root", root, "-o", out)
    bundle = json.loads((out / "compiled_policy_bundle.json").read_text())
    assert "channel" not in bundle["decision_nodes"]
