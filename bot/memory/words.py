"""Which words may name something: a word that only joins, counts, compares or dates others names nothing by itself."""

from __future__ import annotations

from bylaw.language.lexicon import lexicon
from bylaw.language.text import words_of

_CLASSES = (
    "function",
    "empty",
    "negation",
    "courtesy",
    "affirming",
    "denying",
    "grouping",
    "grain_day",
    "grain_week",
    "grain_month",
    "grain_quarter",
    "grain_year",
)


def names_something(text: str) -> bool:
    """Does a word of *text* stand outside the closed classes that questions are made of?"""
    words = words_of(text)
    return any(not _is_closed(words, at) for at in range(len(words)))


def _is_closed(words: tuple[str, ...], at: int) -> bool:
    known, word = lexicon(), words[at]
    if word in known.months or word in known.numbers or word in known.ordinals or word in known.scales:
        return True
    if not any(map(str.isalpha, word)) or known.unit(words, at) is not None:
        return True
    return any(word in known[name] for name in _CLASSES) or (word,) in known.comparisons
