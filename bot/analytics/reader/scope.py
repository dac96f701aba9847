"""Words of a question → what of the context they may mean. Longest phrase first, every reading kept.

Nothing is chosen here: a word with two meanings stays two meanings until the rest of the question decides.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.analytics.reader.measured import facts_by_kind
from bot.analytics.reader.verbs import events_of, forms_of, said_of
from bylaw.authored.context import Context, Entity, Expressed
from bylaw.language.words import read_words

Kind = Literal[
    "metric", "dimension", "flag", "time", "fact", "value", "entity", "condition", "relation", "personal", "stakes"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a phrase may mean.

    `name` is `entity.dimension` for dimensions, time dimensions, facts, values and named filters (`condition`), and
    `entity.relationship` for what connects two entities (`relation`). A `flag` is a dimension that is true or false.
    `over` is what a term computes with its metric on the groups of an answer.
    """

    kind: Kind
    name: str
    value: str | int | bool | None = None
    over: Literal["rank", "share"] | None = None

    @property
    def owner(self) -> str:
        """The entity that it belongs to; a metric's is not known here."""
        return self.name.partition(".")[0]


class Lexicon:
    """Every phrase of one context.

    `dates` has each entity's default date, `measured` the columns by kind of unit, `roles` the relationships that are
    one of several between the same two entities, written `entity.relationship`.
    """

    def __init__(
        self,
        phrases: Iterable[tuple[str, Target]],
        moments: Iterable[tuple[str, Target]] = (),
        dates: Mapping[str, str] | None = None,
        measured: Mapping[str, Sequence[str]] | None = None,
        roles: Iterable[str] = (),
    ) -> None:
        self.dates = dates or {}
        self.roles = frozenset(roles)
        self.measured = {
            kind: tuple(Target("fact", name) for name in names) for kind, names in (measured or {}).items()
        }
        found: dict[tuple[str, ...], dict[Target, None]] = defaultdict(dict)
        self.spellings: set[str] = set()
        for phrase, target in phrases:
            key = tuple(word.text for word in read_words(phrase.replace("_", " ")))
            if key:
                found[key][target] = None
                self.spellings.add(phrase.replace("_", " ").lower())
        self._targets: Mapping[tuple[str, ...], tuple[Target, ...]] = {key: tuple(found[key]) for key in found}
        self.longest = max(map(len, found), default=0)  # words of a phrase
        self._first = {key[0] for key in found}
        self._moments: dict[tuple[str, ...], dict[Target, None]] = defaultdict(dict)
        for phrase, target in moments:
            self._moments[tuple(word.text for word in read_words(phrase))][target] = None

    def longest_at(self, words: Sequence[str], at: int) -> tuple[int, tuple[Target, ...]] | None:
        """How many of *words* from place *at* on are one phrase, and what it may mean."""
        if at >= len(words) or words[at] not in self._first:
            return None
        for length in range(min(self.longest, len(words) - at), 0, -1):
            targets = self._targets.get(tuple(words[at : at + length]))
            if targets:
                return length, targets
        return None

    def moment_at(self, words: Sequence[str], at: int) -> tuple[int, tuple[Target, ...]] | None:
        """How many of *words* from place *at* on tell a date by what happened then, and which dates it may be."""
        for length in range(min(3, len(words) - at), 0, -1):
            targets = self._moments.get(tuple(words[at : at + length]))
            if targets:
                return length, tuple(targets)
        return None

    @property
    def named(self) -> Mapping[tuple[str, ...], tuple[Target, ...]]:
        """Every phrase in its normal form, and what it may mean."""
        return self._targets

    def names_any(self, words: Sequence[str]) -> bool:
        """Does any phrase stand in *words*?"""
        return any(self.longest_at(words, at) for at in range(len(words)))


def lexicon_of(context: Context, stakes: Iterable[str] = ()) -> Lexicon:
    """All names, synonyms and values of *context*; *stakes* are phrases that say how much depends on the answer."""
    dates = {name: date for name in context.entities if (date := context.default_time(name))}
    return Lexicon(
        [*_phrases(context), *_stakes_phrases(sorted(set(stakes)))],
        _moment_phrases(context),
        dates,
        facts_by_kind(context),
        _roles(context),
    )


def _roles(context: Context) -> Iterator[str]:
    """The relationships beside which another leads from the same entity to the same entity."""
    for name, entity in context.entities.items():
        ends = Counter(relationship.right_entity for relationship in entity.relationships)
        yield from (f"{name}.{one.name}" for one in entity.relationships if ends[one.right_entity] > 1)


def _moment_phrases(context: Context) -> Iterator[tuple[str, Target]]:
    """How one speaks of dates where it is clear that a date is meant."""
    for name, entity in context.entities.items():
        for time in entity.time_dimensions:
            for phrase in (time.name, *time.synonyms):
                spoken = phrase.replace("_", " ")
                for part in dict.fromkeys((spoken, spoken.removeprefix(f"{_one(name)} "))):
                    for said in said_of(part):
                        yield said, Target("time", f"{name}.{time.name}")


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
            for owner in ("", *(_one(spoken) for spoken in (name, *entity.synonyms))):
                yield f"{owner} {column}", Target("personal", f"{name}.{column}")
        yield from _attribute_phrases(entity)
    for term in context.glossary.values():
        target = _glossary_target(context, term.refers_to)
        if target is not None:
            target = replace(target, over=term.over if target.kind == "metric" else None)
            for phrase in (term.term, *term.synonyms):
                yield phrase, target


def _attribute_phrases(entity: Entity) -> Iterator[tuple[str, Target]]:
    """Everything a row of *entity* has: alone and behind the entity's own name ("customer name")."""
    owners = [_one(spoken) for spoken in (entity.name, *entity.synonyms)]
    kinds: tuple[tuple[Kind, Sequence[Expressed]], ...] = (
        ("dimension", entity.dimensions),
        ("time", entity.time_dimensions),
        ("fact", entity.facts),
    )
    for kind, attributes in kinds:
        for attribute in attributes:
            target = Target(kind, f"{entity.name}.{attribute.name}")
            for phrase in _spoken(entity, kind, attribute):
                is_flag = kind == "dimension" and (attribute.data_type or "").lower().startswith("bool")
                for said in (phrase, *(f"{owner} {phrase}" for owner in owners)):
                    yield said, target
                    if is_flag:
                        yield said, Target("flag", target.name)
    if len(entity.time_dimensions) == 1:
        for owner in owners:
            yield f"{owner} date", Target("time", f"{entity.name}.{entity.time_dimensions[0].name}")
    for dimension in entity.dimensions:
        for value in dimension.sample_values:
            if isinstance(value, bool):
                continue  # "true" alone says nothing about which fact it is the value of
            meant = Target("value", f"{entity.name}.{dimension.name}", value)
            for phrase in (str(value), *dimension.value_synonyms.get(str(value), ())):
                yield phrase, meant
    for narrowed in entity.filters:
        if narrowed.apply == "on_request":
            for phrase in (narrowed.name, *narrowed.synonyms):
                yield phrase, Target("condition", f"{entity.name}.{narrowed.name}")
    for relationship in entity.relationships:
        target = Target("relation", f"{entity.name}.{relationship.name}")
        ends = [other.right_entity for other in entity.relationships]
        for phrase in relationship.synonyms:
            yield phrase, target
            if ends.count(relationship.right_entity) > 1:  # a word that says which of several is meant
                yield from ((form, target) for form in forms_of(phrase))


def _spoken(entity: Entity, kind: Kind, attribute: Expressed) -> Iterator[str]:
    """How one speaks of an attribute: its names, "status name", "id" of a key, "name" of what tells rows apart."""
    phrases = (attribute.name, *attribute.synonyms)
    yield from phrases
    if kind == "time":
        yield from (f"{event} date" for phrase in phrases for event in events_of(phrase))
    if kind != "dimension":
        return
    yield from (f"{phrase} name" for phrase in phrases if not phrase.endswith(("name", "id", "title")))
    if entity.primary_key is not None and [attribute.sql] == entity.primary_key.columns:
        yield from ("id", "identifier")
    if entity.label == [attribute.name] or attribute.name == f"{_one(entity.name).replace(' ', '_')}_name":
        yield "name"


def _glossary_target(context: Context, refers_to: str | None) -> Target | None:
    if refers_to is None:
        return None
    if refers_to in context.metrics:
        return Target("metric", refers_to)
    if refers_to in context.entities:
        return Target("entity", refers_to)
    owner, _, short = refers_to.partition(".")
    entity = context.entities.get(owner)
    if entity is None:
        return None
    named: tuple[tuple[Kind, Sequence[Expressed]], ...] = (
        ("dimension", entity.dimensions),
        ("time", entity.time_dimensions),
        ("fact", entity.facts),
        ("condition", entity.filters),
    )
    return next((Target(kind, refers_to) for kind, parts in named for part in parts if part.name == short), None)


def _one(name: str) -> str:
    """An entity's name as one speaks of a single row: `order_items` → `order item`."""
    return " ".join(word.text for word in read_words(name.replace("_", " ")))
