"""What a figure stands for where it is said. A founded one may still say something wrong: "up to 5% off", "or $30".

A bound has to hold in the case; a sum is told of the case, or is what the action beside it is worth; how long something
lasts is for a rule to say.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Sequence

from bot.enforcement.bounds import FILLING, ROUGHLY, Holds, around, bound_of, of_others
from bot.enforcement.endings import end_of
from bot.enforcement.figures import Figure, Ground, called, counts, figures, is_figure
from bot.enforcement.polarity import is_giving
from bot.enforcement.said import Said
from bot.enforcement.senses import sense
from bot.enforcement.utterance import Quantity, utterance
from bot.enforcement.wordings import fact_texts
from bylaw.language.span import listed
from bylaw.language.words import AUXILIARIES, PRONOUNS, Word, read_words

_LIMITS = listed("period window limit deadline timeframe maximum")
_EQUALS = listed("be of last run end close until")
_LASTING = listed("in for every during next")
_RESTING = listed("over beyond late left remaining past")
_PAST = listed("past over beyond after")
_NEXT = 4  # words from what lies past a limit to the limit
_WORTH = listed("of for worth at to back price amount total sum value full off cost come save match")
_LEADS = listed("so as since because that which")
_BEHIND_SUM = listed("in of back as will be have")
_MORE = listed("each apiece extra more also too bonus another additional")
_CHARGES = frozenset(map(sense, ("fee", "postage", "deposit", "penalty")))
_OTHERS = frozenset(map(sense, ("competitor", "other", "another", "elsewhere", "rival")))


def misplaced(said: Said, ground: Ground) -> Iterator[Quantity]:
    """The figures of *said* that say of the case, or of what is given, what nobody decided."""
    text = said.sentence.text
    words = utterance(text, ground.today).words
    for figure, quantity in figures(text, ground.today):
        holds = bound_of(words, quantity)
        is_kept = (
            _has_role(figure, quantity, words, said, ground)
            if holds is None
            else _is_kept(figure, holds, quantity, words, said, ground)
        )
        if not is_kept and holds is not None and quantity in of_others(text, ground.told.values(), ground.today):
            is_kept = ground.is_limit(figure)
        if not is_kept or (_is_called_a_limit(words, quantity) and not ground.is_limit(figure)):
            yield quantity
    for quantity, _ in counts(text, ground.today):
        holds = bound_of(words, quantity)
        names = ground.numbers.get(quantity.value, frozenset()) & ground.near
        amounts = [ground.facts[name] for name in sorted(names) if name in ground.facts]
        if holds is not None and amounts and not any(holds(amount, quantity.value) for amount in amounts):
            yield quantity


def _is_called_a_limit(words: Sequence[Word], quantity: Quantity) -> bool:
    """Is it said to be a limit itself: "the return period is 60 days", "a 60-day window"?"""
    before, behind = around(words, quantity)
    leads = [text for text in before if text not in FILLING]
    is_led = leads[-1:] and leads[-1] in _EQUALS and not _LIMITS.isdisjoint(leads[-3:-1])
    return bool(is_led) or not _LIMITS.isdisjoint(behind[:2])


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
        return holds is not ROUGHLY
    if figure not in ground.told.values() and figure not in ground.named:
        return True  # what is left, or over
    return holds is operator.ge and (words[quantity.first - 1].text == "after" or bool(end_of(words, quantity.last)))


def _named(said: Said, ground: Ground) -> Iterator[tuple[Figure, Holds]]:
    """The bounds in the names of the actions that are spoken of: "answer within two days"."""
    for text in sorted(
        {one for claim in said.claims for action in claim.targets for one in called(action, ground.vocabulary)}
    ):
        for figure, quantity in figures(text, ground.today):
            holds = bound_of(read_words(text), quantity)
            if holds is not None:
                yield figure, holds


def _has_role(figure: Figure, quantity: Quantity, words: Sequence[Word], said: Said, ground: Ground) -> bool:
    """Is the figure told of the case, the limit of a rule, or what an action is worth?"""
    if any(read.start <= quantity.start < read.end and _is_told(read.words) for read in said.reading.reads):
        return True
    before, behind = around(words, quantity)
    left, right = "".join(before[-1:]), "".join(behind[:1])
    if figure[0] == "seconds":
        limit = _limit_behind(figure, quantity, said, ground) if right in _PAST else None
        if limit is not None:
            return _is_past(figure, limit, ground)
        if right in _RESTING or behind[:2] == ["too", "late"]:
            return _is_rest(figure, ground) or _is_called(right, figure, ground)
        near = {word.start for word in said.beside}
        is_lasting = not near.isdisjoint(
            word.start for word in words[max(quantity.first - 1, 0) : quantity.last + 2]
        ) and (left in _LASTING or right == "long" or behind[:2] == ["from", "now"])
        is_lasting = is_lasting or left == "in"
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
    if left and left not in _LEADS:
        return left in _WORTH or left in PRONOUNS or left in AUXILIARIES or is_giving(left)
    return right in _BEHIND_SUM or quantity.first == 0 or words[quantity.first - 1].text in _WORTH


def _is_told(words: str) -> bool:
    return words[:1].isalpha() and not is_figure(words)


def _limit_behind(figure: Figure, quantity: Quantity, said: Said, ground: Ground) -> Figure | None:
    """The limit that the figure is told to lie past: the 30 days of "8 days past the 30 days"."""
    text = said.sentence.text
    behind = (found for found, other in figures(text, ground.today) if 0 < other.first - quantity.last <= _NEXT)
    return next((found for found in behind if found[0] == figure[0]), None)


def _is_past(figure: Figure, limit: Figure, ground: Ground) -> bool:
    names = ground.limited.get(limit, frozenset())
    return any(told == (figure[0], figure[1] + limit[1]) for name, told in ground.told.items() if name in names)


def _is_called(word: str, figure: Figure, ground: Ground) -> bool:
    """Is a fact of the case that has the figure called by *word*: the late of "hours late"?"""
    names = [name for name, told in ground.told.items() if told == figure]
    texts = (text for name in names for text in fact_texts(name, ground.vocabulary.facts[name]))
    return any(word in text.split() for text in texts)


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
            if other == figure and around(words, quantity)[0][-1:] == [left]:
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
