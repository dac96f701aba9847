"""A data question without a model: what the matcher proposes, held; one whole reading, several, or what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.analytics import items
from bot.analytics.headline import readable
from bot.analytics.reading import Bound, Meant, NotUnderstood, Unclear
from bot.ask.matcher.match import matches
from bot.ask.query.reading import HeldQuery, hold_question
from bot.conversation import Binding
from bylaw.authored.context import Context
from bylaw.hold.hold import Ground
from bylaw.hold.item import HeldItem, Item, Proposal
from bylaw.hold.text import see
from bylaw.hold.words import Index
from bylaw.language.text import words_of
from bylaw.language.turns import goes_on, words_that_go_on
from bylaw.semantic.compiler import Compiler

MAX_CHARACTERS = 4_000  # a longer text is no question
MAX_WORDS = 400


@dataclass(frozen=True)
class Matched:
    """What the matcher makes of a question; `held` is the likeliest reading, whole or not."""

    reading: Bound | Unclear | NotUnderstood
    held: HeldQuery | None = None

    @property
    def written(self) -> dict[str, object] | None:
        """How the question was read, as callers see it."""
        return None if self.held is None else self.held.reading.written()


@dataclass(frozen=True)
class Desk:
    """What a question is read with: the declared words and the compiler, the phrases that are no part of it."""

    ground: Ground
    compiler: Compiler
    stakes: tuple[Binding, ...] = ()

    def read(self, text: str, before: Sequence[Item] | None = None, is_same: bool = False) -> Matched:
        """What *text* asks for; *before* are the items of a question that it may go on from; *is_same*: it does."""
        if len(text) > MAX_CHARACTERS:
            message = f"a question has at most {MAX_CHARACTERS} characters"
            return Matched(NotUnderstood(message, "ask for one thing", is_final=True))
        if len(words_of(text)) > MAX_WORDS:
            message = f"a question has at most {MAX_WORDS} words"
            return Matched(NotUnderstood(message, "ask for one thing", is_final=True))
        if (word := personal_word(text, self.compiler.context, self.ground)) is not None:
            message = f"`{word}` is personal data, answers never show it"
            return Matched(NotUnderstood(message, None, (word,), is_final=True))
        proposals = list(matches(text, self.ground))
        is_going_on = before is not None and (is_same or goes_on(text))
        alone = [] if is_going_on else [self._hold(text, one) for one in proposals]
        if before is not None and not any(one.is_whole for one in alone):
            over = [self._hold(text, one, before) for one in proposals]
            if is_going_on or any(one.is_whole for one in over):
                return self._reading(over, is_follow_up=True)
        return self._reading(alone)

    def _hold(self, text: str, proposal: Proposal, before: Sequence[Item] | None = None) -> HeldQuery:
        heard = [one.words for one in self.stakes] + list(words_that_go_on(text) if before is not None else ())
        return hold_question(text, proposal, self.ground, self.compiler, "matcher", heard, before)

    def _reading(self, held: Sequence[HeldQuery], is_follow_up: bool = False) -> Matched:
        whole: list[HeldQuery] = []
        for one in held:
            if one.is_whole and one.query not in [other.query for other in whole]:
                whole.append(one)
        if not whole:
            best = min(held, key=lambda one: len(one.objections()))
            return Matched(items.unclear_of(best), best)
        bound = [self._bound(one, is_follow_up) for one in whole]
        if len(bound) == 1:
            return Matched(bound[0], whole[0])
        return Matched(_several(whole, bound, self.compiler.context, self.ground.index), whole[0])

    def _bound(self, held: HeldQuery, is_follow_up: bool) -> Bound:
        return items.bound_of(held, self.stakes, tuple(one.name for one in self.stakes), is_follow_up)


def _several(whole: Sequence[HeldQuery], bound: Sequence[Bound], context: Context, index: Index) -> Unclear:
    """The readings, told by the words that they read differently."""
    said = [{(one.item.kind, one.item.quote): one for one in held.reading.held} for held in whole]
    differing = [key for key in said[0] if len({_named(one.get(key)) for one in said}) > 1]
    key = differing[0] if differing else next(iter(said[0]))
    meant = []
    for one, reading in zip(said, bound, strict=True):
        name = readable(" ".join(_named(one.get(key))).strip())
        metric = context.metrics.get(getattr(getattr(one.get(key), "item", None), "name", None) or "")
        told = f": {metric.description or metric.type}" if metric is not None else ""
        meant.append(Meant(name, f"{name}{told}", reading))
    return Unclear(_called(key[1] or "", {name for one in said for name in _named(one.get(key))}, index), tuple(meant))


def _called(quote: str, names: set[str], index: Index) -> str:
    """The words of the quote that call the names so."""
    seen = see(quote)
    tokens = seen.words(0, len(seen.text.seen))
    found = [one for one in index.find(tokens) if any(owner.name in names for owner in one.owners)]
    return quote[tokens[found[0].first].start : tokens[found[0].last].end] if found else quote


def _named(one: HeldItem | None) -> tuple[str, ...]:
    if one is None:
        return ("",)
    value = "" if one.item.value is None or isinstance(one.item.value, bool) else str(one.item.value)
    return (one.item.named or "", value) if value else (one.item.named or "",)


def personal_word(text: str, context: Context, ground: Ground) -> str | None:
    """The column of personal data that *text* names, and nothing that may be asked for; None for none."""
    seen = see(text)
    tokens = seen.words(0, len(seen.text.seen))
    said = [token.word for token in tokens]
    mentions = list(ground.index.find(tokens))
    declared = {k for one in mentions for k in range(one.first, one.last + 1)}
    things = {one.last for one in mentions if any("." not in owner.name for owner in one.owners)}
    for name in sorted({column for entity in context.entities.values() for column in entity.pii}):
        row = list(words_of(name))
        for k in range(len(said) - len(row) + 1):
            if row and said[k : k + len(row)] == row and declared.isdisjoint(range(k, k + len(row))):
                return " ".join(said[k - 1 if k - 1 in things else k : k + len(row)])
    return None
