"""What the names in a semantic query mean: `entity.part`, `entity@relationship.part`, keys, columns of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Dimension, Entity, EntityFilter, Fact, TimeDimension
from bylaw.semantic.parts import PART, taken_out
from bylaw.semantic.query import Unanswerable, UnknownName

Kind = Literal["dimension", "time", "fact", "key", "filter"]
UTC = "UTC"
BETWEEN = re.compile(r"(days|hours|minutes|seconds)\(([\w@.-]+), ([\w@.-]+)\)")  # of a row, from one moment to another
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SECONDS = {"hours": 3600, "minutes": 60, "seconds": 1}
_NOT_A_WORD = re.compile(r"\W+")
_TEXT = re.compile(r"char|text|string|enum|uuid|bool", re.IGNORECASE)
_MOMENT = re.compile(r"date|time", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Field:
    """A part of an entity that a query names. `place` is `entity`, or `entity@relationship` where a role is said."""

    place: str
    kind: Kind
    name: str
    sql: str
    part: Dimension | TimeDimension | Fact | EntityFilter | None = None

    @property
    def entity(self) -> str:
        return self.place.partition("@")[0]

    @property
    def is_moment(self) -> bool:
        """Is it a date or a timestamp, as far as anybody says?"""
        return self.kind == "time" or bool(_MOMENT.search((self.part and self.part.data_type) or ""))

    @property
    def is_text(self) -> bool:
        return bool(_TEXT.search((self.part and self.part.data_type) or ""))


def shown_sql(part: Dimension | TimeDimension | Fact, calendar: Calendar) -> str:
    """The SQL of *part*; of a moment, as the clocks of the organisation show it."""
    if not isinstance(part, TimeDimension):
        return part.sql
    here = calendar.time_zone or UTC
    if part.is_absolute:
        return f"({part.sql}) AT TIME ZONE '{here}'"
    if part.time_zone is None or part.time_zone == here:
        return part.sql
    return f"({part.sql}) AT TIME ZONE '{part.time_zone}' AT TIME ZONE '{here}'"


def instant_sql(sql: str, part: object, calendar: Calendar) -> str:
    """The SQL of a moment in UTC: clocks that are put forward or back change nothing of how long something took."""
    if isinstance(part, TimeDimension) and part.is_absolute:
        return f"({sql}) AT TIME ZONE '{UTC}'"
    own = part.time_zone if isinstance(part, TimeDimension) else None
    zone = own or calendar.time_zone or UTC
    return sql if zone == UTC else f"cast({sql} as timestamp) AT TIME ZONE '{zone}' AT TIME ZONE '{UTC}'"


class Names:
    """The look-up of one context."""

    def __init__(self, context: Context) -> None:
        self.context = context
        # No column of an answer is called as one that nobody may see: to the gate a sort by it would be by the other.
        self.personal = frozenset(column for entity in context.entities.values() for column in entity.pii)

    def entity(self, place: str) -> Entity:
        """The entity of a place. Raises UnknownName."""
        found = self.context.entities.get(place.partition("@")[0])
        if found is None:
            raise UnknownName(f"there is no entity `{place.partition('@')[0]}`")
        return found

    def field(self, name: str) -> Field:
        """The dimension, time dimension, fact or key column `entity.part`. Raises UnknownName; Unanswerable for PII."""
        place, _, short = name.partition(".")
        entity = self.context.entities.get(place.partition("@")[0])
        if entity is not None and (between := BETWEEN.fullmatch(short)):
            return self._between(place, between)
        if entity is not None and (again := PART.fullmatch(short)):
            return self._part(place, again)
        if entity is not None:
            kinds: tuple[tuple[Kind, Iterable[Dimension | TimeDimension | Fact]], ...] = (
                ("dimension", entity.dimensions),
                ("time", entity.time_dimensions),
                ("fact", entity.facts),
            )
            for kind, parts in kinds:
                for part in parts:
                    if part.name == short:
                        return self._open(Field(place, kind, short, shown_sql(part, self.context.calendar), part), name)
            if entity.primary_key and short in entity.primary_key.columns:
                return self._open(Field(place, "key", short, short), name)
        raise UnknownName(f"there is no dimension `{name}`")

    def named_filter(self, name: str) -> Field | None:
        """The named condition `entity.part`; None where it is something else."""
        place, _, short = name.partition(".")
        entity = self.context.entities.get(place.partition("@")[0])
        parts = entity.filters if entity else []
        return next((Field(place, "filter", short, part.sql, part) for part in parts if part.name == short), None)

    def _between(self, place: str, found: re.Match[str]) -> Field:
        """The time from one moment to another, as a fact of the entity that leads to both."""
        from bylaw.semantic import expressions  # as heavy

        ends, calendar, is_days = [], self.context.calendar, found[1] == "days"
        for name in (found[2], found[3]):
            if _DAY.fullmatch(name):
                day = f"cast('{name}' as date)"
                ends.append(day if is_days else instant_sql(day, None, calendar))
                continue
            field = self.field(name)
            if not field.is_moment or "@" in field.place or "@" in place:
                raise Unanswerable(f"`{name}` is no moment that time is counted from", "name two dates")
            raw = field.part.sql if isinstance(field.part, TimeDimension) else field.sql
            sql = field.sql if is_days else instant_sql(raw, field.part, calendar)
            ends.append(expressions.expression(sql, field.entity).sql(dialect="duckdb"))
        unit, since, until = found[1], *ends
        if is_days:
            sql = f"date_diff('day', cast({since} as date), cast({until} as date))"
        else:
            seconds = f"date_diff('second', cast({since} as timestamp), cast({until} as timestamp))"
            sql = f"({seconds}) / {_SECONDS[unit]}" if _SECONDS[unit] > 1 else seconds
        return Field(place, "fact", found[0], sql, Fact(name=f"{unit}_between", expr=sql, data_type="double"))

    def _part(self, place: str, found: re.Match[str]) -> Field:
        """A weekday, or another part of a moment, as a dimension of its entity."""
        moment = self.field(f"{place}.{found[2]}")
        if not isinstance(moment.part, TimeDimension):
            raise Unanswerable(f"`{place}.{found[2]}` is no moment", "name a date")
        part = taken_out(found[1], moment.part, moment.sql)
        return Field(place, "dimension", found[0], part.sql, part)

    def _open(self, field: Field, name: str) -> Field:
        """Raises Unanswerable where the field reads personal data."""
        from bylaw.semantic.expressions import columns_of  # heavy, and names alone are known without it

        for owner, column in columns_of(field.sql, field.entity):
            holder = self.context.entities.get(owner)
            if holder is not None and column in holder.pii:
                raise Unanswerable(f"`{name}` is personal data, answers are not grouped or narrowed by it")
        return field

    def key(self, place: str) -> tuple[str, ...]:
        """The columns that tell the rows of an entity apart: its primary key, else what others find one row by."""
        entity = self.entity(place)
        if entity.primary_key is not None:
            return tuple(entity.primary_key.columns)
        found = {
            tuple(pair.right_column for pair in relationship.relationship_columns)
            for _, other in sorted(self.context.entities.items())
            for relationship in other.relationships
            if relationship.right_entity == entity.name
            and relationship.relationship_type in ("many_to_one", "one_to_one")
        }
        if len(found) != 1:
            raise Unanswerable(f"nothing tells the rows of `{entity.name}` apart", "declare its `primary_key`")
        return found.pop()


def aliases(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """The column of the answer for each `entity.part`: the part alone where no other column is called so."""
    listed = list(dict.fromkeys(names))
    shorts = [_short(name).lower() for name in listed] + [name.lower() for name in taken]
    found = {}
    for name in listed:
        short = _short(name)
        found[name] = plain(name) if shorts.count(short.lower()) > 1 else short
    return found


def _short(name: str) -> str:
    """The part alone; of the time between two moments their parts."""
    short = name.partition(".")[2]
    if (part := PART.fullmatch(short)) is not None:
        return part[1]
    between = BETWEEN.fullmatch(short)
    if between is None:
        return short
    return plain("_".join((between[1], *(moment.partition(".")[2] or "today" for moment in between.groups()[1:]))))


def plain(name: str) -> str:
    """A name with nothing but letters, digits and underscores: `count(orders)` is `count_orders`."""
    found = _NOT_A_WORD.sub("_", name).strip("_")
    return f"n_{found}" if not found or found[0].isdigit() else found
