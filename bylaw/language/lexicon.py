"""The closed classes of English (`lexicon.yaml`), read once: sets of words and phrases, and tables of numbers.

Nothing else in the code lists words of English. What only one trade says stands in that organisation's vocabulary.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from bylaw.canonical import write_atomically

_FILE = Path(__file__).with_name("lexicon.yaml")
KEPT = Path(cache_from_source(__file__)).with_name("lexicon.json")  # as JSON, beside the bytecode


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
        self.shortened: Mapping[str, str] = told["shortened"]
        self.contracted: Mapping[str, str] = told["contracted"]
        self.abbreviations = frozenset(told["abbreviations"])
        self.sizes: dict[str, tuple[str, Fraction]] = {}  # what a unit measures, and how much of it
        self.units: dict[tuple[str, ...], str] = {}
        for unit, row in told["units"].items():
            size = dict(row) if isinstance(row, dict) else {"said": row}
            self.units.update({tuple(spelled.casefold().split()): unit for spelled in size.pop("said")})
            for kind, much in size.items():
                self.sizes[unit] = kind, Fraction(much)
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
    written = _FILE.read_bytes()
    mark = hashlib.sha256(written).hexdigest()
    return Lexicon(_kept(mark) or _read(written, mark))


def _kept(mark: str) -> dict[str, Any] | None:
    """What was read of the lexicon of that *mark* before; None where nothing is."""
    try:
        kept = json.loads(KEPT.read_bytes())
        return kept["classes"] if kept["of"] == mark else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read(written: bytes, mark: str) -> dict[str, Any]:
    """What is *written*, kept for the next time where there is room for it."""
    import yaml  # to load it and to read YAML takes longer than all else that a short command reads

    classes: dict[str, Any] = yaml.load(written, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # a file of our own
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            write_atomically(KEPT, json.dumps({"of": mark, "classes": classes}), durable=False)
    return classes


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
    from Stemmer import Stemmer  # type: ignore[import-not-found]  # compiled, without types

    return Stemmer("english", 0)  # keeps no stems of its own: `stem` does


def content(words: Iterable[str]) -> frozenset[str]:
    """The stems of those *words* that carry content."""
    empty = lexicon()["function"]
    return frozenset(stem(word) for word in words if word not in empty and any(map(str.isalnum, word)))
