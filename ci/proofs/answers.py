"""How questions are answered: with a status for every policy, outcome or case, so that nothing open goes untold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ci.findings import Finding, Status

Concern: TypeAlias = tuple[str, str] | tuple[str, str, int]  # a policy by id, an outcome, a case by file and position
State: TypeAlias = tuple[str, Status, tuple[str, ...]]  # of one question: its status, and why it stayed open
Row: TypeAlias = tuple[State, ...]  # all that is known of one concern, in the order of the questions
Statuses: TypeAlias = Mapping[Concern, Row]

# What is asked of several rules or pairs is known of a concern as far as it is known of the worst of them.
RANK: Mapping[Status, int] = {"PROVEN": 0, "COUNTEREXAMPLE": 1, "SKIPPED": 2, "UNKNOWN": 3}
OPEN: tuple[Status, ...] = ("UNKNOWN", "SKIPPED")


def of_policies(*ids: str) -> tuple[Concern, ...]:
    """The policies as what a reply is about."""
    return tuple(("policy", id) for id in ids)


def of_outcome(name: str) -> tuple[Concern, ...]:
    """The outcome as what a reply is about."""
    return (("outcome", name),)


def of_case(path: str, index: int) -> tuple[Concern, ...]:
    """The case at a position in a file as what a reply is about."""
    return (("case", path, index),)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer about one rule, pair, policy, outcome or case, and what an author should read of it.

    `about` says whom it concerns: a rule its policy, a pair both policies. `reason` says which limit was hit where the
    status is UNKNOWN or SKIPPED.
    """

    about: tuple[Concern, ...]
    status: Status
    findings: tuple[Finding, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of a run: of how many policies, outcomes or cases it was asked, and what came of it.

    `reasons` say why something stayed open.
    """

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


def states(question: str, replies: Iterable[Reply]) -> dict[Concern, State]:
    """What the *replies* to one question say of everyone they are about: the worst of them, and why it stayed open."""
    worst: dict[Concern, Status] = {}
    reasons: dict[Concern, set[str]] = {}
    for reply in replies:
        for concern in reply.about:
            if RANK[reply.status] >= RANK[worst.get(concern, "PROVEN")]:
                worst[concern] = reply.status
            if reply.status in OPEN:
                reasons.setdefault(concern, set()).add(reply.reason or "no reason is known")
    return {concern: (question, status, tuple(sorted(reasons.get(concern, ())))) for concern, status in worst.items()}


def counted(statuses: Statuses, questions: Sequence[str]) -> tuple[Answered, ...]:
    """How every one of the *questions* was answered, in their order."""
    found: dict[str, Counter[Status]] = {question: Counter() for question in questions}
    reasons: dict[str, Counter[str]] = {question: Counter() for question in questions}
    for row, count in Counter(statuses.values()).items():  # most concerns share their row with many others
        for question, status, why in row:
            found[question][status] += count
            reasons[question].update(dict.fromkeys(why, count))
    return tuple(
        Answered(
            question,
            mine["PROVEN"],
            mine["COUNTEREXAMPLE"],
            mine["UNKNOWN"],
            mine["SKIPPED"],
            tuple(sorted(reasons[question].items())),
        )
        for question, mine in found.items()
    )
