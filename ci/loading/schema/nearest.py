"""The nearest declared word to one that is not: what the `help` line of a finding suggests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bylaw.logic.formula.ir import Kind

CUTOFF = 65  # of 100; below it a suggestion misleads more often than it helps
SLIP = 1  # letters wrong, missing, too many or swapped: a word that is more than that away may mean something else
SHORTEST = 4  # letters of a word that a slip leaves recognizable


def did_you_mean(word: str, choices: Iterable[str], declared_in: str = "") -> str | None:
    """`did you mean ...?` with the nearest of *choices*, and where such words are declared; None when neither helps."""
    near = nearest(word, choices)
    suggestion = f"did you mean `{near}`?" if near is not None else ""
    return " ".join(part for part in (suggestion, declared_in) if part) or None


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


SAID: Mapping[str, str] = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}


def unquoted(raw: Any, kind: Kind) -> tuple[str | None, dict[str, str]]:
    """What to do about a number, or a yes or no, that stands there as text, and the fix; nothing for other text."""
    if isinstance(raw, str) and kind in ("integer", "decimal"):
        if re.fullmatch(r"-?\d+(\.\d+)?", raw):
            return f"write it without quotes: {raw}", {"written": raw, "spelled": raw}
        if told := re.fullmatch(r"(-?\d+(?:\.\d+)?) *([A-Za-z]+)", raw):
            return f"write the number and its unit apart: `value: {told[1]}, unit: {told[2]}`", {}
        return "write a number, with a point and no comma: 16.5", {}
    if isinstance(raw, str) and kind == "boolean" and raw.casefold() in SAID:
        return f"write {SAID[raw.casefold()]}, without quotes", {"written": raw, "spelled": SAID[raw.casefold()]}
    return None, {}


def _digits(word: str) -> list[str]:
    return re.findall(r"\d+", word)


def _parts(word: str) -> set[str]:
    return set(re.findall(r"[^\W_]{3,}", word.casefold()))
