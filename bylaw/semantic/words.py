"""The names of a context as the index of words holds them: metrics, entities, what they are grouped and narrowed by.

Only what the schemas of the person who asks show is listed, and never a column of personal data: a name that is not
here does not exist for that person.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from bylaw.authored.context import Context, Dimension, Entity, Fact, Metric, TimeDimension
from bylaw.hold.words import Index, Name, ValueType

_NUMERIC = re.compile(r"int|decimal|numeric|double|float|real|number", re.IGNORECASE)
_MOMENT = re.compile(r"date|time", re.IGNORECASE)


def index_context(context: Context, schemas: Collection[str] | None = None) -> Index:
    """The index of a context for somebody who may read *schemas*; None is everything."""
    entities = {
        name: entity
        for name, entity in sorted(context.entities.items())
        if schemas is None or entity.base_table.schema_name in schemas
    }
    names: list[Name] = []
    for entity in entities.values():
        names += _parts(entity, frozenset(_counting(entity.name, context)), context.default_time(entity.name))
        names += _roles(entity, entities)
    names += [
        _metric(one, context)
        for name, one in sorted(context.metrics.items())
        if schemas is None or _counted(name, context) <= entities.keys()
    ]
    return Index(_with_glossary(names, context))


def _counted(name: str, context: Context, seen: frozenset[str] = frozenset()) -> set[str]:
    """The entities whose rows a metric counts, through all that it is made of; one that is none of ours is nobody's."""
    metric = context.metrics.get(name)
    if metric is None or name in seen:
        return {name}
    if metric.entity is not None:
        return {metric.entity}
    parts = (metric.numerator, metric.denominator, metric.metric, *(one.name for one in metric.inputs))
    return set().union(*(_counted(part, context, seen | {name}) for part in parts if part))


def _counting(entity: str, context: Context) -> Iterator[str]:
    """The metrics that count the rows of an entity: their words may stand for its number."""
    for name, metric in sorted(context.metrics.items()):
        if metric.entity == entity and metric.agg in ("count", "count_distinct"):
            yield name


def _parts(entity: Entity, counting: frozenset[str], dated: str | None) -> Iterator[Name]:
    yield Name(entity.name, "entity", (_called(entity.name), *entity.synonyms), kin=counting, dated=dated)
    columns = set(entity.pii)
    parts: tuple[Dimension | TimeDimension | Fact, ...] = (*entity.dimensions, *entity.time_dimensions, *entity.facts)
    for part in parts:
        if part.sql not in columns and part.name not in columns:
            yield _part(entity, part)
    for one in entity.filters:
        yield Name(f"{entity.name}.{one.name}", "filter", (_called(one.name), *one.synonyms), owner=entity.name)
    keys = entity.primary_key.columns if entity.primary_key else ()
    declared = {part.name for part in (*entity.dimensions, *entity.time_dimensions, *entity.facts)}
    for key in keys:
        if key not in declared and key not in columns:
            yield Name(f"{entity.name}.{key}", "dimension", (_called(key),), owner=entity.name)


def _part(entity: Entity, part: Dimension | TimeDimension | Fact) -> Name:
    name, texts = f"{entity.name}.{part.name}", (_called(part.name), *part.synonyms)
    if isinstance(part, TimeDimension):
        return Name(name, "date", texts, type="date", owner=entity.name)
    if isinstance(part, Fact):
        return Name(name, "number", texts, type="decimal", unit=part.unit, owner=entity.name)
    is_label = part.name in entity.label or bool(entity.primary_key and part.sql in entity.primary_key.columns)
    near = (_called(entity.name), *entity.synonyms) if is_label else ()
    kind = "date" if _MOMENT.search(part.data_type or "") else "dimension"
    return Name(name, kind, texts, type=_type(part), values=_values(part), near=near, owner=entity.name)  # type: ignore[arg-type]  # one of two


def _type(part: Dimension) -> ValueType:
    told = part.data_type or ""
    if _MOMENT.search(told):
        return "date"
    if "bool" in told.lower():
        return "boolean"
    if part.sample_values:
        return "enum"
    return "decimal" if _NUMERIC.search(told) else "text"


def _values(part: Dimension) -> Mapping[str, tuple[str, ...]]:
    if "bool" in (part.data_type or "").lower():
        return {"true": (_called(part.name), *part.synonyms), "false": ()}
    return {str(one): (str(one), *part.value_synonyms.get(str(one), ())) for one in part.sample_values}


def _roles(entity: Entity, entities: Mapping[str, Entity]) -> Iterator[Name]:
    """What another entity is called in the part that it plays: `customers@sender`."""
    for one in entity.relationships:
        if one.right_entity in entities:
            yield Name(f"{one.right_entity}@{one.name}", "entity", tuple(one.synonyms), near=(_called(one.name),))


def _metric(metric: Metric, context: Context) -> Name:
    is_known = metric.entity in context.entities
    dated = metric.dated_by or (context.default_time(metric.entity) if metric.entity and is_known else None)
    texts = (_called(metric.name), *metric.synonyms)
    return Name(metric.name, "metric", texts, type="decimal", unit=metric.unit, dated=dated, rows=metric.entity)


def _with_glossary(names: list[Name], context: Context) -> Iterator[Name]:
    """The names with the words of the glossary that are bound to them."""
    more: dict[str, list[str]] = {}
    for term in context.glossary.values():
        if term.refers_to:
            more.setdefault(term.refers_to, []).extend((term.term, *term.synonyms))
    for one in names:
        texts = more.get(one.name, ())
        yield one if not texts else replace(one, texts=(*one.texts, *texts))


def _called(name: str) -> str:
    return name.replace("_", " ")
