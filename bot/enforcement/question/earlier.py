"""Cases that a conversation told of before the one it is at, and what in a turn leads back to one of them.

"the first one", "back to the TV", "second: a game". A correction tells of the same case, another value of another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.question.topic.recognise import Topic
from bylaw.language.lexicon import lexicon
from bylaw.language.text import words_of
from bylaw.logic.formula.ir import Value

MOST = 4  # cases that are kept beside the present one
_LEADING = (
    r"\W*(?:(?:ok|okay|so|and|but|now|well|right|then|hm+|thanks|again|what about|how about|as for|back to)\W+){0,4}"
)
_GOING = "(?:go|going|come|coming|get|jump|return|returning)(?: back)? to "
_NTH = "first|second|third|last|previous|earlier|other|original"
_THING = r"(?:one|case|customer|client|caller|item|product|order|question)"
_ORDINAL = re.compile(
    rf"(?i){_LEADING}(?:(?:let's|let us|can we|please) )?(?:for |with |about |{_GOING})?(?:the )?(?P<which>{_NTH})"
    rf"(?: (?:of them|{_THING})\b|(?=\s*[:–—-]))"
)
_BACK = re.compile(
    r"(?i)\b(?:back to|returning to|return to|as for) (?P<name>(?:the|my|his|her|that|our) [^:,;.?!]{2,60})"
)
_ANOTHER = re.compile(
    rf"(?i){_LEADING}(?:(?:the )?(?:second|third|fourth|next|other)(?: {_THING})?"
    rf"|(?:another|an? new|a different) {_THING})\s*[:–—-]"
)
_PLACES = {"first": 0, "original": 0, "second": 1, "third": 2}


@dataclass(frozen=True)
class EarlierCase:
    """A case as it was left: which of the conversation it was (from 0), its facts, and what was asked about it."""

    number: int
    facts: Mapping[str, Value]
    topic: Topic


def meant(
    text: str, earlier: Sequence[EarlierCase], now: EarlierCase, named: Mapping[str, Value]
) -> EarlierCase | None:
    """The case that *text* goes back to, None where it speaks of the present one. *named*: the facts in its words."""
    if not earlier:
        return None
    ordinal = _ORDINAL.match(text)
    if ordinal is not None:
        told = sorted((*earlier, now), key=lambda one: one.number)
        place = _PLACES.get(ordinal["which"].lower())
        found = earlier[-1] if place is None else told[place] if place < len(told) else None
        return None if found is now else found
    if _BACK.search(text) is None:
        return None
    fitting = [one for one in earlier if any(one.facts.get(name) == value for name, value in named.items())]
    return fitting[-1] if fitting else None


def names_back(text: str) -> str | None:
    """What *text* says that it goes back to: the "the TV" of "ok back to the TV: what if …"."""
    found = _BACK.search(text)
    return None if found is None else found["name"]


def opens_another(text: str) -> bool:
    """Does *text* begin with a case of its own: "second: a game", "another customer: …"?"""
    return _ANOTHER.match(text) is not None


def is_correction(text: str) -> bool:
    """Does *text* put right what was said, so that it tells of the same case?"""
    said = words_of(text)
    found = [said[first] for first, _ in lexicon()["correcting"].find(said)]
    return said[:1] in (("no",), ("nope",), ("not",)) or any(word != "no" for word in found)


def left(earlier: Sequence[EarlierCase], case: EarlierCase, present: int) -> tuple[EarlierCase, ...]:
    """*earlier* with *case*, which is left for that of number *present*; the oldest are forgotten."""
    others = [one for one in earlier if one.number not in (case.number, present)]
    return (*others, case)[-MOST:]
