"""The names of items in the words of the compiler: `days(a, b)` is a fact of the rows that lead to both moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bylaw.authored.context import Context
from bylaw.hold.targets import AGAIN, AGGREGATES, BETWEEN, Expression, parse_expression
from bylaw.hold.values import Clock
from bylaw.hold.words import Index
from bylaw.language.lexicon import lexicon
from bylaw.language.units import unit_named
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Unanswerable

_NOMINAL = ("months", "years")


@dataclass(frozen=True)
class Means:
    """What items are assembled with: the catalogue, the declared words, the day of asking."""

    compiler: Compiler
    index: Index
    clock: Clock

    @property
    def context(self) -> Context:
        """The catalogue."""
        return self.compiler.context


def spell(one: Expression, means: Means) -> str:
    """An expression as the compiler reads it. Raises Unanswerable for what stands for no field and no number."""
    match one.function:
        case None:
            return one.text
        case "/" | "-":
            first, second = one.arguments
            return f"{first.text} {one.function} {second.text}"
        case function if function in AGGREGATES:
            return f"{function}({_only(one, means)})"
        case function if function in AGAIN:
            moment = one.arguments[0].text
            place, _, short = moment.rpartition(".")
            owner = one.owner or place
            return f"{owner}.{function}({short})"
        case function if function in BETWEEN:
            return _spell_between(one, means)
    raise Unanswerable(f"`{one.text}` stands for no column and no number", "name a metric, or `entity.column`")


def spell_field(text: str | None, means: Means) -> str:
    """A column as the compiler reads it. Raises Unanswerable."""
    return spell(parse_expression(_needed(text)), means)


def _needed(text: str | None) -> str:
    if text is None:
        raise Unanswerable("an item says no name", "give `name`, as in `orders.status`")
    return text


def _only(one: Expression, means: Means) -> str:
    if len(one.arguments) != 1:
        raise Unanswerable(f"`{one.text}` is of one thing", f"write `{one.function}(entity.column)`")
    return spell(one.arguments[0], means)


def _spell_between(one: Expression, means: Means) -> str:
    """The time between two moments, as a fact of the rows that lead to both."""
    if len(one.arguments) != 2:
        raise Unanswerable(f"`{one.text}` is between two dates", f"write `{one.function}(entity.date, entity.date)`")
    ends = [part.text for part in one.arguments]
    owner = one.owner or _common_owner([end.partition(".")[0] for end in ends if "." in end], one.text, means)
    return f"{owner}.{one.function}({', '.join(ends)})"


def _common_owner(places: Sequence[str], text: str, means: Means) -> str:
    """The entity, of those that are named, from which each row finds one row of the others."""
    joins = means.compiler.joins
    for place in dict.fromkeys(places):
        if all(other == place or joins.leads_to(place, other) for other in places):
            return place
    raise Unanswerable(f"no row leads to both dates of `{text}`", "name the rows: `entity.days(a, b)`")


def labels_of(entity: str, means: Means) -> list[str]:
    """The columns by which people tell the rows of an entity apart: its label, else its key. Raises Unanswerable."""
    declared = means.compiler.names.entity(entity)
    if declared.label:
        return [f"{entity}.{short}" for short in declared.label]
    key = means.compiler.names.key(entity)
    shown = [one.name for one in declared.dimensions if one.sql in key]
    return [f"{entity}.{short}" for short in shown or key]


def columns_of(entity: str, means: Means) -> list[str]:
    """What a list of rows shows where nobody says what: the label, else everything that is known of a row."""
    declared = means.compiler.names.entity(entity)
    if declared.label:
        return labels_of(entity, means)
    parts = (*declared.dimensions, *declared.time_dimensions, *declared.facts)
    return [f"{entity}.{one.name}" for one in parts if one.sql not in declared.pii]


def tells_rows(name: str, beside: Sequence[str], means: Means) -> bool:
    """Does a column tell rows apart: the key, or what completes the label with those *beside*?"""
    place, _, short = name.partition(".")
    entity = means.context.entities.get(place.partition("@")[0])
    if entity is None:
        return False
    part = entity.dimension(short)
    key = entity.primary_key.columns if entity.primary_key else []
    is_key = part is not None and [part.sql] == list(key)
    is_whole = all(f"{place}.{one}" in (name, *beside) for one in entity.label)
    return is_key or (short in entity.label and (is_whole or part is None or not part.is_enum))


def is_entity(name: str, means: Means) -> bool:
    """Does *name* say an entity, in a role or not?"""
    return "." not in name and "(" not in name and name.partition("@")[0] in means.context.entities


def is_date(name: str, means: Means) -> bool:
    """Does *name* say a date of an entity?"""
    place, _, short = name.partition(".")
    entity = means.context.entities.get(place.partition("@")[0])
    return entity is not None and any(one.name == short for one in entity.time_dimensions)


def rate_of(given: str, declared: str | None, name: str) -> Fraction:
    """How many of the *declared* unit one *given* one is. Raises Unanswerable where nothing says so."""
    one, other, sizes = unit_named(given), unit_named(declared), lexicon().sizes
    if one is not None and one == other:
        return Fraction(1)
    (kind, size), (its_kind, its_size) = (sizes.get(unit or "", (unit, Fraction(1))) for unit in (one, other))
    is_nominal = one in _NOMINAL or other in _NOMINAL  # no rule says how many days a month of data has
    if declared is None or kind != its_kind or is_nominal:
        own = f"is told in {declared}" if declared else "has no unit"
        raise Unanswerable(f"`{name}` {own}, not in {given}", f"ask in {declared}" if declared else None)
    return size / its_size


def unit_of(name: str, means: Means) -> str | None:
    """The declared unit of a number or a column; None where it has none."""
    one = parse_expression(name)
    if one.function in BETWEEN:
        return one.function
    if one.function in ("sum", "avg", "min", "max", "median") and len(one.arguments) == 1:
        return unit_of(one.arguments[0].text, means)
    metric = means.context.metrics.get(name)
    if metric is not None:
        return metric.unit or (_unit_of_column(f"{metric.entity}.{metric.expr}", means) if metric.expr else None)
    return _unit_of_column(name, means)


def _unit_of_column(name: str, means: Means) -> str | None:
    place, _, short = name.partition(".")
    entity = means.context.entities.get(place.partition("@")[0])
    parts = entity.facts if entity is not None else ()
    return next((one.unit for one in parts if one.name == short), None)


def is_number(one: Expression, means: Means) -> bool:
    """Is it a number of rows, and no column of a row?"""
    if one.function is not None:
        return one.function in AGGREGATES or one.function in ("ratio", "share", "difference", "growth")
    return one.text in means.context.metrics and "." not in one.text
