"""Sums of money: `$600`, `600 dollars`, `USD 1,200.50`, `€20`, `50 cents`. Nothing converts between currencies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from bylaw.language.numbers import inexact_spans, read_numbers
from bylaw.language.span import Number, Span, listed, whole
from bylaw.language.words import Word, read_words

CODES = listed("USD EUR GBP CHF JPY CAD AUD NZD SGD HKD CNY INR SEK NOK DKK PLN CZK HUF BRL MXN ZAR KRW")
DOLLARS = listed("USD CAD AUD NZD SGD HKD")

SIGNS: Mapping[str, str] = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW"}
_SIGN_PREFIXES: Mapping[str, str] = {"us": "USD", "ca": "CAD", "c": "CAD", "au": "AUD", "nz": "NZD", "hk": "HKD"}
_NAMES: Mapping[str, str] = {
    **{code.casefold(): code for code in CODES},
    **dict.fromkeys(("dollar", "buck", "usd"), "USD"),
    **dict.fromkeys(("euro",), "EUR"),
    **dict.fromkeys(("pound", "quid"), "GBP"),
    **dict.fromkeys(("franc",), "CHF"),
    **dict.fromkeys(("yen",), "JPY"),
    **dict.fromkeys(("rupee",), "INR"),
}
_CENTS = re.compile(r"(?i)cents?$")
_JOINING = ("", "and", ",")
_THOUSANDTHS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,k]|,\d)")
_POINTED = listed("EUR DKK BRL")  # currencies that nobody tells in thousandths, and whose countries group with a point
_ANY_DOLLAR = frozenset(("$", "dollar", "buck", "cent"))


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in one currency. `is_any_dollar`: written as "$" or "dollars", which several countries say."""

    amount: Number
    currency: str
    is_any_dollar: bool = False

    def fits(self, currency: str) -> bool:
        """Is this a sum in *currency*?"""
        return self.currency == currency or (self.is_any_dollar and currency in DOLLARS)


@lru_cache(maxsize=2_000)
def currency_of(unit: str) -> str | None:
    """The currency code that *unit* spells (`USD`, `usd`, `$`, `dollars`), None where it is no currency."""
    if unit in SIGNS:
        return SIGNS[unit]
    words = read_words(unit)
    return _NAMES.get(words[0].text) if len(words) == 1 else None


def read_money(
    text: str, words: Sequence[Word] | None = None, numbers: Sequence[Span[Number]] | None = None
) -> tuple[Span[Money], ...]:
    """Every sum of money in *text*."""
    words = read_words(text) if words is None else words
    numbers = read_numbers(text, words) if numbers is None else numbers
    found: list[Span[Money]] = []
    i = 0
    for number in numbers:
        while i < len(words) and words[i].start < number.start:
            i += 1
        k = i
        while k < len(words) and words[k].start < number.end:
            k += 1
        read = _before(text, words, i, number) or _after(text, words, k, number)
        if read is None:
            continue
        if found and _CENTS.search(read.words) and text[found[-1].end : read.start].strip() in _JOINING:
            read = _sum(text, found.pop(), read)
        found.append(read)
    inexact = inexact_spans(text, words, [(span.start, span.end) for span in found])
    return tuple(
        Span(span.start, span.end, span.value, span.words, span.exact and k not in inexact and _is_one(span))
        for k, span in enumerate(found)
    )


def _sum(text: str, dollars: Span[Money], cents: Span[Money]) -> Span[Money]:
    """Both as one: "75 dollars and 50 cents"."""
    whole_amount = whole(Fraction(dollars.value.amount) + cents.value.amount)
    total = Money(whole_amount, dollars.value.currency, dollars.value.is_any_dollar)
    return Span(dollars.start, cents.end, total, text[dollars.start : cents.end], dollars.exact and cents.exact)


def _is_one(span: Span[Money]) -> bool:
    """Can the sum be read in only one way? "$1.200" may be thousands, "1.200 €" is."""
    return span.value.currency in _POINTED or not may_be_thousands(span.words)


def may_be_thousands(words: str) -> bool:
    """Is a point followed by three digits, which some write for thousands: "1.200"?"""
    return _THOUSANDTHS.search(words) is not None


def _amount(number: Span[Number], currency: str) -> Number:
    """The number of a sum; in a currency that is told so, its point makes thousands."""
    is_grouped = currency in _POINTED and may_be_thousands(number.words)
    return whole(Fraction(number.value) * 1000) if is_grouped else number.value


def _before(text: str, words: Sequence[Word], i: int, number: Span[Number]) -> Span[Money] | None:
    """A sign or a code in front: `$600`, `US$ 600`, `USD 600`."""
    behind = words[i - 1].end if i else 0
    at = behind + len(text[behind : number.start].rstrip()) - 1
    sign = text[at] if at >= behind else ""
    if sign in SIGNS:
        start, currency, any_dollar = at, SIGNS[sign], sign == "$"
        if i and words[i - 1].end == at and words[i - 1].text in _SIGN_PREFIXES:
            start, currency, any_dollar = words[i - 1].start, _SIGN_PREFIXES[words[i - 1].text], False
    elif i and words[i - 1].text.upper() in CODES and text[words[i - 1].end : number.start].strip() == "":
        start, currency, any_dollar = words[i - 1].start, _NAMES[words[i - 1].text], False
    else:
        return None
    amount = _amount(number, currency)
    is_minus = text[start - 1 : start] in ("-", "−") and not text[max(start - 2, 0) : start - 1].isalnum()
    if is_minus and sign in SIGNS:
        start, amount = start - 1, -amount
    money = Money(amount, currency, any_dollar)
    return Span(start, number.end, money, text[start : number.end], number.exact)


def _after(text: str, words: Sequence[Word], k: int, number: Span[Number]) -> Span[Money] | None:
    """A sign, a code or a name behind: `600$`, `600 USD`, `600 dollars`, `50 cents`."""
    ahead = words[k].start if k < len(words) else len(text)
    rest = text[number.end : ahead].lstrip()
    if rest[:1] in SIGNS and not (rest[1:] == "" and k < len(words) and words[k].is_number):
        end = ahead - len(rest) + 1
        money = Money(_amount(number, SIGNS[rest[0]]), SIGNS[rest[0]], rest[0] == "$")
        return Span(number.start, end, money, text[number.start : end], number.exact)
    if k >= len(words) or rest.strip().strip("-"):
        return None
    if words[k].text == "us" and k + 1 < len(words) and words[k + 1].text == "dollar":
        k += 1
    name, end = words[k].text, words[k].end
    if name == "cent":
        cents = Money(whole(Fraction(number.value) / 100), "USD", is_any_dollar=True)
        return Span(number.start, end, cents, text[number.start : end], number.exact)
    if name not in _NAMES:
        return None
    money = Money(_amount(number, _NAMES[name]), _NAMES[name], name in _ANY_DOLLAR)
    return Span(number.start, end, money, text[number.start : end], number.exact)
