"""The nearest declared word to one that is not: what the `help` line of a finding suggests."""

from __future__ import annotations

from collections.abc import Iterable

CUTOFF = 70  # of 100; below it a suggestion misleads more often than it helps


def did_you_mean(word: str, choices: Iterable[str], declared_in: str = "") -> str | None:
    """`did you mean ...?` with the nearest of *choices*, and where such words are declared; None when neither helps."""
    from rapidfuzz import fuzz, process

    best = process.extractOne(word.casefold(), sorted(set(choices)), scorer=fuzz.WRatio, processor=str.casefold)
    close = best is not None and best[1] >= CUTOFF
    suggestion = f"did you mean `{best[0]}`?" if best is not None and close else ""
    return "; ".join(part for part in (suggestion, declared_in) if part) or None
