"""In which unit a number of the catalogue is told: the one that is declared, or those that its description names."""

from __future__ import annotations

from fractions import Fraction

from bylaw.authored.context import Context, Entity, Expressed, Fact, Metric
from bylaw.language.units import Unit, is_currency, unit_at, units_in
from bylaw.language.words import read_words

SHARE = Unit("a share of 1", "percent", Fraction(100))  # how a metric of the format `percent` is computed
_PHYSICAL = ("length", "area", "mass", "speed", "density")


def declared(spelling: str | None) -> Unit | None:
    """The unit that a record declares; None where it declares none that is known."""
    if spelling is None:
        return None
    words = ["%"] if spelling.strip() == "%" else [word.text for word in read_words(spelling)]
    found = unit_at(words, 0)
    return found[1] if found is not None and found[0] == len(words) else None


def unit_of(context: Context, name: str) -> tuple[Unit | None, tuple[Unit, ...]]:
    """The declared unit of a metric, a column, or an aggregate written out, and those that its texts name."""
    metric = context.metrics.get(name)
    if metric is not None:
        return _of_metric(context, metric)
    agg, _, inside = name.partition("(")
    if not inside or inside.endswith("))") or " / " in inside or " - " in inside:
        unit = unit_at([agg.rpartition(".")[2].rpartition("(")[2]], 0) if inside else None
        return (unit[1] if unit else None, ()) if inside else _of_column(context, name)
    return (None, ()) if agg.startswith("count") else _of_column(context, inside.removesuffix(")"))


def _of_metric(context: Context, metric: Metric) -> tuple[Unit | None, tuple[Unit, ...]]:
    unit = declared(metric.unit)
    if unit is None and metric.format == "percent":
        unit = SHARE
    named = units_in(f"{metric.name} {metric.description or ''} {metric.unit or ''}")
    entity = context.entities.get(metric.entity or "")
    if metric.agg in ("count", "count_distinct") or entity is None:
        return unit, named
    for fact in entity.facts:
        if fact.sql == metric.expr:
            return unit or declared(fact.unit), (*named, *_named(fact))
    return unit, named


def _of_column(context: Context, name: str) -> tuple[Unit | None, tuple[Unit, ...]]:
    owner, _, short = name.partition(".")
    entity = context.entities.get(owner.partition("@")[0])
    if entity is None:
        return None, ()
    for fact in entity.facts:
        if fact.name == short:
            return declared(fact.unit), _named(fact)
    for part in (*entity.dimensions, *entity.time_dimensions):
        if part.name == short:
            return None, _named(part)
    return None, ()


def _named(part: Expressed) -> tuple[Unit, ...]:
    return units_in(f"{part.name} {part.description or ''} {' '.join(part.synonyms)}")


def facts_by_kind(context: Context) -> dict[str, tuple[str, ...]]:
    """The columns that are told in units of one kind, where that is declared or the only unit they name.

    Those of `money` may all be a sum of it, in whatever currency.
    """
    found: dict[str, list[str]] = {}
    for name, entity in context.entities.items():
        for fact in entity.facts:
            unit = sole_unit(fact)
            if unit is not None:
                found.setdefault(unit.kind, []).append(f"{name}.{fact.name}")
        found.setdefault("money", []).extend(f"{name}.{short}" for short in _sums(entity))
    return {kind: tuple(names) for kind, names in found.items()}


def _sums(entity: Entity) -> list[str]:
    """The facts of an entity that are sums of money: those that say so, and beside them those that say no unit."""
    units = {fact.name: [unit for unit in (declared(fact.unit), *_named(fact)) if unit] for fact in entity.facts}
    told = [name for name, named in units.items() if any(is_currency(unit.kind) for unit in named)]
    bare = [
        fact.name
        for fact in entity.facts
        if not units[fact.name] and not (fact.data_type or "").lower().startswith(("int", "bool", "bigint", "small"))
    ]
    return [*told, *bare] if told else []


def sole_unit(fact: Fact) -> Unit | None:
    """The unit of a column: declared, or the only one that its texts name."""
    if (unit := declared(fact.unit)) is not None:
        return unit
    named = [unit for unit in _named(fact) if unit.kind in _PHYSICAL]
    return named[0] if len(named) == 1 else None
