"""A reply about decisions and what is told beside it: citations, fingerprints, what was left out (seed 002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.conversation import Choice, Citation, Reply, ReplyStatus, Turn
from bot.decisions.contract import DecisionAnswer, Document, Evidence, Listed, Plan
from bot.decisions.evidence import Gathered
from bot.decisions.reading import Case
from bot.decisions.search import title_of
from bylaw.authored.decisions import clipped
from bylaw.canonical import fingerprint

_CITED = 120  # characters of a record that a citation repeats
_DROPPED_SHOWN = 20  # ids of what was left out


@dataclass(frozen=True)
class Told:
    """What is told: the text, its short answer, what it rests on, and what was said against it."""

    text: str
    answer: DecisionAnswer
    evidence: Evidence | Listed
    envelope: Document
    reasons: tuple[str, ...]
    ids: tuple[str, ...]  # the records that were meant


def turn_of(case: Case, told: Told, last: str | None, meta: Document, papers: Mapping[str, Any], **fields: Any) -> Turn:
    """The answer with all that is kept of it. *last* is the decision that the next turn may go on about."""
    cited = tuple(_citation(id, case) for id in told.answer.supporting_ids)
    evidence = told.evidence.document()
    shown = {"citations": cited, "evidence": dict(evidence), "answer": dict(told.answer.document()), "meta": meta}
    kept = {
        **case.papers,
        **papers,
        "resolution": _resolution(case, told.ids),
        "evidence": evidence,
        "envelope": told.envelope,
        "validation": {"is_valid": not told.reasons, "reasons": list(told.reasons)},
    }
    reply = _reply(case, "answered", told.text, **shown, **fields)
    return Turn(reply, {"anchor": last, "intent": case.name}, kept, {"matched_entities": list(told.ids)})


def _reply(case: Case, status: ReplyStatus, text: str, **fields: Any) -> Reply:
    question, index = case.question, case.index
    return Reply(
        kind="decision",
        status=status,
        text=text,
        request_id=question.request_id,
        session_id=question.session_id,
        bundle_etag=index.etag,
        commit=index.commit,
        intent=case.name,
        reading=case.asked.reading.written(),
        **fields,
    )


def offer(case: Case, text: str, offered: Sequence[Choice], **meta: Any) -> Turn:
    """No decision is meant clearly enough: name those that may be."""
    request_id, candidates = case.question.request_id, [choice.value for choice in offered]
    details = {"candidates": candidates}
    error = {"code": "ANCHOR_NOT_FOUND", "message": text, "details": details, "request_id": request_id}
    meta = {
        "snapshot_etag": case.decisions.snapshot_etag,
        "request_id": request_id,
        "error": error,
        **case.meta,
        **meta,
    }
    reply = _reply(case, "needs_choice" if offered else "refused", text, choices=tuple(offered), meta=meta)
    state = {"anchor": case.state.get("anchor"), "intent": case.name}
    return Turn(reply, state, {**case.papers, "resolution": _resolution(case, candidates)})


def meta_of(case: Case, is_fallback: bool) -> Document:
    """What every answer tells of how it came about."""
    intent = case.intent
    calls = ["search_similar"] if case.how == "search" else []  # seed 002, B1
    return {
        "function_calls": [*calls, "get_graph_neighbors"] if not intent.lists else [*calls],
        "policy_id": intent.policy_id,
        "prompt_id": intent.prompt_id,
        "retries": 0,
        "latency_ms": int((case.clock() - case.started) * 1000),
        "snapshot_etag": case.decisions.snapshot_etag,
        "fallback_used": is_fallback,
        "request_id": case.question.request_id,
        "resolved_by": case.how,
        "resolver_confidence": 0.5 if case.asked.is_weak else 1.0,
        **case.meta,
    }


def _resolution(case: Case, candidates: Sequence[str]) -> Document:
    """How the decision was found, and which others were near."""
    return {
        "anchor": candidates[0] if len(candidates) == 1 and case.how != "none" else None,
        "how": case.how,
        "candidates": list(candidates[:_DROPPED_SHOWN]),
        "reading": case.asked.reading.written(),
    }


def _citation(id: str, case: Case) -> Citation:
    """Where the record stands. One record fills a file, so its line is the first."""
    record = case.decisions.record(id)
    path = case.decisions.sources.get(id)
    said = id if record is None else title_of(record)
    return Citation(id=id, path=path, line=1 if path else None, commit=case.index.commit, text=clipped(said, _CITED))


def fingerprints(query: Plan, evidence: Evidence, paper: Document) -> Document:
    """The names of the plan, the evidence and the envelope."""
    documents = {"plan": query.document(), "bundle": evidence.document(), "prompt": paper}
    return {f"{name}_fingerprint": fingerprint(document) for name, document in documents.items()}


def selection(gathered: Gathered, most: int) -> Document:
    """What the selector did, in the words of seed 002's log (B5)."""
    return {
        "selector_truncation": gathered.is_truncated,
        "total_neighbors_found": gathered.neighbours_found,
        "final_evidence_count": gathered.neighbours_found - len(gathered.dropped_ids),
        "dropped_evidence_ids": list(gathered.dropped_ids[:_DROPPED_SHOWN]),
        "dropped_evidence_count": len(gathered.dropped_ids),
        "bundle_size_bytes": gathered.size_bytes,
        "max_prompt_bytes": most,
    }


def completeness(evidence: Evidence) -> Document:
    """Is there anything before the decision, and after it? (F1)"""
    return {
        "has_preceding": bool(evidence.transitions.preceding),
        "has_succeeding": bool(evidence.transitions.succeeding),
        "event_count": len(evidence.events),
    }


def left_out(gathered: Gathered) -> list[str]:
    """What the evidence had no room for, as a caveat."""
    counts = {kind: sum(one["kind"] == kind for one in gathered.features) for kind in ("event", "transition")}
    said = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items() if count]
    said += [f"the {name} of the decision" for name in gathered.clipped_fields]
    if not said:
        return []
    return [f"Left out of the evidence for its length: {' and '.join(said)}, of {gathered.neighbours_found} records."]
