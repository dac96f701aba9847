"""What a suite came to: how often the bot answered, asked back or refused, and how often that was right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, get_args

from bot.evaluation.suites import Graded
from bylaw.authored.machines.suites import Expected, Floors

DEEDS: tuple[Expected, ...] = get_args(Expected)
_Z = 1.959964  # of the normal distribution, at 95 %


@dataclass(frozen=True)
class Part:
    """The development questions of a suite, or those held out: what was answered, and how much of that is wrong."""

    graded: tuple[Graded, ...]

    def did(self, *deeds: Expected) -> int:
        """How many questions came to one of *deeds*."""
        return sum(one.did in deeds for one in self.graded)

    @property
    def wrong(self) -> int:
        """Answers that are wrong: nobody who reads them knows."""
        return sum(one.did == "answer" and not one.is_right for one in self.graded)

    @property
    def right(self) -> int:
        return sum(one.is_right for one in self.graded)

    def document(self) -> dict[str, Any]:
        answered = self.did("answer")
        return {
            "questions": len(self.graded),
            "answered": answered,
            "wrong": self.wrong,
            "asked": self.did("clarify", "form"),
            "with_a_form": self.did("form"),
            "refused": self.did("refuse"),
            "right": {"count": self.right, "interval": _rounded(wilson(self.right, len(self.graded)))},
            "wrong_of_answered": {
                "share": round(self.wrong / answered, 6) if answered else None,
                "interval": _rounded(wilson(self.wrong, answered)),
            },
        }

    def line(self, name: str) -> str:
        """The part in two lines."""
        answered, right = self.did("answer"), wilson(self.right, len(self.graded))
        wrong = f"{self.wrong} of these wrong ({_span(wilson(self.wrong, answered))})" if answered else "none wrong"
        asked = f"asked {self.did('clarify', 'form')} ({self.did('form')} with a form), refused {self.did('refuse')}"
        first = f"  {name}: {len(self.graded)} questions, {self.right} right ({_span(right)})"
        return f"{first}\n    answered {answered}, {wrong}; {asked}"


def wilson(count: int, of: int) -> tuple[float, float]:
    """Where the share lies that *count* of *of* was drawn from, at 95 % (Wilson 1927); everywhere for none."""
    if not of:
        return (0.0, 1.0)
    share, square = count / of, _Z * _Z
    centre = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return (max(0.0, centre - half), min(1.0, centre + half))


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def _rounded(interval: tuple[float, float]) -> list[float]:
    return [round(end, 6) for end in interval]


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
    def parts(self) -> dict[str, Part]:
        """Development rows, and, where there are any, those held out: one may be tuned against, the other measures."""
        found = {"development": [one for one in self.graded if not one.is_held_out]}
        found["held_out"] = [one for one in self.graded if one.is_held_out]
        return {name: Part(tuple(graded)) for name, graded in found.items() if graded}

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
            "parts": {name: part.document() for name, part in self.parts.items()},
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
    lines += [f"  {did:8}{tally.count(did, True):>7}{tally.count(did, False):>7}" for did in DEEDS]
    lines += [part.line(name.replace("_", " ")) for name, part in tally.parts.items()]
    return "\n".join(lines)


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
