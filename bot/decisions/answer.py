"""A question about a decision, answered: read → hold → evidence → envelope → author → validate → reply (seed 002).

What is said rests on the evidence alone and cites it. Which decision is meant is held against the words: it is found
once or asked for, never guessed, and how it stands is told before anything else of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from bot.ask.ground import ground_for
from bot.ask.matcher.records import title_words
from bot.ask.recorded import readers_of, records_for, visible_records, words_for
from bot.conversation import Choice, Question, Turn
from bot.decisions import listing, unrecorded
from bot.decisions.asked import fits
from bot.decisions.contract import DecisionAnswer, Document, Plan
from bot.decisions.envelope import envelope
from bot.decisions.evidence import Gathered, gather, plan
from bot.decisions.premises import meant_option, remarks
from bot.decisions.reading import Case, Clock, read_case, read_question, search_for
from bot.decisions.reply import Told, completeness, fingerprints, left_out, meta_of, offer, turn_of
from bot.decisions.reply import selection as selection_of
from bot.decisions.templater import Rendered, render, render_list
from bot.decisions.validate import coverage, mandatory_ids, validate
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.authored.decisions import Decision, Decisions, clipped
from bylaw.authored.state import state_of
from bylaw.canonical import fingerprint

if TYPE_CHECKING:
    from bylaw.llm.guarded import Guard


def answer(
    question: Question, state: dict[str, Any], index: BundleIndex, clock: Clock | None = None, llm: Guard | None = None
) -> Turn:
    """Answer *question*. *state* is what the last turn of this kind left: the decision spoken of, and the intent.

    `options` may name `intent` and `decision_ref` outright, or give `items`. Without a *clock*, `latency_ms` is 0.
    """
    case = read_case(question, state, index, clock or (lambda: 0.0), llm)
    asked, decisions = case.asked, case.decisions
    if not decisions.decisions and not decisions.events:
        return offer(case, "No decisions are on record yet.", ())
    if asked.is_doubted and asked.anchors:
        return _offer_several(case, asked.anchors, unrecorded.doubted(asked))
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
        return _offer_several(case, meant, "Several decisions are called so. Which one do you mean?")
    if asked.waiting:
        return _list(replace(case, name=_listing(case, "pending")))
    return offer(case, "Which decision do you mean?", _latest(decisions))


def topics(index: BundleIndex) -> Sequence[str]:
    """The three latest decisions, as examples of what can be asked about."""
    return [index.bundle.decisions.decisions[choice.value].option for choice in _latest(records_for(index, ""))]


def prepare(index: BundleIndex) -> None:
    """Build what the first question would otherwise wait for."""
    ground = ground_for(index, "decision", date(2000, 1, 1))
    ground.index.bearers("anchor", "")
    ground.index.phrases("intent")
    for one in ground.index.names.values():
        if one.kind == "record":
            title_words(one.texts[0])
    search_for(index, "")
    read_question("why did we decide so?", date(2000, 1, 1), "", index)


# ---- one decision ---------------------------------------------------------------------------------------------------


def _tell(case: Case, anchor: str) -> Turn:
    """The answer about one decision."""
    if case.intent.lists:
        case = replace(case, name=_plain(case))
    question, intent, rules = case.question, case.intent, case.index.rules.intents
    query = plan(anchor, intent, rules)
    gathered = _gathered(case, query)
    paper = envelope(case.name, intent, Mask(case.index.rules.pii).text(question.text), gathered.evidence, rules)
    decision = case.decisions.decisions[anchor]
    rendered, reasons, papers, author = _written(case, gathered, decision, paper)
    written = rendered.answer
    ahead = list(remarks(case.asked, question.text, decision, rules))
    ahead += [f"I take it that you mean “{decision.option}”."] if case.asked.is_weak else []
    covered, debt = coverage(written, gathered.evidence, intent)
    meta: Document = {
        **meta_of(case, is_fallback=bool(reasons)),
        **author,
        "coverage": covered,
        "completeness_debt": debt,
        **fingerprints(query, gathered.evidence, paper),
        **selection_of(gathered, rules.prompt.max_prompt_bytes),
        **({"remarks": [*ahead]} if ahead else {}),
    }
    is_cut = written.short_answer.endswith(" are told here.)")
    text = "\n".join((*ahead, rendered.whole if is_cut else written.short_answer))
    papers = {**papers, "plan": query.document()}
    if gathered.features:
        papers["selection"] = {"dropped": list(gathered.features)}
    beside = {"caveats": tuple(left_out(gathered)), "completeness_flags": completeness(gathered.evidence)}
    told = Told(text, written, gathered.evidence, paper, tuple(reasons), (anchor,))
    return turn_of(case, told, anchor, meta, papers, **beside)


def _gathered(case: Case, query: Plan) -> Gathered:
    """The evidence: kept per bundle and reader; of what had to be cut it depends on the question too."""
    gathered_once = case.index.recently(_gather)
    key = (query.from_.removeprefix("decision:"), case.name, readers_of(case.index, case.question.actor.id))
    found: Gathered = gathered_once(*key, "")
    return gathered_once(*key, case.question.text) if found.is_truncated else found


def _gather(index: BundleIndex, anchor: str, name: str, readers: frozenset[str], text: str) -> Gathered:
    rules = index.rules.intents
    intent = rules.intents[name]
    return gather(plan(anchor, intent, rules), text, visible_records(index, readers), intent, rules)


def _written(
    case: Case, gathered: Gathered, decision: Decision, paper: Document
) -> tuple[Rendered, list[str], Document, Document]:
    """The answer of a model where one is configured and passes, else the template's; where that does not validate, the
    plain option with everything that must be cited. With what was said against it, the papers and the author.
    """
    intent, rules, evidence = case.intent, case.index.rules.intents, gathered.evidence
    state, people = state_of(decision, case.decisions), case.index.recently(_people)()
    papers: Document = {}
    author: Document = {}
    if case.llm is not None:
        from bot.decisions.wording import write_by_model  # only where a model is configured

        authored = write_by_model(paper, state, evidence, intent, case.index, case.llm, people)
        papers, author = authored.papers(), authored.meta()
        if authored.answer is not None:
            return Rendered(authored.answer, authored.answer.short_answer), [], papers, author
    meant = meant_option(case.asked, decision)
    shown = next((one for one in evidence.anchor.options or () if meant and one.option == meant.option), None)
    rendered = render(intent, evidence, rules, state, shown, gathered.reachable)
    verdict = validate(rendered.answer, evidence, intent, rules, people)
    if verdict.answer is not None:
        return rendered, [], papers, author
    cited = mandatory_ids(evidence, intent) | {evidence.anchor.id, *(one.id for one in evidence.related or ())}
    plain = DecisionAnswer(
        short_answer=clipped(f"{state}: {evidence.anchor.option}", rules.lengths.short_answer),
        supporting_ids=tuple(id for id in evidence.allowed_ids if id in cited),
    )
    return Rendered(plain, plain.short_answer), list(verdict.reasons), papers, author


def _people(index: BundleIndex) -> tuple[str, ...]:
    known = index.bundle.decisions.decisions.values()
    return tuple(sorted({person for one in known for person in (*one.deciders, *one.consulted, *one.informed)}))


# ---- many -----------------------------------------------------------------------------------------------------------


def _list(case: Case) -> Turn:
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
    paper = envelope(case.name, intent, Mask(case.index.rules.pii).text(case.question.text), shown, rules)
    meta = {
        **meta_of(case, is_fallback=verdict.answer is None),
        "coverage": 1.0,
        "completeness_debt": 0,
        "prompt_fingerprint": fingerprint(paper),
        "bundle_fingerprint": fingerprint(shown.document()),
        "total": shown.total,
    }
    only = shown.allowed_ids[0] if len(found) == 1 and not events else case.state.get("anchor")
    told = Told(rendered.whole, rendered.answer, shown, paper, verdict.reasons, shown.allowed_ids)
    return turn_of(case, told, only, meta, {})


def _listing(case: Case, kind: str) -> str:
    intents = case.index.rules.intents.intents
    return next((name for name, one in sorted(intents.items()) if one.lists == kind), case.name)


def _plain(case: Case) -> str:
    """The intent that tells a decision without being asked anything of it."""
    rules = case.index.rules.intents
    return next((name for name, one in sorted(rules.intents.items()) if one.yields), rules.default_intent)


# ---- none, or not sure which ----------------------------------------------------------------------------------------


def _unrecorded(case: Case) -> Turn:
    """Nothing on record is about it: say so, whom to ask, and what comes near."""
    index, user = case.index, case.question.actor.id
    hits = unrecorded.near(case.asked, case.question.text, search_for(index, user), index)
    whom = unrecorded.owners(hits, index)
    offered = unrecorded.offers((hit.id for hit in hits), case.decisions, index.rules.intents.search.offered)
    words = unrecorded.missing(case.asked, words_for(index, user))
    text = unrecorded.nothing(case.asked, words, whom, bool(offered))
    words = words or [one.item.quote or "" for one in case.asked.filters]
    return offer(case, text, offered, uncovered={"words": words, "owners": whom})


def _offer_several(case: Case, ids: Sequence[str], text: str) -> Turn:
    """Those that stand before those that do not, the latest first, as many as the rules offer."""
    known = [case.decisions.decisions[id] for id in ids]
    latest = sorted(known, key=lambda one: (str(one.decided_on or ""), one.id), reverse=True)
    ranked = [one.id for one in sorted(latest, key=lambda one: not one.stands)]
    most = case.index.rules.intents.search.offered
    more = f" There are {len(ids)}; these come first." if len(ids) > most else ""
    return offer(case, f"{text}{more}", unrecorded.offers(ranked, case.decisions, most))


def _latest(decisions: Decisions) -> tuple[Choice, ...]:
    dated = sorted(decisions.decisions.values(), key=lambda one: (one.timestamp or "", one.id), reverse=True)
    return unrecorded.offers((one.id for one in dated), decisions, 3)
