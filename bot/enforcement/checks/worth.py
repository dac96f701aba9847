"""What a decided action is worth: that somebody is covered by it, and the sums that are worked out from it.

"You're covered" says that it is not the worst of what could have been; "so you'd pay $475" is what 5% off leaves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from bot.enforcement.checks.result import Draft
from bot.enforcement.endings import PERIODS
from bot.enforcement.figures import Figure, Ground, figures
from bot.enforcement.said import Said
from bot.enforcement.senses import stem
from bot.enforcement.utterance import Quantity
from bylaw.language.span import listed
from bylaw.language.words import Word

_COVER = stem("cover")
_OF_A_WARRANTY = {None, *map(stem, PERIODS)}
_LEFT = listed("pay leave leaves left remain remains total come comes instead")  # what is left to pay
_OFF = listed("back off save saves discount less minus cheaper difference deduct")  # what is not
_OF_A_SUM = _LEFT | _OFF | listed("get receive refund")
_NO = listed("not never no")


def _is_best(draft: Draft) -> bool:
    """Is nothing less restrictive than what is decided?"""
    outcome = next(iter(draft.scope.outcomes), None)
    best = draft.index.bundle.outcomes.get(outcome or "", {}).get("restrictive", ())[-1:]
    return outcome is not None and draft.decision.outcomes[outcome].action in best


def is_good(draft: Draft) -> bool:
    """Is what is decided better than the most restrictive action of its outcome?"""
    outcome = next(iter(draft.scope.outcomes), None)
    action = None if outcome is None else draft.decision.outcomes[outcome].action
    worst = draft.index.bundle.outcomes.get(outcome or "", {}).get("restrictive", ())[:1]
    return action is not None and bool(worst) and action not in worst


def is_covered(said: Said, word: Word, draft: Draft, held: Sequence[tuple[frozenset[str], bool]]) -> bool:
    """Does *word* say that the case is covered, or not, as it is: "you're covered", "the warranty doesn't cover it"?"""
    if stem(word.text) != _COVER:
        return False
    words = [other for other in said.sentence.words if other.clause == word.clause]
    before = [other.text for other in words[: words.index(word)]]
    is_state = "be" in before[-3:] or not PERIODS.isdisjoint(before)
    is_good_here = is_good(draft) and (_is_best(draft) or any(claim.gives for claim in said.claims))
    stems = {stem(other.text) for other in words if other != word} - _OF_A_WARRANTY
    is_other = any(not has and not stems.isdisjoint(own) for own, has in held)  # "the warranty covers accidents"
    return is_state and (
        not is_other if _NO.isdisjoint(before) and is_good_here else not is_good(draft) and not _NO.isdisjoint(before)
    )


def is_worked_out(said: Said, word: Word, draft: Draft, ground: Ground) -> bool:
    """Does *word* only say what a sum is that follows from what is decided: "which leaves $475 to pay"?"""
    if word.text not in _OF_A_SUM or not is_good(draft):
        return False
    here = [other for other in said.sentence.words if other.clause == word.clause]
    sums = _derived(said.sentence.text, ground)
    return any(here[0].start <= quantity.start < here[-1].end for _, quantity in sums)


def mistaken(said: Said, ground: Ground) -> Iterator[Quantity]:
    """The sums that follow from what is given and are called what they are not: "you pay" what is taken off."""
    words = said.sentence.words
    for (kind, amount), quantity in _derived(said.sentence.text, ground):
        at = next((i for i, word in enumerate(words) if word.start >= quantity.start), None)
        if at is None:
            continue
        here = {word.text for word in words[max(at - 4, 0) : at + 4] if word.clause == words[at].clause}
        rests, offs = _rests(ground, kind), _offs(ground, kind)
        if (not here.isdisjoint(_OFF) and amount not in offs) or (
            here.isdisjoint(_OFF) and not here.isdisjoint(_LEFT) and amount not in rests
        ):
            yield quantity


def _derived(text: str, ground: Ground) -> Sequence[tuple[Figure, Quantity]]:
    """The sums of *text* that nobody told and that follow from what was."""
    return [
        (figure, quantity)
        for figure, quantity in figures(text, ground.today)
        if figure[0] not in ("seconds", "percent") and figure not in ground.told.values() and figure in ground.derived
    ]


def _amounts(ground: Ground, kind: str) -> Collection[Fraction]:
    return {amount for measured, amount in ground.told.values() if measured == kind}


def _rates(ground: Ground) -> Collection[Fraction]:
    return {rate for kind, rate in ground.named if kind == "percent"}


def _rests(ground: Ground, kind: str) -> Collection[Fraction]:
    return {amount * (100 - rate) / 100 for amount in _amounts(ground, kind) for rate in _rates(ground)}


def _offs(ground: Ground, kind: str) -> Collection[Fraction]:
    amounts = _amounts(ground, kind)
    shares = {amount * rate / 100 for amount in amounts for rate in _rates(ground)}
    return shares | {abs(one - other) for one in amounts for other in amounts}
