"""The words of asking: fillers, `by`, top and bottom, counting, negation, follow-ups, and requests to change data.

A word belongs here only if leaving it out cannot change the number. Everything else must be bound to the catalogue.
"""

from __future__ import annotations

import re
from itertools import pairwise

from bylaw.authored.context import Grain
from bylaw.language.words import read_words


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FILLERS = _set(
    "a an the this that these our we us me you it they please show tell give get find see want need know like of in "
    "for on at to from with within be do have there can could would what which who how much and during only just "
    "make so far hi hello hey thank thanks"
)
BY = _set("by per each every across")
BROKEN = _set("broken split grouped group down break breakdown")
NOT = _set("not no without excluding exclude except")
SMALL = _set("the in from a our")
COUNTING = (("how", "many"), ("number", "of"), ("count", "of"))
MOST = _set("top highest most largest biggest")
LEAST = _set("bottom lowest least smallest fewest")
GRAINS: dict[str, Grain] = {
    "day": "day", "daily": "day", "week": "week", "weekly": "week", "month": "month", "monthly": "month",
    "quarter": "quarter", "quarterly": "quarter", "year": "year", "yearly": "year", "annually": "year",
}  # fmt: skip
ADVERBS = _set("daily weekly monthly quarterly yearly annually")
FOLLOWING = _set("but or also now then about if same again instead thing")
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

WISHES = _set("want need would like see know get")  # "I want": the person who asks, never a condition
_WRITES = _set("delete drop insert update truncate alter erase overwrite purge wipe remove modify write merge upsert")
_WRITE_STARTS = _set("add create set change cancel grant revoke rename move replace edit")
_SUBJECTS = _set("we they he she it")
_COURTESY = _set("please can could you would i want to need")
_FOLLOW_UP = re.compile(
    r"^\W*(and|but|or|also|now|then|what about|how about|what if|same|only|just|instead|actually|i mean|i meant)\b"
    r"|\b(instead|i meant|i mean)\b",
    re.IGNORECASE,
)


def is_write_request(text: str) -> bool:
    """Does *text* ask to change data? Checked before anything else is read."""
    words = [word.text for word in read_words(text)]
    rest = [word for word in words if word not in _COURTESY]
    past = {i + 2 for i, pair in enumerate(pairwise(words)) if pair[0] == "do" and pair[1] in _SUBJECTS}
    asked = [word for i, word in enumerate(words) if i not in past]  # "how many did we write" asks, and orders nothing
    return not _WRITES.isdisjoint(asked) or bool(rest and rest[0] in _WRITE_STARTS)


def begins_with_write(text: str) -> bool:
    """Is *text* an order to change data: "purge the refunds", but not "may I …" or "delete my account"?"""
    words = [word.text for word in read_words(text)]
    opening = next((word for word in words if word not in _COURTESY), "")
    return opening in _WRITES and {"i", "my", "me"}.isdisjoint(words)


def is_follow_up(text: str) -> bool:
    """Does *text* begin like the continuation of the question before it?"""
    return _FOLLOW_UP.search(text) is not None
