"""How questions are answered: each with a status, and all of them counted, so that nothing left open goes untold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ci.findings import Finding, Status


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer about one rule, pair, policy, outcome or case, and what an author should read of it.

    `reason` says which limit was hit where the status is UNKNOWN or SKIPPED.
    """

    status: Status
    findings: tuple[Finding, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of a run: how often it was asked, and what came of it. `reasons` say why something stayed open."""

    question: str
    proven: int = 0
    counterexamples: int = 0
    unknown: int = 0
    skipped: int = 0
    reasons: tuple[tuple[str, int], ...] = ()

    @property
    def asked(self) -> int:
        """All of them."""
        return self.proven + self.counterexamples + self.unknown + self.skipped

    @property
    def open(self) -> int:
        """Those that have no answer."""
        return self.unknown + self.skipped

    def to_json(self) -> dict[str, Any]:
        """The counts, and why something stayed open."""
        return {
            "question": self.question,
            "asked": self.asked,
            "proven": self.proven,
            "counterexamples": self.counterexamples,
            "unknown": self.unknown,
            "skipped": self.skipped,
            "reasons": [{"reason": reason, "count": count} for reason, count in self.reasons],
        }


def counted(question: str, statuses: Counter[Status], reasons: Counter[str]) -> Answered:
    """The counts of one question."""
    return Answered(
        question,
        statuses["PROVEN"],
        statuses["COUNTEREXAMPLE"],
        statuses["UNKNOWN"],
        statuses["SKIPPED"],
        tuple(sorted(reasons.items())),
    )


def joined(runs: Iterable[Iterable[Answered]]) -> tuple[Answered, ...]:
    """The counts of several runs together, a question each, in the order in which they were first asked."""
    statuses: dict[str, Counter[Status]] = {}
    reasons: dict[str, Counter[str]] = {}
    for answered in (answered for run in runs for answered in run):
        mine = statuses.setdefault(answered.question, Counter())
        mine["PROVEN"] += answered.proven
        mine["COUNTEREXAMPLE"] += answered.counterexamples
        mine["UNKNOWN"] += answered.unknown
        mine["SKIPPED"] += answered.skipped
        reasons.setdefault(answered.question, Counter()).update(dict(answered.reasons))
    return tuple(counted(question, mine, reasons[question]) for question, mine in statuses.items())
