"""Numbers as people write them: `1,200.50`, `1.5k`, "twenty-one", "a dozen". Ordinals, dates and ids are none.

What can be read in two ways ("1,5", "1 200 boxes") is not read at all, but "1,5 kg" is a measure with a decimal comma;
a bound or a range is read, marked as not exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from bylaw.language.quantities import unit_at
from bylaw.language.span import Number, Span, listed, whole
from bylaw.language.words import FUNCTION_WORDS, Word, read_words

MAX_DIGITS = 40  # a longer number is a mistake or an attack

_SMALL_IN_ORDER = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS_IN_ORDER = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: number for number, word in enumerate(_SMALL_IN_ORDER.split())}
_TENS = {word: 10 * number for number, word in enumerate(_TENS_IN_ORDER.split(), start=2)} | {"fourty": 40}
COUNT_WORDS = frozenset((*_SMALL, *_TENS))
_SCALES = {"thousand": 1_000, "grand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SUFFIXES = {"k": 1_000, "K": 1_000, "M": 1_000_000, "mn": 1_000_000, "bn": 1_000_000_000}  # "5m" may be metres
_ORDINALS = listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth hundredth"
)
_PRONOUN_ONE = _ORDINALS | listed(
    "no the this that which any every each some another new old other such blue red last next previous same right wrong"
)
_GROUPS = re.compile(r"\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3}){1,4}(?![\w'’]|[.,]\d)")
_AGAIN = re.compile(r" \((\d{1,9})\)")
_SIGNS = frozenset("$€£¥₹")
_PRICED = listed(
    "price total worth value sum amount : for at be of cost pay paid spend spent charge charged usd eur gbp chf about "
    "around"
)
_SUMS = listed("dollar usd euro eur gbp chf buck")

_ENGLISH = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_EUROPEAN = re.compile(r"\d{1,3}(?:\.\d{3})+,\d{1,2}|\d{1,3}(?:\.\d{3}){2,}")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_COUNTED_APART = re.compile(r"([a-z]+) (-|–|—|to|or)")
_APART = re.compile(r" [,.]\d")
_DECIMAL_COMMA = re.compile(r"\d{1,4},\d{1,2}")

_MORE_WORDS = (
    "more than",
    "less than",
    "fewer than",
    "older than",
    "longer than",
    "shorter than",
    "greater than",
    "higher than",
    "lower than",
    "at least",
    "at most",
    "no more than",
    "later than",
    "earlier than",
    "sooner than",
    "the latest",
    "the earliest",
    "up to",
)
_BOUNDS = frozenset(tuple(words.split()) for words in _MORE_WORDS)
_BOUND = listed("over under above below within exceeding minimum maximum max min beyond >")
_AFTER = frozenset(
    (
        *(("or", word) for word in ("more", "less", "longer", "shorter", "fewer", "older", "later", "earlier")),
        *(("at", word) for word in ("most", "least", "max")),
        *(("and", word) for word in ("up", "over", "above", "more")),
    )
)
_AT_THE_LATEST = (("at", "the", "latest"), ("at", "the", "earliest"), ("at", "the", "most"), ("at", "the", "least"))
_AT_MOST = listed("max maximum minimum")


def read_numbers(text: str, words: Sequence[Word] | None = None) -> tuple[Span[Number], ...]:
    """Every number of *text*. *words* are the text's words, if they are at hand."""
    words = read_words(text) if words is None else words
    found: list[Span[Number]] = []
    i = 0
    while i < len(words):
        read = _digits(text, words, i) if words[i].is_number else _spelled(text, words, i)
        if read is None:
            i += 1
            continue
        value, last = read
        if value is not None:
            start, end = words[i].start - _minus(text, words[i].start), words[last].end
            value = -value if start < words[i].start else value
            again = _AGAIN.match(text, end)  # "ten (10)"
            if again is not None and int(again[1]) == value:
                last, end = last + 1, again.end()
            found.append(Span(start, end, whole(value), text[start:end]))
        i = last + 1
    return mark_inexact(text, words, found)


# ---- digits ---------------------------------------------------------------------------------------------------------


def _digits(text: str, words: Sequence[Word], i: int) -> tuple[Fraction | None, int] | None:
    """The number at word *i* and the last word it takes; a value of None skips what is no number."""
    word = words[i]
    grouped = _grouped(text, words, i)
    if grouped is not None:
        return grouped
    value = _value(word.text)
    if value is None and _DECIMAL_COMMA.fullmatch(word.text) and _is_measured(text, words, i):
        value = Fraction(word.text.replace(",", "."))
    if value is None or _is_part_of_something(text, word):
        return None, i
    following = words[i + 1] if i + 1 < len(words) else None
    if following is None:
        return value, i
    between = text[word.end : following.start]
    if between == "" and following.text in ("st", "nd", "rd", "th"):
        return None, i + 1
    if between == "" and following.text == "ish":
        return value, i + 1
    if between == "" and (scale := _SUFFIXES.get(text[following.start : following.end])):
        return value * scale, i + 1
    if between.isspace() and following.text in (*_SCALES, "hundred", "dozen"):
        return value * {**_SCALES, "hundred": 100, "dozen": 12}[following.text], i + 1
    return _and_a_half(words, i, value)


def _value(digits: str) -> Fraction | None:
    if len(digits) - digits.count(",") - digits.count(".") > MAX_DIGITS:
        return None
    if digits.isdecimal():
        return Fraction(int(digits))
    if _PLAIN.fullmatch(digits):
        return Fraction(digits)
    if _ENGLISH.fullmatch(digits):
        return Fraction(digits.replace(",", ""))
    if _EUROPEAN.fullmatch(digits):
        return Fraction(digits.replace(".", "").replace(",", "."))
    return None


def _is_part_of_something(text: str, word: Word) -> bool:
    """Is it a piece of an id, a date, a time or a telephone number?"""
    before, after = text[max(word.start - 2, 0) : word.start], text[word.end : word.end + 3]
    last = before[-1:]
    if _APART.match(after) or (last == "," and before[:1] == " "):  # "89 ,95"
        return True
    if last.isalnum() or (last and last in "_#/\\@."):
        return True
    if last in (",", ":", "'", "’") and before[:1].isdigit():
        return True
    if last in ("-", "–") and before[:-1].isalnum():
        return True
    return after[:1] in ("-", "–", "/", ":", "_", "'", "’") and after[1:].isdigit()


def _grouped(text: str, words: Sequence[Word], i: int) -> tuple[Fraction | None, int] | None:
    """The number whose groups of three stand apart: `1 200`. With a plain space it is one only beside a currency."""
    if i + 1 >= len(words) or not words[i + 1].is_number or words[i + 1].start - words[i].end != 1:
        return None
    found = _GROUPS.match(text, words[i].start)
    if found is None:
        return None
    groups = re.split(r"\D", found.group())
    last = i + len(groups) - 1
    is_one = " " not in found.group() or _is_sum(text, words, i, last)
    if not is_one or text[found.start() - 1 : found.start()].isalnum() or groups[0].startswith("0"):
        return None, last
    return Fraction(int("".join(groups))), last


def _is_sum(text: str, words: Sequence[Word], i: int, last: int) -> bool:
    """Do the words *i* to *last* stand beside a currency, where nothing else is counted or numbered?"""
    start, end = words[i].start, words[last].end
    if not _SIGNS.isdisjoint(text[max(start - 2, 0) : start]):
        return True
    before = words[i - 1].text if i and words[i - 1].clause == words[i].clause else ":"
    behind = words[last + 1].text if last + 1 < len(words) else ""
    is_priced = behind in _SUMS or not _SIGNS.isdisjoint(text[end : end + 2])
    return is_priced and before in _PRICED


def _is_measured(text: str, words: Sequence[Word], i: int) -> bool:
    """Does word *i* stand beside a unit or a currency, so that its comma can only be a decimal one?"""
    start, end = words[i].start, words[i].end
    if not _SIGNS.isdisjoint((text[max(start - 2, 0) : start] + text[end : end + 2]).replace(" ", "")):
        return True
    behind = [word.text for word in words[i + 1 : i + 3] if word.clause == words[i].clause]
    return behind[:1] in (["m"], ["g"]) or unit_at(behind, 0) is not None


def _minus(text: str, start: int) -> int:
    """How many characters before *start* are a minus sign."""
    if text[start - 1 : start] in ("-", "−") and (start < 2 or text[start - 2].isspace() or text[start - 2] == "("):
        return 1
    return 0


# ---- words ----------------------------------------------------------------------------------------------------------


def _spelled(text: str, words: Sequence[Word], i: int) -> tuple[Fraction | None, int] | None:
    first = words[i].text
    if first in ("a", "half") or first == "couple":
        return _collective(words, i)
    if first not in _SMALL and first not in _TENS:
        return (Fraction(12), i) if first == "dozen" else None
    if first == "one" and not text.startswith("-", words[i].end) and _is_pronoun(words, i):
        return None
    value, last = _cardinal(words, i)
    if last + 1 < len(words) and _is_ordinal(words[last + 1]) and _are_joined(text, words, last):
        return None, last + 1
    if last + 1 < len(words) and words[last + 1].text == "dozen":
        return value * 12, last + 1
    return _and_a_half(words, last, value)


def _cardinal(words: Sequence[Word], i: int) -> tuple[Fraction, int]:
    """The longest number that the words from *i* spell."""
    total = current = 0
    last = i
    may_follow = "any"
    k = i
    if words[i].text == "a":  # "a hundred and twenty"
        current, may_follow, k = 1, "scale", i + 1
    while k < len(words) and words[k].sentence == words[i].sentence:
        word = words[k].text
        if word in _TENS and may_follow == "any":
            current, may_follow = current + _TENS[word], "units"
        elif word in _SMALL and (may_follow == "any" or (may_follow == "units" and 0 < _SMALL[word] < 10)):
            current, may_follow = current + _SMALL[word], "scale"
        elif word == "hundred" and 0 < current < 100:
            current, may_follow = current * 100, "any"
        elif word in _SCALES and current:
            total, current, may_follow = total + current * _SCALES[word], 0, "any"
        elif word == "and" and k > i and words[k - 1].text in ("hundred", *_SCALES) and _goes_on(words, k + 1):
            k += 1
            continue
        else:
            break
        last, k = k, k + 1
    return Fraction(total + current), last


def _is_ordinal(word: Word) -> bool:
    return word.text in _ORDINALS and word.end - word.start == len(word.text)  # "seconds" are a unit


def _goes_on(words: Sequence[Word], k: int) -> bool:
    return k < len(words) and (words[k].text in _SMALL or words[k].text in _TENS)


def _are_joined(text: str, words: Sequence[Word], i: int) -> bool:
    between = text[words[i].end : words[i + 1].start]
    return between.isspace() or between == "-"


def _collective(words: Sequence[Word], i: int) -> tuple[Fraction | None, int] | None:
    """Read "a dozen", "half a dozen", "a hundred", "a couple of"."""
    rest = [word.text for word in words[i : i + 4]]
    match rest:
        case ["half", "a", "dozen", *_]:
            return Fraction(6), i + 2
        case ["half", "a", ("thousand" | "million" | "billion") as scale, *_]:
            return Fraction(_SCALES[scale], 2), i + 2
        case ["a", "couple", "of", *_]:
            return Fraction(2), i + 2
        case ["a", "couple", *_]:
            return Fraction(2), i + 1
        case ["couple", "of", *_]:
            return Fraction(2), i + 1
        case ["a", "dozen", *_]:
            return Fraction(12), i + 1
        case ["a", scale, *_] if scale == "hundred" or scale in _SCALES:
            return _cardinal(words, i)
    return None


def _and_a_half(words: Sequence[Word], last: int, value: Fraction) -> tuple[Fraction, int]:
    if [word.text for word in words[last + 1 : last + 4]] == ["and", "a", "half"]:
        return value + Fraction(1, 2), last + 3
    return value, last


def _is_pronoun(words: Sequence[Word], i: int) -> bool:
    """Does the word stand for a thing: "this one", "one of them"?"""
    before = words[i - 1].text if i and words[i - 1].sentence == words[i].sentence else ""
    after = words[i + 1].text if i + 1 < len(words) else ""
    return before in _PRONOUN_ONE or after == "of"


# ---- bounds and ranges ----------------------------------------------------------------------------------------------


def mark_inexact(text: str, words: Sequence[Word], spans: Sequence[Span[Number]]) -> tuple[Span[Number], ...]:
    """The same spans; those that a bound word or a range makes inexact are marked."""
    inexact = inexact_spans(text, words, [(span.start, span.end) for span in spans])
    return tuple(
        Span(span.start, span.end, span.value, span.words, span.exact and k not in inexact)
        for k, span in enumerate(spans)
    )


def inexact_spans(text: str, words: Sequence[Word], places: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Which of the ordered *places* stand behind "more than", before "or more", or in a range with a neighbour."""
    found: set[int] = set()
    k_word = 0
    for k, (start, end) in enumerate(places):
        while k_word < len(words) and words[k_word].start < start:
            k_word += 1
        if _has_bound_before(text, words, k_word, start) or _has_bound_after(text, words, k_word, end):
            found.add(k)
        if k and _is_range(text, words, places[k - 1], (start, end), k_word):
            found |= {k - 1, k}
    return frozenset(found)


def _has_bound_before(text: str, words: Sequence[Word], i: int, start: int) -> bool:
    if text[max(start - 1, 0) : start] in ("<", ">", "≤", "≥") or text[max(start - 2, 0) : start - 1] in ("<", ">"):
        return True
    if i == 0 or words[i - 1].clause != words[min(i, len(words) - 1)].clause:
        return False
    before = tuple(word.text for word in words[max(i - 2, 0) : i])
    if before and before[-1] in ("a", "the", "about", "around"):
        before = tuple(word.text for word in words[max(i - 3, 0) : i - 1])
    return before in _BOUNDS or (bool(before) and before[-1] in _BOUND)


def _has_bound_after(text: str, words: Sequence[Word], i: int, end: int) -> bool:
    if text[end : end + 1] == "+":
        return True
    while i < len(words) and words[i].start < end:
        i += 1
    after = tuple(word.text for word in words[i : i + 3])
    return after[:2] in _AFTER or after in _AT_THE_LATEST or (bool(after) and after[0] in _AT_MOST)


def _is_range(text: str, words: Sequence[Word], one: tuple[int, int], other: tuple[int, int], i: int) -> bool:
    if other[0] - one[1] > 40:
        return False
    between = " ".join(text[one[1] : other[0]].split()).casefold()
    if between in ("-", "–", "—", "to", "or"):
        return True
    apart = _COUNTED_APART.fullmatch(between)
    if apart is not None and apart[1] not in FUNCTION_WORDS:  # "2 kg or 3 kg"
        return apart[2] == "or" or unit_at([apart[1]], 0) is not None
    return between == "and" and any(word.text == "between" for word in words[max(i - 6, 0) : i])
