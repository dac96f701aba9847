"""A thing asked for by its name is each of its rows: two customers of one name are two, as they are when counted."""

from __future__ import annotations

from dataclasses import replace

from bot.analytics.reading import Bound
from bylaw.authored.context import Context


def with_rows(bound: Bound, context: Context) -> Bound:
    """*bound* with a row for each of what is listed, where it was named and its label is what is shown of it."""
    query = bound.query
    if not query.is_list or query.per or query.grain:
        return bound
    named = dict.fromkeys(one.name for one in bound.bindings if one.kind == "entity" and one.name in context.entities)
    listed = [name for name in named if _is_shown(name, query.dimensions, context)]
    return replace(bound, query=query.model_copy(update={"per": tuple(listed)})) if len(listed) == 1 else bound


def _is_shown(name: str, dimensions: tuple[str, ...], context: Context) -> bool:
    entity = context.entities[name]
    is_told = bool(entity.label) and all(f"{name}.{label}" in dimensions for label in entity.label)
    return is_told and entity.primary_key is not None
