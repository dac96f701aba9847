"""A text as it was written for a person, parsed once: what is seen of it, its sentences, rows and bullets, its tokens.

What nobody sees (characters without shape, comments, struck-through words) is taken away before anything is read, and
signs that look alike are one: a quote is compared with what a reader sees.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from bylaw.language.lexicon import lexicon

Kind = Literal["sentence", "row", "bullet"]

_HIDDEN = re.compile(r"<!--.*?-->|~~(?=\S).*?(?<=\S)~~|<(s|del|strike)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_STRUCK = re.compile(r"(?:\w[\u0335-\u0338\u20d2\u20d3\u20e5\u20eb])+")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_MARKS = re.compile(r"\*\*|__|`|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_ALIKE = str.maketrans("‘’‚‛“”„‟‐‑‒−\u00a0\u2007\u202f", "''''\"\"\"\"----   ")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦▪–—][ \t]+|\(?\d{1,3}[.)][ \t]+|\(?[a-z][.)][ \t]+)")
_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\|?[ \t]*")
_STEP = re.compile(r"\s*(?:step|option|point|case)\s+\d{1,3}\s*[:.)-]", re.IGNORECASE)
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)")
_TOKEN = re.compile(
    r"[wW]/(?:[oO](?:ut)?(?![^\W\d_]))?|[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,']\d+)*|[$€£¥₹₩%<>=≤≥+]|[.!?…;:,()|\[\]\"'/&–—-]"
)
_WORDLIKE = re.compile(r"[^\W_]")
_PAUSE = frozenset('.!?…;:,()|[]–—"')


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign. `word` is its lower-case spelling, `clause` counts pauses within the text.

    `is_code`: it stands in capitals, which tells "US" and "IT" from the little words that read alike.
    """

    word: str
    start: int
    end: int
    clause: int
    is_code: bool = False

    @property
    def is_word(self) -> bool:
        """Is it a word rather than a number or a sign?"""
        return self.word[0].isalpha()

    @property
    def is_number(self) -> bool:
        """Is it written in digits?"""
        return self.word[0].isdecimal()


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence, or one row of a table, in `Text.seen`. Sentences of one bullet or paragraph share `block`."""

    kind: Kind
    start: int
    end: int
    block: int


@dataclass(frozen=True)
class Text:
    """What a reader sees, and its parts."""

    source: str
    seen: str
    passages: tuple[Passage, ...]
    tokens: tuple[Token, ...]

    def within(self, start: int, end: int) -> tuple[Token, ...]:
        """The tokens that lie in a stretch."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        found = self.tokens[first:last]
        return found[:-1] if found and found[-1].end > end else found

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(token.start for token in self.tokens)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The lower-case words, numbers and signs."""
        return tuple(token.word for token in self.tokens)

    def find(self, quote: str) -> tuple[tuple[int, int], ...]:
        """Where *quote* stands, as it is seen and whatever white space lies between its words."""
        wanted, (flat, places) = " ".join(clean(quote).split()), self._flat
        found: list[tuple[int, int]] = []
        i = flat.find(wanted) if wanted else -1
        while i >= 0:
            end = i + len(wanted)
            found.append((places[i], places[end - 1] + 1))
            i = flat.find(wanted, end)
        return tuple(found)

    @cached_property
    def _flat(self) -> tuple[str, tuple[int, ...]]:
        """What is seen with one space for any white space, and where each of its characters stands."""
        places = [k for k, char in enumerate(self.seen) if not char.isspace() or not self.seen[k - 1 : k].isspace()]
        return "".join(" " if self.seen[k].isspace() else self.seen[k] for k in places), tuple(places)

    def passage_of(self, start: int, end: int) -> Passage | None:
        """The sentence or row that holds a stretch; the first one where it reaches over sentences of one bullet."""
        i = bisect_right(self._begins, start) - 1
        if i >= 0:
            one = self.passages[i]
            if one.start <= start < one.end:
                last = next((p for p in self.passages[i:] if p.end >= end), None)
                same_bullet = last is not None and one.kind == "bullet" and last.block == one.block
                return one if end <= one.end or same_bullet else None
        return None

    @cached_property
    def _begins(self) -> tuple[int, ...]:
        return tuple(passage.start for passage in self.passages)


def clean(text: str) -> str:
    """*text* as it is seen: compatible forms as one, nothing hidden, nothing struck out, no marks of emphasis."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_ALIKE)).translate(_ALIKE)
        text = _STRUCK.sub("", unicodedata.normalize("NFD", text)) if _STRUCK.search(text) else text
        text = "".join(char for char in unicodedata.normalize("NFC", text) if not _is_invisible(char))
    if "~~" in text or "<" in text:
        text = _TAG.sub(" ", _HIDDEN.sub(" ", text))
    text = _LINK.sub(r"\1", text) if "](" in text else text
    return _MARKS.sub("", text) if "*" in text or "_" in text or "`" in text else text


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in ("Cf", "Co", "Cn", "Cs") or "\ufe00" <= char <= "\ufe0f"


@lru_cache(maxsize=512)
def parse(text: str) -> Text:
    """The text with its parts. The last few are kept: everybody who reads one reads the same."""
    return divide(text, clean(text))


def divide(source: str, seen: str) -> Text:
    """The parts of *seen*, which is what a person sees of *source*."""
    return Text(source, seen, tuple(_passages(seen)), tuple(tokens(seen)))


def tokens(seen: str) -> Iterator[Token]:
    """The tokens of a text that is clean."""
    clause = 0
    for match in _TOKEN.finditer(seen):
        sign = match[0]
        clause += sign in _PAUSE
        yield Token(sign.casefold(), match.start(), match.end(), clause, len(sign) > 1 and sign.isupper())


@lru_cache(maxsize=20_000)
def words_of(text: str) -> tuple[str, ...]:
    """The lower-case words and numbers of a short text, without signs."""
    return tuple(token.word for token in tokens(clean(text.replace("_", " "))) if token.word[0].isalnum())


def _passages(seen: str) -> Iterator[Passage]:
    block = 0
    for start, end, kind in _blocks(seen):
        block += 1
        if kind == "row":
            yield Passage(kind, start, end, block)
            continue
        for one, last in _sentences(seen, start, end):
            if _WORDLIKE.search(seen, one, last):
                yield Passage(kind, one, last, block)


def _blocks(seen: str) -> Iterator[tuple[int, int, Kind]]:
    """The paragraphs, bullets and rows. A line that goes on in lower case belongs to the one before."""
    open_: tuple[int, int, Kind] | None = None
    at = 0
    for line in seen.splitlines(keepends=True):
        start, at = at, at + len(line)
        end = start + len(line.rstrip())
        if not line.strip() or _RULE.fullmatch(line.rstrip("\r\n")):
            if open_:
                yield open_
            open_ = None
            continue
        stripped = line.lstrip()
        if stripped.startswith("|"):
            if open_:
                yield open_
            open_ = None
            yield start + len(line) - len(stripped), end, "row"
            continue
        marker = _BULLET.match(line) or _HEADING.match(line)
        goes_on = stripped[0].islower() or stripped[0] in ",;("
        if marker is None and open_ is not None and goes_on:
            open_ = open_[0], end, open_[2]
            continue
        if open_:
            yield open_
        first = marker.end() if marker else len(line) - len(stripped)
        step = _STEP.match(line, first)
        open_ = start + (step.end() if step else first), end, "bullet" if marker else "sentence"
    if open_:
        yield open_


def _sentences(seen: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    one = start
    for match in _END.finditer(seen, start, end):
        if _ends(seen, one, match, end):
            yield one + _space(seen, one), match.end()
            one = match.end()
    if one < end:
        yield one + _space(seen, one), end


def _space(seen: str, at: int) -> int:
    return len(seen[at : at + 100]) - len(seen[at : at + 100].lstrip())


def _ends(seen: str, start: int, match: re.Match[str], end: int) -> bool:
    """Is it the end of a sentence, and not of an abbreviation or within one that goes on in lower case?"""
    following = seen[match.end() : end].lstrip()
    if not following:
        return True
    if following[0].islower():
        return False
    if match[0][0] in "!?":
        return True
    before = seen[start : match.start()].rsplit(maxsplit=1)
    last = before[-1].casefold().lstrip("(\"'") if before else ""
    return last not in lexicon().abbreviations and not (len(last) == 1 and last.isalpha() and last != "i")
