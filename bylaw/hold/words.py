"""The declared words of one repository, as texts are searched for them: one index, whatever is declared.

A `Name` is a fact, an action, an outcome, a metric, a dimension, a decision. The index does not know which file it came
from; policies, data and decisions each list their names and are searched alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Token, words_of
from bylaw.language.units import unit_named
from bylaw.language.words import spoken

NameKind = Literal[
    "outcome",
    "action",
    "fact",
    "metric",
    "entity",
    "dimension",
    "date",
    "number",
    "filter",
    "intent",
    "record",
    "policy",
]
ValueType = Literal["boolean", "integer", "decimal", "enum", "date", "text"]
Stems = tuple[str, ...]

_SLOT = re.compile(r"\{[A-Za-z_]*\}")


@dataclass(frozen=True, slots=True)
class Name:
    """Something declared. `texts` are what it is called, `forms` the same with a slot for its value (`{value}`).

    `values` are what each of its values is called; of a flag they are `true` and `false`. `near` are words that may
    speak of it without naming it: those of an outcome's actions, of a dimension's entity. `kin` are other names whose
    words may stand for it. `answers` are the question words that it answers ("how_much", "when").
    """

    name: str
    kind: NameKind
    texts: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    type: ValueType = "text"
    unit: str | None = None
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    kin: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    owner: str | None = None  # the entity of a dimension, the outcome of an action
    tests: frozenset[str] = frozenset()  # the facts that the rules of what is asked test
    beside: frozenset[str] = frozenset()  # those that other rules of its domain do
    dated: str | None = None  # the date that its rows are told by where nobody says which
    rows: str | None = None  # the entity whose rows a metric counts


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a declared phrase is: a name, or one of its values."""

    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A declared phrase in a row of tokens, from `first` to `last`; `size` counts its words without determiners."""

    first: int
    last: int
    owners: frozenset[Owner]
    size: int

    def covers(self, k: int) -> bool:
        """Does it hold the token at place *k*?"""
        return self.first <= k <= self.last


class Index:
    """All declared names, and their phrases by the stems of their words."""

    def __init__(self, names: Iterable[Name], idle: Iterable[str] = (), policies: Iterable[str] = ()) -> None:
        self.names: dict[tuple[str, str], Name] = {(_group(one.kind), one.name): one for one in names}
        self.idle = frozenset(stem(word) for text in idle for word in words_of(text))
        self.policies = frozenset(policies)
        self._owners: dict[Stems, set[Owner]] = {}
        self._longest: dict[str, int] = {}
        for one in self.names.values():
            for text in one.texts:
                self._add(text, Owner(one.name))
            for value, texts in one.values.items():
                for text in texts:
                    self._add(text, Owner(one.name, value))

    def _add(self, text: str, owner: Owner) -> None:
        stems = _stems(text) or _code(text)
        if stems:
            self._owners.setdefault(stems, set()).add(owner)
            self._longest[stems[0]] = max(len(stems), self._longest.get(stems[0], 0))

    def get(self, group: str, name: str) -> Name | None:
        """The name of that group (`asks`, `fact`, `number`, `part`), or None."""
        return self.names.get((group, name))

    def of(self, owner: str | None) -> Sequence[Name]:
        """The columns and filters of an entity."""
        return self._of.get(owner or "", ())

    def find(self, tokens: Sequence[Token]) -> Iterator[Mention]:
        """The declared phrases in *tokens*, the longest first at each place, none within another or over a pause."""
        determiners = lexicon()["determiner"]
        places = [k for k, token in enumerate(tokens) if token.word not in determiners]
        stems = [stem(tokens[k].word) for k in places]
        i = 0
        while i < len(stems):
            for size in range(min(self._longest.get(stems[i], 0), len(stems) - i), 0, -1):
                owners = self._owners.get(tuple(stems[i : i + size]))
                first, last = places[i], places[i + size - 1]
                if size == 1 and not (is_content(tokens[first].word) or tokens[first].is_code):
                    continue  # "us" is not the declared "US"
                if owners is not None and tokens[first].clause == tokens[last].clause:
                    yield Mention(first, last, frozenset(owners), size)
                    i += size - 1
                    break
            i += 1

    def own(self, name: Name) -> frozenset[str]:
        """The stems of the words that name it: texts, and what its forms say around the value."""
        key = name.kind, name.name
        found = self._own.get(key)
        if found is None:  # thousands of records are asked for their words: each is read once
            found = self._own[key] = _content(_called(name))
        return found

    def spelled(self, name: Name) -> frozenset[str]:
        """The stems of every word that it, its values or what is near it are called by, also of those that join."""
        key = name.kind, name.name
        if key not in self._spelled:
            texts = (
                *name.texts,
                *(_SLOT.sub(" ", form) for form in name.forms),
                *(t for those in name.values.values() for t in those),
                *name.near,
            )
            self._spelled[key] = frozenset(stem(word) for text in texts for word in words_of(text))
        return self._spelled[key]

    def near(self, name: Name) -> frozenset[str]:
        """The stems of the words that may speak of it without naming it."""
        key = name.kind, name.name
        found = self._near.get(key)
        if found is None:
            found = self._near[key] = _content(name.near)
        return found

    def own_texts(self, name: Name) -> frozenset[str]:
        """The stems of what it is called, without what its values are called."""
        return _content(name.texts)

    def phrases(self, kind: NameKind) -> Mapping[Stems, frozenset[str]]:
        """All phrases of names of that kind, also those of words that only join ("why did"), with the names."""
        if kind not in self._phrases:
            found: dict[Stems, set[str]] = {}
            for one in self.names.values():
                for text in one.texts if one.kind == kind else ():
                    found.setdefault(tuple(map(stem, words_of(text))), set()).add(one.name)
            self._phrases[kind] = {phrase: frozenset(names) for phrase, names in found.items() if phrase}
        return self._phrases[kind]

    def bearers(self, group: str, root: str) -> frozenset[str]:
        """The names of one group that a word of that stem names or speaks of."""
        if group not in self._bearers:
            found: dict[str, set[str]] = {}
            for (its, other), one in self.names.items():
                for part in self.own(one) | self.near(one) if its == group else ():
                    found.setdefault(part, set()).add(other)
            self._bearers[group] = {part: frozenset(names) for part, names in found.items()}
        return self._bearers[group].get(root, frozenset())

    def speaking_of(self, name: str) -> frozenset[str]:
        """The stems of every word that speaks of a name, of whatever group: texts, values, words near it."""
        found = (one for group in sorted({*_GROUPS.values()}) if (one := self.get(group, name)) is not None)
        return frozenset[str]().union(*(self.own(one) | self.near(one) | self.spelled(one) for one in found))

    def own_of(self, group: str, name: str) -> frozenset[str]:
        """The stems of the words that name a declared name of that group; none for another."""
        found = self.get(group, name)
        return frozenset() if found is None else self.own(found)

    def is_action(self, name: str) -> bool:
        """Is it the name of an action?"""
        found = self.get("asks", name)
        return found is not None and found.kind == "action"

    @staticmethod
    def stems(token: Token) -> frozenset[str]:
        """The stems of a word and of what a contraction of it stands for."""
        return stems_of(token.word)

    def told(self, name: Name, value: str) -> frozenset[str]:
        """The stems of the words that say one of its values."""
        key = name.kind, name.name, value
        return self._told.setdefault(key, _content(name.values.get(value, ())))

    @cached_property
    def _of(self) -> dict[str, list[Name]]:
        found: dict[str, list[Name]] = {}
        for one in self.names.values():
            found.setdefault(one.owner or "", []).append(one)
        return found

    @cached_property
    def _phrases(self) -> dict[NameKind, Mapping[Stems, frozenset[str]]]:
        return {}

    @cached_property
    def _bearers(self) -> dict[str, dict[str, frozenset[str]]]:
        return {}

    @cached_property
    def _own(self) -> dict[tuple[str, str], frozenset[str]]:
        return {}

    @cached_property
    def _spelled(self) -> dict[tuple[str, str], frozenset[str]]:
        return {}

    @cached_property
    def _near(self) -> dict[tuple[str, str], frozenset[str]]:
        return {}

    @cached_property
    def _told(self) -> dict[tuple[str, str, str], frozenset[str]]:
        return {}

    @cached_property
    def single(self) -> frozenset[str]:
        """Words that alone name something, or a value of it: content, whatever the lexicon says of them."""
        return frozenset(stems[0] for stems in self._owners if len(stems) == 1)


_GROUPS: Mapping[str, str] = {
    "outcome": "asks", "action": "asks", "fact": "fact", "metric": "number", "entity": "part", "dimension": "part",
    "date": "part", "number": "part", "filter": "part", "intent": "asks", "record": "anchor", "policy": "source",
}  # fmt: skip


def _group(kind: NameKind) -> str:
    return _GROUPS[kind]


def _called(name: Name) -> Iterator[str]:
    yield from name.texts
    units = set(words_of(name.unit or "")) | {name.unit or ""}
    for form in name.forms:
        around = words_of(_SLOT.sub(" ", form))
        yield " ".join(word for word in around if word not in units and unit_named(word) != name.unit)
    if name.type == "boolean":
        for texts in name.values.values():
            yield from texts


def _stems(text: str) -> Stems:
    """The stems of a phrase without determiners; none for one without a word of content."""
    words = words_of(text)
    if not any(is_content(word) for word in words):
        return ()
    determiners = lexicon()["determiner"]
    return tuple(stem(word) for word in words if word not in determiners)


def _code(text: str) -> Stems:
    """A code that reads like a little word but for its capitals ("US", "IT"); none for any other text."""
    return tuple(map(stem, words_of(text))) if text.isupper() and len(text) > 1 else ()


def _content(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(word) for text in texts for word in words_of(text) if is_content(word))


@lru_cache(maxsize=50_000)
def stems_of(word: str) -> frozenset[str]:
    """The stems of a word and of what a contraction of it stands for."""
    return frozenset((stem(word), *(stem(part) for part in spoken(word))))


def is_content(word: str) -> bool:
    """Does a declared word say something of its own, and is not only a word that joins others?"""
    return word not in closed("function") and word[0].isalnum()
