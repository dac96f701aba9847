"""How keys are spelled: one way each, so that whoever is one customer to a tool is one customer to history.

What is spelled otherwise may be the same thing to the tool, or another one: nobody here knows which, so it is refused.
A key without a type is what a text and a number have in common: what looks like a number has to be spelled like one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any
from uuid import UUID

from bylaw.authored.tools import KeyType, matcher

MOST_KEY = 400  # characters of a key's value
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER = re.compile(r"(?!-0$)-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# nothing that nobody sees (controls, formats, what fonts ignore), and no space and no digits but the plain ones
_VISIBLE = r"[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}[\p{Nd}--0-9]]+"
_PLAIN = f"{_VISIBLE}( +{_VISIBLE})*"


class KeyMisfit(ValueError):
    """The value of a key is spelled in another way than it has to be."""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The one way, and how it is told."""

    fits: Callable[[str], bool]
    expected: str


class Keys:
    """Reads the values of keys, as they are *declared*."""

    def __init__(self, declared: Mapping[str, KeyType]) -> None:
        self._spellings = {name: _spelling(key) for name, key in declared.items()}

    def read(self, name: str, raw: Any) -> str | None:
        """The value as history knows it; None where there is none. Raises KeyMisfit."""
        if raw is None or raw == "":
            return None
        text, spelling = _text(raw), self._spellings.get(name, _UNTYPED)
        if text is None or len(text) > MOST_KEY or not spelling.fits(text):
            raise KeyMisfit(f"`{name}` is not spelled as it has to be: {spelling.expected}")
        return text


def is_plain(text: str) -> bool:
    """Is *text* what it looks like, letter by letter, without space around it?"""
    if text.isascii():
        return text.isprintable() and text == text.strip()
    return unicodedata.is_normalized("NFKC", text) and _visible()(text)


def _spelling(key: KeyType) -> _Spelling:
    match key.type:
        case "integer":
            return _Spelling(lambda text: _WHOLE.fullmatch(text) is not None, "a whole number like 17")
        case "uuid":
            return _Spelling(lambda text: _UUID.fullmatch(text) is not None, "a UUID in small letters, with hyphens")
        case "date":
            return _Spelling(_is_date, "a date like 2026-01-31")
        case "text" if key.pattern is not None:
            fits = matcher(key.pattern)
            return _Spelling(lambda text: is_plain(text) and fits(text), f"text that matches `{key.pattern}`")
    return _Spelling(is_plain, _PLAINLY)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_untyped(text: str) -> bool:
    return is_plain(text) and (_NUMBER.fullmatch(text) is not None or not _is_number(text))


def _is_number(text: str) -> bool:
    """Would somebody who reads numbers take it for one?"""
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False


_PLAINLY = "text without space around it, and without letters that are not what they look like"
_UNTYPED = _Spelling(_is_untyped, f"a number like 17, or {_PLAINLY} (rules/tools.yaml may give the key a type)")


def _text(raw: Any) -> str | None:
    """What *raw* is as text; None for what names nothing."""
    match raw:
        case bool():
            return None
        case str():
            return raw
        case int():
            return str(raw) if raw.bit_length() <= 3 * MOST_KEY else None
        case float() | Decimal():
            return text if _NUMBER.fullmatch(text := str(raw)) else None
        case UUID() | date():
            return str(raw)
    return None


@cache
def _visible() -> Callable[[str], bool]:
    return matcher(_PLAIN)
