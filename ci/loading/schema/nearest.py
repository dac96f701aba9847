"""The nearest declared word to one that is not: what the `help` line of a finding suggests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from bylaw.language.glyphs import as_seen

CUTOFF = 65  # of 100; below it a suggestion misleads more often than it helps
SLIP = 1  # letters wrong, missing, too many or swapped: a word that is more than that away may mean something else
SHORTEST = 4  # letters of a word that a slip leaves recognizable


def did_you_mean(word: str, choices: Iterable[str], declared_in: str = "") -> str | None:
    """`did you mean ...?` with the nearest of *choices*, and where such words are declared; None when neither helps."""
    near = nearest(word, choices)
    suggestion = suggest(word, near) if near is not None else ""
    return " ".join(part for part in (suggestion, declared_in) if part) or None


def suggest(word: str, near: str) -> str:
    """`did you mean ...?`; where the two look alike on a screen, also by which characters they differ."""
    if word == near or as_seen(word) != as_seen(near) or (word.isascii() and near.isascii()):
        return f"did you mean `{near}`?"
    mine, declared = _differing(word, near)
    codes = f"here {_code_points(mine)}, declared {_code_points(declared)}"
    return f"did you mean `{near}`? The two only look alike: {codes}; copy the declared spelling"


def _differing(one: str, other: str) -> tuple[str, str]:
    """What is left of both without what they begin and end with alike."""
    start = _count_alike(one, other)
    end = _count_alike(one[start:][::-1], other[start:][::-1])
    return one[start : len(one) - end], other[start : len(other) - end]


def _count_alike(one: str, other: str) -> int:
    """With how many characters both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(char):04X}" for char in text) or "nothing"


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that *word* is most likely a slip for: by spelling, else the only one that has all of its parts.

    Whole words are compared: what compares parts of them takes a single letter for the nearest to everything.
    """
    from rapidfuzz import fuzz, process

    ordered = sorted(set(choices))
    best = process.extractOne(word.casefold(), ordered, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=CUTOFF)
    if best is not None:
        return str(best[0])
    parts = _parts(word)
    holding = [choice for choice in ordered if parts and parts <= _parts(choice)]
    return holding[0] if len(holding) == 1 else None


def one_right(word: str, choices: Iterable[str]) -> dict[str, str]:
    """What a finding knows of its one right fix: the word as written, and the only choice that it can be a slip for.

    Empty where a second choice is near, or numbers differ: `POL-002` is no slip for `POL-001`.
    """
    from rapidfuzz.distance import OSA

    known = sorted(set(choices) - {word})
    far = {choice: OSA.distance(word.casefold(), choice.casefold()) for choice in known}
    near = [choice for choice in known if far[choice] <= 2 * SLIP]
    if len(near) != 1 or far[near[0]] > SLIP or _digits(word) != _digits(near[0]):
        return {}
    is_long = min(len(word), len(near[0])) >= SHORTEST or far[near[0]] == 0
    return {"written": word, "replacement": near[0]} if is_long else {}


def _digits(word: str) -> list[str]:
    return re.findall(r"\d+", word)


def _parts(word: str) -> set[str]:
    return set(re.findall(r"[^\W_]{3,}", word.casefold()))
