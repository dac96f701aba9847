"""How much of a text speaks of data: the share of its words of content that are declared, or ask for data."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ask.matcher.marks import Mark, Sentence, read_sentence
from bylaw.hold.hold import Ground
from bylaw.hold.text import see
from bylaw.hold.values import Values
from bylaw.language.lexicon import lexicon
from bylaw.language.text import words_of

MAX_CHARACTERS = 4_000  # a longer text is no question
_ASKING = ("count", "sum", "avg", "median", "share", "ratio", "by", "desc", "asc", "order", "running", "growth",
           "list", "day", "week", "month", "quarter", "year")  # fmt: skip
_OF_ONESELF = ("i", "my", "your")


def share_known(text: str, ground: Ground) -> float:
    """From 0 to 1, 0 without any declared name. Half of it where nothing asks in the way of data (by, how many, a span
    of time), less where somebody speaks of himself or asks what may be done.
    """
    seen = see(text[:MAX_CHARACTERS])
    words = [token.word for token in seen.words(0, len(seen.text.seen))]
    values = Values(seen, ground.clock)
    sentences = [read_sentence(seen, one, values, ground.index) for one in seen.text.passages[:12]]
    marks = [(_said(one, mark), mark) for one in sentences for mark in one.marks]
    if not any(_is_thing(mark) for _, mark in marks):
        return 0.0
    known = sum(mark.last - mark.first + 1 for _, mark in marks if mark.kind in ("name", "time", "figure"))
    left = sum(1 for _, mark in marks if mark.kind == "word")
    is_sure = any(_is_number(mark, said) for said, mark in marks)
    asks = is_sure or _asks([mark for _, mark in marks], words)
    return known / (known + left) * (1.0 if asks else 0.5) * _distance(words, is_sure)


def _said(sentence: Sentence, mark: Mark) -> tuple[str, ...]:
    return tuple(token.word for token in sentence.tokens[mark.first : mark.last + 1])


def _is_number(mark: Mark, said: tuple[str, ...]) -> bool:
    """Is it a metric that is called so to the letter: "repair it" asks for no number of repairs?"""
    return any(name.kind == "metric" and any(words_of(text) == said for text in name.texts) for name, _ in mark.names)


def _is_thing(mark: Mark) -> bool:
    """Is it called like a number, a thing or a column, and not only like a value?"""
    return any("@" not in name.name and value is None for name, value in mark.names)


def _asks(marks: Sequence[Mark], words: Sequence[str]) -> bool:
    """Does it ask in the way of data, for more than what something is?"""
    said = [mark for mark in marks if mark.kind == "time" or not mark.says.isdisjoint(_ASKING)]
    said = [mark for mark in said if mark.says != {"list"} or words[:1] != ["what"]]
    return bool(said)


def _distance(words: Sequence[str], is_sure: bool) -> float:
    """How far the words are from asking for figures: who speaks of himself, or asks for leave, wants a rule."""
    of_self = not is_sure and any(word in words for word in _OF_ONESELF)
    asks_leave = any(lexicon()["ruling"].at(words, k) for k in range(len(words)))
    return 0.4 if of_self or asks_leave else 1.0
