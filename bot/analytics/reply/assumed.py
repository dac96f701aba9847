"""What an answer took for granted: which of several relationships leads to what it groups or narrows by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bylaw.authored.context import Context, Relationship
from bylaw.semantic.query import AnyOf, Condition, Filter, SemanticQuery


def told(context: Context, query: SemanticQuery, entities: Iterable[str]) -> Iterator[str]:
    """A sentence for each role that nobody said: "vets are those that visits are treated by, not referred by"."""
    touched = set(entities)
    plain = {name.partition(".")[0] for name in (*query.dimensions, *_narrowed(query.filters)) if "@" not in name}
    for name in sorted(touched):
        entity = context.entities.get(name)
        for end in sorted(plain & touched):
            ways = [one for one in entity.relationships if one.right_entity == end] if entity is not None else []
            default = next((one for one in ways if one.default), None)
            if len(ways) > 1 and default is not None:
                others = ", ".join(f"`{_said(one)}`" for one in ways if one is not default)
                yield f"{_readable(end)} are taken as `{_said(default)}` of {_readable(name)}, not {others}."


def _narrowed(conditions: Iterable[Condition]) -> Iterator[str]:
    for one in conditions:
        match one:
            case Filter():
                yield one.dimension
            case AnyOf():
                yield from _narrowed(one.any_of)


def _said(one: Relationship) -> str:
    return one.synonyms[0] if one.synonyms else _readable(one.name)


def _readable(name: str) -> str:
    return name.replace("_", " ")
