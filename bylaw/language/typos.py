"""Slips of the keyboard in a short phrase: a near one counts only if no other is as near."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST = 5  # shorter words have too many neighbours


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
