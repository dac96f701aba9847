"""What the catalogue can say, as the options of a form: every number, column, condition and date that somebody may ask.

Where rows lead to another entity in several ways, its columns are offered once for each, by what the way is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

from bot.analytics.spelled import OPEN, WORDS, readable
from bot.conversation import Choice, FormField
from bylaw.authored.context import Context, Entity, Fact, Relationship
from bylaw.authored.machines.access import Rights
from bylaw.authored.record import Grain
from bylaw.semantic.joins import Joins

PERIODS = (
    "all time", "today", "yesterday", "last 7 days", "last 30 days", "this week", "last week", "this month",
    "last month", "this quarter", "last quarter", "this year", "last year",
)  # fmt: skip
LIMITS = ("1", "3", "5", "10", "20", "50")
GRAINS: tuple[Grain, ...] = get_args(Grain)
VALUES = f"Values, with commas between, of what ends with {OPEN}"
_AGGREGATES = ("sum", "avg", "min", "max")
_NUMERIC = ("int", "bigint", "smallint", "dec", "num", "double", "float", "real")
_ORDERS = (Choice(value="descending", label="highest first"), Choice(value="ascending", label="lowest first"))


@dataclass(frozen=True, slots=True)
class Way:
    """One relationship by which rows lead to an entity, where it has to be said: its place, and what it is called.

    `left` is the entity that it begins at; `is_one_of_left`: that has others to the same one.
    """

    place: str
    said: str
    is_one_of_left: bool = False
    left: str = ""
    is_default: bool = False


def fields(context: Context, rights: Rights | None) -> list[FormField]:
    """The fields of the form, with every option of somebody who has *rights*."""
    catalogue = _Catalogue(context, rights)
    return [
        _field("metrics", "Number", catalogue.numbers(), is_many=True),
        _field("by", "By", catalogue.columns(), is_many=True),
        _field("filters", "Only", catalogue.conditions(), is_many=True),
        _field("values", VALUES, (), is_many=True),
        _field("period", "Period", _plain(PERIODS)),
        _field("compared_with", "Compared with", _plain(PERIODS)),
        _field("grain", "Each", _plain(GRAINS)),
        _field("date", "By the date", catalogue.dates()),
        _field("order", "Order", _ORDERS),
        _field("limit", "First", _plain(LIMITS)),
    ]


def ways(context: Context, joins: Joins, shown: Iterable[str]) -> dict[str, list[Way]]:
    """By entity, the relationships that lead to it where the rows of one entity may follow several of them."""
    entities = [context.entities[name] for name in sorted(shown)]
    leading: dict[str, list[tuple[str, Relationship]]] = {}
    for entity in entities:
        for one in entity.relationships:
            if one.relationship_type in ("many_to_one", "one_to_one"):
                leading.setdefault(one.right_entity, []).append((entity.name, one))
    reached = [set(joins.reachable(entity.name)) for entity in entities]
    return {
        name: [
            Way(f"{name}@{one.name}", _called(one), [other for other, _ in found].count(left) > 1, left, one.default)
            for left, one in found
            if _is_one_of(left, one, found, reached)
        ]
        for name, found in leading.items()
        if name in shown
    }


def unsaid(context: Context, base: str) -> dict[str, tuple[str, ...]]:
    """What the ways are called, by the entity that rows of *base* lead to in several of which none is meant anyway.

    A relationship of *base* itself is meant before those of others.
    """
    joins = Joins(context)
    reached = set(joins.reachable(base))
    found: dict[str, tuple[str, ...]] = {}
    for name, all_of_them in ways(context, joins, context.entities).items():
        fitting = [way for way in all_of_them if way.left in reached]
        is_meant = any(way.is_default for way in fitting) or sum(way.left == base for way in fitting) == 1
        if len(fitting) > 1 and not is_meant and name != base:
            found[name] = tuple(way.said for way in fitting)
    return found


def _is_one_of(
    left: str, one: Relationship, all_of_them: Sequence[tuple[str, Relationship]], reached: Sequence[set[str]]
) -> bool:
    """May rows follow another relationship as well?"""
    others = {other for other, relationship in all_of_them if relationship is not one}
    return any(left in found and others & found for found in reached)


def _called(one: Relationship) -> str:
    return one.synonyms[0] if one.synonyms else readable(one.name)


def _field(name: str, label: str, options: Iterable[Choice], is_many: bool = False) -> FormField:
    unique = {one.value: one for one in options}
    return FormField.model_validate(
        {"name": name, "label": label, "options": tuple(unique.values()), "is_many": is_many}
    )


def _plain(words: Iterable[str]) -> Iterator[Choice]:
    return (Choice(value=one, label=one) for one in words)


def _labelled(entity: Entity, name: str) -> str:
    return f"{readable(name)} ({readable(entity.name)})"


class _Catalogue:
    """The entities of one context that somebody may read."""

    def __init__(self, context: Context, rights: Rights | None) -> None:
        self.context = context
        self.entities = [
            one for one in context.entities.values() if rights is None or one.base_table.schema_name in rights.schemas
        ]
        self.shown = {one.name for one in self.entities}
        self.ways: Mapping[str, list[Way]] = ways(context, Joins(context), self.shown)

    # ---- numbers

    def numbers(self) -> Iterator[Choice]:
        for name, metric in sorted(self.context.metrics.items()):
            if self._owners(name) <= self.shown:
                yield Choice(value=name, label=readable(metric.name))
        for entity in self.entities:
            yield Choice(value=f"count({entity.name})", label=f"number of {readable(entity.name)}")
        for entity in self.entities:
            for fact in entity.facts:
                if fact.name not in entity.pii:
                    yield from _aggregates(entity, fact)
            yield from _durations(entity)
        for entity in self.entities:
            for place, _ in self._wholes(entity):
                each, said = f"avg(count({entity.name})) per {place.place}", readable(place.place.partition("@")[0])
                label = f"average number of {readable(entity.name)} of each of the {said}{_as(place)}"
                yield Choice(value=each, label=label)

    def _owners(self, name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        """The entities that a metric is made of."""
        metric = self.context.metrics.get(name)
        if metric is None or name in seen:
            return set()
        parts = (metric.numerator, metric.denominator, metric.metric, *(one.name for one in metric.inputs))
        found = {metric.entity} if metric.entity else set()
        return found.union(*(self._owners(part, seen | {name}) for part in parts if part))

    def _wholes(self, entity: Entity) -> Iterator[tuple[Way, Relationship]]:
        """What rows of *entity* belong to, where each belongs to one at most; by its way where there are several."""
        ends = [one.right_entity for one in entity.relationships]
        for one in entity.relationships:
            right = one.right_entity
            if one.relationship_type == "many_to_one" and right in self.shown and right != entity.name:
                is_one_of = ends.count(right) > 1
                yield Way(f"{right}@{one.name}" if is_one_of else right, _called(one) if is_one_of else ""), one

    # ---- columns

    def columns(self) -> Iterator[Choice]:
        """Every dimension, the parts of a moment, and those of an entity to which several ways lead by each of them."""
        for entity in self.entities:
            for name in (one.name for one in entity.dimensions if one.name not in entity.pii):
                for way in self._places(entity):
                    yield Choice(value=f"{way.place}.{name}", label=f"{_labelled(entity, name)}{_as(way)}")
        for entity in self.entities:
            for moment in (one for one in entity.time_dimensions if one.time_granularity == "day"):
                value = f"{entity.name}.weekday({moment.name})"
                yield Choice(value=value, label=f"weekday of {readable(moment.name)} ({readable(entity.name)})")

    def _places(self, entity: Entity) -> list[Way]:
        return [Way(entity.name, ""), *self.ways.get(entity.name, ())]

    def dates(self) -> Iterator[Choice]:
        for entity in self.entities:
            for moment in entity.time_dimensions:
                yield Choice(value=f"{entity.name}.{moment.name}", label=_labelled(entity, moment.name))

    # ---- conditions

    def conditions(self) -> Iterator[Choice]:
        for entity in self.entities:
            yield from self._values(entity)
            for narrowed in entity.filters:
                if narrowed.apply == "on_request":
                    yield Choice(value=f"{entity.name}.{narrowed.name}", label=readable(narrowed.name))
                    yield Choice(value=f"not {entity.name}.{narrowed.name}", label=f"not {readable(narrowed.name)}")
        for entity in self.entities:
            yield from _absences(entity)
            yield from self._related(entity)
        for entity in self.entities:
            yield from self._open(entity)

    def _values(self, entity: Entity) -> Iterator[Choice]:
        """The values that the catalogue lists; by each way where one entity leads to this one in several."""
        several = [Way(entity.name, ""), *(way for way in self._places(entity) if way.is_one_of_left)]
        for dimension in entity.dimensions:
            for value in dimension.sample_values if dimension.name not in entity.pii else ():
                for way in several:
                    label = f"{readable(dimension.name)}: {value}{_as(way)}"
                    yield Choice(value=f"{way.place}.{dimension.name}={value}", label=label)

    def _related(self, entity: Entity) -> Iterator[Choice]:
        """What has rows of *entity*, and what has none; what belongs to nothing."""
        many = readable(entity.name)
        for way, one in self._wholes(entity):
            right, number = readable(one.right_entity), f"count({entity.name}) per {way.place}"
            yield Choice(value=f"{number}=0", label=f"{right} without {many}{_as(way)}")
            yield Choice(value=f"{number}>=1", label=f"{right} with {many}{_as(way)}")
            yield Choice(value=f"{number}{OPEN}", label=f"{right} by their number of {many}{_as(way)} (> 40) {OPEN}")
            if (key := self._key(one)) is not None:
                label = f"{many} without {_called(one) if way.said or one.synonyms else right}"
                yield Choice(value=f"missing({one.right_entity}@{one.name}.{key})", label=label)

    def _key(self, one: Relationship) -> str | None:
        primary = self.context.entities[one.right_entity].primary_key
        return primary.columns[0] if primary is not None and len(primary.columns) == 1 else None

    def _open(self, entity: Entity) -> Iterator[Choice]:
        """What is compared with a value that somebody writes."""
        for dimension in entity.dimensions:
            if dimension.name not in entity.pii and not dimension.is_enum and dimension.data_type != "boolean":
                for way in self._places(entity):
                    label = f"{_labelled(entity, dimension.name)}{_as(way)} {OPEN}"
                    yield Choice(value=f"{way.place}.{dimension.name}{OPEN}", label=label)
        for part in (*entity.facts, *entity.time_dimensions):
            if part.name not in entity.pii:
                hint = "> 100" if isinstance(part, Fact) else "< 2025-07-01"
                label = f"{_labelled(entity, part.name)} ({hint}) {OPEN}"
                yield Choice(value=f"{entity.name}.{part.name}{OPEN}", label=label)


def _as(way: Way) -> str:
    return f", {way.said}" if way.said else ""


def _aggregates(entity: Entity, fact: Fact) -> Iterator[Choice]:
    is_number = fact.data_type is None or fact.data_type.lower().startswith(_NUMERIC)
    for agg in _AGGREGATES if is_number else ("count_distinct",):
        said = f"{WORDS[agg]} {readable(fact.name)} of {readable(entity.name)}"
        yield Choice(value=f"{agg}({entity.name}.{fact.name})", label=said)


def _durations(entity: Entity) -> Iterator[Choice]:
    """How long it takes from one moment of a row to another; to the hour where both tell it."""
    for ends in combinations(entity.time_dimensions, 2):
        is_told = all((one.data_type or "").lower().startswith("timestamp") for one in ends)
        names = ", ".join(f"{entity.name}.{one.name}" for one in ends)
        first, last = (readable(one.name) for one in ends)
        for unit in ("days", "hours") if is_told else ("days",):
            said = f"average {unit} from {first} to {last} of {readable(entity.name)}"
            yield Choice(value=f"avg({entity.name}.{unit}({names}))", label=said)


def _absences(entity: Entity) -> Iterator[Choice]:
    """Rows without a moment that not every row has."""
    for moment in (one for one in entity.time_dimensions if not one.default):
        name, said = f"{entity.name}.{moment.name}", readable(moment.name)
        yield Choice(value=f"missing({name})", label=f"{readable(entity.name)} without {said}")
        yield Choice(value=f"present({name})", label=f"{readable(entity.name)} with {said}")
