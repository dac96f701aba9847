"""How a text asks, by its form alone: for permission, openly ("when", "how much"), or somebody to do it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from bylaw.language.lexicon import closed, lexicon
from bylaw.language.reports import is_report
from bylaw.language.text import words_of
from bylaw.language.words import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, PREPOSITIONS, PRONOUNS, Word, read_words

_POLICY_ID = re.compile(r"\bPOL-[A-Z0-9]+(?:-[A-Z0-9]+)*\b", re.IGNORECASE)
_WH = closed("wh")
_PERMITTING = closed("modal")
_BINDING = closed("binding")
_DOING = closed("opening_auxiliary")  # in the normal form of their words
_SOMEBODY = closed("somebody")
_WAS_THERE = re.compile(r"(?i)\W*(?:was|were|did|had)\b")
_WISHES = closed("wishing")
_SUBORDINATE = closed("subordinating")
_RELATIVE = closed("relative")
_REGULATING = closed("regulating")


def asks_for_permission(text: str) -> bool:
    """Does *text* ask what somebody may, must or gets: "who may sign", "do members get", "is there a …"?"""
    parts = [[word.text for word in part] for part in _asking(read_words(text))]
    return not is_report(text) and not _WAS_THERE.match(text) and any(map(_is_permission, parts))


def asks_open(text: str) -> bool:
    """Does every question in *text* begin with a word like "when" or "how much", which no yes answers?

    A wish beside it ("I want to cancel, what does it cost?") is no question.
    """
    found = [_unled([word.text for word in part[:2]])[0] for part in _asking(read_words(text))]
    asked = [first for first in found if first in _WH | _PERMITTING | _DOING]
    return bool(asked) and all(first in _WH for first in asked)


def is_no_question(text: str) -> bool:
    """Does *text* ask nothing but, at most, why something was asked?"""
    return asks_why(text) or not (asking_clause(text) or text.rstrip().endswith("?"))


def asks_why(text: str) -> bool:
    """Does the person ask back why it was asked, instead of a reply?"""
    said, querying = words_of(text), lexicon()["querying"]
    return bool(text.strip() and not said) or any(querying.at(said, i) for i in range(min(2, len(said))))


def is_regulated(text: str) -> bool:
    """Does *text* ask for what is allowed, or for a policy, in these words?"""
    parts = ({word.text for word in part} for part in _asking(read_words(text)))
    return not is_report(text) and any(not _REGULATING.isdisjoint(said) for said in parts)


def is_request(text: str) -> bool:
    """Is somebody asked to do it: "can you …", "could someone …"?"""
    parts = ([word.text for word in part[:2]] for part in _asking(read_words(text)))
    return any(said[0] in _PERMITTING and said[-1] in _SOMEBODY for said in parts)


def _is_permission(said: Sequence[str]) -> bool:
    if not _REGULATING.isdisjoint(said) or _is_wish(said[:4]) or said[:2] in (["be", "there"], ["what", "happen"]):
        return True
    said = _unled(said)
    if said[0] in _WH - {"why"}:
        return not _PERMITTING.isdisjoint(said[1:2]) or not _BINDING.isdisjoint(said[2:3])
    return said[0] in _PERMITTING | {"do"}


def _unled(said: Sequence[str]) -> Sequence[str]:
    """The words *said* without a preposition before the one that asks: "from what age", "for how long"."""
    return said[1:] if said[0] in PREPOSITIONS and not _WH.isdisjoint(said[1:2]) else said


def asking_clause(text: str) -> tuple[Word, ...]:
    """The words of *text* that ask, without what is told around them; none where nothing is asked."""
    return tuple(word for part in _asking(read_words(text)) for word in part)


def _asking(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The clauses that open like a question or a wish, each with the next where it says nothing by itself."""
    parts = list(_parts(words))
    for i, part in enumerate(parts):
        if _opens(part):
            is_bare = all(word.text in _FORM for word in part)
            yield [*part, *(parts[i + 1] if is_bare and i + 1 < len(parts) else ())]


def _opens(part: Sequence[Word]) -> bool:
    said = _unled([word.text for word in part[:5]])[:4]
    return said[0] in _WH | _PERMITTING | _DOING or _is_wish(said)


def _is_wish(words: Sequence[str]) -> bool:
    return any(" ".join(pair) in _WISHES for pair in pairwise(words))


def _parts(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The clauses of a text: at its commas and stops, and where a word opens a subordinate clause."""
    start = 0
    for i, word in enumerate(words):
        if i > start and (word.clause != words[i - 1].clause or _subordinates(words, i)):
            yield words[start:i]
            start = i
    if words:
        yield words[start:]


def _subordinates(words: Sequence[Word], i: int) -> bool:
    after = words[i + 1].text if i + 1 < len(words) else ""
    if words[i].text in _RELATIVE:  # "the phone that fell", but not "on that day"
        return after in DETERMINERS | PRONOUNS | AUXILIARIES or words[i - 1].text not in FUNCTION_WORDS
    return words[i].text in _SUBORDINATE


_FORM = _WH | AUXILIARIES | DETERMINERS | PRONOUNS | _REGULATING | closed("bare_question")


def named_policies(text: str) -> tuple[str, ...]:
    """The identifiers of policies that stand in *text*: names, and never words."""
    return tuple(sorted({found.upper() for found in _POLICY_ID.findall(text)}))
