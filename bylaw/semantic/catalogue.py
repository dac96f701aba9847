"""What the gate may let through, read off the context: tables, columns, personal data."""

from __future__ import annotations

from collections import defaultdict

from bylaw.authored.context import Context, Entity
from bylaw.semantic.expressions import InvalidExpression, columns_of
from bylaw.sql.catalogue import Catalogue, TableInfo


def catalogue_of(context: Context) -> Catalogue:
    """The tables behind the entities. Columns are closed where every entity on a table declares its `facts`."""
    columns: dict[str, set[str]] = defaultdict(set)
    personal: dict[str, set[str]] = defaultdict(set)
    is_open: dict[str, bool] = defaultdict(bool)
    known = known_columns(context)
    for name, entity in sorted(context.entities.items()):
        table = entity.base_table.qualified.lower()
        columns[table] |= {column.lower() for column in known[name]}
        personal[table] |= {column.lower() for column in entity.pii}
        is_open[table] |= not entity.facts
    return Catalogue(
        {
            table: TableInfo(
                None if is_open[table] else frozenset(columns[table]),
                frozenset(personal[table]),
                frozenset(columns[table]),
            )
            for table in sorted(columns)
        }
    )


def known_columns(context: Context) -> dict[str, frozenset[str]]:
    """The columns that each entity's own declarations speak of, and those that others join it by."""
    found: dict[str, set[str]] = {name: set(_own_columns(entity)) for name, entity in context.entities.items()}
    for entity in context.entities.values():
        for relationship in entity.relationships:
            if relationship.right_entity in found:
                found[relationship.right_entity] |= {pair.right_column for pair in relationship.relationship_columns}
    return {name: frozenset(columns) for name, columns in sorted(found.items())}


def _own_columns(entity: Entity) -> set[str]:
    columns = set(entity.pii) | set(entity.primary_key.columns if entity.primary_key else ())
    if entity.freshness:
        columns.add(entity.freshness.as_of_column)
    for relationship in entity.relationships:
        columns |= {pair.left_column for pair in relationship.relationship_columns}
    parts = [part.sql for part in (*entity.dimensions, *entity.time_dimensions, *entity.facts, *entity.filters)]
    for text in (*parts, *(one.condition for one in entity.relationships if one.condition is not None)):
        try:
            columns |= {column for owner, column in columns_of(text, entity.name) if owner == entity.name}
        except InvalidExpression:
            continue  # said by the lint; a bundle cannot hold one
    return columns
