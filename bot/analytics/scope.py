"""Words of a question → what of the context they may mean. Longest phrase first, every reading kept.

Nothing is chosen here: a word with two meanings stays two meanings until the rest of the question decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bylaw.authored.context import Context, Dimension, Entity
from bylaw.language.words import Word, read_words

Kind = Literal["metric", "dimension", "value", "entity", "personal", "stakes"]


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a phrase may mean. `name` is `entity.dimension` for dimensions and values."""

    kind: Kind
    name: str
    value: str | int | bool | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of the question, from word `first` up to word `after`, and everything they may mean."""

    first: int
    after: int
    begins: int
    ends: int
    targets: tuple[Target, ...]

    def of(self, kind: Kind) -> tuple[Target, ...]:
        """The readings of one kind."""
        return tuple(target for target in self.targets if target.kind == kind)


class Lexicon:
    """Every phrase of one context. `longest` bounds the look-ahead."""

    def __init__(self, phrases: Iterable[tuple[str, Target]]) -> None:
        found: dict[tuple[str, ...], dict[Target, None]] = defaultdict(dict)
        self.spellings: set[str] = set()
        for phrase, target in phrases:
            key = tuple(word.text for word in read_words(phrase.replace("_", " ")))
            if key:
                found[key][target] = None
                self.spellings.add(phrase.replace("_", " ").lower())
        self._targets: Mapping[tuple[str, ...], tuple[Target, ...]] = {key: tuple(found[key]) for key in found}
        self._longest = max(map(len, found), default=0)

    def mentions(self, words: tuple[Word, ...]) -> tuple[Mention, ...]:
        """The phrases in *words*, left to right; a phrase never reaches over a gap or the end of a sentence."""
        found: list[Mention] = []
        at = 0
        while at < len(words):
            mention = self._at(words, at)
            if mention is not None:
                found.append(mention)
            at = mention.after if mention else at + 1
        return tuple(found)

    def _at(self, words: tuple[Word, ...], at: int) -> Mention | None:
        for length in range(min(self._longest, len(words) - at), 0, -1):
            part = words[at : at + length]
            targets = self._targets.get(tuple(word.text for word in part))
            if targets and part[0].sentence == part[-1].sentence:
                return Mention(at, at + length, part[0].start, part[-1].end, targets)
        return None


def lexicon_of(context: Context, stakes: Iterable[str] = ()) -> Lexicon:
    """All names, synonyms and values of *context*; *stakes* are phrases that say how much depends on the answer."""
    return Lexicon([*_phrases(context), *_stakes_phrases(sorted(set(stakes)))])


def _stakes_phrases(stakes: list[str]) -> Iterator[tuple[str, Target]]:
    """Each phrase, and those that overlap in a word as one: `for the board` and `board meeting`."""
    for phrase in stakes:
        yield phrase, Target("stakes", phrase)
        for other in stakes:
            last, _, rest = other.partition(" ")
            if rest and phrase != other and phrase.split()[-1] == last:
                yield f"{phrase} {rest}", Target("stakes", phrase)
                yield f"{phrase} {rest}", Target("stakes", other)


def _phrases(context: Context) -> Iterator[tuple[str, Target]]:
    for name, metric in context.metrics.items():
        for phrase in (name, *metric.synonyms):
            yield phrase, Target("metric", name)
    for name, entity in context.entities.items():
        for phrase in (name, *entity.synonyms):
            yield phrase, Target("entity", name)
        for column in entity.pii:
            yield column, Target("personal", f"{name}.{column}")
        for dimension in entity.dimensions:
            yield from _dimension_phrases(entity, dimension)
    for term in context.glossary.values():
        target = _glossary_target(context, term.refers_to)
        if target is not None:
            for phrase in (term.term, *term.synonyms):
                yield phrase, target


def _dimension_phrases(entity: Entity, dimension: Dimension) -> Iterator[tuple[str, Target]]:
    target = Target("dimension", f"{entity.name}.{dimension.name}")
    for phrase in (dimension.name, f"{_one(entity.name)} {dimension.name}", *dimension.synonyms):
        yield phrase, target
    for value in dimension.sample_values:
        if isinstance(value, bool):
            continue  # "true" alone says nothing about which fact it is the value of
        meant = Target("value", f"{entity.name}.{dimension.name}", value)
        for phrase in (str(value), *dimension.value_synonyms.get(str(value), ())):
            yield phrase, meant


def _glossary_target(context: Context, refers_to: str | None) -> Target | None:
    if refers_to is None:
        return None
    if refers_to in context.metrics:
        return Target("metric", refers_to)
    if refers_to in context.entities:
        return Target("entity", refers_to)
    owner, _, short = refers_to.partition(".")
    entity = context.entities.get(owner)
    return Target("dimension", refers_to) if entity and entity.dimension(short) else None


def _one(name: str) -> str:
    """An entity's name as one speaks of a single row: `order_items` → `order item`."""
    return " ".join(word.text for word in read_words(name.replace("_", " ")))
