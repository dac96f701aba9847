"""A question as tokens: words in their normal form, numbers and sums as one each, spans of time, literals, marks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from bot.analytics.reader.scope import Lexicon
from bylaw.language import dates
from bylaw.language.figures import SIGNS, Figure, figures_in
from bylaw.language.lexicon import lexicon as english
from bylaw.language.periods import CalendarRules
from bylaw.language.text import as_typed
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
    sums = [(one.first, one.core) for one in figures_in(as_typed(blank)) if _is_sum(one)]  # "$2000" is no year
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
    plain = _blanked(text, [(token.start, token.end) for token in tokens if token.kind in ("time", "quoted")])
    found: list[Token] = []
    for figure in figures_in(as_typed(plain)):
        if (signed := _signed(figure, plain)) is not None:
            found.append(_token(tokens, figure, plain, *signed))
            found.append(_currency(tokens, signed[1], str(figure.unit)))
            continue
        start = figure.first - _minus(plain, figure.first)
        inside = [token for token in tokens if start <= token.start < figure.core]
        if _is_new(figure, plain[start : figure.core], inside) and not _is_phrase(tokens, inside, lexicon):
            found.append(_token(tokens, figure, plain, start, figure.core))
    for place, char in enumerate(plain):
        if char in SIGNS and not any(one.start <= place < one.end for one in found):
            found.append(_currency(tokens, place + 1, english().units[char,]))  # "revenue in €"
    if not found:
        return tuple(tokens)
    kept = [token for token in tokens if not any(one.start <= token.start < one.end for one in found)]
    return tuple(sorted([*kept, *found], key=lambda token: (token.start, token.end)))


def _token(tokens: Sequence[Token], figure: Figure, text: str, start: int, end: int) -> Token:
    """The number of a figure as one token; it has no value where it can be read in two ways."""
    sign, value = -1 if text[start] in "-−" else 1, figure.values[0]
    number: int | Decimal | None = None
    if len(figure.values) == 1 and isinstance(value, Fraction) and value >= 0:
        number = sign * (int(value) if value.denominator == 1 else Decimal(value.numerator) / value.denominator)
    raw = text[figure.first : figure.core]
    return Token("number", str(number or raw), raw, start, end, _sentence_at(tokens, start), number=number)


def _minus(text: str, start: int) -> int:
    """How many characters before *start* are a minus sign."""
    return int(text[start - 1 : start] in ("-", "−") and (start < 2 or text[start - 2] in " ("))


def _currency(tokens: Sequence[Token], end: int, code: str) -> Token:
    return Token("word", code.casefold(), code, end - 1, end, _sentence_at(tokens, end))


def _sentence_at(tokens: Sequence[Token], place: int) -> int:
    return max((token.sentence for token in tokens if token.start <= place), default=0)


def _is_sum(figure: Figure) -> bool:
    return figure.unit in english().currencies


def _signed(figure: Figure, text: str) -> tuple[int, int] | None:
    """Where a sum stands that is told by a sign, or by a code in front. Words behind are units: "300 pounds"."""
    if not _is_sum(figure):
        return None
    if figure.start < figure.first:
        return figure.start - _minus(text, figure.start), figure.core
    behind = text[figure.core : figure.end].lstrip()
    return (figure.first, figure.end - len(behind) + 1) if behind[:1] in SIGNS else None


def _is_new(figure: Figure, said: str, inside: Sequence[Token]) -> bool:
    """Is it no number as it stands? "A couple", "dozens" and "the 21st" are none at all."""
    said = said.casefold()
    if figure.is_ordinal or "couple" in said or said.endswith("s"):
        return False
    if len(inside) == 1 and said.isalpha():
        return said == "dozen" or any(isinstance(one, Fraction) and one > _MOST_LEFT for one in figure.values)
    return len(inside) > 1 or said.startswith(("-", "−"))


def _is_phrase(tokens: Sequence[Token], inside: Sequence[Token], lexicon: Lexicon) -> bool:
    """Has the catalogue a phrase that one of its words begins?"""
    words = [token.text for token in tokens]
    for token in inside:
        found = lexicon.longest_at(words, tokens.index(token))
        if found is not None and (found[0] > 1 or (len(inside) == 1 and token.kind == "word")):
            return True
    return False
