"""Units of measure: which one words spell, what it measures, and how many of one are another, exactly or not at all.

The spellings and sizes stand in the lexicon. To the logic months and years convert as `bylaw.language.months` says;
where no such rule is agreed (`Unit`) they are of kinds of their own, so that nothing converts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from bylaw.language.lexicon import lexicon
from bylaw.language.months import IN_MONTHS, days_in, months_in
from bylaw.language.words import read_words

_DAY = 86_400  # in seconds, which the lexicon measures durations in


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit, what it measures, and its size in the terms of that kind."""

    name: str
    kind: str
    size: Fraction

    def into(self, other: Unit) -> Fraction | None:
        """How many of the *other* one of it is; None where the two measure different things."""
        return self.size / other.size if self.kind == other.kind else None


@lru_cache(maxsize=4_096)
def unit_named(spelled: str | None) -> str | None:
    """The unit that *spelled* names ("business_days", "USD", "%"), itself for a word that is none of ours."""
    if not spelled or not spelled.strip():
        return None
    words = tuple(spelled.casefold().replace("_", " ").split())
    found = lexicon().unit(words, 0)
    return found[0] if found and found[1] == len(words) else " ".join(words)


def is_currency(unit: str | None) -> bool:
    """Does *unit* spell a currency?"""
    return unit_named(unit) in lexicon().currencies


def seconds_in(unit: str | None) -> int | None:
    """How many seconds one *unit* has, a month by itself 30 days; None for what is no unit of time."""
    kind, size = lexicon().sizes.get(unit_named(unit) or "", (None, Fraction(0)))
    return int(size) if kind == "time" and size >= 1 else None


def convert(amount: Fraction, unit: str, into: str) -> Fraction | None:
    """*amount* of *unit* in another, for the logic; None where they do not convert, or no number of it is as much."""
    one, other, sizes = unit_named(unit), unit_named(into), lexicon().sizes
    if one == other:
        return amount
    if one in IN_MONTHS and other in IN_MONTHS:
        return amount * IN_MONTHS[one] / IN_MONTHS[other]
    (kind, size), (its_kind, its_size) = (sizes.get(name or "", (name, Fraction(1))) for name in (one, other))
    if kind != its_kind:
        return None
    if one in IN_MONTHS:
        return days_in(amount * IN_MONTHS[one]) * _DAY / its_size
    if other in IN_MONTHS:
        months = months_in(amount * size / _DAY)
        return None if months is None else months / IN_MONTHS[other]
    return amount * size / its_size


def is_convertible(unit: str, into: str) -> bool:
    """Does an amount in *unit* say how much it is *into* another?"""
    return convert(Fraction(0), unit, into) is not None


# ---- units of data --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _unit(name: str) -> Unit:
    kind, size = (name, Fraction(1)) if name in IN_MONTHS else lexicon().sizes.get(name, (name, Fraction(1)))
    return Unit(name.replace("_", " "), kind, size)


def unit_at(words: Sequence[str], at: int) -> tuple[int, Unit] | None:
    """The longest spelling of a unit that begins at place *at*: its length, and the unit. A letter alone is none."""
    found = lexicon().unit(words, at)
    if found is None or (len(words[at]) == found[1] == 1 and words[at].isalpha()):
        return None
    return found[1], _unit(found[0])


@lru_cache(maxsize=2_000)
def units_in(text: str) -> tuple[Unit, ...]:
    """Every unit that *text* names, in the order of the words."""
    words = [word.text for word in read_words(text.replace("_", " "))]
    words += ["%"] if "%" in text else []
    found: list[Unit] = []
    at = 0
    while at < len(words):
        length, unit = unit_at(words, at) or (1, None)
        found += [unit] if unit is not None else []
        at += length
    return tuple(dict.fromkeys(found))
