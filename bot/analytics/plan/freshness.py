"""Up to when the data goes: the newest moment in an entity's rows, against the age that it may have.

Looked up where it matters: for a new kind of question, where a table has lost columns since the context was written or
has others than were measured, and where the question reaches up to now.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Entity
from bylaw.bundle import SchemaVersion
from bylaw.language.units import seconds_in
from bylaw.semantic.catalogue import known_columns
from bylaw.semantic.clauses.rows import table_of
from bylaw.semantic.expressions import expression
from bylaw.semantic.names import shown_sql
from bylaw.semantic.rights import VisibleRows
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import Warehouse

_OURS = "duckdb"
_UTC = Calendar()


@dataclass(frozen=True, slots=True)
class Boundary:
    """The newest moment in an entity's rows; None where there are no rows or nobody could tell."""

    entity: str
    newest: datetime | None
    allowed: timedelta

    def is_stale(self, now: datetime) -> bool:
        """Is the newest row older than it may be? Whole days count, from midnight to midnight."""
        return self.newest is not None and now.date() - self.newest.date() > self.allowed

    def score(self, now: datetime, stale_at: Decimal) -> Decimal:
        """From 1, within the age that it may have, down to 0 at *stale_at* times that age (seed 004, 6.3.2)."""
        if self.newest is None:
            return Decimal(0)
        age = Decimal((now.date() - self.newest.date()).days)
        allowed = Decimal(max(1, self.allowed.days))
        return min(Decimal(1), max(Decimal(0), (stale_at - age / allowed) / (stale_at - 1)))


def statement(
    entity: Entity, dialect: str, visible: VisibleRows | None = None, calendar: Calendar = _UTC
) -> str | None:
    """The SQL of the newest moment of those of *entity*'s rows that may be seen, as the calendar's clocks show it.

    None where it does not say which column tells.
    """
    if entity.freshness is None:
        return None
    column = entity.freshness.as_of_column
    shown = (shown_sql(part, calendar) for part in entity.time_dimensions if part.sql == column)
    newest = exp.alias_(exp.Max(this=expression(next(shown, column), entity.name)), "newest")
    tree = exp.select(newest).from_(table_of(entity, entity.name), copy=False)
    tree = tree if visible is None else visible.narrowed(tree)
    return written(tree.sql(dialect=_OURS), dialect)


def looked_up(
    entity: Entity, warehouse: Warehouse, visible: VisibleRows | None = None, calendar: Calendar = _UTC
) -> Boundary | None:
    """The boundary of *entity*, None where its age is nobody's concern. Raises WarehouseError."""
    sql = statement(entity, warehouse.dialect, visible, calendar)
    allowed = span(entity.freshness.max_age) if entity.freshness else None
    if sql is None or allowed is None:
        return None
    rows = warehouse.run(sql, 1).rows
    zone = ZoneInfo(calendar.time_zone) if calendar.time_zone else UTC
    return Boundary(entity.name, _moment(rows[0][0], zone) if rows and rows[0] else None, allowed)


def reaches_now(entity: Entity, now: datetime, until: date | None) -> bool:
    """Does a question that ends before *until* (None: nowhere) ask about days that *entity* may not have yet?"""
    allowed = span(entity.freshness.max_age) if entity.freshness else None
    return allowed is not None and (until is None or until > now.date() - allowed)


def missing(context: Context, names: Collection[str], warehouse: Warehouse) -> Mapping[str, tuple[str, ...]]:
    """Entity → columns that it speaks of and its table no longer has; a table that nobody describes misses nothing."""
    return dict(_missing(context, names, warehouse))


def _missing(context: Context, names: Collection[str], warehouse: Warehouse) -> Iterator[tuple[str, tuple[str, ...]]]:
    declared = known_columns(context)
    for name in sorted(names):
        base = context.entities[name].base_table
        there = {column.lower() for column in warehouse.columns(base.schema_name, base.table)}
        gone = sorted(column for column in declared[name] if column.lower() not in there)
        if there and gone:
            yield name, tuple(gone)


@dataclass(frozen=True, slots=True)
class Drift:
    """How a table differs from what it was when the context was measured against it."""

    entity: str
    new: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def said(self) -> str:
        """The caveat of an answer from such a table. What nobody declared is counted, not named."""
        parts = [f"{_counted(names)} {kind}" for names, kind in ((self.new, "new"), (self.gone, "gone")) if names]
        return f"The table of {self.entity} is not as it was measured for the catalogue: {' and '.join(parts)}."


def _counted(names: Collection[str]) -> str:
    return "1 column is" if len(names) == 1 else f"{len(names)} columns are"


def drifts(
    context: Context, names: Collection[str], versions: Mapping[str, SchemaVersion], warehouse: Warehouse
) -> Mapping[str, Drift]:
    """The entities among *names* whose tables have other columns now than those that were measured."""
    found = {}
    for name in sorted(names):
        version, base = versions.get(name), context.entities[name].base_table
        if version is None or version.columns is None:
            continue
        before = set(version.columns)
        there = {column.lower() for column in warehouse.columns(base.schema_name, base.table)}
        if there and there != before:
            found[name] = Drift(name, tuple(sorted(there - before)), tuple(sorted(before - there)))
    return found


def said(boundary: Boundary, now: datetime) -> str | None:
    """The caveat of rows that are older than they may be, None for those that are not."""
    if boundary.newest is None or not boundary.is_stale(now):
        return None
    return f"Data of {boundary.entity.replace('_', ' ')} ends {day(boundary.newest, now)}."


def day(moment: datetime, now: datetime) -> str:
    """`7 November`, with the year where it is another than now's."""
    named = f"{moment.day} {moment:%B}"
    return named if moment.year == now.year else f"{named} {moment.year}"


def span(text: str) -> timedelta | None:
    """`36 hours` as a span, None where it is none."""
    amount, _, unit = text.strip().lower().partition(" ")
    seconds = seconds_in(unit)
    return timedelta(seconds=int(amount) * seconds) if amount.isdigit() and len(amount) < 7 and seconds else None


def _moment(value: Any, zone: tzinfo) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value.astimezone(zone) if value.tzinfo else value.replace(tzinfo=zone)
    return datetime.combine(value, time(), zone) if isinstance(value, date) else None
