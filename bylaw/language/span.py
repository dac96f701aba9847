"""What every reader of language returns: a value, and where it was read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeAlias, TypeVar

Number: TypeAlias = int | Fraction
V = TypeVar("V", covariant=True)


@dataclass(frozen=True, slots=True)
class Span(Generic[V]):
    """`words` is `text[start:end]`. Not `exact`: a bound or a range ("more than 30", "10 to 15"), so no value."""

    start: int
    end: int
    value: V
    words: str
    exact: bool = True


def whole(value: Fraction | int) -> Number:
    """The number, as an int where it is one."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def listed(words: str) -> frozenset[str]:
    """A table of words, written as one line."""
    return frozenset(words.split())
