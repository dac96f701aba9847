"""A held reading as what is asked of the records: the intent, the decisions that are meant, and what they must be.

An event that is meant stands for the decisions it led to; one that led to none yet stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from bylaw.authored.decisions import Decision, Decisions
from bylaw.authored.machines.intents import Intents
from bylaw.hold.item import HeldItem, Reading
from bylaw.hold.text import see
from bylaw.hold.values import interval_of
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.words import spoken

_TOKEN = re.compile(r"[\w]+(?:[-_]\w+)+")  # inside a sentence an id is known by its joints


@dataclass(frozen=True)
class Asked:
    """What is asked. `intent` is None where no words of one are said; `is_doubted`: its decisions are to be offered."""

    reading: Reading
    intent: str | None
    anchors: tuple[str, ...]
    waiting: tuple[str, ...]  # events that led to nothing yet
    filters: tuple[HeldItem, ...]
    is_doubted: bool = False

    @property
    def residue(self) -> tuple[str, ...]:
        """The words that no item carries."""
        return tuple(one.text for one in self.reading.residue)

    @property
    def is_weak(self) -> bool:
        """Was an item taken that the text does not say outright?"""
        return any(one.status == "weak" for one in self.reading.items)

    @cached_property
    def words(self) -> str:
        """The quotes of the decisions that are meant."""
        quotes = (one.item.quote for one in self.reading.items if one.item.kind == "anchor")
        return " ".join(dict.fromkeys(quote for quote in quotes if quote))

    def is_bare(self) -> bool:
        """Does it name nothing: no decision, no filter, and no word that is not known?"""
        return not (self.anchors or self.waiting or self.filters or self.residue)


def assemble(reading: Reading, decisions: Decisions) -> Asked:
    """*reading* as what is asked of *decisions*."""
    asks = [one.item.named for one in reading.items if one.item.kind == "asks"]
    named = [one.item.named or "" for one in reading.items if one.item.kind == "anchor"]
    return Asked(
        reading,
        asks[0] if asks else None,
        tuple(_decisions_of(named, decisions)),
        tuple(id for id in named if id in decisions.events and not decisions.events[id].led_to),
        tuple(one for one in reading.items if one.item.kind == "filter"),
        is_doubted=any(one.item.kind == "anchor" and "name" in one.weaknesses for one in reading.items),
    )


def _decisions_of(named: Iterable[str], decisions: Decisions) -> dict[str, None]:
    """The decisions among *named*; where none is, those that the events among them led to."""
    direct = {id: None for id in named if id in decisions.decisions}
    events = (decisions.events[id] for id in named if id in decisions.events)
    return direct or {id: None for event in events for id in event.led_to if id in decisions.decisions}


def slug_in(text: str, decisions: Decisions) -> tuple[str, str] | None:
    """An id of any record that stands in *text*, and the decision it is of: an event's or a transition's is the one it
    led to.
    """
    for token in (text.strip(), *_TOKEN.findall(text)):
        id = token.casefold().strip("-_")
        if id in decisions.decisions:
            return token, id
        if (event := decisions.events.get(id)) is not None and len(event.led_to) == 1:
            return token, event.led_to[0]
        if (moved := decisions.transitions.get(id)) is not None and moved.to is not None:
            return token, moved.to
    return None


def fits(decision: Decision, filters: Sequence[HeldItem]) -> bool:
    """Is the decision of the people, tags, states and days that are asked for? Two values of one kind are any-of."""
    kinds = {one.item.named for one in filters}
    return all(any(_is_of(decision, one) for one in filters if one.item.named == kind) for kind in kinds)


def _is_of(decision: Decision, one: HeldItem) -> bool:
    match one.item.named:
        case "date":
            return in_span(decision.decided_on, one)
        case "person":
            return any(person in one.item.values for person in (*decision.deciders, decision.decision_maker))
        case "tag":
            return not set(map(str, one.item.values)).isdisjoint(decision.tags)
        case _:
            return decision.status in one.item.values


def in_span(day: date | None, one: HeldItem) -> bool:
    """Lies *day* in the span that a filter says?"""
    value = one.item.value if one.item.value is not None else one.value
    span = interval_of(value)
    if span is None or day is None:
        return False
    start, end = span
    return (start is None or start <= day) and (end is None or day < end)


def intent_of(asked: Asked, text: str, rules: Intents) -> str:
    """The intent that is meant: of filters without a decision it is the list of those that fit, and of a question that
    yes or no answers it is how the decision stands.
    """
    if asked.intent is not None:
        return asked.intent
    lists = next((name for name, one in sorted(rules.intents.items()) if one.lists == "decisions"), None)
    if lists is not None and asked.filters and not asked.anchors:
        return lists
    return rules.yes_no_intent if rules.yes_no_intent and _wants_yes_or_no(text) else rules.default_intent


def _wants_yes_or_no(text: str) -> bool:
    """Does a sentence begin with an auxiliary?"""
    seen = see(text)
    sentences = (seen.words(one.start, one.end) for one in seen.text.passages)
    openings = (next((one.word for one in words if one.word not in closed("opening")), "") for words in sentences)
    return any(spoken(word)[0] in closed("auxiliary") | lexicon().auxiliaries.keys() for word in openings if word)
