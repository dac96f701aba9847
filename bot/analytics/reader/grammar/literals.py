"""Numbers of several words, and sums of money, as one token each: "half a million", "1.5M", "-200", "$1,000".

What the catalogue has as a phrase stays one ("Seven Hundred Club"). The currency of a sum is a token of its own behind
the number, so that a rule which does not look at it leaves behind a word that is not understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from bot.analytics.reader.grammar.tokens import Token
from bot.analytics.reader.scope import Lexicon
from bylaw.language.money import CODES, SIGNS, Money, read_money
from bylaw.language.numbers import read_numbers
from bylaw.language.span import Number, Span
from bylaw.language.words import read_words

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
    return Token("number", str(number), span.words, span.start, span.end, _sentence(tokens, span.start), number=number)


def _currency(tokens: Sequence[Token], end: int, code: str) -> Token:
    return Token("word", code.casefold(), code, end - 1, end, _sentence(tokens, end))


def _sentence(tokens: Sequence[Token], place: int) -> int:
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
