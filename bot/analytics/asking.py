"""What a text wants before it is read: to change data, or to go on with the question before it."""

from __future__ import annotations

import re
from itertools import pairwise

from bylaw.language.words import read_words


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WRITES = _set("delete drop insert update truncate alter erase overwrite purge wipe remove modify write merge upsert")
_WRITE_STARTS = _set("add create set change cancel grant revoke rename move replace edit")
_SUBJECTS = _set("we they he she it")
_ASKING = _set("how which what who when why where do")
_HAPPENING = _set("write drop")  # what authors and sales do by themselves
_COURTESY = _set("please can could you would i want to need")
_FOLLOW_UP = re.compile(
    r"^\W*(and|but|or|also|now|then|what about|how about|what if|same|only|just|instead|actually|i mean|i meant)\b"
    r"|\b(instead|i meant|i mean)\b|^\W*(compared? (that|it|this|to|with)|how (does|do|did) (that|it|this|they))\b",
    re.IGNORECASE,
)


def is_write_request(text: str) -> bool:
    """Does *text* ask to change data? Checked before anything else is read."""
    words = [word.text for word in read_words(text)]
    rest = [word for word in words if word not in _COURTESY]
    past = {i + 2 for i, pair in enumerate(pairwise(words)) if pair[0] == "do" and pair[1] in _SUBJECTS}
    if words and words[0] in _ASKING and "do" in words:  # "how many papers did each author write", "why did sales drop"
        past |= {i for i, word in enumerate(words) if word in _HAPPENING and i > words.index("do") + 1}
    asked = [word for i, word in enumerate(words) if i not in past]  # "how many did we write" asks, and orders nothing
    is_noun = rest[:1] == ["change"] and rest[1:2] in (["in"], ["of"])  # "change in orders by quarter"
    return not _WRITES.isdisjoint(asked) or bool(rest and rest[0] in _WRITE_STARTS and not is_noun)


def begins_with_write(text: str) -> bool:
    """Is *text* an order to change data: "purge the refunds", but not "may I …" or "delete my account"?"""
    words = [word.text for word in read_words(text)]
    opening = next((word for word in words if word not in _COURTESY), "")
    return opening in _WRITES and {"i", "my", "me"}.isdisjoint(words)


def is_follow_up(text: str) -> bool:
    """Does *text* begin like the continuation of the question before it?"""
    return _FOLLOW_UP.search(text) is not None
