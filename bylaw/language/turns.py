"""How a turn of a conversation opens: as more of what was said, as a reply to it, or as a question of its own.

Which words open so the lexicon says; nothing here knows what a turn is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import clean, words_of
from bylaw.language.words import read_words, spoken

_START = 400  # characters that say how a text opens
_OPENING = ("going_on", "opening", "affirming", "denying")  # adds, greets, agrees or disagrees
# what opens a few words that are said of something, or in the place of it
_PLACING = ("preposition", "pointing", "grouping", "ordering", "declining", "nothing", "negation", "comparing")
_LONGEST_COURTESY = 80  # characters
_THANKS = ("than", "thx", "chee")
_LONGEST_LABEL = 3  # words before a colon or a dash: "second:", "another customer -"


def goes_on(text: str) -> bool:
    """Does *text* open like more of what was said: "and if", "what about", "sorry, I meant"?"""
    said = words_of(text[:_START])
    return any(_match("going_on", said, i) for i in range(_skip(_OPENING, said)))


def words_that_go_on(text: str) -> tuple[str, ...]:
    """The words at the beginning and the end of *text* that only say that it goes on."""
    said = words_of(text)
    behind = _skip(_OPENING, said)
    return (*said[:behind], *(one for one in said[behind:][-1:] if one in lexicon()["going_on"]))


def replies(text: str, short_words: int) -> bool:
    """Does *text* read like a reply to what was said, or like more of it?

    Up to *short_words* words it may also open with what only belongs to something else: "by month", "those", "40".
    """
    said = words_of(text[:_START])
    if not said:
        return False
    if _skip(_OPENING, said) or _is_labelled(text) or _only_asks_why(said):
        return True
    if len(text.split()) > short_words:
        return False
    first = spoken(said[0])[0]
    is_placed = first in closed("pointing") or any(_match(name, said, 0) for name in _PLACING)
    is_back = said[-1] == "before" or not closed("pointing").isdisjoint(said[1:4])
    return first[0].isdigit() or is_placed or is_back


def asks_anew(text: str) -> bool:
    """Does *text* open like a question of its own: "how many", "who", "show"?"""
    return _match("questioning", words_of(text[:_START]), 0) > 0


def asks_which(text: str) -> bool:
    """Does *text* open by asking for one or some of many, or for a figure: "how", "which", "who", and not "why"?"""
    return words_of(text[:_START])[:1] in {(word,) for word in closed("wh") - {"why", "whether"}}


def corrects(text: str) -> bool:
    """Does *text* open by putting something in the place of what was just said?"""
    said = words_of(text[:_START])
    return max(_match("replacing", said, place) for place in (0, 1, 2)) > 0  # behind "actually" or "no, sorry"


def states(text: str) -> bool:
    """Is *text* a sentence that tells something: a verb near its beginning, and nothing that asks?"""
    said = [word.text for word in read_words(text[:_START])]
    verbs, relative = closed("opening_auxiliary") | {"can"}, closed("relative")
    if "?" in text or not said or asks_anew(text) or said[0] in verbs | closed("modal"):
        return False
    verb = next((k for k, word in enumerate(said[1:5], 1) if word in verbs), None)
    return verb is not None and relative.isdisjoint(said[:verb][1:])


def courtesy_of(text: str) -> Literal["thanks", "help"] | None:
    """What *text* is where it is no question at all: thanks, or a greeting and what the bot can do."""
    said = words_of(text) if len(text) <= _LONGEST_COURTESY else ()
    if not said:
        return None
    if _skip(("thanking",), said) == len(said) and any(word[:4] in _THANKS for word in said):
        return "thanks"
    left = said[_skip(("greeting",), said) :]
    is_bare = not left or (len(left) < len(said) and len(left) <= 2 and left[0] in ("about", "for"))
    return "help" if is_bare else None


def _match(name: str, said: Sequence[str], i: int) -> int:
    """How many words from place *i* on are one of the class *name*."""
    return lexicon()[name].at(said, i) if i < len(said) else 0


def _skip(classes: Sequence[str], said: Sequence[str]) -> int:
    """The place behind the words at the beginning that are all of one of the *classes*."""
    i = 0
    while length := max(_match(name, said, i) for name in classes):
        i += length
    return i


def _only_asks_why(said: Sequence[str]) -> bool:
    start = _match("going_on", said, 0)
    return start + _match("querying", said, start) == len(said) > start


def _is_labelled(text: str) -> bool:
    """Does a short label stand before the text, as before one case of several?"""
    seen = clean(text[:_START])
    ends = [seen.find(mark) for mark in (":", " - ", " – ", " — ") if mark in seen]
    return bool(ends) and 0 < len(words_of(seen[: min(ends)])) <= _LONGEST_LABEL
