"""How much of an entity is tested (seed 004, 6.3.2): the share of its columns that a verified question reads, or a key.

A key counts where the tables were looked at when the bundle was compiled; what nobody verifies is not tested.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache

import sqlglot
from sqlglot import exp

from bylaw.authored.context import Context, Entity, SemanticSpec
from bylaw.semantic.expressions import InvalidExpression, columns_of
from bylaw.sql.foreign import FOREIGN

_DEEPEST = 20  # metrics that are computed of metrics

Column = tuple[str, str]  # entity, column


def coverage(context: Context, measured: Collection[str] = ()) -> Mapping[str, Decimal]:
    """The share of each entity's declared columns that is tested, from 0 to 1; *measured*: entities looked at."""
    read: dict[str, set[str]] = defaultdict(set)
    for owner, column in _verified(context):
        read[owner].add(column)
    for name in sorted(set(measured) & context.entities.keys()):
        read[name] |= _keys(context.entities[name])
    return {name: _share(entity, read[name]) for name, entity in sorted(context.entities.items())}


def _share(entity: Entity, read: Collection[str]) -> Decimal:
    parts = [*entity.dimensions, *entity.time_dimensions, *entity.facts]
    known = [{column for owner, column in _columns(part.sql, entity.name) if owner == entity.name} for part in parts]
    tested = sum(1 for part, columns in zip(parts, known, strict=True) if columns <= {*read} or part.name in read)
    return Decimal(tested) / len(parts) if parts else Decimal(0)


def _keys(entity: Entity) -> set[str]:
    own = set(entity.primary_key.columns) if entity.primary_key else set()
    return own | {pair.left_column for one in entity.relationships for pair in one.relationship_columns}


def _verified(context: Context) -> Iterator[Column]:
    for one in context.verified_queries.values():
        yield from _of_sql(one.sql, context) if one.sql is not None else ()
        yield from _of_spec(one.query, context) if one.query is not None else ()


def _of_spec(spec: SemanticSpec, context: Context) -> Iterator[Column]:
    """The columns behind a question that is written in words of the catalogue."""
    for name in spec.metrics:
        yield from _of_metric(name, context)
    for name in (*spec.dimensions, *spec.filters):
        owner, _, short = name.partition(".")
        if short and owner in context.entities:
            yield from _of_part(owner, short, context)


def _of_metric(name: str, context: Context, depth: int = 0) -> Iterator[Column]:
    metric = context.metrics.get(name)
    if metric is None or depth > _DEEPEST:
        return
    if metric.entity:
        for text in (metric.expr, metric.filter):
            yield from _columns(text, metric.entity) if text else ()
        if metric.time_dimension:
            owner, _, short = metric.time_dimension.rpartition(".")
            yield from _of_part(owner or metric.entity, short, context)
    of = (metric.numerator, metric.denominator, metric.metric, *(one.name for one in metric.inputs))
    for other in of:
        yield from _of_metric(other, context, depth + 1) if other else ()


def _of_part(owner: str, short: str, context: Context) -> Iterator[Column]:
    entity = context.entities.get(owner)
    for part in () if entity is None else (*entity.dimensions, *entity.time_dimensions, *entity.facts):
        if part.name == short:
            yield owner, short
            yield from _columns(part.sql, owner)


def _of_sql(sql: str, context: Context) -> Iterator[Column]:
    """The columns that a statement names, of the tables that it reads: a bare one may be of any of them."""
    try:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
    except FOREIGN:
        return  # the gate says so
    tables = {(one.base_table.schema_name, one.base_table.table): name for name, one in context.entities.items()}
    aliases = {table.alias_or_name: tables.get((table.db, table.name)) for table in tree.find_all(exp.Table)}
    for column in tree.find_all(exp.Column):
        owners = [aliases.get(column.table)] if column.table else list(aliases.values())
        yield from ((owner, column.name) for owner in owners if owner is not None)


@lru_cache(10_000)
def _columns(text: str, entity: str) -> tuple[Column, ...]:
    try:
        return columns_of(text, entity)
    except InvalidExpression:
        return ()  # said by the lint; a bundle cannot hold one
