"""The claims of an answer, held against its text by `bylaw.hold`: what no claim says, and what no words bear.

What fails here is unread: nobody says that it is wrong, and it never passes. What only one reader's claim rests on is
`weak`: an independent second reading with the same claim would bear it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from bot.ask.ground import ground_for
from bot.claims.models import Claim, Condition, drop_separators
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary
from bylaw.hold.answers.background import Quoted, find_reasons, is_cause
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import KINDS, By, HeldItem, Item, Proposal, Reading, Stretch
from bylaw.hold.text import Seen, see
from bylaw.hold.values import Values, amount_of
from bylaw.hold.words import stems_of
from bylaw.language.glyphs import disguised
from bylaw.language.lexicon import content

_LONGEST = 4_000  # characters of a quote
_TURNING = frozenset(("LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI"))  # what a reader sees is not what is held


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch that no claim bears (`claim` is None), or a claim that its text does not bear."""

    quote: str
    why: str
    claim: int | None = None
    is_weak: bool = False
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Told:
    """What is known beside the answer: the facts of the case, the question, and the names that it is about."""

    facts: Mapping[str, bool | int | float | str]
    query: str = ""
    asked: frozenset[str] = frozenset()
    today: date = date.min
    ruled: Mapping[str, Quoted] = field(default_factory=dict)  # by action, what the rules say that give it


@dataclass(frozen=True)
class Bearing:
    """An answer, its claims, and the reading that holds them against it."""

    claims: tuple[Claim, ...]
    reading: Reading
    seen: Seen
    ground: Ground

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """Everything that the text and the claims do not share."""
        return tuple(self._gaps())

    def _gaps(self) -> Iterator[Gap]:
        if any(unicodedata.bidirectional(char) in _TURNING for char in self.seen.source):
            yield Gap(self.seen.text.seen[:_LONGEST], "signs in it turn the direction of its letters")
        word = disguised(self.seen.text.seen)
        if word is not None:
            yield Gap(word, "it is not the word that it looks like")
        for i, one in enumerate(self.reading.held):
            if one.status != "borne" and not self._names_no_policy(self.claims[i]):
                is_weak = one.status == "weak" and "words" not in one.weaknesses
                place = self.seen.stretch(*one.place) if one.place is not None else None
                start, end = (place.start, place.end) if place is not None else (None, None)
                yield Gap(self.claims[i].quote, one.why, i, is_weak, start, end)
        for stretch in join_stretches(self.seen.source, self.reading.residue):
            yield Gap(stretch.text, "no claim says this", start=stretch.start, end=stretch.end)

    def _names_no_policy(self, claim: Claim) -> bool:
        """Does the text name a policy that there is none of? That is wrong, not unread."""
        unknown = claim.kind == "source" and self.ground.index.get("source", claim.policy_id or "") is None
        return unknown and (claim.policy_id or "").casefold() in claim.quote.casefold()

    def passages_of(self, i: int) -> frozenset[int]:
        """The starts of the sentences in which the quote of claim *i* stands."""
        found = (self.seen.passage_of(*place) for place in self._places(i))
        return frozenset(passage.start for passage in found if passage is not None)

    def tells(self, i: int, action: str) -> bool:
        """Does claim *i* tell of the action in words that share one with what it is called, or as a figure of it?"""
        if self.claims[i].kind == "figure":
            return True
        name = self.ground.index.get("asks", action)
        if name is None:
            return False
        told = self.ground.index.own(name).union(*(self.ground.index.told(name, value) for value in name.values))
        return not told.isdisjoint(content(see(self.claims[i].quote).text.words))

    def gives_reason(self, i: int, when: Condition) -> bool:
        """Is a condition of claim *i* said to be so, "since you have a ticket", and not supposed, "if you have one"?"""
        name = self.ground.index.get("fact", when.fact)
        if name is None:
            return False
        values = Values(self.seen, self.ground.clock)
        told = self.ground.index.own(name).union(*(self.ground.index.told(name, value) for value in name.values))
        amount = amount_of(drop_separators(when.value))
        quotes = (*self._places(i), *(self.seen.find(when.quote) if when.quote else ()))
        passages = {passage.start: passage for place in quotes if (passage := self.seen.passage_of(*place))}
        for words in (self.seen.words(passage.start, passage.end) for passage in passages.values()):
            is_supposed = any(token.word == "would" for token in words)  # "as a regular you would"
            for reason in filter(is_cause, find_reasons(words) if not is_supposed else ()):
                figures = values.figures_at(reason[0].start, reason[-1].end, beside_time=True)
                is_named = any(not stems_of(token.word).isdisjoint(told) for token in reason[1:])
                if any(amount in one.values for one in figures) if amount is not None else is_named:
                    return True
        return False

    def _places(self, i: int) -> tuple[tuple[int, int], ...]:
        return self.seen.find(self.claims[i].quote)


def bear(answer: str, claims: Sequence[Claim], index: BundleIndex, told: Told, by: By = "given") -> Bearing:
    """Hold *claims* against *answer*."""
    ground = ground_for(index, "answer", told.today, query=told.query, facts=told.facts)
    ground = replace(ground, known=replace(ground.known, asked=told.asked, ruled=told.ruled))
    each = {claim.model_dump_json(): claim for claim in claims}  # the same claim again says nothing more
    items = {key: _item(claim, index.vocabulary) for key, claim in each.items()}
    reading = hold(answer, Proposal(tuple(one for one in items.values() if isinstance(one, Item))), ground, by)
    held = iter(reading.held)
    found = {key: next(held) if isinstance(one, Item) else one for key, one in items.items()}
    every = tuple(found[claim.model_dump_json()] for claim in claims)
    return Bearing(tuple(claims), replace(reading, held=every), see(answer), ground)


def _item(claim: Claim, vocabulary: Vocabulary) -> Item | HeldItem:
    """A claim as an item; one with a quote that no sentence has is refused."""
    if len(claim.quote) > _LONGEST:
        short = Item(kind=claim.kind, quote=claim.quote[:_LONGEST])
        return HeldItem(short, "refused", "the quote is longer than any sentence may be")
    keys = {name: getattr(claim, name) for name in KINDS["answer"][claim.kind] if name != "when"}
    if claim.is_about_action and claim.action in vocabulary.actions:
        keys["action"] = vocabulary.canonical(claim.action)
    given = {name: drop_separators(value) for name, value in keys.items() if value is not None}
    return Item(kind=claim.kind, quote=claim.quote, when=[_condition(one) for one in claim.when], **given)


def _condition(one: Condition) -> Item:
    value = drop_separators(one.value)
    return Item(kind="fact", quote=one.quote, fact=one.fact, operator=one.operator, value=value, unit=one.unit)


def join_stretches(source: str, stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    """Words of one sentence that are left over and follow each other, as one stretch."""
    at = 0
    while at < len(stretches):
        last = at
        while last + 1 < len(stretches) and _is_pause(source[stretches[last].end : stretches[last + 1].start]):
            last += 1
        start, end = stretches[at].start, stretches[last].end
        yield Stretch(source[start:end], start, end)
        at = last + 1


def _is_pause(between: str) -> bool:
    """Is it nothing but space and signs within a sentence?"""
    return not any(char.isalnum() or char in ".!?\n" for char in between)
