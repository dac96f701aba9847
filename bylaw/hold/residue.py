"""What nobody accounts for: every word of content that no item carries, with its place. It decides what is asked back.

A declared word is always content. Function words and greetings are not, and neither are words that the house declares
idle; links, handles, pictures, other scripts and numbers always are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.cases import question_word
from bylaw.hold.item import TextKind
from bylaw.hold.text import Seen
from bylaw.hold.words import Index
from bylaw.language.figures import SIGNS
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Passage, Token

Place = tuple[int, int]
_NEAR = 40  # characters before a word, for the word before it


@dataclass(frozen=True, slots=True)
class Residue:
    """The words left over, in order: in sentences that ask (anywhere in data and answers), and beside them."""

    asked: tuple[Place, ...]
    beside: tuple[Place, ...]


def find_residue(
    seen: Seen, index: Index, bearings: Sequence[Bearing], kind: TextKind, light: frozenset[int] = frozenset()
) -> Residue:
    """The words of *seen* that no item carries. *light* are the places of words that add nothing to an answer."""
    carried: set[int] = set()
    for one in bearings:
        if one.status != "refused":
            carried |= one.own
    left = [
        (token.start, token.end)
        for token in seen.text.tokens
        if token.word[0].isalnum()
        and token.start not in carried
        and token.start not in light
        and (kind == "answer" or _is_content(token, seen, index) or (kind == "data" and _is_bound(token, seen)))
        and not (kind == "data" and _is_presenting(token, seen, index))
    ]
    left += [place for place in seen.strays if place[0] not in carried]
    left += list(_lone_signs(seen))
    answered, unanswered = _question_words(bearings)
    if kind == "policy":  # a policy that is named is no word of the question
        known = {span for span in seen.identifiers if seen.text.seen[span[0] : span[1]].upper() in index.policies}
        left = [place for place in left if seen.identifier_at(place[0]) not in known]
    places = sorted({place for place in left if place not in answered} | unanswered)
    if kind != "policy":
        return Residue(tuple(places), ())
    asking = {one.start for one in _asking(seen, bearings)}
    passages = seen.text.passages
    starts = [one.start for one in passages]
    asked: list[Place] = []
    beside: list[Place] = []
    for place in places:
        i = bisect_right(starts, place[0]) - 1
        (asked if i >= 0 and passages[i].start in asking else beside).append(place)
    return Residue(tuple(asked), tuple(beside))


def _is_bound(token: Token, seen: Seen) -> bool:
    """Does a word that elsewhere only greets or joins ask data for what is not there yet, or for a part of the day?"""
    is_greeting = seen.text.seen[max(0, token.start - 5) : token.start].strip().casefold() == "good"
    return token.word in closed("forecasting") or (token.word in closed("parts_of_day") and not is_greeting)


def _is_presenting(token: Token, seen: Seen, index: Index) -> bool:
    """Does the word open its clause and only ask to see what follows ("Return the name")?"""
    if token.word not in closed("presenting"):
        return False
    behind = seen.words(token.end, token.end + _NEAR)[:1]
    is_verb = bool(behind) and behind[0].word in closed("determiner") | closed("personal")
    if stem(token.word) in index.single and not is_verb:
        return False
    before = seen.words(max(token.start - _NEAR, 0), token.start)
    passage = seen.passage_of(token.start, token.end)
    is_first = passage is None or not before or before[-1].start < passage.start
    return is_first or before[-1].clause != token.clause


def _lone_signs(seen: Seen) -> Iterator[Place]:
    """Signs of money and per cent that no number stands beside: "revenue in €" asks for euros."""
    tokens = seen.text.tokens
    for k, token in enumerate(tokens):
        beside = (*tokens[max(0, k - 1) : k], *tokens[k + 1 : k + 2])
        is_alone = not any(one.is_number or one.word in lexicon().numbers for one in beside)
        if is_alone and (token.word in SIGNS or token.word == "%"):
            yield token.start, token.end


def _is_content(token: Token, seen: Seen, index: Index) -> bool:
    root = stem(token.word)
    if root in index.idle:
        return False
    if not is_empty(token.word):
        return True
    if token.is_code and not seen.text.seen.isupper() and token.word not in closed("courtesy"):  # "the US" is a country
        return True
    return root in index.single and not _is_another_spelling(token, seen)


def _is_another_spelling(token: Token, seen: Seen) -> bool:
    """Is it a little word in small letters, where a declared one ("US", "IT") has capitals?"""
    return seen.text.seen[token.start : token.end].islower()


def _question_words(bearings: Sequence[Bearing]) -> tuple[set[Place], set[Place]]:
    """The question words that something which is asked answers, and those that nothing does."""
    answered: set[Place] = set()
    unanswered: set[Place] = set()
    for one in bearings:
        if one.item.kind == "asks" and one.status != "refused" and one.item.fact is None:
            tokens, is_answered = question_word(one)
            (answered if is_answered else unanswered).update((token.start, token.end) for token in tokens)
    return answered, unanswered - answered


def _asking(seen: Seen, bearings: Sequence[Bearing]) -> Sequence[Passage]:
    """The sentences that ask: those with a question mark or with what is asked; all of them where there is none."""
    starts = {one.passage.start for one in bearings if one.item.kind == "asks" and one.status != "refused"}
    found = [
        one
        for one in seen.text.passages
        if one.start in starts or seen.text.seen[one.start : one.end].rstrip().endswith("?")
    ]
    return found or seen.text.passages
