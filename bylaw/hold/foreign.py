"""What no declared word can say: links, handles, markup, pictures, words of another script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from bylaw.hold.text import Seen

_LINK = re.compile(
    r"\[[^\[\]\n]{1,300}\]\([^()\s]{1,500}\)"  # [here](https://…)
    r"|\b[A-Za-z][A-Za-z0-9+.-]{1,20}://\S+|\bwww\.\S+|\b[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}/\S*"
    r"|(?<![\w.])@[A-Za-z][\w.-]*"
    r"|<!?/?[A-Za-z][^<>\n]{0,200}>"
)
_WORD = re.compile(r"[^\W\d_]+")


def find_foreign(seen: Seen) -> Iterator[tuple[int, int]]:
    """The stretches of what is seen that are a link, a handle, markup, a picture or a word of another script."""
    text = seen.text.seen
    for match in _LINK.finditer(text):
        yield match.span()
    if not text.isascii():
        yield from seen.strays
        for match in _WORD.finditer(text):
            if not match[0].isascii() and not all(map(_is_latin, match[0])):
                yield match.span()


@lru_cache(maxsize=4096)
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "MODIFIER", "COMBINING"))
