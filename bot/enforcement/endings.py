"""What says of a time that it is over, or is not yet: "the 30 days have passed", "the window is still open"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bylaw.language.span import listed
from bylaw.language.units import unit_of
from bylaw.language.words import AUXILIARIES, DETERMINERS, PRONOUNS, Word

PERIODS = listed("period window limit deadline timeframe warranty guarantee time")
_OVER = listed("over passed expired elapsed lapsed ended gone closed up run")  # behind "is" or "has"
_ENDED = listed("expired elapsed lapsed ended passed ran")  # alone
_OUT = listed("out by")
_GONE = listed("passed elapsed gone")  # what has passed may be as much as the case has
_LINKS = AUXILIARIES | listed("not never already now just long also sadly unfortunately yet still")
_MODALS = AUXILIARIES - {"be", "have", "do"}
MARK = re.compile(rf"(?i)\b(?:{'|'.join(sorted(_OVER | _ENDED))})\b")  # what is looked for at all
_AWAITING = listed("until till once when before after if unless")
_NEAR = 12  # words between a time and the verb that says that it is over


def end_of(words: Sequence[Word], at: int) -> Sequence[Word]:
    """The verb that says of the time at word *at* that it is over, or is not: "the 30 days for it | have passed"."""
    behind = [word for word in words[at + 1 : at + _NEAR] if word.clause == words[at].clause]
    start = next((i for i, word in enumerate(behind) if word.text in _LINKS | _ENDED), len(behind))
    if any(word.text in PRONOUNS or word.text[0].isdigit() for word in behind[:start]):
        return ()
    end = next((i for i, word in enumerate(behind) if i >= start and word.text not in _LINKS), len(behind))
    out = sum(word.text in _OUT for word in behind[end + 1 : end + 2])
    verb, last = behind[start : end + 1 + out], behind[end].text if end < len(behind) else ""
    is_over = last in (_ENDED if end == start else _OVER) and (out > 0 or last not in ("run", "ran"))
    return verb if is_over and not any(word.text in _MODALS for word in verb) else ()


def has_ended(verb: Sequence[Word]) -> bool:
    """Does the verb that `end_of` found say that the time is over, and not that it is not?"""
    return all(word.text not in ("not", "never") for word in verb)


def has_gone(verb: Sequence[Word]) -> bool:
    """Has so much time passed, be it up to a limit or not: "41 days have gone by"?"""
    return not _GONE.isdisjoint(word.text for word in verb)


def ends(words: Sequence[Word]) -> Iterator[tuple[int, Sequence[Word]]]:
    """The times that are said to be over, or not to be, each with its verb."""
    for i, word in enumerate(words):
        before = {other.text for other in words[:i] if other.clause == word.clause}
        if is_time(word) and _AWAITING.isdisjoint(before) and (verb := end_of(words, i)):
            yield i, verb


def is_time(word: Word) -> bool:
    """Does the word name a time: "days", "window"?"""
    return word.text in PERIODS or unit_of(word.text) is not None


def is_meant(words: Sequence[Word], used: Sequence[int]) -> bool:
    """Do the words *used* say what a time is for: the refund of "30 days for a full refund"?"""
    before = [word for word in words[max(used[0] - 4, 0) : used[0]] if word.text not in DETERMINERS]
    return (
        len(before) > 1
        and before[-1].text == "for"
        and is_time(before[-2])
        and before[-2].clause == words[used[0]].clause
    )


def is_of_first(words: Sequence[Word], used: Sequence[int]) -> bool:
    """Do the words *used* say what holds at first: "the first hour is free"?"""
    here = [word for word in words[max(used[0] - 6, 0) : used[-1]] if word.clause == words[used[0]].clause]
    at = next((i for i, word in enumerate(here) if word.text == "first"), len(here))
    return any(unit_of(word.text) is not None for word in here[at + 1 : at + 3])
