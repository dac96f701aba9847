"""What a suite came to: how often the bot answered, asked back or refused, and how often that was right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from bot.evaluation.suites import Graded
from bylaw.authored.suites import Expected, Floors

DEEDS: tuple[Expected, ...] = get_args(Expected)


@dataclass(frozen=True)
class Tally:
    """One suite, counted. Shares are in [0, 1]; `silent_wrong` are the questions answered wrongly."""

    name: str
    graded: tuple[Graded, ...]
    floors: Floors

    def count(self, did: Expected, is_right: bool) -> int:
        """One cell of the confusion matrix."""
        return sum(one.did == did and one.is_right is is_right for one in self.graded)

    @property
    def accuracy(self) -> float:
        return sum(one.is_right for one in self.graded) / len(self.graded)

    @property
    def silent_wrong(self) -> float:
        return self.count("answer", False) / len(self.graded)

    @property
    def routed(self) -> float | None:
        """Of the questions that say who answers, the share that came to the right one; None where none says so."""
        said = [one for one in self.graded if one.question.route is not None]
        return sum(one.route == one.question.route for one in said) / len(said) if said else None

    @property
    def holds(self) -> bool:
        """Does the suite reach its floors?"""
        floors, routed = self.floors, self.routed
        is_routed = routed is None or floors.routed_from is None or routed >= floors.routed_from
        return is_routed and self.accuracy >= floors.accuracy_from and self.silent_wrong <= floors.silent_wrong_up_to

    @property
    def failures(self) -> tuple[Graded, ...]:
        return tuple(one for one in self.graded if not one.is_right)

    def document(self) -> dict[str, Any]:
        """The tally as JSON carries it."""
        return {
            "suite": self.name,
            "questions": len(self.graded),
            "accuracy": round(self.accuracy, 6),
            "silent_wrong": round(self.silent_wrong, 6),
            "routed": None if self.routed is None else round(self.routed, 6),
            "matrix": {did: {"right": self.count(did, True), "wrong": self.count(did, False)} for did in DEEDS},
            "floors": {name: float(floor) for name, floor in self.floors if floor is not None},
            "holds": self.holds,
            "failures": [
                {
                    "ask": one.question.ask,
                    "after": one.question.after,
                    "did": one.did,
                    "why": one.why,
                    "text": one.reply.text,
                }
                for one in self.failures
            ],
        }


def render(tallies: Sequence[Tally], with_failures: bool) -> str:
    """The confusion matrix of each suite for a terminal, and on demand every question that went wrong."""
    parts = [_matrix(tally) for tally in tallies]
    if with_failures:
        parts += [_table(tally) for tally in tallies if tally.failures]
    return "\n\n".join(parts)


def _matrix(tally: Tally) -> str:
    floors = tally.floors
    verdict = "holds" if tally.holds else "FAILS"
    routed = "" if tally.routed is None else f", {tally.routed:.1%} came to the right answerer"
    if routed and floors.routed_from is not None:
        routed += f" (at least {floors.routed_from:.1%})"
    lines = [
        f"{tally.name}: {len(tally.graded)} questions, {tally.accuracy:.1%} right (at least "
        f"{floors.accuracy_from:.1%}), {tally.silent_wrong:.1%} answered wrongly (at most "
        f"{floors.silent_wrong_up_to:.1%}){routed}: {verdict}",
        f"  {'':8}{'right':>7}{'wrong':>7}",
    ]
    return "\n".join(lines + [f"  {did:8}{tally.count(did, True):>7}{tally.count(did, False):>7}" for did in DEEDS])


def _table(tally: Tally) -> str:
    topics = Counter(one.question.topic or "other" for one in tally.failures)
    head = f"{tally.name}, what went wrong: {', '.join(f'{count} {topic}' for topic, count in sorted(topics.items()))}"
    return "\n".join([head, *_rows(tally.failures)])


def _rows(failures: Iterable[Graded]) -> Iterable[str]:
    for one in failures:
        yield f"  {' → '.join([*one.question.after, one.question.ask])}"
        yield f"      {one.why}"
        if one.did != "answer":
            yield f"      said: {' '.join(one.reply.text.split())[:160]}"
