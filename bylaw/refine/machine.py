"""When the loop goes on and when it stops: one function of the history, and nothing else.

`start → iter0 → check → (stop | iterK → check → …)`, with the criteria of seed 003. An attempt is better than another
by the cases it holds, then by how much of it rests on the text, then by its status: that a query follows is no progress
by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Stop = Literal[
    "entailed",
    "refuted",
    "no_improvement",
    "regression",
    "oscillation",
    "max_iterations",
    "budget",
    "refused",
    "no_proposal",
]
Move = Stop | Literal["refine"]
Policy = Literal["fail_fast", "auto_retry", "fallback_to_v1"]

_RANK = {"inconsistent": 0, "unknown": 1, "consistent_no_entailment": 2, "refuted": 3, "consistent_entails": 3}
_UNKNOWN_LINKS = 1_000_000  # what no known premise repairs is further away than anything that one does


@dataclass(frozen=True)
class Limits:
    """How long the loop may go on. `seconds` are those of all rewrites together."""

    max_iterations: int = 3
    policy: Policy = "auto_retry"
    seconds: float = 120.0


@dataclass(frozen=True)
class Mark:
    """What the loop looks at of one attempt. `meaning` is the fingerprint of what it says.

    `fidelity` is the share of what was changed that rests on the text or on an axiom, from 0 to 1; 1 where nothing was.
    `is_refused`: the guardrail let it not through; `is_silent`: nothing was proposed. Neither has a score.
    """

    meaning: str = ""
    status: str = "unknown"
    fidelity: float = 1.0
    missing_links: int | None = None
    cases_held: int = 0
    cases: int = 0
    seconds: float = 0.0
    is_refused: bool = False
    is_silent: bool = False

    @property
    def has_score(self) -> bool:
        """Was it checked?"""
        return not (self.is_refused or self.is_silent)

    @property
    def is_right(self) -> bool:
        """Is nothing left to mend: decided, by nothing that was merely assumed, with all cases as they should be?"""
        is_decided = self.status in ("consistent_entails", "refuted")
        return self.has_score and is_decided and self.fidelity == 1.0 and self.cases_held == self.cases

    @property
    def key(self) -> tuple[int, float, int, int]:
        """Larger is better."""
        links = _UNKNOWN_LINKS if self.missing_links is None else self.missing_links
        return self.cases_held, self.fidelity, _RANK.get(self.status, 1), -links


def next_move(history: Sequence[Mark], limits: Limits) -> Move:
    """What follows after *history*, whose first mark is the program as it was given."""
    last = history[-1]
    if last.is_silent:
        return "no_proposal"
    if last.is_refused:
        return _after_refusal(history, limits)
    if last.is_right:
        return "refuted" if last.status == "refuted" else "entailed"
    stop = _compared(history)
    if stop is not None:
        return stop
    return _exhausted(history, limits) or "refine"


def best(history: Sequence[Mark]) -> int:
    """The place of the best attempt; of equal ones the first."""
    scored = [i for i, mark in enumerate(history) if mark.has_score]
    return max(scored, key=lambda i: (history[i].key, -i))


def rewrites(history: Sequence[Mark]) -> int:
    """How many rewrites there were; the one retry after a refusal is no other, and nothing proposed is none."""
    return sum(not one.is_silent for one in history[1:]) - sum(one.is_refused for one in history[:-1])


def oscillations(history: Sequence[Mark]) -> int:
    """How often what was said came back after something else was."""
    said = [mark.meaning for mark in history if mark.has_score]
    return sum(said[i] in said[: i - 1] and said[i] != said[i - 1] for i in range(2, len(said)))


def _after_refusal(history: Sequence[Mark], limits: Limits) -> Move:
    if limits.policy != "auto_retry" or sum(mark.is_refused for mark in history) > 1:
        return "refused"
    return "budget" if _spent(history) >= limits.seconds else "refine"


def _compared(history: Sequence[Mark]) -> Stop | None:
    """What the last attempt is beside those before it."""
    scored = [mark for mark in history if mark.has_score]
    if len(scored) < 2:
        return None
    last, before = scored[-1], scored[-2]
    if last.meaning != before.meaning and any(last.meaning == one.meaning for one in scored[:-2]):
        return "oscillation"
    if last.key < before.key:
        return "regression"
    return "no_improvement" if last.key == before.key else None


def _exhausted(history: Sequence[Mark], limits: Limits) -> Stop | None:
    if rewrites(history) >= limits.max_iterations:
        return "max_iterations"
    return "budget" if _spent(history) >= limits.seconds else None


def _spent(history: Sequence[Mark]) -> float:
    return sum(mark.seconds for mark in history)
