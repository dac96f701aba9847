"""What is kept beside an answer: fingerprints, what the selector did, how complete the evidence is (seed 002)."""

from __future__ import annotations

from bot.decisions.contract import Document, Evidence, Plan
from bot.decisions.evidence import Gathered
from bylaw.canonical import fingerprint

DROPPED_SHOWN = 20  # ids of what was left out


def fingerprints(query: Plan, evidence: Evidence, paper: Document) -> Document:
    return {
        "plan_fingerprint": fingerprint(query.document()),
        "bundle_fingerprint": fingerprint(evidence.document()),
        "prompt_fingerprint": fingerprint(paper),
    }


def selection(gathered: Gathered, most: int) -> Document:
    """What the selector did, in the words of seed 002's log (B5)."""
    return {
        "selector_truncation": gathered.is_truncated,
        "total_neighbors_found": gathered.neighbours_found,
        "final_evidence_count": gathered.neighbours_found - len(gathered.dropped_ids),
        "dropped_evidence_ids": list(gathered.dropped_ids[:DROPPED_SHOWN]),
        "dropped_evidence_count": len(gathered.dropped_ids),
        "bundle_size_bytes": gathered.size_bytes,
        "max_prompt_bytes": most,
    }


def completeness(evidence: Evidence) -> Document:
    return {
        "has_preceding": bool(evidence.transitions.preceding),
        "has_succeeding": bool(evidence.transitions.succeeding),
        "event_count": len(evidence.events),
    }
