"""What waits for a steward, for people and as JSON."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from bot.evidence.store.tables.candidates import Candidate
from bot.memory.changes import Change
from bot.memory.changes import in_words as change_in_words
from bot.memory.promotion import Review


def listed(found: Sequence[Candidate]) -> dict[str, Any]:
    """The queue as JSON."""
    return {
        "candidates": [
            {
                "candidate": one.candidate_id,
                "stage": one.stage,
                "change": dict(one.change),
                "domain": one.domain,
                "proposed_at": one.proposed_at.isoformat(),
                "corrections": list(one.members),
                "similar_corrections": list(one.similar),
                "reviewed_by": one.reviewed_by,
                "rejection_reason": one.reason,
                "pull_request_url": one.pull_request,
                "merged_at": None if one.merged_at is None else one.merged_at.isoformat(),
            }
            for one in found
        ]
    }


def in_words(found: Sequence[Candidate]) -> str:
    """The queue as lines."""
    return "\n".join(line for one in found for line in _lines(one)) or "nothing waits for a steward"


def shown(found: Review) -> dict[str, Any]:
    """One candidate as JSON."""
    proposal = found.proposal
    return {
        "candidate": found.candidate.candidate_id,
        "change": found.agreed.change.model_dump(),
        "people": len(found.agreed.people),
        "against": len(found.agreed.against),
        "similar_corrections": list(found.agreed.similar),
        "diff": _diff(found),
        "why": proposal.why,
        "basis": list(proposal.basis),
        "reviewers": list(proposal.reviewers),
        "branch": proposal.branch,
    }


def told(found: Review) -> str:
    """One candidate as lines."""
    parts = [found.proposal.why, "", _diff(found).rstrip(), "", *(f"- {line}" for line in found.proposal.basis)]
    if found.agreed.similar:
        parts += ["", f"may mean the same, and is not counted: {', '.join(found.agreed.similar)}"]
    name = found.candidate.candidate_id
    return "\n".join([*parts, "", f"open it: bylaw promote open {name} --repo OWNER/NAME"])


def _lines(one: Candidate) -> Iterator[str]:
    yield f"{one.candidate_id}  {one.stage}: {spelled(one)} ({len(one.members)} corrections)"
    if one.reason:
        yield f"    rejected by {one.reviewed_by}: {one.reason}"
    if one.pull_request:
        yield f"    {one.pull_request}"


def spelled(one: Candidate) -> str:
    """Its change in words."""
    return change_in_words(Change.model_validate(one.change))


def _diff(found: Review) -> str:
    lines: list[str] = []
    for path, text in sorted(found.proposal.files.items()):
        before = (found.before.get(path) or "").splitlines(keepends=True)
        lines += difflib.unified_diff(before, (text or "").splitlines(keepends=True), f"a/{path}", f"b/{path}")
    return "".join(lines)
