"""Does the loop do good? Errors it mended and errors it made, by model and version of its prompts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

JUDGED_RUNS = 50  # seed 003 as built: fewer say nothing


@dataclass(frozen=True)
class Judged:
    """One run of which somebody knows the truth: was the first answer right, and the last?"""

    proposer: str
    version: str
    was_right: bool
    is_right: bool


@dataclass(frozen=True)
class Tally:
    """The runs of one proposer."""

    proposer: str
    version: str
    runs: int
    corrected: int
    introduced: int

    @property
    def is_off(self) -> bool:
        """Has it made more errors than it mended, over enough runs to say so? Then it is not asked any more."""
        return self.runs >= JUDGED_RUNS and self.introduced > self.corrected

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "proposer": self.proposer,
            "prompt_version": self.version,
            "runs": self.runs,
            "corrected": self.corrected,
            "introduced": self.introduced,
            "off": self.is_off,
        }


def tallies(judged: Iterable[Judged]) -> list[Tally]:
    """The runs by proposer and version, sorted."""
    together: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in judged:
        together[one.proposer, one.version].append(one)
    return [
        Tally(
            proposer,
            version,
            len(runs),
            sum(one.is_right and not one.was_right for one in runs),
            sum(one.was_right and not one.is_right for one in runs),
        )
        for (proposer, version), runs in sorted(together.items())
    ]


def is_off(judged: Iterable[Judged], proposer: str, version: str) -> bool:
    """Is that proposer not to be asked any more?"""
    return any(one.is_off for one in tallies(judged) if (one.proposer, one.version) == (proposer, version))
