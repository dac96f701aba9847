"""Mere courtesy: the words that a greeting, thanks or regret governs, and replies that say no more than yes or no."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from bylaw.hold.answers.background import Background
from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.standing import is_negation
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Token
from bylaw.language.words import spoken

Side = Literal["yes", "no"]
_TURNING_DOWN = ("refusal", "forbidding", "negation")


def is_courteous(word: str) -> bool:
    """Is it a word of courtesy? "Please" leads to what somebody shall do."""
    return word in lexicon()["courtesy"] and word != "please"


def find_governed(words: Sequence[Token]) -> Iterator[int]:
    """Where the words begin that a courteous one governs: "enjoy your *trip*", "sorry about the *coat*", "*bad* news".

    A verb with its subject, "that …" or "to …" says something of its own, which no courtesy governs.
    """
    is_open, is_theirs = words[0].word == "what", False  # "what a nuisance"
    for k, token in enumerate(words):
        following = words[k + 1].word if k + 1 < len(words) else ""
        if is_courteous(token.word):
            is_open, is_theirs = True, is_theirs or token.word in lexicon()["acknowledging"]
        elif token.word in closed("determining") - closed("indefinite"):
            is_open = is_open and (is_theirs or is_courteous(following))  # "your trip" is theirs, "your voucher" a gift
        elif token.word == "to":
            is_open = is_open and following in closed("determining")
        elif token.word in closed("personal"):
            is_open = is_open and (not following or following in closed("preposition"))
        elif token.word in closed("auxiliary") | closed("copula"):
            is_open = False
        elif (is_open and not is_empty(token.word)) or is_courteous(following):
            yield token.start


def is_statement(words: Sequence[Token], token: Token) -> bool:
    """Is a word that nobody declares what somebody does or shall do ("we insure", "please queue"), or what was done?"""
    k = words.index(token)
    before = words[k - 1].word if k else ""
    is_done = token.word.endswith("ed") or token.word in lexicon().irregular
    is_acting = before in closed("personal") - closed("pointing") or before in closed("auxiliary") - {"be"}
    is_bidding = (k == 0 and len(words) > 1) or any(one.word == "please" for one in words)
    is_judgement = spoken(before)[-1] in closed("copula") | closed("indefinite") if before else False
    rest = [*words[:k], *words[k + 1 :]]
    is_granted = not is_judgement and side_of_reply(rest, is_alone=True) == "yes"  # "it is yours anyway"
    is_theirs = before in closed("determining") - closed("indefinite") - closed("pointing") - {"my"}  # "your voucher"
    return is_done or is_acting or is_bidding or is_granted or is_theirs or token.word.endswith("ly")


def side_of_reply(words: Sequence[Token], is_alone: bool) -> Side | None:
    """The side that a part takes which says no more than yes or no: "not yet", "of course", and, where its sentence is
    alone, "you can", "that's fine"; None for any other.
    """
    said = [token.word for token in words]
    affirming = {k for first, behind in lexicon()["affirming"].find(said) for k in range(first, behind)}
    idle = affirming | {k for first, behind in lexicon()["polarity"].find(said) for k in range(first, behind)}
    left = [token for k, token in enumerate(words) if k not in idle]
    if not all(is_empty(token.word) or is_negation(token) or is_courteous(token.word) for token in left):
        return None
    polite = [token.start for token in left if is_courteous(token.word)]
    denying = [token.start for token in left if is_negation(token)]
    if denying:
        return "no" if not any(start > denying[0] for start in polite) else None  # "no worries"
    if 0 in affirming:
        return "yes"
    predicates = any(part in _predicates() for token in left for part in (token.word, *spoken(token.word)))
    whole = [part for word in said for part in spoken(word) or (word,)]
    is_judgement = any(one in closed("pointing") and other in closed("copula") for one, other in pairwise(whole))
    return "yes" if is_alone and predicates and (is_judgement or not polite) else None


class Replies:
    """What the claims of an answer say of a yes or no beside them."""

    def __init__(self, bearings: Sequence[Bearing], order: Mapping[int, int], known: Background) -> None:
        """*order* is the number of each sentence, by where it begins."""
        acting = [one for one in bearings if one.item.kind in ("gives", "denies", "figure")]
        self._denying = {order[one.passage.start] for one in acting if _turns_down(one)}
        giving = [one for one in acting if one.item.kind != "denies" and not is_turned(one.tokens)]
        self._giving = {order[one.passage.start] for one in giving}
        self._given = frozenset[str]().union(*(_names(one) for one in giving))
        self._known = known

    def is_carried(self, side: Side, sentence: int) -> bool:
        """Does a claim of the same sentence or the next one say as much?"""
        near = {sentence, sentence + 1}
        if side == "no":
            return not near.isdisjoint(self._denying)
        if self._known.is_turned:
            return not near.isdisjoint(self._denying | self._giving)
        is_of_asked = not self._known.named or not self._known.named.isdisjoint(self._given)
        return is_of_asked and not near.isdisjoint(self._giving)


def _names(one: Bearing) -> frozenset[str]:
    name = one.index.get("asks", one.item.action or "")
    return frozenset() if name is None else name.kin | {name.name}


def _turns_down(one: Bearing) -> bool:
    """Does the claim deny, or give what turns down?"""
    if one.item.kind != "gives":
        return one.item.kind == "denies"
    return is_turned(one.tokens) or one.holds_any("restriction")


def is_turned(tokens: Sequence[Token]) -> bool:
    """Do the words deny, refuse or forbid?"""
    words = [token.word for token in tokens]
    return any(lexicon()[kind].any_in(words) for kind in _TURNING_DOWN) or any(map(is_negation, tokens))


@lru_cache(maxsize=1)
def _predicates() -> frozenset[str]:
    return closed("auxiliary") | closed("copula") | closed("giving") | closed("light")
