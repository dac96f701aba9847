"""Words that say the same of what somebody gets, pays or may do, and idioms that say it in several words.

Only what is the same in every trade stands here; what a company calls its own actions is in its vocabulary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from bylaw.language.span import listed
from bylaw.language.words import DETERMINERS, FUNCTION_WORDS, PRONOUNS, Word, read_words, stem_of

_PERSONS = listed("customer client user person people somebody someone please")
_PAST = "sent paid kept lent given gave told held written wrote made sold taken took got brought met sped withdrew"
_NOW = "send pay keep lend give give tell hold write write make sell take take get bring meet speed withdraw"
_PRESENT = dict(zip(_PAST.split(), _NOW.split(), strict=True))
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_DIGITS = {word: str(i) for i, word in enumerate(_NUMBERS)}

# The first word of a row stands for the others.
_ALIKE = (
    "free gratis complimentary waive",
    "full whole entire complete completely",
    "refund reimburse reimbursement refundable",
    "repair fix mend",
    "replace replacement",
    "erase erasure delete deletion",
    "lock block",
    "pause suspend",
    "lend loan borrow",
    "match meet",
    "cost expense",
    "fee charge surcharge",
    "discount reduction rebate",
    "standard usual regular normal ordinary",
    "ship shipping shipment delivery deliver",
    "sell sale",
    "notify inform",
    "answer reply respond response",
    "cancel cancellation",
    "identity identification",
    "reject rejection",
    "part share",
    "keep stay stand remain",
)
# A bar stands between the idiom and its sense; a dash is a pronoun, or nothing.
_IDIOMS = (
    "cost - nothing | free",
    "not cost - anything | free",
    "pay nothing | free",
    "not have to pay anything | free",
    "not have to pay for | free",
    "nothing to pay | free",
    "not pay anything | free",
    "not be charged | free",
    "not be billed | free",
    "no charge | free",
    "no cost | free",
    "no fee | free",
    "no extra cost | free",
    "without charge | free",
    "without cost | free",
    "free of charge | free",
    "free of cost | free",
    "for nothing | free",
    "on the house | free",
    "everything you paid | full refund",
    "everything back you paid | full refund",
    "everything back that you paid | full refund",
    "everything that you paid | full refund",
    "all you paid | full refund",
    "all that you paid | full refund",
    "whatever you paid | full refund",
    "bring - back | take back",
    "not come back | not take back",
    "log in | login",
    "sign in | login",
    "log on | login",
    "hear from us | answer",
    "hear back from us | answer",
    "hear back | answer",
    "get back to - | answer",
    "check who - be | verify identity",
    "verify who - be | verify identity",
    "confirm who - be | verify identity",
    "all your money | full refund",
    "we pay for | free",
    "we will pay for | free",
    "we would pay for | free",
    "we do pay for | free",
    "we cover - cost of | free",
    "not cost - a thing | free",
    "not cost - a penny | free",
    "not cost - a cent | free",
    "gone by | elapsed",
    "went by | elapsed",
    "all of your money | full refund",
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str | None:
    """The stem of one word, None for a word that names nothing: a function word, or who it is about."""
    number = _DIGITS.get(word, word)
    if number[0].isdigit():
        return number
    return None if word in FUNCTION_WORDS or word in _PERSONS else stem_of(_PRESENT.get(word, word))


@lru_cache(maxsize=20_000)
def sense(word: str) -> str | None:
    """The stem of the word that says the same, None for a word that names nothing."""
    found = stem(word)
    return found if found is None else same(found)


def same(found: str) -> str:
    """The stem that stands for all that say the same as the stem *found*."""
    return _SENSES.get(found, found)


def in_plain_words(words: Sequence[Word]) -> tuple[Word, ...]:
    """*words* with each idiom replaced by what it means; the words of its sense all cover the whole idiom."""
    if not any(word.text in _BY_FIRST for word in words):
        return tuple(words)
    found: list[Word] = []
    i = 0
    while i < len(words):
        end, meant = _idiom_at(words, i)
        if meant:
            found += [replace(words[i], text=text, end=words[end - 1].end) for text in meant]
        else:
            found.append(words[i])
        i = end
    return tuple(found)


def _idiom_at(words: Sequence[Word], i: int) -> tuple[int, tuple[str, ...]]:
    """Where the longest idiom at word *i* ends, and what it means; nothing where there is none."""
    for said, meant in _BY_FIRST.get(words[i].text, ()):
        k = i
        for text in said:
            here = k < len(words) and words[k].clause == words[i].clause
            if text == "-":
                k += here and words[k].text in PRONOUNS | DETERMINERS
            elif here and words[k].text == text:
                k += 1
            else:
                break
        else:
            return k, meant
    return i + 1, ()


def _compiled() -> Mapping[str, Sequence[tuple[tuple[str, ...], tuple[str, ...]]]]:
    by_first: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = defaultdict(list)
    for row in sorted(_IDIOMS, key=lambda row: (-len(row.split()), row)):
        said, _, meant = row.partition(" | ")
        texts = tuple(text for part in said.split() for text in _normal(part))
        by_first[texts[0]].append((texts, tuple(meant.split())))
    return by_first


def _normal(part: str) -> tuple[str, ...]:
    return ("-",) if part == "-" else tuple(word.text for word in read_words(part))


_SENSES = {stem_of(word): stem_of(row.split()[0]) for row in _ALIKE for word in row.split()}
_BY_FIRST = _compiled()
