"""A text as it looks to a person: without invisible characters, one code for one sign, and which words only pretend."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+")
_MARKED = re.compile(r"[A-Za-z][\u0300-\u036f\u20d0-\u20f0]")  # what is left of these in NFC is struck out, or ornament
_LOOKING_LATIN = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")  # scripts whose letters pass for Latin ones


def as_seen(text: str) -> str:
    """*text* without invisible characters, and with plain letters and digits in the place of wide or styled ones."""
    return text if text.isascii() else "".join(map(_seen, unicodedata.normalize("NFC", text)))


def disguised(text: str) -> str | None:
    """The first words that are not what they look like: letters of two scripts in one, or signs laid over letters."""
    if text.isascii():
        return None
    marked = _MARKED.search(text)
    return marked[0] if marked else next(filter(_is_mixed, _WORD.findall(text)), None)


@lru_cache(maxsize=4096)
def _seen(char: str) -> str:
    if char.isascii():
        return char
    if unicodedata.category(char) == "Cf":
        return ""
    plain = unicodedata.normalize("NFKC", char)
    return plain if plain in "%$.,-:" or (plain.isascii() and plain.isalnum()) else char


def _is_mixed(word: str) -> bool:
    if word.isascii() or not any(char.isascii() for char in word):
        return False
    return any(unicodedata.name(char, "").startswith(_LOOKING_LATIN) for char in word)
