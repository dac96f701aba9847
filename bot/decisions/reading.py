"""What a question about decisions asks: said outright, picked, or read by the matcher and by a model, and held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from bot.ask.ground import ground_for
from bot.ask.matcher.match import match
from bot.ask.recorded import readers_of, records_for, visible_records
from bot.conversation import Question
from bot.decisions.asked import Asked, assemble, intent_of, slug_in
from bot.decisions.search import RecordSearch, terms
from bot.index import BundleIndex
from bylaw.authored.decisions import Decision, Decisions
from bylaw.authored.machines.intents import Intent
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import read_items

if TYPE_CHECKING:
    from bot.ask.proposed import Row
    from bylaw.llm.guarded import Guard

Clock = Callable[[], float]  # seconds, monotonic
_MOST_SHOWN = 40  # records that a model is told of, and values of each filter
_MOST_PHRASES = 8  # of an intent, for a model


@dataclass(frozen=True)
class Case:
    """One question on its way to an answer."""

    question: Question
    index: BundleIndex
    decisions: Decisions  # those that the asker may be answered from
    asked: Asked
    name: str  # of the intent
    state: Mapping[str, Any]
    how: str  # the decision was found: slug, search, session or none
    clock: Clock
    started: float
    llm: Guard | None = None
    papers: Mapping[str, Any] = field(default_factory=dict)  # what a model was asked for the reading
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def intent(self) -> Intent:
        """The entry of `rules/intents.yaml`."""
        return self.index.rules.intents.intents[self.name]


def read_case(
    question: Question, state: Mapping[str, Any], index: BundleIndex, clock: Clock, llm: Guard | None
) -> Case:
    """*question* as what it asks: by what a caller names outright, what was offered, its words, or the last turn."""
    started = clock()
    user, rules, text = question.actor.id, index.rules.intents, question.text
    day = index.local(question.asked_at).date()
    decisions = records_for(index, user)
    named, reference, before = question.options.get("intent"), question.options.get("decision_ref"), state.get("intent")
    is_picked = text.strip() in decisions.decisions
    papers: Mapping[str, Any] = {}
    meta: Mapping[str, Any] = {}
    if (items := question.options.get("items")) is not None:
        ground = ground_for(index, "decision", day, user)
        asked = assemble(hold(text, read_items(items, "decision"), ground, "given"), decisions)
    else:
        asked = read_question(text, day, user, index)
        is_said = is_picked or reference is not None or asked.is_bare() or is_identity(asked, decisions)
        if llm is not None and not is_said and slug_in(text, decisions) is None:
            asked, papers, meta = _by_model(asked, text, ground_for(index, "decision", day, user), user, index, llm)
    name = named if isinstance(named, str) and named in rules.intents else intent_of(asked, text, rules)
    if is_picked:
        if asked.intent is None and isinstance(before, str) and before in rules.intents:
            name = before if not rules.intents[before].lists else rules.default_intent
        asked = replace(asked, anchors=(text.strip(),), reading=replace(asked.reading, residue=()))
    is_slug = is_picked or slug_in(text, decisions) is not None or is_identity(asked, decisions)
    how = "slug" if is_slug else "search" if asked.anchors else "none"
    if reference is not None:
        asked, how = _referred(str(reference), asked, day, user, index, decisions), "slug"
    last = state.get("anchor")
    if asked.is_bare() and not rules.intents[name].lists and isinstance(last, str) and last in decisions.decisions:
        asked, how = replace(asked, anchors=(last,)), "session"
    return Case(question, index, decisions, asked, name, state, how, clock, started, llm, papers, meta)


def read_question(text: str, day: date, user: str, index: BundleIndex) -> Asked:
    """What *text* asks, as the matcher reads it; kept, since it is read for its kind and for its answer."""
    return index.recently(_matched)(text, day, user)


def _matched(index: BundleIndex, text: str, day: date, user: str) -> Asked:
    ground, decisions = ground_for(index, "decision", day, user), records_for(index, user)
    asked = assemble(hold(text, match(text, ground), ground, "matcher"), decisions)
    if (named := slug_in(text, decisions)) is None:
        return asked
    token, anchor = named  # an id is meant whole: its parts are no words
    left = tuple(one for one in asked.reading.residue if one.text.casefold() not in token.casefold())
    return replace(asked, anchors=(anchor,), waiting=(), reading=replace(asked.reading, residue=left))


def is_identity(asked: Asked, decisions: Decisions) -> bool:
    """Is the decision named by its id or its number?"""
    quotes = [one.item.quote or "" for one in asked.reading.items if one.item.kind == "anchor"]
    return any(quote.casefold() in decisions.decisions or any(map(str.isdigit, quote[-1:])) for quote in quotes)


def _referred(reference: str, asked: Asked, day: date, user: str, index: BundleIndex, decisions: Decisions) -> Asked:
    """*asked* of the decision that a caller refers to outright: by id, by number, or in words."""
    if reference in decisions.decisions:
        return replace(asked, anchors=(reference,), reading=replace(asked.reading, residue=()))
    found = read_question(reference, day, user, index)
    return replace(asked, anchors=found.anchors, waiting=found.waiting, reading=found.reading)


# ---- a model and the matcher ----------------------------------------------------------------------------------------


def _by_model(
    matched: Asked, text: str, ground: Ground, user: str, index: BundleIndex, llm: Guard
) -> tuple[Asked, Mapping[str, Any], Mapping[str, Any]]:
    """What *text* asks, where a model is asked as well. What the two read otherwise is offered, and not told."""
    from bot.ask.proposed import Reader, read_by_model  # only where a model is configured
    from bot.decisions.wording import PROMPTS

    read = read_by_model(text, ground, _rows(text, user, index), index, llm, Reader(PROMPTS, "read_decision_v1", {}))
    papers = read.papers()
    if read.reading is None:
        return matched, papers, {} if read.fallback is None else {"reading_fallback": read.fallback}
    proposed = assemble(read.reading, records_for(index, user))
    if not _is_whole(matched):
        is_unsure = proposed.is_weak or bool(proposed.residue or read.reading.unknown)
        return replace(proposed, is_doubted=is_unsure), papers, {}
    if _said(proposed) == _said(matched):
        return replace(matched, reading=replace(matched.reading, by="both")), papers, {}
    if set(proposed.anchors) == set(matched.anchors):
        return matched, papers, {}  # which part of the record is told the declared words say
    anchors = tuple(dict.fromkeys((*matched.anchors, *proposed.anchors)))
    return replace(matched, anchors=anchors, is_doubted=bool(anchors)), papers, {}


def _is_whole(asked: Asked) -> bool:
    return not (asked.residue or asked.is_weak) and bool(asked.anchors or asked.waiting or asked.filters)


def _said(asked: Asked) -> tuple[object, ...]:
    filters = frozenset((one.item.named, str(one.item.values or one.value)) for one in asked.filters)
    return asked.intent, frozenset(asked.anchors), frozenset(asked.waiting), filters


def _rows(text: str, user: str, index: BundleIndex) -> Iterator[Row]:
    """What a model is told that the question may mean: the intents, the records that come near, and what filters."""
    rules, decisions = index.rules.intents, records_for(index, user)
    for name, intent in sorted(rules.intents.items()):
        yield {"kind": "asks", "name": name, "means": intent.words[:_MOST_PHRASES]}, name
    for hit in search_for(index, user).find(text, _MOST_SHOWN, ("decision", "event")):
        one = decisions.record(hit.id)
        options = [option.option for option in one.options] if isinstance(one, Decision) else []
        also = [*(one.aliases if isinstance(one, Decision) else ()), *options, *(one.tags if one is not None else ())]
        yield {"kind": "anchor", "name": hit.id, "means": hit.title, "also": also}, hit.id
    said = frozenset(terms(text))
    known = ground_for(index, "decision", date(2000, 1, 1), user).index
    for kind in ("person", "tag", "status", "date"):
        values = sorted(found.values) if (found := known.get("part", kind)) is not None else []
        near = [value for value in values if kind == "status" or not said.isdisjoint(terms(value.replace("_", " ")))]
        if near or kind == "date":
            yield {"kind": "filter", "name": kind, "values": near[:_MOST_SHOWN]}, kind


def search_for(index: BundleIndex, user: str) -> RecordSearch:
    """The search over what *user* may read, built once a bundle and reader."""
    return index.recently(_search)(readers_of(index, user))


def _search(index: BundleIndex, readers: frozenset[str]) -> RecordSearch:
    return RecordSearch(visible_records(index, readers), index.rules.intents.search)
