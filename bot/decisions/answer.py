"""A question about a decision, answered: resolve → evidence → envelope → templater → validate → reply (seed 002).

What is said rests on the evidence alone and cites it. Which decision is meant is found once or asked for, not guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bot.conversation import Choice, Citation, Question, Reply, ReplyStatus, Turn
from bot.decisions.contract import DecisionAnswer, Document, Evidence, Plan
from bot.decisions.envelope import envelope
from bot.decisions.evidence import Gathered, gather, plan
from bot.decisions.intent import IntentReading, read
from bot.decisions.resolve import Resolution, resolve, slug_in
from bot.decisions.search import Hit, search_of, terms, words
from bot.decisions.templater import render
from bot.decisions.validate import Verdict, mandatory_ids, validate
from bot.index import BundleIndex
from bylaw.authored.decisions import Decision, Decisions, Event, clipped
from bylaw.authored.machines.intents import Intent, Intents
from bylaw.canonical import fingerprint

Clock = Callable[[], float]  # seconds, monotonic

_SAYS_DECISION = frozenset({"decide", "decided", "deciding", "decision", "decisions"})
_OWN_CASE = frozenset({"i", "me", "my", "mine"})
_CITED = 120  # characters of a record that a citation repeats
_DROPPED_SHOWN = 20


def answer(question: Question, state: dict[str, Any], index: BundleIndex, clock: Clock | None = None) -> Turn:
    """Answer *question*. *state* is what the last turn of this kind left: the decision spoken of, and the intent.

    `options` may name `intent` and `decision_ref` outright. Without a *clock*, `latency_ms` is 0.
    """
    started = clock() if clock else 0.0
    decisions, rules = index.bundle.decisions, index.bundle.rules.intents
    asked = _asked(question, state, decisions, rules)
    last = state.get("anchor")
    reference = str(question.options.get("decision_ref") or asked.rest)
    found = resolve(
        reference, decisions, search_of(decisions, rules.search), rules.search, last if isinstance(last, str) else None
    )
    name = asked.intent or rules.default_intent
    if found.anchor is None:
        return _which(question, name, found, state, index)
    intent = rules.intents[name]
    query = plan(found.anchor, intent, rules)
    gathered = gather(query, question.text, decisions, rules)
    paper = envelope(name, intent, question.text, gathered.evidence, rules)
    written, verdict = _written(intent, gathered.evidence, rules)
    latency_ms = int((clock() - started) * 1000) if clock else 0
    meta = {
        **_meta(intent, index, question, found, verdict, latency_ms),
        **_fingerprints(query, gathered.evidence, paper),
        **_selection(gathered, rules),
    }
    reply = Reply(
        kind="decision",
        status="answered",
        text=written.short_answer,
        request_id=question.request_id,
        session_id=question.session_id,
        bundle_etag=index.etag,
        commit=index.commit,
        citations=tuple(_citation(id, index) for id in written.supporting_ids),
        intent=name,
        evidence=dict(gathered.evidence.document()),
        answer=dict(written.document()),
        completeness_flags=_flags(gathered.evidence),
        meta=meta,
    )
    papers = {
        "resolution": _resolution(found),
        "plan": query.document(),
        "evidence": gathered.evidence.document(),
        "envelope": paper,
        "validation": {"is_valid": verdict.answer is not None, "reasons": list(verdict.reasons)},
    }
    return Turn(reply, {"anchor": found.anchor, "intent": name}, papers, {"matched_entities": [found.anchor]})


def is_decision_question(text: str, index: BundleIndex) -> float:
    """How much *text* reads like a question about a decision on record, 0 to 1."""
    decisions, rules, weights = index.bundle.decisions, index.rules.intents, index.rules.routing.decision
    if not decisions.decisions:
        return 0.0
    if slug_in(text, decisions) is not None:
        return float(weights.named)
    asked = read(text, rules)
    speaks_of_decisions = not _SAYS_DECISION.isdisjoint(words(text))
    if not terms(asked.rest):
        # Nothing but "who decided that?": only a conversation can tell which one.
        bare = weights.bare_phrase if asked.is_phrase and speaks_of_decisions else weights.bare_word
        return float(bare) if asked.intent else 0.0
    # "Why was my refund rejected?" is about a case of one's own; what was decided is asked of an organisation.
    trust = float(weights.own_case) if not _OWN_CASE.isdisjoint(words(text)) and not speaks_of_decisions else 1.0
    best = max((hit.confidence for hit in search_of(decisions, rules.search).find(asked.rest, 1)), default=0.0)
    is_found = best >= rules.search.confidence_from
    if asked.intent and is_found:
        return round(trust * (float(weights.found) + float(weights.found_by) * best), 4)
    if speaks_of_decisions:
        told = float(weights.told) + float(weights.told_by) * best
        return round(told, 4) if asked.intent or is_found else float(weights.told_only)
    return round(float(weights.other_by) * best, 4)


def topics(index: BundleIndex) -> Sequence[str]:
    """The three latest decisions, as examples of what can be asked about."""
    return [one.option for one in _latest(index.bundle.decisions)]


def prepare(index: BundleIndex) -> None:
    """Build what the first question would otherwise wait for."""
    search_of(index.bundle.decisions, index.rules.intents.search)


def _asked(question: Question, state: dict[str, Any], decisions: Decisions, rules: Intents) -> IntentReading:
    """The intent: named in the options; for a bare slug, which picks a choice, the pending one; else the words'."""
    asked = read(question.text, rules)
    named = question.options.get("intent")
    if isinstance(named, str) and named in rules.intents:
        return IntentReading(named, asked.rest, True)
    before = state.get("intent")
    if isinstance(before, str) and before in rules.intents and question.text.strip() in decisions.decisions:
        return IntentReading(before, question.text)
    # An id may hold an intent's words (`why-we-left-plasma`): it is looked for in the whole question.
    return IntentReading(asked.intent, question.text, asked.is_phrase) if slug_in(question.text, decisions) else asked


def _written(intent: Intent, evidence: Evidence, rules: Intents) -> tuple[DecisionAnswer, Verdict]:
    """The template's answer; where it does not validate, the plain option with everything that must be cited."""
    verdict = validate(render(intent, evidence, rules), evidence, intent, rules)
    if verdict.answer is not None:
        return verdict.answer, verdict
    cited = mandatory_ids(evidence, intent) | {evidence.anchor.id}
    plain = DecisionAnswer(
        short_answer=clipped(evidence.anchor.option, rules.lengths.short_answer),
        supporting_ids=tuple(id for id in evidence.allowed_ids if id in cited),
    )
    return plain, verdict


def _which(question: Question, intent: str, found: Resolution, state: dict[str, Any], index: BundleIndex) -> Turn:
    """No decision is meant clearly enough: name the nearest ones, or, where nothing is near, say so."""
    decisions = index.bundle.decisions
    offered = [Choice(value=hit.id, label=hit.option) for hit in found.candidates]
    if found.confidence > 0:
        text = "I am not sure which decision you mean."
    elif terms(question.text) and decisions.decisions:
        text = "No decision on record matches this."
    else:
        text = "Which decision do you mean?" if decisions.decisions else "No decisions are on record yet."
    if not offered:
        offered = [Choice(value=one.id, label=one.option) for one in _latest(decisions)]
    status: ReplyStatus = "needs_choice" if offered else "refused"
    error = {
        "code": "ANCHOR_NOT_FOUND",
        "message": text,
        "details": {"candidates": [choice.value for choice in offered]},
        "request_id": question.request_id,
    }
    reply = Reply(
        kind="decision",
        status=status,
        text=text,
        request_id=question.request_id,
        session_id=question.session_id,
        bundle_etag=index.etag,
        commit=index.commit,
        choices=tuple(offered),
        intent=intent,
        meta={"snapshot_etag": decisions.snapshot_etag, "request_id": question.request_id, "error": error},
    )
    return Turn(reply, {"anchor": state.get("anchor"), "intent": intent}, {"resolution": _resolution(found)})


def _latest(decisions: Decisions) -> list[Decision]:
    return sorted(decisions.decisions.values(), key=lambda one: (one.timestamp or "", one.id), reverse=True)[:3]


def _meta(
    intent: Intent, index: BundleIndex, question: Question, found: Resolution, verdict: Verdict, latency_ms: int
) -> Document:
    return {
        "policy_id": intent.policy_id,
        "prompt_id": intent.prompt_id,
        "retries": 0,
        "latency_ms": latency_ms,
        "snapshot_etag": index.bundle.decisions.snapshot_etag,
        "fallback_used": verdict.answer is None,
        "request_id": question.request_id,
        "resolved_by": found.how,
        "resolver_confidence": found.confidence,
    }


def _fingerprints(query: Plan, evidence: Evidence, paper: Document) -> Document:
    return {
        "plan_fingerprint": fingerprint(query.document()),
        "bundle_fingerprint": fingerprint(evidence.document()),
        "prompt_fingerprint": fingerprint(paper),
    }


def _selection(gathered: Gathered, rules: Intents) -> Document:
    """What the selector did, in the words of seed 002's log (B5)."""
    return {
        "selector_truncation": gathered.is_truncated,
        "total_neighbors_found": gathered.neighbours_found,
        "final_evidence_count": gathered.neighbours_found - len(gathered.dropped_ids),
        "dropped_evidence_ids": list(gathered.dropped_ids[:_DROPPED_SHOWN]),
        "dropped_evidence_count": len(gathered.dropped_ids),
        "bundle_size_bytes": gathered.size_bytes,
        "max_prompt_bytes": rules.prompt.max_prompt_bytes,
    }


def _flags(evidence: Evidence) -> Document:
    return {
        "has_preceding": bool(evidence.transitions.preceding),
        "has_succeeding": bool(evidence.transitions.succeeding),
        "event_count": len(evidence.events),
    }


def _resolution(found: Resolution) -> Document:
    return {
        "anchor": found.anchor,
        "how": found.how,
        "confidence": found.confidence,
        "candidates": [_hit(hit) for hit in found.candidates],
    }


def _hit(hit: Hit) -> Document:
    return {"id": hit.id, "confidence": hit.confidence, "score": hit.score}


def _citation(id: str, index: BundleIndex) -> Citation:
    """Where the record stands. One record fills a file, so its line is the first."""
    decisions = index.bundle.decisions
    record = decisions.record(id)
    said = (
        ""
        if record is None
        else (
            record.option
            if isinstance(record, Decision)
            else record.summary
            if isinstance(record, Event)
            else record.reason
        )
    )
    path = decisions.sources.get(id)
    return Citation(id=id, path=path, line=1 if path else None, commit=index.commit, text=clipped(said or id, _CITED))
