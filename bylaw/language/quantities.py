"""Units of measure: what spells them, what they measure, and how one is told in another, exactly or not at all.

A unit that has no exact size in another of its kind (a month in days, a byte count in thousands or in 1024s, one
currency in another) is of a kind of its own, so that nothing converts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from bylaw.language.words import read_words


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit, what it measures, and its size in the kind's own smallest whole terms."""

    name: str
    kind: str
    size: Fraction


_MILE = Fraction("1609.344")
_ROWS: tuple[tuple[str, str, Fraction | int | str, str], ...] = (  # name, kind, size, other spellings
    ("millimeters", "length", "0.001", "mm,millimetre,millimeter"),
    ("centimeters", "length", "0.01", "cm,centimetre,centimeter"),
    ("meters", "length", 1, "metre,meter"),
    ("kilometers", "length", 1000, "km,kilometre,kilometer"),
    ("inches", "length", "0.0254", "inch"),
    ("feet", "length", "0.3048", "foot,feet,ft"),
    ("yards", "length", "0.9144", "yard"),
    ("miles", "length", _MILE, "mile"),
    ("square meters", "area", 1, "square metre,square meter,sq m"),
    ("hectares", "area", 10_000, "hectare"),
    ("square kilometers", "area", 1_000_000, "square kilometre,square kilometer,sq km,km²"),
    ("acres", "area", Fraction("4046.8564224"), "acre"),
    ("square miles", "area", _MILE * _MILE, "square mile,sq mile"),
    ("grams", "mass", 1, "gram,gramme"),
    ("kilograms", "mass", 1000, "kg,kilogram,kilogramme,kilo"),
    ("pounds", "mass", "453.59237", "pound,lb"),
    ("ounces", "mass", "28.349523125", "ounce"),
    ("tonnes", "mass", 1_000_000, "tonne,metric ton"),
    ("milliseconds", "time", "0.001", "millisecond"),
    ("seconds", "time", 1, "second,sec"),
    ("minutes", "time", 60, "minute,min"),
    ("hours", "time", 3600, "hour"),
    ("days", "time", 86_400, "day"),
    ("weeks", "time", 604_800, "week"),
    ("months", "months", 1, "month"),
    ("years", "years", 1, "year"),
    ("kilometers per hour", "speed", 1000, "km per hour,km / h,kph,kilometre per hour,kilometer per hour"),
    ("miles per hour", "speed", _MILE, "mile per hour,mph"),
    ("knots", "speed", 1852, "knot"),
    ("people per square kilometer", "density", 1, "people per square kilometre,people per square kilometer,"
     "person per square kilometre,person per square kilometer,people per sq km,inhabitant per square kilometre,"
     "inhabitant per square kilometer"),
    ("people per square mile", "density", 1_000_000 / (_MILE * _MILE), "people per square mile"),
    ("kilobytes", "kilobytes", 1, "kb,kilobyte"),
    ("megabytes", "megabytes", 1, "mb,megabyte"),
    ("gigabytes", "gigabytes", 1, "gb,gigabyte"),
    ("percent", "percent", 1, "percent,%,percentage,percentage point"),
    ("USD", "USD", 1, "usd,us dollar,dollar"),
    ("EUR", "EUR", 1, "eur,euro"),
    ("GBP", "GBP", 1, "gbp,british pound,pound sterling"),
    ("CHF", "CHF", 1, "chf,swiss franc,franc"),
    ("JPY", "JPY", 1, "jpy,yen"),
    ("INR", "INR", 1, "inr,rupee"),
    ("CAD", "CAD", 1, "cad,canadian dollar"),
    ("AUD", "AUD", 1, "aud,australian dollar"),
)  # fmt: skip


def _key(spelling: str) -> tuple[str, ...]:
    return ("%",) if spelling == "%" else tuple(word.text for word in read_words(spelling)) or (spelling,)


def _spelled() -> Mapping[tuple[str, ...], Unit]:
    found: dict[tuple[str, ...], Unit] = {}
    for name, kind, size, spellings in _ROWS:
        unit = Unit(name, kind, Fraction(size))
        for spelling in (name, *spellings.split(",")):
            found[_key(spelling)] = unit
    return found


SPELLED = _spelled()
_LONGEST = max(map(len, SPELLED))


def unit_at(words: Sequence[str], at: int) -> tuple[int, Unit] | None:
    """The longest spelling of a unit that begins at place *at* of the normal *words*: its length, and the unit."""
    for length in range(min(_LONGEST, len(words) - at), 0, -1):
        unit = SPELLED.get(tuple(words[at : at + length]))
        if unit is not None:
            return length, unit
    return None


@lru_cache(maxsize=2_000)
def units_in(text: str) -> tuple[Unit, ...]:
    """Every unit that *text* names, in the order of the words."""
    words = [word.text for word in read_words(text.replace("_", " "))]
    words += ["%"] if "%" in text else []
    found: list[Unit] = []
    at = 0
    while at < len(words):
        named = unit_at(words, at)
        if named is not None:
            found.append(named[1])
        at += named[0] if named is not None else 1
    return tuple(dict.fromkeys(found))


def factor(unit: Unit, into: Unit) -> Fraction | None:
    """How many *into* one *unit* is; None where the two measure different things."""
    return unit.size / into.size if unit.kind == into.kind else None
