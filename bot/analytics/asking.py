"""What a text wants before it is read: to change data, or to go on with the question before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

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
_SUBJECTS = _set("we they he she it")
_ASKING = _set("how which what who when why where do")
_HAPPENING = _set("write drop")  # what authors and sales do by themselves
_TEXTS = _set("poem song story joke haiku essay letter summary report speech limerick article sql query")
_COURTESY = _set(
    "please can could you would i want to need kindly let lets let's us just like be it possible someone somebody"
)
_DONE_FOR = re.compile(  # "could you have order 12 marked as sent", "I would like the price to be 10 from now on"
    r"^(?:have|get)\b.* (?:marked|set|changed|moved|switched|renamed|assigned) (?:as|to|into)\b|\bfrom now on\b"
    r"|^take\b.* out of the (?:system|database|table|list|data)\b"
)
_FOLLOW_UP = re.compile(
    r"^\W*(and|but|or|also|now|then|what about|how about|what if|same|only|just|instead|actually|i mean|i meant)\b"
    r"|\b(instead|i meant|i mean)\b|^\W*(compared? (that|it|this|to|with)|how (does|do|did) (that|it|this|they))\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def is_write_request(text: str) -> bool:
    """Does *text* ask to change data? Checked before anything else is read; the last few are kept."""
    words = [word.text for word in read_words(text)]
    past = {i + 2 for i, pair in enumerate(pairwise(words)) if pair[0] == "do" and pair[1] in _SUBJECTS}
    if words and words[0] in _ASKING and "do" in words:  # "how many papers did each author write", "why did sales drop"
        past |= {i for i, word in enumerate(words) if word in _HAPPENING and i > words.index("do") + 1}
    past |= {i for i, word in enumerate(words) if word == "write" and not _TEXTS.isdisjoint(words[i + 1 : i + 4])}
    # "how many did we write" asks, "write a poem" wants a text: neither changes any data
    asked = [word for i, word in enumerate(words) if i not in past and not _is_noun(words, i)]
    return not _WRITES.isdisjoint(asked) or _is_order(words)


def _is_noun(words: Sequence[str], at: int) -> bool:
    """Is the verb there said as a noun: "the drop in orders", "change in orders by quarter"?"""
    around = words[at - 1 : at] if at else [], words[at + 1 : at + 2]
    return words[at] in _NOUNS and not (_BEFORE_NOUNS.isdisjoint(around[0]) and _AFTER_NOUNS.isdisjoint(around[1]))


def _is_order(words: Sequence[str]) -> bool:
    """Do *words* begin with an order to change something, behind all courtesy?"""
    at = _opening(words)
    if _DONE_FOR.search(" ".join(words[at:])) is not None:
        return words[at] not in _ASKING
    return at < len(words) and (words[at] in _WRITE_STARTS or _is_aimed(words, at)) and not _is_noun(words, at)


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


def is_follow_up(text: str) -> bool:
    """Does *text* begin like the continuation of the question before it?"""
    return _FOLLOW_UP.search(text) is not None
