"""Documents of a review, made by hand, and the setting that they are told in."""

from __future__ import annotations

from typing import Any

from bylaw.authored.machines.rules import ReviewRules
from ci.review.computed import owners
from ci.review.computed.document import (
    Case,
    Counts,
    FoundItem,
    OutcomeChange,
    ReviewDocument,
    Spot,
)
from ci.review.words.render import Setting

RULES = ReviewRules.model_validate(
    {
        "comments": 25,
        "rows": 50,
        "graphs": 6,
        "nodes": 60,
        "conclusion": {"error": "failure", "warning": "neutral", "notice": "success"},
    }
)
OWNERS = owners.read("* @acme/everyone\n/policies/rental/ @acme/rental-desk ana@example.com\n")
HERE = Setting(RULES, OWNERS, repository="acme/policies")


def finding(**other: Any) -> FoundItem:
    given: dict[str, Any] = {
        "id": "unknown-fact",
        "severity": "error",
        "message": "policy `P` uses the fact `x`",
        "at": Spot(path="policies/a.yaml", line=3),
        "shown": "changed",
        "fingerprint": "0123456789abcdef",
    }
    return FoundItem(**{**given, **other})


def clash(**other: Any) -> FoundItem:
    given: dict[str, Any] = {
        "id": "conflict",
        "policies": ["POL-A-001", "POL-B-001"],
        "side": "POL-A-001 says x",
        "related": [Spot(path="policies/b.yaml", line=9, note="POL-B-001 says y")],
        "subject": "refund",
        "ending": "both are level 4 (department), so neither gives way",
        "owners": ["Desk A", "Desk B"],
        "case": Case(words="10 days", facts={"days": 10}, entry="- name: x\n"),
        "pairs": 1,
    }
    return finding(**{**given, **other})


def document(*found: FoundItem, **other: Any) -> ReviewDocument:
    counts = {name: sum(f.severity == name for f in found) for name in ("error", "warning", "notice")}
    given: dict[str, Any] = {
        "schema_version": "1.0",
        "head_sha": "a" * 40,
        "base_sha": "b" * 40,
        "at": "2026-06-01",
        "policy_count": 3,
        "findings": list(found),
        "counts": Counts(**counts),
        "nothing_else_changes": True,
    }
    return ReviewDocument(**{**given, **other})


def change(**other: Any) -> OutcomeChange:
    given: dict[str, Any] = {
        "subject": "refund",
        "before": "full_refund",
        "after": "reject",
        "by_before": ["POL-A-001 says full_refund"],
        "by_after": ["POL-B-001 says reject"],
        "case": Case(words="10 days"),
        "tendency": "tightened",
        "fingerprint": "0123456789abcdef",
    }
    return OutcomeChange(**{**given, **other})
