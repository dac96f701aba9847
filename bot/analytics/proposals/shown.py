"""What a language model is shown of the catalogue: names, roles, meanings, words of the house, traps, checked examples.

No row and no personal column, and nothing that the asker may not know of; of more than fits, what is nearest to the
question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.analytics.plan import risk
from bylaw.authored.context import Context, Entity, Expressed
from bylaw.authored.machines.access import Rights
from bylaw.canonical import canonical_json
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Unanswerable

_BESIDES = 4  # one part in so many of what a model is shown is for words, traps and examples


def described(
    context: Context, compiler: Compiler, rights: Rights | None, text: str, most_bytes: int
) -> list[dict[str, Any]]:
    """The records of the catalogue that somebody with *rights* may know; where they are too many, the nearest ones."""
    shown = shown_to(context, rights)
    records = [*_metrics(context, shown, compiler)]
    records += [_entity(context.entities[name], shown, compiler) for name in shown]
    return _nearest(records, text, most_bytes)


def besides(
    context: Context, compiler: Compiler, rights: Rights | None, text: str, most_bytes: int
) -> dict[str, list[dict[str, Any]]]:
    """The words of the house, the traps and the checked questions about what may be known, the nearest first."""
    shown = set(shown_to(context, rights))
    names = shown | {record["metric"] for record in _metrics(context, sorted(shown), compiler)}
    words = [
        _told(term=one.term, synonyms=one.synonyms, means=one.means, refers_to=one.refers_to, over=one.over)
        for _, one in sorted(context.glossary.items())
        if one.refers_to is None or one.refers_to.partition(".")[0] in names
    ]
    traps = [
        _told(trap=one.trap, applies_to=one.applies_to)
        for _, one in sorted(context.gotchas.items())
        if set(one.applies_to) <= names
    ]
    examples = [
        _told(question=one.question, query=one.query.model_dump(mode="json", exclude_defaults=True))
        for _, one in sorted(context.verified_queries.items())
        if one.query is not None and _names_only(one.query.model_dump(mode="json"), context, shown)
    ]
    each = most_bytes // _BESIDES // 3
    return {
        "words": _nearest(words, text, each),
        "traps": _nearest(traps, text, each),
        "examples": _ranked(examples, text, each),
    }


def shown_to(context: Context, rights: Rights | None) -> list[str]:
    """The entities that somebody with *rights* may know of."""
    return [name for name, entity in sorted(context.entities.items()) if is_shown(entity, rights)]


def is_shown(entity: Entity, rights: Rights | None) -> bool:
    """May somebody with *rights* know of it?"""
    return rights is None or entity.base_table.schema_name in rights.schemas


def _names_only(query: object, context: Context, shown: set[str]) -> bool:
    """Does a query name no entity but those that are shown?"""
    said = canonical_json(query)
    hidden = [name for name in context.entities if name not in shown]
    hidden += [name for name, metric in context.metrics.items() if metric.entity in hidden]
    return not any(f'"{name}"' in said or f'"{name}.' in said or f"({name}" in said for name in hidden)


def _ranked(records: Sequence[dict[str, Any]], text: str, most_bytes: int) -> list[dict[str, Any]]:
    """As many of *records* as fit, the nearest first."""
    words = risk.content_words(text)
    kept = []
    for record in sorted(records, key=lambda one: -len(words & _words(one))):
        size = len(canonical_json(record).encode())
        if size <= most_bytes:
            most_bytes -= size
            kept.append(record)
    return kept


def _nearest(records: Sequence[dict[str, Any]], text: str, most_bytes: int) -> list[dict[str, Any]]:
    """As many of *records* as fit, the nearest ones, in their own order."""
    kept = {id(record) for record in _ranked(records, text, most_bytes)}
    return [record for record in records if id(record) in kept]


def _entity(entity: Entity, shown: Sequence[str], compiler: Compiler) -> dict[str, Any]:
    """An entity without its personal columns, with the roles in which it leads to others."""
    parts: Mapping[str, Sequence[Expressed]] = {
        "dimensions": entity.dimensions,
        "times": entity.time_dimensions,
        "facts": entity.facts,
    }
    found = [one for one in entity.relationships if one.right_entity in shown]
    several = Counter(one.right_entity for one in found)
    roles = [
        _told(place=f"{one.right_entity}@{one.name}", synonyms=one.synonyms, default=one.default)
        for one in found
        if several[one.right_entity] > 1
    ]
    conditions = [one for one in entity.filters if one.apply == "on_request"]
    return _told(
        entity=entity.name,
        synonyms=entity.synonyms,
        description=entity.description,
        **{
            kind: [_part(entity, part) for part in found if _is_open(f"{entity.name}.{part.name}", compiler)]
            for kind, found in parts.items()
        },
        conditions=[_told(name=f"{entity.name}.{one.name}", synonyms=one.synonyms) for one in conditions],
        leads_to=sorted(several),
        roles=roles,
    )


def _part(entity: Entity, part: Expressed) -> dict[str, Any]:
    is_closed = getattr(part, "is_enum", False)
    return _told(
        name=f"{entity.name}.{part.name}",
        synonyms=part.synonyms,
        description=part.description,
        unit=getattr(part, "unit", None),
        default=getattr(part, "default", False),
        values=list(getattr(part, "sample_values", ())) if is_closed else [],
        values_are_called=dict(getattr(part, "value_synonyms", {})) if is_closed else {},
    )


def _metrics(context: Context, shown: Sequence[str], compiler: Compiler) -> Iterator[dict[str, Any]]:
    """The metrics that count rows of entities that are shown, and of no others."""
    for name, metric in sorted(context.metrics.items()):
        try:
            bases = compiler.bases_of(name)
        except Unanswerable:
            continue
        if set(bases) <= set(shown):
            unit = metric.unit
            yield _told(
                metric=name, synonyms=metric.synonyms, description=metric.description, unit=unit, of=list(bases)
            )


def _is_open(name: str, compiler: Compiler) -> bool:
    """Is it no personal data?"""
    try:
        compiler.names.field(name)
    except Unanswerable:
        return False
    return True


def _told(**parts: Any) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value}


def _words(record: Mapping[str, Any]) -> frozenset[str]:
    """The words by which one speaks of a record and of its parts."""
    parts = [part for kind in ("dimensions", "times", "facts", "conditions") for part in record.get(kind, ())]
    kinds = ("metric", "entity", "name", "term", "question", "trap")
    names: list[str] = [str(one.get(kind, "")) for one in (record, *parts) for kind in kinds]
    names += [word for one in (record, *parts) for word in one.get("synonyms", ())]
    return risk.content_words(" ".join(names).replace("_", " ").replace(".", " "))
