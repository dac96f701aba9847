"""The contexts that describe databases of others: they check clean, and the data is as they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bylaw.authored.context import Context, Entity, Relationship
from bylaw.semantic.expressions import columns_of
from ci.findings import SEVERITIES
from ci.lint.registry import lint
from ci.loading.load import load
from tests.beside import beside
from tests.realworld import measure

ROOTS = sorted(path.parent for path in measure.CONTEXTS.rglob("context"))
ON_THE_LEFT_ONCE = ("one_to_one", "one_to_many")
ON_THE_RIGHT_ONCE = ("one_to_one", "many_to_one")


def name_of(root: Path) -> str:
    return root.relative_to(measure.CONTEXTS).as_posix()


every_root = pytest.mark.parametrize("root", ROOTS, ids=name_of)


@every_root
def test_a_context_has_no_error(root):
    workspace = load(root, today=date(2025, 1, 15))
    assert [finding.message for finding in workspace.findings] == []
    assert [f"{f.place.path}: {f.message}" for f in lint(workspace) if SEVERITIES[f.id] == "error"] == []


@every_root
def test_what_people_may_say_is_said(root):
    """Descriptions for readers, and the aggregation that a bare number takes."""
    context = load(root, today=date(2025, 1, 15)).context
    for entity in context.entities.values():
        assert entity.description, entity.name
        for fact in entity.facts:
            assert fact.default_aggregation, f"{entity.name}.{fact.name}"
    assert all(metric.description for metric in context.metrics.values())


Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def data(root) -> Iterator[tuple[Context, list[Ask]]]:
    """The context of *root*, and each of the databases that it describes."""
    folder = beside(*measure.DATA, *name_of(root).split("/"))
    scales = (False, True) if (folder / "load_scaled.sql").is_file() else (False,)
    connections = [measure.reference(folder, scaled).cursor() for scaled in scales]
    asks: list[Ask] = [lambda sql, at=connection: at.execute(sql).fetchall() for connection in connections]
    yield load(root, today=date(2025, 1, 15)).context, asks


@every_root
def test_every_column_and_expression_is_there(data):
    context, asks = data
    for entity in context.entities.values():
        parts = [*entity.dimensions, *entity.time_dimensions, *entity.facts, *entity.filters]
        own = [
            part.sql for part in parts if all(owner == entity.name for owner, _ in columns_of(part.sql, entity.name))
        ]
        keys = entity.primary_key.columns if entity.primary_key else []
        for ask in asks:
            ask(f"SELECT {', '.join(['1', *own, *keys, *entity.pii])} FROM {table(entity)} AS {entity.name}")


@every_root
def test_every_key_and_unique_dimension_is_unique(data):
    context, asks = data
    for entity in context.entities.values():
        keys = [entity.primary_key.columns] if entity.primary_key else []
        keys += [[dimension.sql] for dimension in entity.dimensions if dimension.unique]
        for ask in asks:
            assert [key for key in keys if not is_once(ask, entity, key)] == [], entity.name


@every_root
def test_every_relationship_is_as_declared(data):
    """A side that the type calls one has no row twice on any of the data; a side called many may grow to it."""
    context, asks = data
    for entity in context.entities.values():
        for relationship in entity.relationships:
            right = context.entities[relationship.right_entity]
            for ask in asks:
                assert broken(ask, entity, right, relationship) == [], relationship.name


def broken(ask: Ask, entity: Entity, right: Entity, relationship: Relationship) -> list[str]:
    pairs, found = relationship.relationship_columns, []
    if relationship.relationship_type in ON_THE_LEFT_ONCE and not is_once(ask, entity, [p.left_column for p in pairs]):
        found.append("the left side is not one")
    if relationship.relationship_type in ON_THE_RIGHT_ONCE and not is_once(ask, right, [p.right_column for p in pairs]):
        found.append("the right side is not one")
    return found


@every_root
def test_every_value_of_an_enum_is_listed(data):
    context, asks = data
    for entity in context.entities.values():
        for dimension in entity.dimensions:
            for ask in asks if dimension.is_enum else ():
                rows = ask(f"SELECT DISTINCT {dimension.sql} FROM {table(entity)} WHERE {dimension.sql} IS NOT NULL")
                unlisted = {value for (value,) in rows} - set(dimension.sample_values)
                assert unlisted == set(), f"{entity.name}.{dimension.name}"


def table(entity: Entity) -> str:
    return f'"{entity.base_table.schema_name}"."{entity.base_table.table}"'


def is_once(ask: Ask, entity: Entity, columns: list[str]) -> bool:
    """Has no two rows the same values there? Rows that the entity always leaves out do not count."""
    always = [part.sql for part in entity.filters if part.apply == "always"]
    known = " AND ".join([*(f"{column} IS NOT NULL" for column in columns), *always])
    key = ", ".join(columns)
    twice = ask(f"SELECT {key} FROM {table(entity)} AS {entity.name} WHERE {known} GROUP BY {key} HAVING count(*) > 1")
    return not twice
