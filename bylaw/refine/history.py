"""What happened so far, in few words: a history of any length is told within one bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bylaw.refine.proposers import Attempt

MOST_CHARACTERS = 4_000
_MOST_REASONS = 3
_LONGEST = 300


def digest(history: Sequence[Attempt]) -> str:
    """Each attempt in a line, the newest first, until the bound is reached."""
    lines: list[str] = []
    left = MOST_CHARACTERS
    for k in range(len(history) - 1, -1, -1):
        line = _line(k, history[k])
        if len(line) + 1 > left:
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(reversed(lines))


def _line(k: int, attempt: Attempt) -> str:
    if attempt.problems:
        return f"{k}: refused: {'; '.join(one[:_LONGEST] for one in attempt.problems[:_MOST_REASONS])}"
    if attempt.candidate is None:
        return f"{k}: nothing was proposed"
    mark, assumed = attempt.mark, attempt.candidate.assumptions
    parts = [
        f"{k}: {mark.status}",
        f"missing links: {'none known' if mark.missing_links is None else mark.missing_links}",
    ]
    parts += [f"cases held: {mark.cases_held} of {mark.cases}"] if mark.cases else []
    parts += [f"only assumed: {'; '.join(one[:_LONGEST] for one in assumed[:_MOST_REASONS])}"] if assumed else []
    return ", ".join(parts)


def last_checked(history: Sequence[Attempt]) -> Mapping[str, Any]:
    """The newest form that was checked, with what was found of it."""
    found = next(one.candidate for one in reversed(history) if one.candidate is not None)
    return {"form": found.document, "feedback": found.feedback, "assumptions": list(found.assumptions)}
