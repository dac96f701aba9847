"""Whether a turn goes on with the case before it, or begins another one, and what is carried over into it.

A turn begins another case where it says so ("new case: …"), speaks of another person or thing, or asks anew and tells
otherwise what was told before. What is carried over is told in the answer, with a choice to drop it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bot.conversation import Choice
from bot.enforcement.question.bounds import Read
from bot.enforcement.question.memory import Memory
from bot.enforcement.question.topic import NO_TOPIC
from bot.index import BundleIndex
from bylaw.hold.item import Reading
from bylaw.hold.text import see
from bylaw.hold.words import stems_of
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Token, words_of
from bylaw.language.turns import goes_on

NEW_CASE = Choice(value="policy: new case", label="New case")
_BEGINS = re.compile(r"(?i)\s*(?:(?:a )?new case|not carried(?: over)?)\b[\s.:,;!–—-]*")
_OTHER = frozenset(("another", "other", "different"))
_MYSELF = frozenset(("i", "me", "my", "we", "our", "us"))


@dataclass(frozen=True, slots=True)
class Carried:
    """The case before as this turn goes on with it; `marks` are the words that begin another one, by their places."""

    memory: Memory
    is_new: bool = False
    marks: tuple[tuple[int, int], ...] = ()


def split_beginning(text: str) -> tuple[bool, str]:
    """Does *text* say that another case begins, and what else it says."""
    found = _BEGINS.match(text)
    return (False, text) if found is None else (True, text[found.end() :])


def drop_earlier(before: Memory) -> Memory:
    """What the last turn asked and told by itself, without what it had from before."""
    facts = {name: value for name, value in before.facts.items() if name in before.now}
    bounds = {name: bound for name, bound in before.bounds.items() if name in before.now}
    return replace(before, facts=facts, bounds=bounds, declined=())


def carry(text: str, before: Memory, reading: Reading, reads: Sequence[Read], index: BundleIndex) -> Carried:
    """What of the case *before* is carried into a turn that reads so, with whom it is about."""
    seen = see(text)
    tokens = seen.words(0, len(seen.text.seen))
    asked = [one.item.named or "" for one in reading.items if one.item.kind == "asks"]
    if not (asked or text.rstrip().endswith("?")):  # the answer to what was asked, or more of the same case
        return Carried(before)
    inside = [one.place for one in reading.items if one.place is not None and one.item.kind == "fact"]
    outside = [token for token in tokens if not any(a <= token.start < b for a, b in inside)]
    persons = [token for token in outside if _person(token)]
    person = stem(_person(persons[0])) if persons else before.subject
    is_back = bool(before.subject) and not persons and bool(asked) and tokens[0].word not in _MYSELF
    is_back = is_back and any(token.word == "i" for token in tokens)
    person = "" if is_back else person
    others = _other_things(tokens, asked, index)
    is_known = bool(before.facts or before.bounds)
    is_new = is_known and (person != before.subject or bool(others) or _is_told_anew(text, before, asked, reads))
    kept = replace(before, subject=person)
    if not is_new:
        return Carried(kept)
    marks = tuple((token.start, token.end) for token in (*others, *persons))
    topic = NO_TOPIC if asked else before.topic
    return Carried(Memory({}, topic=topic, subject=person), True, marks)


def _person(token: Token) -> str:
    """The person beside the one who asks that the word names; empty for none."""
    word = token.word.removesuffix("'s")
    return word if word in lexicon()["others"] else ""


def _other_things(tokens: Sequence[Token], asked: Sequence[str], index: BundleIndex) -> list[Token]:
    """The words that bring in another thing, but not another one of what is asked for ("another refund")."""
    vocabulary = index.vocabulary
    own = frozenset(
        one
        for name in asked
        for text in (name.replace("_", " "), *_called(name, vocabulary.outcomes), *_called(name, vocabulary.actions))
        for word in words_of(text)
        for one in stems_of(word)
    )
    found: list[Token] = []
    for token, behind in pairwise(tokens):
        if token.word in _OTHER and stems_of(behind.word).isdisjoint(own):
            found += [token, behind] if behind.word in closed("vague") else [token]
    return found


def _called(name: str, declared: Mapping[str, object]) -> Sequence[str]:
    one = declared.get(name)
    label, phrases = getattr(one, "label", None), getattr(one, "phrases", ())
    return (*((str(label),) if label else ()), *phrases)


def _is_told_anew(text: str, before: Memory, asked: Sequence[str], reads: Sequence[Read]) -> bool:
    """Does a turn that asks by itself tell otherwise what is known, without correcting it?"""
    if not asked or goes_on(text) or lexicon()["correcting"].any_in(list(words_of(text))):
        return False
    return any(read.fact in before.facts and before.facts[read.fact] != read.value for read in reads)
