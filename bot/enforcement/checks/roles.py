"""What a figure stands for where it is said. A founded one may still say something wrong: "up to 5% off", "or $30".

A bound has to hold in the case; a sum is told of the case, or is what the action beside it is worth; how long something
lasts is for a rule to say.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from bot.enforcement.figures import Figure, Ground, called, counts, figures, is_figure
from bot.enforcement.polarity import is_giving
from bot.enforcement.senses import sense
from bot.enforcement.stated import Said
from bot.enforcement.utterance import Quantity, utterance
from bot.enforcement.wordings import fact_texts
from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, DETERMINERS, PRONOUNS, Word, read_words

Holds = Callable[[Any, Any], bool]
_ROUGHLY = operator.ne  # "about 5": nothing that is exact is so
_FILLING = DETERMINERS | listed("all first last initial full whole entire total exact amount day")


# What stands before or behind a figure, and how the case then compares with it.
_BEFORE = (
    (operator.gt, "over, above, beyond, past, exceeding, exceed, more than, longer than, later than, older than"),
    (operator.gt, "greater than, higher than, heavier than"),
    (operator.ge, "after, at least, from, minimum, minimum of, no less than, not less than, no fewer than"),
    (operator.lt, "before, under, below, less than, fewer than, shorter than, earlier than, younger than, lower than"),
    (operator.lt, "cheaper than, lighter than, short of"),
    (operator.le, "within, inside, up to, at most, no more than, not more than, maximum, maximum of, until, till"),
    (operator.le, "no later than, not later than, limit of"),
    (_ROUGHLY, "about, around, roughly, approximately, approx, nearly, almost, circa, close to, some, say"),
)
_BEHIND = (
    (operator.ge, "or more, or above, or over, or upward, and more, and up, and above, and over, at least"),
    (operator.le, "or less, or under, or below, or fewer, and less, and below, at most, maximum, max, top"),
    (_ROUGHLY, "or so, or thereabout, give or take, ish"),
)
_DENIED = {operator.gt: operator.le, operator.ge: operator.lt, operator.lt: operator.ge, operator.le: operator.gt}
_LIMITS = listed("period window limit deadline timeframe maximum")
_EQUALS = listed("be of last run end close until")
_SIZES = (3, 2, 1)  # words of a bound
_LASTING = listed("in for every during next")
_RESTING = listed("over beyond late left remaining")
_WORTH = listed("of for worth at to back price amount total sum value full off cost come save match")
_BEHIND_SUM = listed("in of back as will be have")
_MORE = listed("each apiece extra more also too bonus another additional")
_CHARGES = frozenset(map(sense, ("fee", "postage", "deposit", "penalty")))
_OTHERS = frozenset(map(sense, ("competitor", "other", "another", "elsewhere", "rival")))


def misplaced(said: Said, ground: Ground) -> Iterator[Quantity]:
    """The figures of *said* that say of the case, or of what is given, what nobody decided."""
    text = said.sentence.text
    words = utterance(text, ground.today).words
    for figure, quantity in figures(text, ground.today):
        holds = _bound(words, quantity)
        is_kept = (
            _has_role(figure, quantity, words, said, ground)
            if holds is None
            else _is_kept(figure, holds, quantity, words, said, ground)
        )
        if not is_kept or (_is_called_a_limit(words, quantity) and not ground.is_limit(figure)):
            yield quantity
    for quantity, _ in counts(text, ground.today):
        holds = _bound(words, quantity)
        names = ground.numbers.get(quantity.value, frozenset()) & ground.near
        amounts = [ground.facts[name] for name in sorted(names) if name in ground.facts]
        if holds is not None and amounts and not any(holds(amount, quantity.value) for amount in amounts):
            yield quantity


def _is_called_a_limit(words: Sequence[Word], quantity: Quantity) -> bool:
    """Is it said to be a limit itself: "the return period is 60 days", "a 60-day window"?"""
    before, behind = _around(words, quantity)
    leads = [text for text in before if text not in _FILLING]
    is_led = leads[-1:] and leads[-1] in _EQUALS and not _LIMITS.isdisjoint(leads[-3:-1])
    return bool(is_led) or not _LIMITS.isdisjoint(behind[:2])


def bound(text: str, quantity: Quantity, today: date) -> Holds | None:
    """How a case compares with a figure of *text*, where it is a bound."""
    return _bound(utterance(text, today).words, quantity)


def is_granted(text: str, quantity: Quantity, today: date) -> bool:
    """Is it how much somebody may take: "within 30 days", "you have 45 days"?"""
    words = utterance(text, today).words
    return _bound(words, quantity) is operator.le or _around(words, quantity)[0][-1:] == ["have"]


def _bound(words: Sequence[Word], quantity: Quantity) -> Holds | None:
    """What the words around a figure make of it: a bound, or only about so much; None where it is just the figure."""
    before, behind = _around(words, quantity)
    for size in _SIZES:
        holds = _BOUNDS_BEFORE.get(tuple(before[-size:]))
        if holds is not None:
            return _DENIED.get(holds) if before[:-size][-1:] == ["not"] else holds
    return next((_BOUNDS_BEHIND[said] for size in _SIZES if (said := tuple(behind[:size])) in _BOUNDS_BEHIND), None)


def _around(words: Sequence[Word], quantity: Quantity) -> tuple[list[str], list[str]]:
    """The words of its clause before and behind a figure, from where they say something."""
    here = words[quantity.first].clause
    before = [word.text for word in words[max(quantity.first - 6, 0) : quantity.first] if word.clause == here]
    while before and before[-1] in _FILLING:
        before.pop()
    behind = [word.text for word in words[quantity.last + 1 : quantity.last + 5] if word.clause == here]
    while behind and behind[0] in ("percent", "off"):
        behind.pop(0)
    return before, behind


def _is_kept(
    figure: Figure, holds: Holds, quantity: Quantity, words: Sequence[Word], said: Said, ground: Ground
) -> bool:
    """Does the bound hold in the case, or is what is given called by it?"""
    if (figure, holds) in _named(said, ground):
        return True
    limited = ground.limited.get(figure, frozenset()) & ground.near
    told = [amount for name, (_, amount) in ground.told.items() if name in limited]
    if told:
        return any(holds(amount, figure[1]) for amount in told)
    if limited:
        return holds is not _ROUGHLY
    if figure not in ground.told.values() and figure not in ground.named:
        return True  # what is left, or over
    return holds is operator.ge and words[quantity.first - 1].text == "after"


def _named(said: Said, ground: Ground) -> Iterator[tuple[Figure, Holds]]:
    """The bounds in the names of the actions that are spoken of: "answer within two days"."""
    for text in sorted(
        {one for claim in said.claims for action in claim.targets for one in called(action, ground.vocabulary)}
    ):
        for figure, quantity in figures(text, ground.today):
            holds = _bound(read_words(text), quantity)
            if holds is not None:
                yield figure, holds


def _has_role(figure: Figure, quantity: Quantity, words: Sequence[Word], said: Said, ground: Ground) -> bool:
    """Is the figure told of the case, the limit of a rule, or what an action is worth?"""
    if any(read.start <= quantity.start < read.end and _is_told(read.words) for read in said.reading.reads):
        return True
    before, behind = _around(words, quantity)
    left, right = "".join(before[-1:]), "".join(behind[:1])
    if figure[0] == "seconds":
        if right in _RESTING or behind[:2] == ["too", "late"]:
            return _is_rest(figure, ground)
        near = {word.start for word in said.beside}
        is_lasting = not near.isdisjoint(
            word.start for word in words[max(quantity.first - 1, 0) : quantity.last + 2]
        ) and (left in _LASTING or right == "long" or behind[:2] == ["from", "now"])
        is_left = figure not in ground.told.values() and not ground.limited.get(figure)
        return not is_lasting or is_left or figure in ground.named or _is_in_a_rule(left, figure, ground)
    if right in _MORE:
        return False
    if figure[0] == "percent":
        return left not in ("and", "or", "plus")
    if _CHARGES.intersection(sense(text) for text in before):
        return figure in ground.named
    names = {name for name, told in ground.told.items() if told == figure}
    if names and not _is_whose(said, names, ground):
        return False
    if figure not in ground.told.values():
        return True
    if left:
        return left in _WORTH or left in PRONOUNS or left in AUXILIARIES or is_giving(left)
    return right in _BEHIND_SUM or quantity.first == 0 or words[quantity.first - 1].text in _WORTH


def _is_told(words: str) -> bool:
    return words[:1].isalpha() and not is_figure(words)


def _is_rest(figure: Figure, ground: Ground) -> bool:
    """Is it what lies between the case and a limit: "5 days over the limit", "10 days left"?"""
    kind, amount = figure
    told = [(name, value) for name, (measured, value) in ground.told.items() if measured == kind]
    return any(
        name in ground.limited.get((kind, limit), frozenset())
        for name, value in told
        for limit in (value - amount, value + amount)
    )


def _is_in_a_rule(left: str, figure: Figure, ground: Ground) -> bool:
    """Does a rule say it in these words: "for two years"?"""
    for text in sorted({rule.source.text for rule in ground.rules if rule.source.text}):
        words = utterance(text, ground.today).words
        for other, quantity in figures(text, ground.today):
            if other == figure and _around(words, quantity)[0][-1:] == [left]:
                return True
    return False


def _is_whose(said: Said, names: Collection[str], ground: Ground) -> bool:
    """Is the sum theirs whose price is spoken of: ours where it stands, another's where it is matched?"""
    given = [action for claim in said.claims if claim.gives for action in claim.targets]
    texts = [text for action in given for text in called(action, ground.vocabulary)]
    spoken = {word.text for text in texts for word in read_words(text)}
    others = [name for name in ground.told if _is_of_others(name, ground)] if {"our", "match"} & spoken else []
    if "our" in spoken and all(name in others for name in names):
        return False
    return not ("match" in spoken and others and not any(name in others for name in names))


def _is_of_others(name: str, ground: Ground) -> bool:
    """Is the fact called by what somebody else asks?"""
    texts = fact_texts(name, ground.vocabulary.facts[name])
    return any(sense(word.text) in _OTHERS for text in texts for word in read_words(text))


def _table(rows: Iterable[tuple[Holds, str]]) -> Mapping[tuple[str, ...], Holds]:
    return {tuple(said.split()): holds for holds, listing in rows for said in listing.split(", ")}


_BOUNDS_BEFORE, _BOUNDS_BEHIND = _table(_BEFORE), _table(_BEHIND)
