"""Slips of the keyboard. Short words are exact only; a near word counts only if no other is as near.

Without a dictionary a slip looks like another word ("charged", "charger"). So a slip must keep the first and the last
letter and must not swap one letter for another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

SHORTEST = 5  # shorter words have too many neighbours


class Nearest:
    """The nearest of a fixed set of words."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)
        self._by_start: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in sorted(self._words):
            if len(word) >= SHORTEST:
                self._by_start[word[0], len(word)].append(word)

    def correct(self, word: str) -> str | None:
        """What *word* was meant to be; None when it is one of the words, too short, or not clearly near to one."""
        if len(word) < SHORTEST or word in self._words:
            return None
        alike = (one for length in (-1, 0, 1) for one in self._by_start.get((word[0], len(word) + length), ()))
        near = [one for one in alike if is_one_slip(word, one) and not _is_inflection(word, one)]
        if len(near) != 1 or len(near[0]) <= SHORTEST:
            return None
        is_like = word[-1] == near[0][-1] and not _is_swap(word, near[0])
        return near[0] if is_like or sorted(word) == sorted(near[0]) else None


def closest(text: str, candidates: Iterable[str], cutoff: float = 85.0, margin: float = 5.0) -> str | None:
    """The candidate phrase nearest to *text*; None below *cutoff* (0..100), or when the next is within *margin*."""
    from rapidfuzz import fuzz

    folded = " ".join(text.casefold().split())
    scored = sorted(((fuzz.ratio(folded, other.casefold()), other) for other in set(candidates)), reverse=True)
    if not scored or len(folded) < SHORTEST or scored[0][0] < cutoff:
        return None
    if len(scored) > 1 and scored[0][0] - scored[1][0] < margin:
        return None
    return scored[0][1]


def is_one_slip(one: str, other: str) -> bool:
    """Do two words differ by one letter: left out, put in, put in the place of another, or changed with its neighbour?

    Their optimal string alignment distance is 1.
    """
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            here, there, behind, beyond = one[i:], other[i:], one[i + 1 :], other[i + 1 :]
            is_turned = (a, b) == (there[1:2], here[1:2]) and here[2:] == there[2:]
            return behind in (beyond, there) or here == beyond or is_turned
    return abs(len(one) - len(other)) == 1


def _is_swap(one: str, other: str) -> bool:
    """Do they differ by one letter in the place of another?"""
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _is_inflection(one: str, other: str) -> bool:
    """Is one the other with an ending, as in "return" and "returned"?"""
    short, long = sorted((one, other), key=len)
    return long.startswith(short)
