"""A question as tokens: words in their normal form, numbers and sums as one each, spans of time, literals, marks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal

from bot.analytics.reader.scope import Lexicon
from bylaw.language import dates
from bylaw.language.money import CODES, SIGNS, Money, read_money
from bylaw.language.numbers import read_numbers
from bylaw.language.periods import CalendarRules
from bylaw.language.span import Number, Span
from bylaw.language.words import read_words

Kind = Literal["word", "number", "quoted", "time", "mark"]

MAX_TOKENS = 400  # a longer text is no question

_QUOTED = re.compile(
    r"`([^`\n]{1,200})`|\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|(?<![^\s(\[,:=])'([^'\n]{1,200})'(?![\w])|‘([^’\n]{1,200})’"
)
_MARK = re.compile(r">=|<=|!=|<>|≥|≤|[><=%,()/]")
_SAME = {"≥": ">=", "≤": "<=", "<>": "!="}


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of the question. `raw` is what was typed; a gap between sentences is where `sentence` counts up."""

    kind: Kind
    text: str
    raw: str
    start: int
    end: int
    sentence: int
    span: dates.Span | None = None
    number: int | Decimal | None = None

    @property
    def is_proper(self) -> bool:
        """Is it written like a name: a capital first, or capitals only?"""
        return self.kind == "word" and self.raw[:1].isupper()


def read_tokens(text: str, today: date, calendar: CalendarRules) -> tuple[Token, ...]:
    """The tokens of *text* in order, one more than MAX_TOKENS at most. What stands in quotes is one literal."""
    quoted = list(_QUOTED.finditer(text))
    blank = _blanked(text, [match.span() for match in quoted])
    sums = [(money.start, money.end) for money in read_money(blank)]  # "$2000" is no year
    spans = dates.find(_blanked(blank, sums), today, calendar)
    rest = _blanked(blank, [(span.begins, span.ends) for span in spans])
    ends = [match.start() for match in _END.finditer(rest)]
    found = [*_words(text, rest, ends)]
    for match in quoted:
        said = next(group for group in match.groups() if group is not None)
        found.append(Token("quoted", said.strip(), said.strip(), *match.span(), _sentence(ends, match.start())))
    for span in spans:
        raw = text[span.begins : span.ends]
        found.append(Token("time", raw.lower(), raw, span.begins, span.ends, _sentence(ends, span.begins), span))
    for match in _MARK.finditer(rest):
        mark = _SAME.get(match[0], match[0])
        found.append(Token("mark", mark, match[0], *match.span(), _sentence(ends, match.start())))
    return tuple(sorted(found, key=lambda token: (token.start, token.end)))[: MAX_TOKENS + 1]


def _words(text: str, rest: str, ends: Sequence[int]) -> Iterator[Token]:
    for word in read_words(rest):
        raw, sentence = text[word.start : word.end], _sentence(ends, word.start)
        if word.text == "s" and text[word.start - 1 : word.start] in ("'", "’"):
            continue  # the possessive of a span of time: "last quarter's"
        if word.is_number:
            yield Token("number", word.text, raw, word.start, word.end, sentence, number=_number(word.text))
        else:
            yield Token("word", word.text, raw, word.start, word.end, sentence)


def _number(text: str) -> int | Decimal | None:
    """The number that the digits say; None where they can be read in two ways."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?", text) is None:
        return None
    value = Decimal(text.replace(",", ""))
    return int(value) if value == value.to_integral_value() and "." not in text else value


def _blanked(text: str, places: list[tuple[int, int]]) -> str:
    for start, end in places:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


_END = re.compile(r"[?!;]|(?<!\bno)(?<!\bvs)\.(?=\s|$)|\n", re.IGNORECASE)


def _sentence(ends: Sequence[int], at: int) -> int:
    """How many of the sentences that stop at *ends* stop before the place *at*."""
    return bisect_left(ends, at)


_MOST_LEFT = 12  # the numbers up to this one may stay words, which may mean more: "one of"


def with_literals(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> tuple[Token, ...]:
    """*tokens* of *text* with its numbers and sums put together."""
    plain = text
    for token in tokens:
        if token.kind in ("time", "quoted"):
            plain = f"{plain[: token.start]}{' ' * (token.end - token.start)}{plain[token.end :]}"
    words = read_words(plain)
    numbers = read_numbers(plain, words)
    found: list[Token] = []
    for money in read_money(plain, words, numbers):
        if _has_sign(money):
            said = next(one.words for one in numbers if money.start <= one.start < money.end)
            found.append(replace(_token(tokens, money, money.value.amount), raw=said))
            found.append(_currency(tokens, money.end, money.value.currency))
    for number in numbers:
        inside = [token for token in tokens if number.start <= token.start < number.end]
        is_free = not any(one.start <= number.start < one.end for one in found)
        if is_free and _is_new(number, inside) and not _is_phrase(tokens, inside, lexicon):
            found.append(_token(tokens, number, number.value))
    for place, char in enumerate(plain):
        if char in SIGNS and not any(one.start <= place < one.end for one in found):
            found.append(_currency(tokens, place + 1, SIGNS[char]))  # "revenue in €"
    if not found:
        return tuple(tokens)
    kept = [token for token in tokens if not any(one.start <= token.start < one.end for one in found)]
    return tuple(sorted([*kept, *found], key=lambda token: (token.start, token.end)))


def _token(tokens: Sequence[Token], span: Span[Number] | Span[Money], value: Number) -> Token:
    number = value if isinstance(value, int) else Decimal(value.numerator) / Decimal(value.denominator)
    return Token(
        "number", str(number), span.words, span.start, span.end, _sentence_at(tokens, span.start), number=number
    )


def _currency(tokens: Sequence[Token], end: int, code: str) -> Token:
    return Token("word", code.casefold(), code, end - 1, end, _sentence_at(tokens, end))


def _sentence_at(tokens: Sequence[Token], place: int) -> int:
    return max((token.sentence for token in tokens if token.start <= place), default=0)


def _has_sign(money: Span[Money]) -> bool:
    """Is it told by a sign, or by a code in front? Words behind a number are units like others: "300 pounds"."""
    return not SIGNS.keys().isdisjoint(money.words) or money.words[:3].upper() in CODES


def _is_new(number: Span[Number], inside: Sequence[Token]) -> bool:
    """Is it no number as it stands? "A couple" and "dozens" are none at all."""
    said = number.words.casefold()
    if "couple" in said or said.endswith("s"):
        return False
    if len(inside) == 1 and said.isalpha():
        return number.value > _MOST_LEFT or said == "dozen"
    return len(inside) > 1 or said.startswith(("-", "−"))


def _is_phrase(tokens: Sequence[Token], inside: Sequence[Token], lexicon: Lexicon) -> bool:
    """Has the catalogue a phrase that one of its words begins?"""
    words = [token.text for token in tokens]
    for token in inside:
        found = lexicon.longest_at(words, tokens.index(token))
        if found is not None and (found[0] > 1 or (len(inside) == 1 and token.kind == "word")):
            return True
    return False
