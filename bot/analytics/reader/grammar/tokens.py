"""A question as tokens: words in their normal form, spans of time, quoted and typed literals, marks between them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from bylaw.language import dates
from bylaw.language.money import read_money
from bylaw.language.periods import CalendarRules
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
