"""A text as a person sees it, with the place that each of its signs has in the text as it was sent.

What nobody sees is taken away: characters without shape, comments, struck-through words, marks of emphasis. Links and
markup stay, for they are part of what a reader gets.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from bylaw.hold.item import Stretch
from bylaw.language.text import Passage, Text, Token, divide

_ALIKE = str.maketrans("‘’‚‛“”„‟‐‑‒−\u00a0\u2007\u202f", "''''\"\"\"\"----   ")
_STRUCK = frozenset("\u0335\u0336\u0337\u0338\u20d2\u20d3\u20e5\u20eb")
# What hides words from a reader: each opening, and what closes it. Closers are looked up, not searched for.
_HIDING = tuple(
    (re.compile(opener, re.IGNORECASE), re.compile(closer, re.IGNORECASE))
    for opener, closer in (
        (r"<!--", r"-->"),
        (r"~~(?=\S)", r"(?<=[^\s~])~~"),
        (r"<s\b[^<>]{0,200}>", r"</s\s{0,9}>"),
        (r"<del\b[^<>]{0,200}>", r"</del\s{0,9}>"),
        (r"<strike\b[^<>]{0,200}>", r"</strike\s{0,9}>"),
    )
)
_EMPHASIS = re.compile(r"\*\*|__|`|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:(?i:pol)-[A-Za-z0-9]{1,40}(?:-[A-Za-z0-9]{1,40}){0,8}|[A-Z][A-Z0-9]{0,39}(?:-[A-Z0-9]{1,40}){0,8}-\d{1,9})(?![\w-])"
)
_STRAY = re.compile(r"[^\w\s.!?…;:,()|\[\]\"'/&–—\-$€£¥₹₩%<>=≤≥+]+")


@dataclass(frozen=True)
class Seen:
    """What a person sees of a text; `places` says where each sign of it stood, None where nothing moved."""

    text: Text
    places: tuple[int, ...] | None
    source: str

    def stretch(self, start: int, end: int) -> Stretch:
        """The words from *start* up to *end* of what is seen, by their places in the text as it was sent."""
        shown = self.text.seen[start:end]
        if self.places is None:
            return Stretch(shown, start, end)
        return Stretch(shown, self.places[start], self.places[end - 1] + 1)

    def find(self, quote: str) -> tuple[tuple[int, int], ...]:
        """Where *quote* stands whole, in whatever case, by what is seen. None of the places overlap."""
        if quote not in self._places:
            self._places[quote] = self._find(quote)
        return self._places[quote]

    def _find(self, quote: str) -> tuple[tuple[int, int], ...]:
        wanted = " ".join(see(quote).text.seen.casefold().split())
        flat, places = self._folded
        found: list[tuple[int, int]] = []
        at = flat.find(wanted) if wanted else -1
        while at >= 0:
            end = at + len(wanted)
            is_cut = _is_inside_word(flat, at) or _is_inside_word(flat, end)
            if not is_cut:
                found.append((places[at], places[end - 1] + 1))
            at = flat.find(wanted, at + 1 if is_cut else end)
        return tuple(found)

    def passage_of(self, start: int, end: int) -> Passage | None:
        """The sentence, row or bullet that holds a stretch."""
        return self.text.passage_of(start, end)

    def words(self, start: int, end: int) -> tuple[Token, ...]:
        """The words and numbers of a stretch, without signs."""
        return tuple(token for token in self.text.within(start, end) if token.word[0].isalnum())

    def is_identified(self, at: int) -> bool:
        """Does the sign at *at* stand in an identifier, which is a name and no word?"""
        return self.identifier_at(at) is not None

    def identifier_at(self, at: int) -> tuple[int, int] | None:
        """The identifier that holds the sign at *at*."""
        i = bisect_right(self.identifiers, (at, len(self.text.seen))) - 1
        return self.identifiers[i] if i >= 0 and at < self.identifiers[i][1] else None

    @cached_property
    def _places(self) -> dict[str, tuple[tuple[int, int], ...]]:
        return {}

    @cached_property
    def identifiers(self) -> tuple[tuple[int, int], ...]:
        """The identifiers of policies and records ("POL-REFUND-001", "ADR-4")."""
        return tuple(match.span() for match in _IDENTIFIER.finditer(self.text.seen))

    @cached_property
    def strays(self) -> tuple[tuple[int, int], ...]:
        """The signs that are no punctuation: pictures, handles, tags."""
        return tuple(match.span() for match in _STRAY.finditer(self.text.seen))

    @cached_property
    def _folded(self) -> tuple[str, tuple[int, ...]]:
        """What is seen in lower case, with one space for any white space, and where each of its signs stands."""
        chars: list[str] = []
        places: list[int] = []
        was_space = True
        for i, char in enumerate(self.text.seen):
            is_space = char.isspace()
            folded = " " if is_space else char.casefold()
            if not (is_space and was_space):
                chars.append(folded)
                places += [i] * len(folded)
            was_space = is_space
        return "".join(chars), tuple(places)


def _is_inside_word(text: str, at: int) -> bool:
    """Would a cut at *at* part a word or a number?"""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


@lru_cache(maxsize=256)
def see(source: str) -> Seen:
    """What a person sees of *source*. The last few are kept: everybody who reads one reads the same."""
    seen, places = (source, None) if source.isascii() else _normalise(source)
    if "~~" in seen or "<" in seen:
        seen, places = _replace(seen, places, _hidden(seen), " ")
    seen, places = _replace(seen, places, [match.span() for match in _EMPHASIS.finditer(seen)], "")
    return Seen(divide(source, seen), places, source)


def _hidden(seen: str) -> list[tuple[int, int]]:
    """The stretches that a reader does not see, in order and apart from each other."""
    spans: list[tuple[int, int]] = []
    for opener, closer in _HIDING:
        ends = [(match.start(), match.end()) for match in closer.finditer(seen)]
        for match in opener.finditer(seen):
            i = bisect_left(ends, (match.end(), 0))
            if i == len(ends):
                break
            spans.append((match.start(), ends[i][1]))
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not apart or start >= apart[-1][1]:
            apart.append((start, end))
    return apart


def _normalise(source: str) -> tuple[str, tuple[int, ...] | None]:
    """Compatible forms as one, nothing invisible or struck out: sign by sign with the marks that stand on it."""
    chars: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(source):
        end = at + 1
        while end < len(source) and unicodedata.combining(source[end]) and end - at < 16:
            end += 1
        cluster = source[at:end]
        if _STRUCK.isdisjoint(cluster):
            plain = unicodedata.normalize("NFKC", cluster.translate(_ALIKE)).translate(_ALIKE)
            for char in plain:
                if not _is_invisible(char):
                    chars.append(char)
                    places.append(at)
        at = end
    return "".join(chars), tuple(places)


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in ("Cf", "Co", "Cn", "Cs") or "\ufe00" <= char <= "\ufe0f"


def _replace(
    seen: str, places: tuple[int, ...] | None, spans: Sequence[tuple[int, int]], fill: str
) -> tuple[str, tuple[int, ...] | None]:
    """*seen* with *fill* for each of *spans*, and the places that are left."""
    if not spans:
        return seen, places
    known = places if places is not None else tuple(range(len(seen)))
    parts: list[str] = []
    left: list[int] = []
    at = 0
    for start, end in spans:
        parts += [seen[at:start], fill]
        left += [*known[at:start], *(known[start] for _ in fill)]
        at = end
    parts.append(seen[at:])
    return "".join(parts), (*left, *known[at:])
