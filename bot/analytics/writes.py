"""Does a text order data to be changed? "Cancel rate by month" asks for a rate, and is answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from bylaw.language.words import read_words


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WRITES = _set(
    "delete drop insert update truncate alter erase overwrite purge wipe remove modify write merge upsert rid"
)
_WRITE_STARTS = _set("add create set change cancel grant revoke rename move replace edit")
_ORDERS = _set(  # an order only before what it is done to: "void the invoice", but "void invoices by month"
    "assign transfer block unblock void undo double halve raise lower increase decrease reduce mark close reopen "
    "restore archive anonymize anonymise activate deactivate suspend terminate unsubscribe correct"
)
_NOUNS = _set("drop update write change set increase decrease raise transfer double archive")  # "the drop", "drop in"
_BEFORE_NOUNS = _set(
    "the a an any each every no last latest big biggest large largest sharp sharpest steep steepest recent"
)
_AFTER_NOUNS = _set("in of between")
_OBJECTS = _set("the a an all every each any this that these those our my their his her its last both")
_ASKING = _set("how which what who when why where do")

_TEXTS = _set("poem song story joke haiku essay letter summary report speech limerick article sql query")
_TAKEN = _set("them it everything anything something table row rows record records from into")
_AMOUNTS = _set("one two three four five six seven eight nine ten half twice")
_SHOWN = _set("report chart graph plot overview summary list breakdown diagram picture")
_CLAUSES = re.compile(r"[.;:!?\n]+(?=\s|$|\W)|,\s|\b(?:and|then|but|or|before|after|afterwards)\b", re.IGNORECASE)
_COURTESY = _set(
    "do also now go ahead "
    "please can could you would i want to need kindly let lets let's us just like be it possible someone somebody"
)
_DONE_FOR = re.compile(  # "could you have order 12 marked as sent", "I would like the price to be 10 from now on"
    r"^(?:have|get)\b.* (?:marked|set|changed|moved|switched|renamed|assigned) (?:as|to|into)\b|\bfrom now on\b"
    r"|^take\b.* out of the (?:system|database|table|list|data)\b"
)


@lru_cache(maxsize=64)
def is_write_request(text: str) -> bool:
    """Does *text* order data to be changed? Checked before anything else is read; the last few are kept.

    An order opens a sentence, or a clause of one, with its verb. The same word anywhere else only speaks of a change,
    and what can only read does no harm: "orders created last month", "which tickets did the team update".
    """
    first, *others = [[word.text for word in read_words(clause)] for clause in _CLAUSES.split(text)]
    if _is_order(first) or _opens_with(first, _WRITES):
        return True
    return any(_opens_with(words, _WRITES) and _has_object(words, _opening(words)) for words in others)


def _opens_with(words: Sequence[str], verbs: frozenset[str]) -> bool:
    """Is one of *verbs* the first word behind all courtesy, with something to be done to and no report behind it?"""
    at = _opening(words)
    if words[at : at + 2] == ["get", "rid"]:
        return True
    is_text = words[at : at + 1] == ["write"] and not _TEXTS.isdisjoint(words[at + 1 : at + 4])
    if at >= len(words) or words[at] not in verbs or is_text or _is_noun(words, at):
        return False
    return at + 1 < len(words) and not _is_report(words, at)


def _is_report(words: Sequence[str], at: int) -> bool:
    """Does what stands behind the verb at *at* group figures, and name nothing that it is done to?"""
    by = [i for i, word in enumerate(words) if word in ("by", "per") and i > at]
    return any(words[i + 1 : i + 2] and not _is_amount(words[i + 1]) for i in by) and not _has_object(words, at)


def _has_object(words: Sequence[str], at: int) -> bool:
    """Does what the verb at *at* is done to stand right behind it: "delete the orders", "drop them"?"""
    return not (_OBJECTS | _TAKEN).isdisjoint(words[at + 1 : at + 2]) or any(
        not word.isalpha() for word in words[at + 1 : at + 3]
    )


def _is_amount(word: str) -> bool:
    return not word.isalpha() or word in _AMOUNTS


def _is_noun(words: Sequence[str], at: int) -> bool:
    """Is the verb there said as a noun: "the drop in orders", "change in orders by quarter"?"""
    around = words[at - 1 : at] if at else [], words[at + 1 : at + 2]
    return words[at] in _NOUNS and not (_BEFORE_NOUNS.isdisjoint(around[0]) and _AFTER_NOUNS.isdisjoint(around[1]))


def _is_order(words: Sequence[str]) -> bool:
    """Do *words* begin with an order to change something, behind all courtesy?"""
    at = _opening(words)
    is_shown = words[at : at + 1] == ["create"] and not _SHOWN.isdisjoint(words[at + 1 : at + 4])
    if is_shown:
        return False  # "create a report of …" is answered with one
    if _DONE_FOR.search(" ".join(words[at:])) is not None:
        return words[at : at + 1] != [] and words[at] not in _ASKING
    if at >= len(words) or _is_noun(words, at):
        return False
    return (words[at] in _WRITE_STARTS and not _is_report(words, at)) or _is_aimed(words, at)


def _is_aimed(words: Sequence[str], at: int) -> bool:
    """Is the verb there one of changing, and what it changes told behind it?"""
    behind = words[at + 1 : at + 3]
    return words[at] in _ORDERS and not (_OBJECTS.isdisjoint(behind[:1]) and all(word.isalpha() for word in behind))


def _opening(words: Sequence[str]) -> int:
    return next((i for i, word in enumerate(words) if word not in _COURTESY), len(words))


def begins_with_write(text: str) -> bool:
    """Is *text* an order to change data: "purge the refunds", but not "may I …" or "delete my account"?"""
    words = [word.text for word in read_words(text)]
    at = _opening(words)
    is_text = not _TEXTS.isdisjoint(words[at + 1 : at + 4]) and words[at : at + 1] == ["write"]
    is_order = at < len(words) and not is_text and (words[at] in _WRITES or _is_aimed(words, at))
    return is_order and {"i", "my", "me"}.isdisjoint(words)
