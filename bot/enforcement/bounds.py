"""How a case compares with a figure by the words around it: "over $50", "within 30 days", "5 or more", "about 20"."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from bot.enforcement.endings import end_of, has_ended, has_gone
from bot.enforcement.figures import Figure, figures
from bot.enforcement.polarity import is_plural
from bot.enforcement.utterance import Quantity, utterance
from bylaw.language.span import listed
from bylaw.language.units import Duration
from bylaw.language.words import DETERMINERS, Word

Holds = Callable[[Any, Any], bool]
ROUGHLY = operator.ne  # "about 5": nothing that is exact is so
FILLING = DETERMINERS | listed("all first last initial full whole entire total exact amount day")
_JOINTS = listed("and but as since because while whereas all most that")
_SIZES = (3, 2, 1)  # words of a bound

# What stands before or behind a figure, and how the case then compares with it.
_BEFORE = (
    (operator.gt, "over, above, beyond, past, exceeding, exceed, more than, longer than, later than, older than"),
    (operator.gt, "greater than, higher than, heavier than"),
    (operator.ge, "between, after, at least, from, minimum, minimum of, no less than, not less than, no fewer than"),
    (operator.lt, "before, under, below, less than, fewer than, shorter than, earlier than, younger than, lower than"),
    (operator.lt, "cheaper than, lighter than, short of"),
    (operator.le, "within, inside, up to, at most, no more than, not more than, maximum, maximum of, until, till"),
    (operator.le, "no later than, not later than, limit of, may be, can be"),
    (ROUGHLY, "about, around, roughly, approximately, approx, nearly, almost, circa, close to, some, say"),
)
_BEHIND = (
    (operator.ge, "or more, or above, or over, or upward, and more, and up, and above, and over, at least"),
    (operator.le, "or less, or under, or below, or fewer, and less, and below, at most, maximum, max, top"),
    (ROUGHLY, "or so, or thereabout, give or take, ish"),
)
_DENIED = {operator.gt: operator.le, operator.ge: operator.lt, operator.lt: operator.ge, operator.le: operator.gt}


def bound(text: str, quantity: Quantity, today: date) -> Holds | None:
    """How a case compares with a figure of *text*, where it is a bound."""
    return bound_of(utterance(text, today).words, quantity)


def is_granted(text: str, quantity: Quantity, today: date) -> bool:
    """Is it how much somebody may take: "within 30 days", "you have 45 days"?"""
    words = utterance(text, today).words
    return bound_of(words, quantity) is operator.le or around(words, quantity)[0][-1:] == ["have"]


def of_others(text: str, told: Collection[Figure], today: date) -> Iterator[Quantity]:
    """The figures that bound things which the case is none of: "orders of $50 or more go free".

    *told* are the figures of the case.
    """
    words = utterance(text, today).words
    for (kind, amount), quantity in figures(text, today):
        here = (word for word in words if word.clause == words[quantity.first].clause and word.text not in _JOINTS)
        holds, amounts = bound_of(words, quantity), [size for measured, size in told if measured == kind]
        if holds and amounts and is_plural(next(here), text) and not any(holds(size, amount) for size in amounts):
            yield quantity


def bound_of(words: Sequence[Word], quantity: Quantity) -> Holds | None:
    """What the words around a figure make of it: a bound, or only about so much; None where it is just the figure."""
    before, behind = around(words, quantity)
    for size in _SIZES:
        holds = _BOUNDS_BEFORE.get(tuple(before[-size:]))
        if holds is not None:
            is_denied = before[:-size][-1:] == ["not"] or before[:-size][-2:] == ["no", "longer"]
            return _DENIED.get(holds) if is_denied else holds
    if before[-1:] == ["and"] and "between" in before[-4:]:
        return operator.le
    held = next((_BOUNDS_BEHIND[said] for size in _SIZES if (said := tuple(behind[:size])) in _BOUNDS_BEHIND), None)
    verb = end_of(words, quantity.last) if held is None and isinstance(quantity.value, Duration) else ()
    if verb:
        return (operator.ge if has_gone(verb) else operator.gt) if has_ended(verb) else operator.le
    return held


def around(words: Sequence[Word], quantity: Quantity) -> tuple[list[str], list[str]]:
    """The words of its clause before and behind a figure, from where they say something."""
    here = words[quantity.first].clause
    before = [word.text for word in words[max(quantity.first - 6, 0) : quantity.first] if word.clause == here]
    while before and before[-1] in FILLING:
        before.pop()
    behind = [word.text for word in words[quantity.last + 1 : quantity.last + 5] if word.clause == here]
    while behind and behind[0] in ("percent", "off"):
        behind.pop(0)
    return before, behind


def _table(rows: Iterable[tuple[Holds, str]]) -> Mapping[tuple[str, ...], Holds]:
    return {tuple(said.split()): holds for holds, listing in rows for said in listing.split(", ")}


_BOUNDS_BEFORE, _BOUNDS_BEHIND = _table(_BEFORE), _table(_BEHIND)
