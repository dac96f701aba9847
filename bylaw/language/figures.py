"""Every figure of a text: numbers, sums, percentages, durations and dates, in digits or in words, with their units.

A period beside a figure belongs to it ("25 per month"). What reads in two ways (03/04/2026, 1.200) has two values.
Not *firm* are words that are as often no figure: "one" for a thing, "second", "single", "a week".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest

from bylaw.language.lexicon import Lexicon, closed, lexicon
from bylaw.language.months import IN_MONTHS, days_in
from bylaw.language.text import Text, Token, parse
from bylaw.language.units import convert

MAX_DIGITS = 40  # a longer number is a mistake or an attack
Amount = Fraction | date

_ISO = re.compile(r"(?<![\w-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\w-])")
_SLASHED = re.compile(r"(?<![\w./])(\d{1,2})([./])(\d{1,2})\2(\d{4}|\d{2})(?![\w/]|\.\d)")
# A month has a capital: "may" is a verb.
_MONTH = rf"(?=[A-Z])(?i:{'|'.join(sorted(lexicon().months, key=len, reverse=True))})"
_NAMED = re.compile(
    rf"(?<![\w.,])(?:(?P<one>\d\d?)(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})"
    rf"|(?P<name>{_MONTH})\s+(?P<other>\d\d?)(?:st|nd|rd|th)?)\b(?:,?\s+(?P<year>(?:19|20|21)\d\d)\b)?"
)
_ID = re.compile(r"\b[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]*)*-\d+\b|\b[A-Za-z_]+\d[\w-]*")
_SUFFIXES = {"k": 1_000, "m": 1_000_000, "mn": 1_000_000, "bn": 1_000_000_000}
_TIMED = frozenset(("seconds", "minutes", "hours", "days", "weeks", "fortnights", "months", "years", "business_days"))
_ENDS_OF_ORDINALS = frozenset(("st", "nd", "rd", "th"))
SIGNS = frozenset("$€£¥₹₩")
_PER = closed("rating") | {"/"}
_RANGES = frozenset(("to", "-", "–", "—", "and", "or", "till", "until", "("))
_SUMMED = frozenset(("", "and"))


@dataclass(frozen=True, slots=True)
class Figure:
    """`values` are all that it may mean; `unit` is the lexicon's, None for a bare number; `per` what it counts by.

    The number itself stands from `first` up to `core`; none does in "a week".
    """

    start: int
    end: int
    values: tuple[Amount, ...]
    unit: str | None = None
    per: str | None = None
    is_firm: bool = True
    core: int = 0
    first: int = -1
    is_ordinal: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A value in a unit, told in the units that convert exactly: equal measures are equal."""

    kind: str | None
    amount: Amount


def measure(value: Amount, unit: str | None) -> Measure:
    """*value* of a unit of the lexicon; another unit is a kind of its own."""
    size = lexicon().sizes.get(unit or "")
    if size is None or isinstance(value, date):
        return Measure(unit, value)
    if unit in IN_MONTHS:
        return Measure(size[0], days_in(value * IN_MONTHS[unit]) * lexicon().sizes["days"][1])
    return Measure(size[0], value * size[1])


@lru_cache(maxsize=512)
def figures(text: str) -> tuple[Figure, ...]:
    """The figures of *text*, in order."""
    return figures_in(parse(text))


def figures_in(text: Text) -> tuple[Figure, ...]:
    """The same of a text that is parsed."""
    taken = [match.span() for match in _ID.finditer(text.seen) if any(map(str.isdecimal, match[0]))]
    dated = [*_dates(text.seen)]
    taken += [(one.start, one.end) for one in dated]
    free = [*_outside(text.tokens, sorted(taken))]
    counted = [*_Numbers(free, text.seen).all()]
    found = sorted((*dated, *_ranged(counted, text)), key=lambda one: one.start)
    return tuple(one if one.core else replace(one, core=one.end, first=one.end) for one in found)


def _outside(tokens: Sequence[Token], taken: Sequence[tuple[int, int]]) -> Iterator[Token]:
    """The tokens that share no sign with the stretches *taken*, which are sorted. Both are walked once."""
    k, reach = 0, 0
    for token in tokens:
        while k < len(taken) and taken[k][0] < token.end:
            reach, k = max(reach, taken[k][1]), k + 1
        if reach <= token.start:
            yield token


# ---- dates ----------------------------------------------------------------------------------------------------------


def _dates(seen: str) -> Iterator[Figure]:
    for match in _ISO.finditer(seen):
        if day := _day(int(match[1]), int(match[2]), int(match[3])):
            yield Figure(match.start(), match.end(), (day,), "date")
    for match in _SLASHED.finditer(seen):
        one, two, year = int(match[1]), int(match[3]), int(match[4])
        year += 2000 if year < 100 else 0
        is_day_first = match[2] == "."
        read = (_day(year, two, one), None if is_day_first else _day(year, one, two))
        days = tuple(dict.fromkeys(day for day in read if day))
        if days:
            yield Figure(match.start(), match.end(), days, "date")
    for match in _NAMED.finditer(seen):
        month = lexicon().months[(match["month"] or match["name"]).casefold()]
        if day := _day(int(match["year"] or 2000), month, int(match["one"] or match["other"])):
            yield Figure(match.start(), match.end(), (day,), "date" if match["year"] else "day of the year")


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


# ---- numbers --------------------------------------------------------------------------------------------------------


class _Numbers:
    """One walk over the tokens of a text."""

    def __init__(self, tokens: Sequence[Token], seen: str) -> None:
        self.tokens, self.seen, self.words = tokens, seen, [token.word for token in tokens]
        self.lexicon: Lexicon = lexicon()

    def all(self) -> Iterator[Figure]:
        """Every figure but dates."""
        i = 0
        while i < len(self.words):
            found = self._at(i)
            if found is None:
                i += 1
                continue
            figure, following = found
            yield figure
            i = following

    def _at(self, i: int) -> tuple[Figure, int] | None:
        token = self.tokens[i]
        read = self._digits(i) if token.is_number else self._spelled(i)
        if read is None:
            return self._article(i)
        values, last, is_firm = read
        if self.words[last + 1 : last + 4] == ["and", "a", "half"]:
            scale = self.lexicon.scales.get("".join(self.words[last + 4 : last + 5]), 0)  # "one and a half million"
            values = tuple((value + Fraction(1, 2)) * (scale or 1) for value in values)
            last, is_firm = last + 3 + bool(scale), True
        start, end = token.start, self.tokens[last].end
        unit, start, end, following = self._unit(i, last, start, end)
        is_firm = is_firm or (unit is not None and self.words[i] not in self.lexicon.ordinals) or self._is_compared(i)
        per, end, following = self._per(following, end)
        if self._is_pronoun(i, last) and unit is None:
            return None
        is_ordinal = self.words[last] in self.lexicon.ordinals or self.words[last] in _ENDS_OF_ORDINALS
        core = self.tokens[last].end
        return Figure(start, end, values, unit, per, is_firm, core, token.start, is_ordinal), following

    def _digits(self, i: int) -> tuple[tuple[Fraction, ...], int, bool] | None:
        last, scale = self._grouped(i), 1
        values = _values("".join(self.words[i : last + 1]))
        if last == i and i + 1 < len(self.words):
            behind, is_close = self.words[i + 1], self.tokens[i + 1].start == self.tokens[i].end
            if is_close and behind in _SUFFIXES and (behind != "m" or self._is_million(i)):
                last, scale = i + 1, _SUFFIXES[behind]
            elif not is_close and behind in self.lexicon.scales:
                last, scale = i + 1, self.lexicon.scales[behind]
            elif is_close and behind in _ENDS_OF_ORDINALS:
                last = i + 1
        return tuple(value * scale for value in values), last, True

    def _grouped(self, i: int) -> int:
        """The last part of a sum of money whose groups of three stand apart: $1 200, 50 000 EUR.

        Where the currency stands behind, a group tells that it is one by its leading 0: "room 12 300 dollars".
        """
        last = i
        while len(self.words[i]) <= 3 and last + 1 < len(self.tokens) and self._is_group(last + 1):
            last += 1
        is_begun = any(group[0] == "0" for group in self.words[i + 1 : last + 1])
        beside = (*self.words[max(i - 1, 0) : i], *(self.words[last + 1 : last + 2] if is_begun else ()))
        return last if any(self.lexicon.units.get((word,)) in self.lexicon.currencies for word in beside) else i

    def _is_group(self, k: int) -> bool:
        word = self.words[k]
        return word.isdecimal() and len(word) == 3 and self.tokens[k].start - self.tokens[k - 1].end == 1

    def _is_million(self, i: int) -> bool:
        """Is the letter behind a number that of a million, and not of metres: "$5m", "5M"?"""
        return (i > 0 and self.words[i - 1] in SIGNS) or self.seen[self.tokens[i + 1].start] == "M"

    def _spelled(self, i: int) -> tuple[tuple[Fraction, ...], int, bool] | None:
        lex, words, word = self.lexicon, self.words, self.words[i]
        if word in lex.often:
            return (Fraction(lex.often[word]),), i, False
        if word in lex.ordinals:
            return self._ordinal(i)
        if word == "half":
            of = words[i + 2 : i + 3] if words[i + 1 : i + 2] in (["a"], ["an"]) else []
            if of and of[0] in lex.scales:
                return (Fraction(lex.scales[of[0]], 2),), i + 2, True
            is_of_unit = bool(of) and lex.unit(words, i + 2) is not None
            return ((Fraction(1, 2),), i + 1, True) if is_of_unit else ((Fraction(1, 2), Fraction(50)), i, True)
        if (quarters := self._quarters(i)) is not None:
            return quarters
        is_collective = word in ("a", "an") and i + 1 < len(words) and words[i + 1] in lex.scales
        if word not in lex.numbers and word not in lex.scales and not is_collective:
            return None
        total, current, last, k = Fraction(0), Fraction(1 if is_collective else 0), i, i + is_collective
        while k < len(words):
            if words[k] in lex.numbers and (k in (i, last) or current == 0 or 0 < lex.numbers[words[k]] < current):
                current += lex.numbers[words[k]]
            elif words[k] in lex.scales:
                current = (current or Fraction(1)) * lex.scales[words[k]]
                if lex.scales[words[k]] > 100:
                    total, current = total + current, Fraction(0)
            elif words[k] in ("and", "-") and k > i and k + 1 < len(words) and self._goes_on(k):
                k += 1
                continue
            else:
                break
            last, k = k, k + 1
            if k < len(words) and words[k] in lex.numbers and not self._joins(last, k):
                break
        if last + 2 < len(words) and words[last + 1] == "-" and words[last + 2] in lex.ordinals:  # twenty-first
            current, last = current + lex.ordinals[words[last + 2]], last + 2
        return (total + current,), last, word != "one" or last > i

    def _goes_on(self, k: int) -> bool:
        """Does a number go on behind "and" or a hyphen: "a hundred and ten", "twenty-one"?"""
        lex, before, after = self.lexicon, self.words[k - 1], self.words[k + 1]
        if self.words[k] == "and":
            return before in lex.scales and after in lex.numbers
        is_tens = before in lex.numbers and lex.numbers[before] >= 20 and self.tokens[k].start == self.tokens[k - 1].end
        return is_tens and after in lex.numbers and 0 < lex.numbers[after] < 10

    def _joins(self, last: int, k: int) -> bool:
        """May the number word at *k* be part of the number that ends at *last*: "twenty one", "hundred ten"?"""
        before, after = self.words[last], self.lexicon.numbers[self.words[k]]
        if before in self.lexicon.scales:
            return True
        return self.lexicon.numbers[before] >= 20 and 0 < after < 10

    def _quarters(self, i: int) -> tuple[tuple[Fraction, ...], int, bool] | None:
        """ "A quarter of an hour", "three quarters of a year": that part of one, and not one."""
        words, count = self.words, self.lexicon.numbers.get(self.words[i])
        k = i if count is None else i + 1
        is_quarter = words[k : k + 1] in (["quarter"], ["quarters"]) and words[k + 1 : k + 3] in (
            ["of", "a"],
            ["of", "an"],
        )
        if not is_quarter or k + 3 >= len(words) or self.lexicon.unit(words, k + 3) is None:
            return None
        return (Fraction(count or 1, 4),), k + 2, True

    def _ordinal(self, i: int) -> tuple[tuple[Fraction, ...], int, bool] | None:
        behind = self.words[i + 1] if i + 1 < len(self.words) else ""
        value = self.lexicon.ordinals[self.words[i]]
        is_count = behind.isdecimal() or behind in self.lexicon.numbers  # "the first 15 days"
        if is_count or (value == 3 and behind.startswith("part")) or (behind == "-" and value <= 3):
            return None
        return (Fraction(value),), i, value >= 3

    def _article(self, i: int) -> tuple[Figure, int] | None:
        """A week, an hour: firm behind "within" and its like."""
        if self.words[i] not in ("a", "an", "one") or i + 1 >= len(self.words):
            return None
        found = self.lexicon.unit(self.words, i + 1)
        if found is None or found[0] not in _TIMED or found[0] == "seconds" or len(self.words[i + 1]) <= 2:
            return None
        before = self.words[i - 1] if i else ""
        is_firm = before in self.lexicon["measuring"]
        last = i + found[1]
        is_per = i > 0 and (self.tokens[i - 1].is_number or before in self.lexicon.often)
        if is_per:
            return None
        figure = Figure(self.tokens[i].start, self.tokens[last].end, (Fraction(1),), found[0], None, is_firm)
        return figure, last + 1

    def _unit(self, i: int, last: int, start: int, end: int) -> tuple[str | None, int, int, int]:
        """The unit before or behind a number, the stretch with it, and the token behind."""
        words, lex = self.words, self.lexicon
        if i and words[i - 1] in SIGNS:
            is_prefixed = i > 1 and self.tokens[i - 2].end == self.tokens[i - 1].start  # US$600
            k = i - 2 if is_prefixed and tuple(words[i - 2 : i]) in lex.units else i - 1
            return lex.units[tuple(words[k:i])], self.tokens[k].start, end, last + 1
        if i and (before := lex.unit(words, i - 1)) and before[0].isupper() and len(words[i - 1]) == 3:  # USD 500
            return before[0], self.tokens[i - 1].start, end, last + 1
        k = last + 1
        if k + 1 < len(words) and words[k] == "-" and self.tokens[k].start == end:
            k += 1  # 15-day
        while k < len(words) and words[k] in ("full", "whole", "calendar", "more", "consecutive") and k - last <= 2:
            k += 1
        behind = lex.unit(words, k) if k < len(words) else None
        if behind and not (len(words[k]) == 1 and words[k].isalpha() and self.tokens[k].start - end > 1):
            return behind[0], start, self.tokens[k + behind[1] - 1].end, k + behind[1]
        if (
            i
            and (before := lex.unit(words, i - 1))
            and before[0] in _TIMED
            and words[i - 1] in ("day", "week", "month")
        ):
            return before[0], self.tokens[i - 1].start, end, last + 1  # day 16
        return None, start, end, last + 1

    def _per(self, k: int, end: int) -> tuple[str | None, int, int]:
        """What a figure counts by: per month, a day, /kg, monthly."""
        words, lex = self.words, self.lexicon
        if k < len(words) and words[k] in _PER and k + 1 < len(words):
            unit = lex.unit(words, k + 1)
            is_article = words[k] not in ("per", "/")
            if unit and not (is_article and unit[0] not in _TIMED):
                return unit[0], self.tokens[k + unit[1]].end, k + 1 + unit[1]
            if words[k] == "per" and self.tokens[k + 1].is_word:
                return words[k + 1], self.tokens[k + 1].end, k + 2
        adverbs = {"daily": "days", "weekly": "weeks", "monthly": "months", "yearly": "years", "annually": "years"}
        if k < len(words) and words[k] in adverbs:
            return adverbs[words[k]], self.tokens[k].end, k + 1
        return None, end, k

    def _is_compared(self, i: int) -> bool:
        before = self.words[i - 1] if i else ""
        return self.words[i] in self.lexicon.numbers and before in ("than", "least", "most", "exactly", "to", "only")

    def _is_pronoun(self, i: int, last: int) -> bool:
        """Does "one" stand for a thing ("this one", "one of them")? Then it is no figure at all."""
        if self.words[i] != "one" or last > i:
            return False
        before, after = self.words[i - 1] if i else "", self.words[i + 1] if i + 1 < len(self.words) else ""
        is_bound = before in ("than", "least", "most", "exactly", "only", "up")
        return not is_bound and (after in ("of", "per", "") or not after[:1].isalpha() or self._follows_a_name(before))

    def _follows_a_name(self, before: str) -> bool:
        return before in self.lexicon["function"] or before in ("new", "old", "different")


def _values(digits: str) -> tuple[Fraction, ...]:
    """What a number in digits may mean: a comma or a point groups thousands, or begins decimals."""
    if sum(map(str.isdecimal, digits)) > MAX_DIGITS:
        return (Fraction(-1),)
    whole = digits.replace("'", "") if re.fullmatch(r"\d{1,3}(?:'\d{3})+", digits) else digits
    found = []
    if re.fullmatch(r"\d+(?:\.\d+)?", whole):
        found.append(Fraction(whole))
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", whole):
        found.append(Fraction(whole.replace(",", "")))
    elif re.fullmatch(r"\d+,\d+", whole):
        found.append(Fraction(whole.replace(",", ".")))
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", whole):
        found.append(Fraction(whole.replace(".", "").replace(",", ".")))
    return tuple(dict.fromkeys(found)) or (Fraction(-1),)  # a chain of parts: no claim carries it


def _ranged(found: Sequence[Figure], text: Text) -> Iterator[Figure]:
    """The figures of a range share their unit: 5 to 7 days, between 2 and 3 weeks, $5-10.

    One figure are "ten (10)" and "1 hour 30 minutes".
    """
    before: Figure | None = None
    gap_before = ""
    for one, other in zip_longest(found, found[1:]):
        gap = text.seen[one.end : other.start].strip().casefold() if other else ""
        if before is not None and gap_before == "(" and before.values == one.values:
            one = replace(one, start=before.start, first=before.first, unit=one.unit or before.unit)
        elif before is not None and gap_before in _SUMMED and (total := _sum(before, one)) is not None:
            one = total
        elif before is not None:
            yield before
            if one.unit is None and before.unit in lexicon().currencies and before.end + 1 == one.start:
                one = replace(one, unit=before.unit, per=before.per)
        if other and one.unit is None and other.unit and gap in _RANGES:
            one = replace(one, unit=other.unit, per=other.per)
        before, gap_before = one, gap
    if before is not None:
        yield before


def _calendar_sum(one: Figure, part: Figure) -> Figure | None:
    """Months and what is less than one of them, in the unit of that: "a year and 5 days" are 370 days."""
    match one.values, part.values:
        case ((Fraction() as whole,), (Fraction() as rest,)):
            in_part = convert(whole, one.unit or "", part.unit or "")
            share = convert(Fraction(1), one.unit or "", part.unit or "")
            if in_part is not None and share is not None and rest < share and part.unit != one.unit and one.per is None:
                return replace(part, start=one.start, values=(in_part + rest,))
    return None


def _sum(one: Figure, part: Figure) -> Figure | None:
    """Two durations as one, where the second is less than one unit of the first: 2 weeks and 3 days."""
    sizes = lexicon().sizes
    if one.unit in IN_MONTHS and part.unit is not None:
        return _calendar_sum(one, part)
    if not (one.unit in sizes and part.unit in sizes and sizes[one.unit][0] == sizes[part.unit][0] == "time"):
        return None
    share = sizes[part.unit][1] / sizes[one.unit][1]
    match one.values, part.values:
        case ((Fraction() as whole,), (Fraction() as rest,)) if rest * share < 1 and one.per is None:
            return replace(one, end=part.end, core=part.core, values=(whole + rest * share,), per=part.per)
    return None
