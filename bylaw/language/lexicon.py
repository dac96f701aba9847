"""The closed classes of English (`lexicon.yaml`), read once: sets of words and phrases, and tables of numbers.

Nothing else in the code lists words of English. What only one trade says stands in that organisation's vocabulary.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("lexicon.yaml")
READ = _FILE.with_suffix(".json")  # the same as JSON, which is read in no time: what `as_read` gives


@dataclass(frozen=True, slots=True)
class Phrases:
    """A set of words and of phrases of several words, found in a row of lower-case words."""

    by_first: Mapping[str, tuple[tuple[str, ...], ...]]  # the longest first

    @classmethod
    def of(cls, listed: Iterable[str]) -> Phrases:
        """The phrases of a list."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for phrase in dict.fromkeys(map(str, listed)):
            words = tuple(phrase.casefold().split())
            found.setdefault(words[0], []).append(words)
        return cls({first: tuple(sorted(those, key=len, reverse=True)) for first, those in found.items()})

    def at(self, words: Sequence[str], i: int) -> int:
        """How many words from place *i* on are one of the phrases; 0 for none."""
        for phrase in self.by_first.get(words[i], ()):
            if tuple(words[i : i + len(phrase)]) == phrase:
                return len(phrase)
        return 0

    def find(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """The places of the phrases in *words*, as (first, behind the last), none within another."""
        i = 0
        while i < len(words):
            length = self.at(words, i)
            if length:
                yield i, i + length
            i += length or 1

    def any_in(self, words: Sequence[str]) -> bool:
        """Does one of the phrases occur?"""
        return any(self.at(words, i) for i in range(len(words)))

    def __contains__(self, word: str) -> bool:
        return (word,) in self.by_first.get(word, ())


class Lexicon:
    """One attribute a class of words; `read` makes it."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = told
        self._classes: dict[str, Phrases] = {}
        self.numbers: Mapping[str, int] = told["numbers"]
        self.scales: Mapping[str, int] = told["scales"]
        self.ordinals: Mapping[str, int] = told["ordinals"]
        self.often: Mapping[str, int] = told["often"]
        self.months: Mapping[str, int] = told["months"]
        self.irregular: Mapping[str, str] = told["irregular"]
        self.auxiliaries: Mapping[str, str] = told["auxiliaries"]
        self.unmarked: Mapping[str, str] = told["unmarked"]
        self.contracted: Mapping[str, str] = told["contracted"]
        self.abbreviations = frozenset(told["abbreviations"])
        self.sizes = {unit: (str(kind), Fraction(size)) for unit, (kind, size) in told["sizes"].items()}
        self.units = {
            tuple(spelling.casefold().split()): unit for unit, those in told["units"].items() for spelling in those
        }
        self.currencies = frozenset(unit for unit in told["units"] if unit.isupper())
        self._spelled = Phrases.of(map(" ".join, self.units))

    def __getitem__(self, name: str) -> Phrases:
        found = self._classes.get(name)
        if found is None:
            found = self._classes[name] = Phrases.of(self._told[name])
        return found

    @cached_property
    def comparisons(self) -> Mapping[tuple[str, ...], str]:
        """The operator that each phrase of comparison says."""
        rows = self._told["comparison"].items()
        return {tuple(phrase.split()): operator for operator, phrases in rows for phrase in phrases}

    def unit(self, words: Sequence[str], i: int) -> tuple[str, int] | None:
        """The unit that the words from place *i* on spell, the longest, and how many words that takes."""
        length = self._spelled.at(words, i) if i < len(words) else 0
        return (self.units[tuple(words[i : i + length])], length) if length else None


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon, read when it is first needed."""
    written, kept = _FILE.read_bytes(), json.loads(READ.read_bytes())
    return Lexicon((kept if kept["of"] == _mark(written) else as_read(written))["classes"])


def as_read(written: bytes) -> dict[str, Any]:
    """What stands in the lexicon, and in which one."""
    import yaml  # heavy, and only needed while somebody writes

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {"of": _mark(written), "classes": yaml.load(written, loader)}  # a file of our own, by a safe loader


def _mark(written: bytes) -> str:
    return hashlib.sha256(written).hexdigest()


@lru_cache(maxsize=256)
def closed(name: str) -> frozenset[str]:
    """A closed class as a set: its words, and its phrases with one space between their words."""
    return frozenset(" ".join(phrase) for those in lexicon()[name].by_first.values() for phrase in those)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """What the forms of one word share, by the Snowball algorithm for English. Not pretty, only the same.

    Forms that no ending tells ("children", "paid") go through the table `irregular` first.
    """
    word = word.removesuffix("'s")
    return str(_stemmer().stemWord(lexicon().irregular.get(word, word)))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    # imported when it is first needed: it brings every language
    from snowballstemmer import EnglishStemmer  # type: ignore[import-untyped]  # it has none

    return EnglishStemmer()


def content(words: Iterable[str]) -> frozenset[str]:
    """The stems of those *words* that carry content."""
    empty = lexicon()["function"]
    return frozenset(stem(word) for word in words if word not in empty and any(map(str.isalnum, word)))
