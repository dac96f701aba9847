"""What a turn tells of the case: a fact with its value, or words that bound a fact without giving it one."""

from __future__ import annotations

from dataclasses import dataclass

from bylaw.authored.vocabulary import Fact
from bylaw.logic.formula.ir import Op, Value

Test = tuple[Op, Value]


@dataclass(frozen=True, slots=True)
class Read:
    """A fact that the text states, and its words."""

    fact: str
    value: Value
    words: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that speak of a fact without giving its value, why not, and the tests that it passes by them."""

    fact: str
    words: str
    reason: str
    tests: tuple[Test, ...] = ()
    start: int = 0

    @property
    def as_bound(self) -> Read | None:
        """A value that it bounds, at its words; None where it bounds none."""
        end = self.start + len(self.words)
        return Read(self.fact, self.tests[0][1], self.words, self.start, end) if self.tests else None


def is_sayable(fact: Fact) -> bool:
    """May words say the fact? Some come only from a system that is trusted, or from what happened before."""
    return fact.assertable is not False and fact.history is None
