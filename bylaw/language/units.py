"""Durations: "three weeks", "36 hours", "a day and a half", "yesterday"; exact conversion between units.

A month is 30 days and a year 365. Business days are recognised so that they can be refused: no calendar here knows
which days those are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from bylaw.language.numbers import inexact_spans, read_numbers
from bylaw.language.span import Number, Span, listed, whole
from bylaw.language.words import Word, read_words, singular

_DAY = 24 * 60 * 60
SECONDS: Mapping[str, int] = {
    "seconds": 1,
    "minutes": 60,
    "hours": 60 * 60,
    "days": _DAY,
    "weeks": 7 * _DAY,
    "fortnights": 14 * _DAY,
    "months": 30 * _DAY,
    "years": 365 * _DAY,
}
BUSINESS_DAYS = "business days"

_NAMES: Mapping[str, str] = {
    **{singular(unit): unit for unit in SECONDS},
    **dict.fromkeys(("sec",), "seconds"),
    **dict.fromkeys(("min",), "minutes"),
    **dict.fromkeys(("hr", "h"), "hours"),
    **dict.fromkeys(("d", "night"), "days"),
    **dict.fromkeys(("wk", "w"), "weeks"),
    **dict.fromkeys(("mo", "mth"), "months"),
    **dict.fromkeys(("yr", "y"), "years"),
}
_WORKING = listed("business working work week")
_FILLERS = listed("calendar full whole entire more")
_ALREADY_AGO: Mapping[tuple[str, ...], int] = {
    ("the", "day", "before", "yesterday"): 2,
    ("yesterday",): 1,
    ("today",): 0,
    ("this", "morning"): 0,
    ("just", "now"): 0,
}
_OPENERS = listed("a an half") | {spelled[0] for spelled in _ALREADY_AGO}  # of a duration without a number


@dataclass(frozen=True, slots=True)
class Duration:
    """An amount of one unit. `is_ago`: the words already say that it lies in the past ("yesterday").

    `is_counted`: with a number, not with an article ("a week"), which is as often no measure at all ("twice a week").
    """

    amount: Number
    unit: str
    is_ago: bool = False
    is_counted: bool = True


@lru_cache(maxsize=2_000)
def unit_of(name: str) -> str | None:
    """The unit that *name* spells (`day`, `hrs`, `Weeks`, `business days`), None for any other word."""
    words = [word.text for word in read_words(name)]
    match words:
        case [one]:
            return BUSINESS_DAYS if one in ("workday", "weekday") else _NAMES.get(one)
        case [kind, "day"] if kind in _WORKING:
            return BUSINESS_DAYS
        case ["calendar", "day"]:
            return "days"
    return None


def factor(unit: str, into: str) -> Fraction | None:
    """How many *into* one *unit* is; None where the two do not convert."""
    one, other = unit_of(unit), unit_of(into)
    if one is None or other is None:
        return None
    if one not in SECONDS or other not in SECONDS:
        return Fraction(1) if one == other else None
    return Fraction(SECONDS[one], SECONDS[other])


def read_durations(
    text: str, words: Sequence[Word] | None = None, numbers: Sequence[Span[Number]] | None = None
) -> tuple[Span[Duration], ...]:
    """Every duration of *text*; neighbours that belong together ("a year and two months") are one."""
    words = read_words(text) if words is None else words
    numbers = read_numbers(text, words) if numbers is None else numbers
    by_start = {span.start + (1 if span.words[0] in "-−" else 0): span for span in numbers}
    single: list[Span[Duration]] = []
    i = 0
    while i < len(words):
        read = _counted(text, words, i, by_start)
        if read is None and words[i].text in _OPENERS:
            read = _with_article(text, words, i) or _past_day(text, words, i)
        if read is None:
            i += 1
            continue
        span, i = read
        single.append(span)
    joined = _joined(text, single)
    inexact = inexact_spans(text, words, [(span.start, span.end) for span in joined])
    return tuple(
        Span(span.start, span.end, span.value, span.words, span.exact and k not in inexact)
        for k, span in enumerate(joined)
    )


Read = tuple[Span[Duration], int]


def _counted(text: str, words: Sequence[Word], i: int, numbers: Mapping[int, Span[Number]]) -> Read | None:
    number = numbers.get(words[i].start)
    if number is None:
        return None
    k = i
    while k < len(words) and words[k].start < number.end:
        k += 1
    if k < len(words) and text[number.end : words[k].start].strip() not in ("", "-", "+"):
        return None
    while k < len(words) and words[k].text in _FILLERS:
        k += 1
    named = _unit_at(words, k)
    if named is None or words[k].sentence != words[i].sentence:
        return None
    unit, last = named
    end = words[last].end
    return Span(number.start, end, Duration(number.value, unit), text[number.start : end], number.exact), last + 1


def _unit_at(words: Sequence[Word], k: int) -> tuple[str, int] | None:
    if k >= len(words):
        return None
    if k + 1 < len(words) and words[k].text in _WORKING and words[k + 1].text == "day":
        return BUSINESS_DAYS, k + 1
    if words[k].text in ("workday", "weekday"):
        return BUSINESS_DAYS, k
    unit = _NAMES.get(words[k].text)
    return None if unit is None else (unit, k)


def _with_article(text: str, words: Sequence[Word], i: int) -> Read | None:
    """Read "a week", "half an hour", "a day and a half"."""
    here = [word.text for word in words[i : i + 5]]
    amount = Fraction(1)
    match here:
        case ["half", "a" | "an", *_]:
            amount, k = Fraction(1, 2), i + 2
        case ["a" | "an", "half", *_]:
            amount, k = Fraction(1, 2), i + 2
        case ["a" | "an", *_]:
            k = i + 1
        case _:
            return None
    named = _unit_at(words, k)
    if named is None or (k < len(words) and len(words[k].text) <= 2):  # "a d", "a y": letters, no units
        return None
    unit, last = named
    if [word.text for word in words[last + 1 : last + 4]] == ["and", "a", "half"]:
        amount, last = amount + Fraction(1, 2), last + 3
    start, end = words[i].start, words[last].end
    return Span(start, end, Duration(whole(amount), unit, is_counted=False), text[start:end]), last + 1


def _past_day(text: str, words: Sequence[Word], i: int) -> Read | None:
    if i and words[i - 1].text == "ago":  # "a week ago today"
        return None
    for spelled, days in _ALREADY_AGO.items():
        if words[i].text == spelled[0] and tuple(word.text for word in words[i : i + len(spelled)]) == spelled:
            last = i + len(spelled) - 1
            start, end = words[i].start, words[last].end
            return Span(start, end, Duration(days, "days", is_ago=True), text[start:end]), last + 1
    return None


def _joined(text: str, spans: Sequence[Span[Duration]]) -> list[Span[Duration]]:
    """Sum up neighbours of falling units: "1 year, 2 months and 3 days"."""
    joined: list[Span[Duration]] = []
    smallest = ""  # the unit that the last joined span ends with
    for span in spans:
        before = joined[-1] if joined else None
        if before is not None and _continues(text, before, smallest, span):
            ratio = factor(span.value.unit, before.value.unit)
            assert ratio is not None  # both are units of SECONDS
            amount = whole(before.value.amount + span.value.amount * ratio)
            total = Duration(amount, before.value.unit, is_counted=before.value.is_counted or span.value.is_counted)
            words = text[before.start : span.end]
            joined[-1] = Span(before.start, span.end, total, words, before.exact and span.exact)
        else:
            joined.append(span)
        smallest = span.value.unit
    return joined


def _continues(text: str, before: Span[Duration], smallest: str, span: Span[Duration]) -> bool:
    if smallest not in SECONDS or span.value.unit not in SECONDS or before.value.is_ago or span.value.is_ago:
        return False
    if span.value.amount * SECONDS[span.value.unit] >= SECONDS[smallest] or span.start - before.end > 12:
        return False  # "two years, and 400 days is within that": what is as long as the unit before is no part of one
    return text[before.end : span.start].replace(",", " ").strip().casefold() in ("", "and")
