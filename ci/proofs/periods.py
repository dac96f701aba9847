"""From when to when an answer holds: stretches of days, and how they are told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TypeAlias

Span: TypeAlias = tuple[int | None, int | None]  # first and last day, both included; None: as long as it is in force


def spans(days: Sequence[int], holds: Sequence[bool]) -> list[Span]:
    """The stretches in which it holds, given the days on which something changes and whether it holds from each on.

    The first day is where the asking starts, so a stretch from there on has an open beginning.
    """
    found: list[Span] = []
    for k, holding in enumerate(holds):
        if not holding:
            continue
        last = days[k + 1] - 1 if k + 1 < len(days) else None
        if k and holds[k - 1]:
            found[-1] = (found[-1][0], last)
        else:
            found.append((days[k] if k else None, last))
    return found


def told(stretches: Sequence[Span]) -> str:
    """In words, as the beginning of a clause: empty when it always holds, else ending in a blank."""
    if not stretches or (None, None) in stretches:
        return ""
    return f"{' and '.join(map(_told, stretches))} "


def _told(span: Span) -> str:
    first, last = span
    parts = [] if first is None else [f"from {date.fromordinal(first).isoformat()}"]
    if last is not None:
        parts.append(f"until {date.fromordinal(last).isoformat()}")
    return " ".join(parts)
