"""The groups that an answer shows even where no row belongs to them: all members of what it is grouped by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from bylaw.semantic.clauses.conditions import Conditions
from bylaw.semantic.clauses.rows import Desk, Rows
from bylaw.semantic.clauses.sheets import Group, Kind
from bylaw.semantic.clauses.trees import is_null, joined, named
from bylaw.semantic.names import Field
from bylaw.semantic.query import AnyOf, Apart, Condition, Filter, First, Related, SemanticQuery, Unanswerable


def members(
    desk: Desk, conditions: Conditions, query: SemanticQuery, groups: Sequence[Group], sheets: Iterable[Kind]
) -> exp.Select:
    """Every combination of the groups, from the entities that have them, whether or not a row counts for it.

    Conditions on those entities narrow them. Where the groups are those of the counted rows themselves, only
    conditions on the groups do: else an empty one could not be seen.
    """
    told = [group for group in groups if group.field is not None]
    counted = {kind.entity for kind in sheets}
    found: exp.Select | None = None
    clusters = _clusters(desk, told)
    if len(clusters) > 2:
        things = ", ".join(f"`{place}`" for place in clusters)
        raise Unanswerable(f"every combination of {things} would be shown", "leave out what has no rows")
    for place, columns in clusters.items():
        base = place.partition("@")[0]
        rows = Rows(desk, base)
        trees = {group.alias: rows.tree(_seen_from(group, place)) for group in columns}
        shown = {f"{group.field.place}.{group.field.name}" for group in columns if group.field is not None}
        for condition in query.filters:
            narrowed = _narrowing(desk, condition, place, shown if base in counted else None)
            if narrowed is not None:
                conditions.narrow(rows, narrowed)
        for group in columns:
            if group.is_hidden and query.leaves_out:
                rows.add(exp.not_(is_null(trees[group.alias]), copy=False))
        rows.guard()
        select = rows.select([named(tree, alias) for alias, tree in trees.items()]).distinct(copy=False)
        name = f"all_{base}"
        found = _crossed(found, select, name)
    assert found is not None
    return found.select(*(exp.column(group.alias) for group in told), copy=False)


def _crossed(found: exp.Select | None, select: exp.Select, name: str) -> exp.Select:
    subquery = select.subquery(name, copy=False)
    return exp.select().from_(subquery, copy=False) if found is None else joined(found, subquery, "cross")


def _clusters(desk: Desk, groups: Sequence[Group]) -> Mapping[str, list[Group]]:
    """The groups by the place whose rows have them together: the one that leads to all others, else each its own."""
    places = list(dict.fromkeys(group.field.place for group in groups if group.field is not None))
    lead = next(
        (one for one in places if "@" not in one and all(desk.joins.leads_to(one, other) for other in places)), None
    )
    found: dict[str, list[Group]] = {}
    for group in groups:
        assert group.field is not None
        found.setdefault(lead or group.field.place, []).append(group)
    return found


def _seen_from(group: Group, place: str) -> Field:
    field = group.field
    assert field is not None
    return replace(field, place=field.entity) if field.place == place else field


def _narrowing(desk: Desk, condition: Condition, place: str, only: set[str] | None) -> Condition | None:
    """The condition, as the rows of *place* see it; None where it says nothing about them."""
    base = place.partition("@")[0]
    match condition:
        case AnyOf():
            parts = [_narrowing(desk, part, place, only) for part in condition.any_of]
            return None if None in parts else condition.model_copy(update={"any_of": tuple(parts)})
        case Related():
            return condition if condition.entity == place and only is None else None
        case Apart() | First():
            owners = {name.partition(".")[0] for name in _moments(condition)}
            is_seen = only is None and "@" not in place and all(desk.joins.leads_to(base, owner) for owner in owners)
            return condition if is_seen else None
        case Filter():
            if only is not None and condition.dimension not in only:
                return None
            owner, _, short = condition.dimension.partition(".")
            if owner == place:
                return condition.model_copy(update={"dimension": f"{base}.{short}"})
            return condition if "@" not in place and desk.joins.leads_to(base, owner) else None


def _moments(condition: Apart | First) -> tuple[str, ...]:
    return (condition.by,) if isinstance(condition, First) else (condition.moment, condition.since)
