"""A question about a decision, answered: read → hold → evidence → envelope → templater → validate → reply (seed 002).

What is said rests on the evidence alone and cites it. Which decision is meant is held against the words: it is found
once or asked for, never guessed, and how it stands is told before anything else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from bot.ask.ground import ground_for
from bot.ask.matcher.records import title_words
from bot.ask.recorded import readers_of, records_for, visible_records, words_for
from bot.conversation import Choice, Citation, Question, Reply, ReplyStatus, Turn
from bot.decisions import listing, unrecorded
from bot.decisions.accounts import DROPPED_SHOWN, completeness, fingerprints, selection
from bot.decisions.asked import Asked, assemble, fits, intent_of, slug_in
from bot.decisions.contract import DecisionAnswer, Document, Plan
from bot.decisions.envelope import envelope
from bot.decisions.evidence import Gathered, gather, plan
from bot.decisions.premises import meant_option, remarks
from bot.decisions.reading import is_identity, read_question, referred, without_residue
from bot.decisions.search import RecordSearch, title_of
from bot.decisions.templater import Rendered, render, render_list
from bot.decisions.validate import Verdict, coverage, mandatory_ids, validate
from bot.index import BundleIndex
from bylaw.authored.decisions import Decision, Decisions, clipped
from bylaw.authored.machines.intents import Intent
from bylaw.authored.state import state_of
from bylaw.canonical import fingerprint
from bylaw.hold.hold import hold
from bylaw.hold.item import read_items

Clock = Callable[[], float]  # seconds, monotonic

_CITED = 120  # characters of a record that a citation repeats


@dataclass(frozen=True)
class _Case:
    """One question on its way to an answer."""

    question: Question
    index: BundleIndex
    decisions: Decisions  # those that the asker may be answered from
    asked: Asked
    name: str  # of the intent
    state: dict[str, Any]
    how: str  # the decision was found: slug, search, session or none
    clock: Clock
    started: float

    @property
    def intent(self) -> Intent:
        return self.index.rules.intents.intents[self.name]


def answer(question: Question, state: dict[str, Any], index: BundleIndex, clock: Clock | None = None) -> Turn:
    """Answer *question*. *state* is what the last turn of this kind left: the decision spoken of, and the intent.

    `options` may name `intent` and `decision_ref` outright, or give `items`. Without a *clock*, `latency_ms` is 0.
    """
    tick = clock or (lambda: 0.0)
    case = _read(question, state, index, tick)
    asked, decisions = case.asked, case.decisions
    if not decisions.decisions and not decisions.events:
        return _which(case, "No decisions are on record yet.", (), "refused")
    if asked.residue:
        return _unrecorded(case)
    is_one = len(asked.anchors) == 1 and not asked.filters
    if case.intent.lists and not is_one and (asked.anchors or not asked.waiting or case.intent.lists == "pending"):
        return _list(case)
    fitting = [id for id in asked.anchors if fits(decisions.decisions[id], asked.filters)]
    meant = fitting if fitting and len(asked.anchors) > 1 else list(asked.anchors)
    if asked.filters and not asked.anchors:  # "why was the decision tagged so made?"
        meant = [one.id for one in listing.matching(asked, decisions, case.intent)]
        if not meant:
            return _unrecorded(case)
    if len(meant) == 1:
        return _tell(case, meant[0])
    if meant:
        most = index.rules.intents.search.offered
        more = f" There are {len(meant)}; these come first." if len(meant) > most else ""
        offered = unrecorded.offers(_standing_first(meant, decisions), decisions, most)
        return _which(case, f"Several decisions are called so. Which one do you mean?{more}", offered)
    if asked.waiting:
        return _list(replace(case, name=_listing(case, "pending")))
    return _which(case, "Which decision do you mean?", _latest(decisions))


def topics(index: BundleIndex) -> Sequence[str]:
    """The three latest decisions, as examples of what can be asked about."""
    return [index.bundle.decisions.decisions[choice.value].option for choice in _latest(_open_to_all(index))]


def prepare(index: BundleIndex) -> None:
    """Build what the first question would otherwise wait for."""
    ground = ground_for(index, "decision", date(2000, 1, 1))
    ground.index.bearers("anchor", "")
    ground.index.phrases("intent")
    for one in ground.index.names.values():
        if one.kind == "record":
            title_words(one.texts[0])
    index.recently(_search)(readers_of(index, ""))


# ---- what is asked --------------------------------------------------------------------------------------------------


def _read(question: Question, state: dict[str, Any], index: BundleIndex, clock: Clock) -> _Case:
    started = clock()
    user, rules = question.actor.id, index.rules.intents
    day = index.local(question.asked_at).date()
    decisions = records_for(index, user)
    if (items := question.options.get("items")) is not None:
        ground = ground_for(index, "decision", day, user)
        asked = assemble(hold(question.text, read_items(items, "decision"), ground, "given"), decisions)
    else:
        asked = read_question(question.text, day, user, index)
    named, picked = question.options.get("intent"), question.text.strip() in decisions.decisions
    name = named if isinstance(named, str) and named in rules.intents else intent_of(asked, question.text, rules)
    before = state.get("intent")
    if picked and asked.intent is None and isinstance(before, str) and before in rules.intents:
        name = before if not rules.intents[before].lists else rules.default_intent
    if picked:
        asked = replace(asked, anchors=(question.text.strip(),), reading=without_residue(asked.reading))
    is_slug = picked or slug_in(question.text, decisions) is not None or is_identity(asked, decisions)
    how = "slug" if is_slug else "search" if asked.anchors else "none"
    if (reference := question.options.get("decision_ref")) is not None:
        asked, how = referred(str(reference), asked, day, user, index, decisions), "slug"
    last = state.get("anchor")
    is_of_last = asked.is_bare() and not rules.intents[name].lists
    if is_of_last and isinstance(last, str) and last in decisions.decisions:
        asked, how = replace(asked, anchors=(last,)), "session"
    return _Case(question, index, decisions, asked, name, state, how, clock, started)


# ---- one decision ---------------------------------------------------------------------------------------------------


def _tell(case: _Case, anchor: str) -> Turn:
    """The answer about one decision."""
    if case.intent.lists:
        case = replace(case, name=_plain(case))
    question, intent, rules = case.question, case.intent, case.index.rules.intents
    query = plan(anchor, intent, rules)
    gathered = _gathered(case, query)
    paper = envelope(case.name, intent, question.text, gathered.evidence, rules)
    decision = case.decisions.decisions[anchor]
    rendered, verdict = _written(case, gathered, decision)
    written = rendered.answer
    ahead = list(remarks(case.asked, question.text, decision, rules)) + _weak(case, decision)
    covered, debt = coverage(written, gathered.evidence, intent)
    meta = {
        **_meta(case, verdict),
        "coverage": covered,
        "completeness_debt": debt,
        **fingerprints(query, gathered.evidence, paper),
        **selection(gathered, rules.prompt.max_prompt_bytes),
        **({"remarks": ahead} if ahead else {}),
    }
    is_cut = written.short_answer.endswith(" are told here.)")
    reply = _reply(
        case,
        "answered",
        "\n".join((*ahead, rendered.whole if is_cut else written.short_answer)),
        citations=tuple(_citation(id, case) for id in written.supporting_ids),
        caveats=tuple(_left_out(gathered)),
        evidence=dict(gathered.evidence.document()),
        answer=dict(written.document()),
        completeness_flags=completeness(gathered.evidence),
        meta=meta,
    )
    papers = {
        "resolution": _resolution(case, (anchor,)),
        "plan": query.document(),
        "evidence": gathered.evidence.document(),
        "envelope": paper,
        "validation": {"is_valid": verdict.answer is not None, "reasons": list(verdict.reasons)},
        **({"selection": {"dropped": list(gathered.features)}} if gathered.features else {}),
    }
    return Turn(reply, {"anchor": anchor, "intent": case.name}, papers, {"matched_entities": [anchor]})


def _gathered(case: _Case, query: Plan) -> Gathered:
    """The evidence: kept per bundle and reader; of what had to be cut it depends on the question too."""
    gathered_once = case.index.recently(_gather)
    key = (query.from_.removeprefix("decision:"), case.name, readers_of(case.index, case.question.actor.id))
    found: Gathered = gathered_once(*key, "")
    return gathered_once(*key, case.question.text) if found.is_truncated else found


def _gather(index: BundleIndex, anchor: str, name: str, readers: frozenset[str], text: str) -> Gathered:
    rules = index.rules.intents
    intent = rules.intents[name]
    return gather(plan(anchor, intent, rules), text, visible_records(index, readers), intent, rules)


def _written(case: _Case, gathered: Gathered, decision: Decision) -> tuple[Rendered, Verdict]:
    """The template's answer; where it does not validate, the plain option with everything that must be cited."""
    intent, rules, evidence = case.intent, case.index.rules.intents, gathered.evidence
    state = state_of(decision, case.decisions)
    meant = meant_option(case.asked, decision)
    shown = next((one for one in evidence.anchor.options or () if meant and one.option == meant.option), None)
    rendered = render(intent, evidence, rules, state, shown, gathered.reachable)
    verdict = validate(rendered.answer, evidence, intent, rules, case.index.recently(_people)())
    if verdict.answer is not None:
        return rendered, verdict
    cited = mandatory_ids(evidence, intent) | {evidence.anchor.id, *(one.id for one in evidence.related or ())}
    plain = DecisionAnswer(
        short_answer=clipped(f"{state}: {evidence.anchor.option}", rules.lengths.short_answer),
        supporting_ids=tuple(id for id in evidence.allowed_ids if id in cited),
    )
    return Rendered(plain, plain.short_answer), verdict


def _people(index: BundleIndex) -> tuple[str, ...]:
    named = (
        person
        for one in index.bundle.decisions.decisions.values()
        for person in (*one.deciders, *one.consulted, *one.informed)
    )
    return tuple(sorted(set(named)))


def _weak(case: _Case, decision: Decision) -> list[str]:
    """What was taken without being said outright."""
    return [f"I take it that you mean “{decision.option}”."] if case.asked.is_weak else []


def _left_out(gathered: Gathered) -> list[str]:
    """What the evidence had no room for."""
    counts = {kind: sum(one["kind"] == kind for one in gathered.features) for kind in ("event", "transition")}
    said = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items() if count]
    said += [f"the {name} of the decision" for name in gathered.clipped_fields]
    if not said:
        return []
    return [f"Left out of the evidence for its length: {' and '.join(said)}, of {gathered.neighbours_found} records."]


# ---- many -----------------------------------------------------------------------------------------------------------


def _list(case: _Case) -> Turn:
    """The answer about many records: all of them, or said of how many how many are told."""
    rules, intent = case.index.rules.intents, case.intent
    found = listing.matching(case.asked, case.decisions, intent)
    events = listing.waiting(case.asked, case.decisions) if intent.lists == "pending" else []
    if not found and not events:
        return _unrecorded(case)
    shown = listing.listed(found, events, intent, rules)
    count = listing.counted(case.asked, shown, intent)
    rendered = render_list(intent, shown, listing.entries(shown, case.decisions), count, rules)
    verdict = validate(rendered.answer, shown, intent, rules)
    paper = envelope(case.name, intent, case.question.text, shown, rules)
    meta = {**_meta(case, verdict), "coverage": 1.0, "completeness_debt": 0, "prompt_fingerprint": fingerprint(paper)}
    reply = _reply(
        case,
        "answered",
        rendered.whole,
        citations=tuple(_citation(id, case) for id in rendered.answer.supporting_ids),
        evidence=dict(shown.document()),
        answer=dict(rendered.answer.document()),
        meta={**meta, "bundle_fingerprint": fingerprint(shown.document()), "total": shown.total},
    )
    papers = {
        "resolution": _resolution(case, shown.allowed_ids),
        "evidence": shown.document(),
        "envelope": paper,
        "validation": {"is_valid": verdict.answer is not None, "reasons": list(verdict.reasons)},
    }
    only = shown.allowed_ids[0] if len(found) == 1 and not events else case.state.get("anchor")
    return Turn(reply, {"anchor": only, "intent": case.name}, papers, {"matched_entities": list(shown.allowed_ids)})


def _listing(case: _Case, kind: str) -> str:
    intents = case.index.rules.intents.intents
    return next((name for name, one in sorted(intents.items()) if one.lists == kind), case.name)


def _plain(case: _Case) -> str:
    """The intent that tells a decision without being asked anything of it."""
    rules = case.index.rules.intents
    return next((name for name, one in sorted(rules.intents.items()) if one.yields), rules.default_intent)


# ---- none -----------------------------------------------------------------------------------------------------------


def _unrecorded(case: _Case) -> Turn:
    """Nothing on record is about it: say so, whom to ask, and what comes near."""
    index = case.index
    search = index.recently(_search)(readers_of(index, case.question.actor.id))
    hits = unrecorded.near(case.asked, case.question.text, search, index)
    whom = unrecorded.owners(hits, index)
    offered = unrecorded.offers((hit.id for hit in hits), case.decisions, index.rules.intents.search.offered)
    words = unrecorded.missing(case.asked, words_for(index, case.question.actor.id))
    text = unrecorded.nothing(case.asked, words, whom, bool(offered))
    words = words or [one.item.quote or "" for one in case.asked.filters]
    turn = _which(case, text, offered, "needs_choice" if offered else "refused")
    meta = {**(turn.reply.meta or {}), "uncovered": {"words": words, "owners": whom}}
    return replace(turn, reply=turn.reply.model_copy(update={"meta": meta}))


def _search(index: BundleIndex, readers: frozenset[str]) -> RecordSearch:
    """The index of what *readers* may read, built once a bundle."""
    return RecordSearch(visible_records(index, readers), index.rules.intents.search)


def _which(case: _Case, text: str, offered: Sequence[Choice], status: ReplyStatus = "needs_choice") -> Turn:
    """No decision is meant clearly enough: name those that may be."""
    question = case.question
    error = {
        "code": "ANCHOR_NOT_FOUND",
        "message": text,
        "details": {"candidates": [choice.value for choice in offered]},
        "request_id": question.request_id,
    }
    meta = {"snapshot_etag": case.decisions.snapshot_etag, "request_id": question.request_id, "error": error}
    reply = _reply(case, status if offered else "refused", text, choices=tuple(offered), meta=meta)
    state = {"anchor": case.state.get("anchor"), "intent": case.name}
    return Turn(reply, state, {"resolution": _resolution(case, [choice.value for choice in offered])})


def _standing_first(ids: Sequence[str], decisions: Decisions) -> list[str]:
    """Those that stand before those that do not, the latest first."""
    known = [decisions.decisions[id] for id in ids]
    latest = sorted(known, key=lambda one: (str(one.decided_on or ""), one.id), reverse=True)
    return [one.id for one in sorted(latest, key=lambda one: not one.stands)]


def _latest(decisions: Decisions) -> tuple[Choice, ...]:
    dated = sorted(decisions.decisions.values(), key=lambda one: (one.timestamp or "", one.id), reverse=True)
    return unrecorded.offers((one.id for one in dated), decisions, 3)


def _open_to_all(index: BundleIndex) -> Decisions:
    return records_for(index, "")


# ---- the reply ------------------------------------------------------------------------------------------------------


def _reply(case: _Case, status: ReplyStatus, text: str, **fields: Any) -> Reply:
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


def _meta(case: _Case, verdict: Verdict) -> Document:
    intent = case.intent
    return {
        "policy_id": intent.policy_id,
        "prompt_id": intent.prompt_id,
        "retries": 0,
        "latency_ms": int((case.clock() - case.started) * 1000),
        "snapshot_etag": case.decisions.snapshot_etag,
        "fallback_used": verdict.answer is None,
        "request_id": case.question.request_id,
        "resolved_by": case.how,
        "resolver_confidence": 0.5 if case.asked.is_weak else 1.0,
    }


def _resolution(case: _Case, candidates: Sequence[str]) -> Document:
    return {
        "anchor": candidates[0] if len(candidates) == 1 and case.how != "none" else None,
        "how": case.how,
        "candidates": list(candidates[:DROPPED_SHOWN]),
        "reading": case.asked.reading.written(),
    }


def _citation(id: str, case: _Case) -> Citation:
    """Where the record stands. One record fills a file, so its line is the first."""
    record = case.decisions.record(id)
    path = case.decisions.sources.get(id)
    said = id if record is None else title_of(record)
    return Citation(id=id, path=path, line=1 if path else None, commit=case.index.commit, text=clipped(said, _CITED))
