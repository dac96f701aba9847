"""What the claims of one answer have to say together: negations, words that alter, the words of another action.

A claim is looked at by itself first (`kinds`); what stands in its quote may be the matter of another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from bylaw.hold import standing
from bylaw.hold.answers.background import Background, Quoted
from bylaw.hold.answers.courtesy import is_turned
from bylaw.hold.answers.surplus import JOINING
from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.words import stems_of
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Token, parse, words_of

# Who carries a word that alters a claim: its own conditions, a figure, or another claim that the word leads to.
_OF_CONDITIONS = frozenset(("if", "unless", "except", "until", "only", "without", "whether"))
_OF_AMOUNTS = frozenset(("another", "additional", "minus", "free", "half", "double", "part", "most", "per", "each"))
_BY_ITS_OWN = frozenset(("unless", "except", *_OF_AMOUNTS))  # what follows such a word does not carry it


def settle(bearings: Sequence[Bearing], known: Background) -> None:
    """Refuse what is said to be given or denied where a negation, a word that alters, or another action speaks
    against it; bear what says no more than "that's it" of an action that is named elsewhere.
    """
    for one in bearings:
        if one.item.kind in ("gives", "denies") and one.status != "refused":
            others = [other for other in bearings if other is not one and other.status != "refused"]
            if one.status == "weak" and _points_back(one, others, known):
                one.flaws.clear()
            _settle_polarity(one, others)
            _settle_names(one, others)
            word = _altered_by(one, others, known)
            if word is not None:
                one.refuse(f"no claim carries “{word}”")


def _points_back(one: Bearing, others: Sequence[Bearing], known: Background) -> bool:
    """Does it say no more than "that's it", of the action that the question or another claim names?"""
    action = one.item.action or ""
    name = one.index.get("asks", action)
    if name is None:
        return False
    told = (one.index.get("asks", other.item.action or "") for other in others if other.status == "borne")
    alike = {name.name, *name.kin}
    is_told = any(other is not None and not alike.isdisjoint((other.name, *other.kin)) for other in told)
    is_named = is_told or not alike.isdisjoint(known.asked)
    said = known.said | known.ruled.get(action, Quoted()).words
    left = [token for token in _telling(one) if token.word not in lexicon()["courtesy"]]
    return is_named and all(not stems_of(token.word).isdisjoint(said) for token in left)


def _telling(one: Bearing) -> list[Token]:
    """The words of the quote that the claim does not carry and that do more than join."""
    joining = {
        token.start
        for kind in ("causing", "joining", "polarity")
        for first, behind in lexicon()[kind].find(one.words)
        for token in one.tokens[first:behind]
    }
    left = [token for token in one.tokens if token.start not in one.own | joining and not is_empty(token.word)]
    return [token for token in left if not standing.is_negation(token) and token.word not in closed("function")]


# ---- negations ------------------------------------------------------------------------------------------------------


def _settle_polarity(one: Bearing, others: Sequence[Bearing]) -> None:
    """What is given is not denied, nor turned down ("the fee is waived") by a word that is not its own."""
    action = one.item.action or ""
    if one.item.kind == "gives":
        is_how_it_is_said = is_called_refusal(one, action) and not one.own_mention(action)
        is_denied = _negations(one, others) % 2 == 1
        if is_denied is not is_denying_phrase(one, action) and not is_how_it_is_said:
            one.refuse("a negation governs the words that are said to be given")
        if is_always_turned(one) and not is_turned(one.tokens):
            one.refuse("no word of it turns anything down")
        word = None if is_called_refusal(one, action) else _turning_down(one, others)
        if word is not None:
            one.refuse(f"“{word}” turns down what is said to be given")
    one.take_negations()
    one.take_classes("polarity")


def _turning_down(one: Bearing, others: Sequence[Bearing]) -> str | None:
    """The word of refusal in the quote that neither the action, nor its conditions, nor another claim is called by."""
    facts = (one.index.own_of("fact", condition.named or "") for condition in one.item.when)
    said = one.index.own_of("asks", one.item.action or "").union(*facts)
    for token in one.tokens:
        if token.word not in lexicon()["refusal"] or token.word in lexicon()["courtesy"]:
            continue
        is_said = token.word in closed("function") or not stems_of(token.word).isdisjoint(said)
        if not is_said and not any(token.start in other.own for other in others):
            return token.word
    return None


def _negations(one: Bearing, others: Sequence[Bearing]) -> int:
    """How many negations govern the words of the action: those of a fact that is said beside it do not."""
    phrase = one.own_mention(one.item.action or "")
    called = [t for t in one.tokens if t.start in one.own and not is_empty(t.word) and not standing.is_negation(t)]
    named = phrase or called or one.tokens
    if not named:
        return 0
    inside = [*phrase]
    for mention, words in one.sentences.mentions(one.passage):
        if mention.size > 1 or any(standing.is_negation(word) for word in words):
            inside += words
    facts = frozenset[int]().union(*(other.own for other in others if other.item.kind in ("fact", "limit", "source")))
    inside += [token for token in one.around if token.start in facts]
    clauses = {token.clause for token in named}
    end = max(token.end for token in (*named, *one.tokens) if token.clause in clauses)
    return standing.negations(one.seen, one.passage, (min(t.start for t in named), end), inside)


def is_denying_phrase(one: Bearing, action: str) -> bool:
    """Is the action's own phrase in the quote the one by which it is denied?"""
    phrase = one.own_mention(action)
    owners = (mention.owners for mention, words in one.mentions if words == phrase)
    return any(owner.name == action and owner.value == "denied" for those in owners for owner in those)


def is_called_refusal(one: Bearing, action: str) -> bool:
    """Is the action called by a word of refusal or a negation: "the return is refused", "no discount"?"""
    return not one.index.own_of("asks", action).isdisjoint(_refusing())


def is_always_turned(one: Bearing) -> bool:
    """Is the action never called without a word that denies, refuses or forbids?"""
    name = one.index.get("asks", one.item.action or "")
    return name is not None and all(is_turned(parse(text).tokens) for text in name.texts)


@lru_cache(maxsize=1)
def _refusing() -> frozenset[str]:
    return frozenset(map(stem, closed("refusal") | closed("negation")))


# ---- other actions --------------------------------------------------------------------------------------------------


def _settle_names(one: Bearing, others: Sequence[Bearing]) -> None:
    """The phrase of another action within the quote is what a claim about that one says."""
    action = one.item.action or ""
    start, end = one.place
    mine, own = one.own_mention(action), one.index.own_of("asks", action)
    for mention, words in one.mentions:
        acting = sorted(owner.name for owner in mention.owners if one.index.is_action(owner.name))
        is_inside = start <= words[0].start and words[-1].end <= end and words != mine
        if not acting or not is_inside or len(acting) < len({o.name for o in mention.owners}) - 1 or action in acting:
            continue
        is_own = all(not stems_of(word.word).isdisjoint(own) for word in words if not is_empty(word.word))
        about = [other for other in others if other.item.action in acting]
        if not is_own and not any(other.place[0] <= words[0].start < other.place[1] for other in about):
            one.refuse(f"its words are those of {' or '.join(acting)}")


# ---- words that alter -----------------------------------------------------------------------------------------------


def _altered_by(one: Bearing, others: Sequence[Bearing], known: Background) -> str | None:
    """The word in the quote that alters the claim and that nobody carries; None where each is carried."""
    facts = (one.index.own_of("fact", condition.named or "") for condition in one.item.when)
    called = one.index.own_of("asks", one.item.action or "").union(*facts)
    inside = [word for mention, words in one.mentions if mention.size > 1 for word in words]
    for token in one.altering(called, *one.own_mention(one.item.action or ""), *inside):
        if token.word in JOINING:
            continue  # what such a word joins is carried or left over by itself
        if not _is_carried(token, one, others, known):
            return token.word
        one.take([token])
    return None


def _is_carried(token: Token, one: Bearing, others: Sequence[Bearing], known: Background) -> bool:
    """Does a condition, a figure or another claim carry a word that alters?"""
    word = token.word
    if any(token.start in other.own for other in others):
        return True
    if word in _OF_CONDITIONS and one.item.when:
        return True
    holding = (other.item.kind for other in others if other.place[0] <= token.start < other.place[1])
    if word in _OF_AMOUNTS and any(kind in ("figure", "fact", "limit") for kind in holding):
        return True
    name = one.index.get("asks", one.item.action or "")
    if word == "may":
        is_called_so = name is not None and any(word in words_of(text) for text in name.texts)  # "you may keep bees"
        return is_called_so or one.item.action in known.permitted or _permits(one, token)
    if word == "only" and name is not None and name.owner is not None:
        return True  # an outcome takes one action, and no other
    return word not in _BY_ITS_OWN and _leads_to_another(token, one, others)


def _permits(one: Bearing, token: Token) -> bool:
    """Is somebody allowed ("you may"), and not something possible ("it may")?"""
    before = [other.word for other in one.around if other.end <= token.start]
    return bool(before) and before[-1] != "it" and before[-1] in closed("personal")


def _leads_to_another(token: Token, one: Bearing, others: Sequence[Bearing]) -> bool:
    """Is the next word of content one that another claim carries?"""
    behind = next((other for other in one.around if other.start > token.start and not is_empty(other.word)), None)
    return behind is not None and any(behind.start in other.own for other in others)
