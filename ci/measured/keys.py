"""Keys and joins: what is declared unique is, and a row finds as many partners as its relationship says.

A join that finds more multiplies what is added up; the factor is measured for each metric that would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from bylaw.authored.context import Metric, Relationship
from bylaw.warehouses.port import WarehouseError
from ci.findings import Finding, Place
from ci.measured.survey import Multiplicity, Survey, Table, refused

METRICS = 20  # of one entity whose factor is measured
NAMED = 3  # of them in a message


def keys(survey: Survey) -> Iterator[Finding]:
    """A primary key is there in every row and comes once; so is a dimension that is `unique`."""
    for table in survey.measured():
        key = table.entity.primary_key
        if key is not None and survey.has(table, key.columns):
            place = survey.at_entity(table.name, "primary_key", "columns")
            yield from _key(survey, table, key.columns, "the primary key", place, needs_value=True)
        for i, dimension in enumerate(table.entity.dimensions):
            is_key = key is not None and key.columns == [dimension.sql]
            if dimension.unique and not is_key and dimension.sql.lower() in table.columns:
                place = survey.at_entity(table.name, "dimensions", i, "unique")
                yield from _key(survey, table, [dimension.sql], "the dimension", place, needs_value=False)


def _key(
    survey: Survey, table: Table, columns: Sequence[str], what: str, place: Place, needs_value: bool
) -> Iterator[Finding]:
    named = _listed(columns)
    try:
        found = survey.multiplicity(table, columns)
    except WarehouseError as problem:
        yield refused(f"{what} {named} of `{table.name}`", problem, place)
        return
    read = min(table.rows, survey.limits.rows)
    note = survey.sampled(table)
    if found.most > 1:
        values = f"{found.groups:,} {'value' if found.groups == 1 else 'values'}"
        counted = f"{_per(found)} {named}, {values} in {found.rows:,} rows{note}"
        message = f"{what} {named} of `{table.name}` is not unique: {counted}"
        yield Finding("key-violated", message, place, detail={"rows": found.rows, "values": found.groups})
    if needs_value and found.rows < read:
        message = f"{what} {named} of `{table.name}` is empty in {read - found.rows:,} of {read:,} rows{note}"
        yield Finding("key-violated", message, place, detail={"empty": read - found.rows})


def joins(survey: Survey) -> Iterator[Finding]:
    """Each row finds as many partners as its relationship says, and at least one."""
    for table in survey.measured():
        for i, join in enumerate(table.entity.relationships):
            right = survey.tables.get(join.right_entity)
            lefts = [pair.left_column for pair in join.relationship_columns]
            rights = [pair.right_column for pair in join.relationship_columns]
            if right is None or not survey.has(table, lefts) or not survey.has(right, rights):
                continue  # said where the table or the column is
            try:
                yield from _join(survey, table, right, join, i)
            except WarehouseError as problem:
                place = survey.at_entity(table.name, "relationships", i, "relationship_columns")
                yield refused(f"the relationship `{join.name}`", problem, place)


def _join(survey: Survey, left: Table, right: Table, join: Relationship, i: int) -> Iterator[Finding]:
    lefts = [pair.left_column for pair in join.relationship_columns]
    rights = [pair.right_column for pair in join.relationship_columns]
    kind, note = join.relationship_type, survey.sampled(left, right)
    place = survey.at_entity(left.name, "relationships", i, "relationship_type")
    metrics = _metrics(survey, left)
    row = survey.row(_joined(survey, left, right, join, metrics))
    met = {key: float(value or 0) for key, value in row.items()}
    if kind in ("many_to_one", "one_to_one") and met["joined"] > met["n"]:
        found = survey.multiplicity(right, rights)
        factors = _factors(met, metrics)
        total = met["joined"] / met["n"]
        effect = _effect(factors) or f"a total of `{left.name}` would be ×{total:.1f}"
        message = f"declared {kind}; {_per(found)} {_listed(rights)}: {effect}{note}"
        help = f"declare many_to_many, or join a table with one row per {_listed(rights)}"
        detail = {"rows_per_key": found.most, "factor": round(total, 4), "metrics": factors}
        yield Finding("relationship-cardinality", message, place, help=help, detail=detail)
    if kind in ("one_to_one", "one_to_many") and (found := survey.multiplicity(left, lefts, join.condition)).most > 1:
        message = f"declared {kind}; {_per(found)} {_listed(lefts)} in `{left.name}` itself{note}"
        help = f"declare {'many_to_one' if kind == 'one_to_one' else 'many_to_many'}"
        yield Finding("relationship-cardinality", message, place, help=help, detail={"rows_per_key": found.most})
    if met["orphans"] and right.rows and not survey.is_sampled(right):
        share, whole = met["orphans"] / met["n"], met["n"]
        message = (
            f"{met['orphans']:,.0f} of {whole:,.0f} rows of `{left.name}` ({share:.1%}) name a {_listed(lefts)} "
            f"that no row of `{right.name}` has{note}"
        )
        route = ("relationships", i, "relationship_columns")
        detail = {"orphans": int(met["orphans"]), "share": round(share, 4)}
        help = f"load the missing rows of `{right.name}`, or mend the key: what joins the two loses these rows"
        yield Finding("orphaned-rows", message, survey.at_entity(left.name, *route), help=help, detail=detail)


def _joined(survey: Survey, left: Table, right: Table, join: Relationship, metrics: dict[str, exp.Expr]) -> exp.Select:
    """One pass over the left rows beside how many partners each has."""
    pairs = [
        (exp.column(pair.left_column, table=left.name), exp.column(pair.right_column, table="partner"))
        for pair in join.relationship_columns
    ]
    keys_ = [exp.column(pair.right_column, table=right.name) for pair in join.relationship_columns]
    filled = [exp.Is(this=key.copy(), expression=exp.null()).not_() for key in keys_]
    partners = exp.select(*(key.copy() for key in keys_), exp.alias_(exp.Count(this=exp.Star()), "times"))
    partners = partners.from_(survey.source(right)).where(*filled).group_by(*keys_)
    times = exp.column("times", table="partner")
    factor = exp.func("COALESCE", times, exp.Literal.number(1))
    condition = None if join.condition is None else survey.tree(join.condition, left)
    may = [] if condition is None else [condition]
    named = exp.and_(*(exp.Is(this=one.copy(), expression=exp.null()).not_() for one, _ in pairs), *may)
    orphan = exp.and_(named, exp.Is(this=times.copy(), expression=exp.null()))
    counted: list[exp.Expr] = [
        exp.alias_(exp.Count(this=exp.Star()), "n"),
        exp.alias_(exp.Sum(this=factor.copy()), "joined"),
        exp.alias_(exp.Sum(this=_when(orphan)), "orphans"),
    ]
    for number, value in enumerate(metrics.values()):
        counted.append(exp.alias_(exp.Sum(this=exp.paren(value.copy())), f"plain_{number}"))
        counted.append(
            exp.alias_(exp.Sum(this=exp.Mul(this=exp.paren(value), expression=factor.copy())), f"many_{number}")
        )
    on = exp.and_(*(exp.EQ(this=one.copy(), expression=other) for one, other in pairs), *may)
    joined = exp.select(*counted).from_(survey.source(left))
    return joined.join(partners.subquery("partner"), on=on, join_type="left")


def _metrics(survey: Survey, table: Table) -> dict[str, exp.Expr]:
    """What each sum and count of the entity adds up for one row, as far as its columns are there."""
    found: dict[str, exp.Expr] = {}
    for name, metric in sorted(survey.context.metrics.items()):
        value = _value(survey, table, metric) if metric.entity == table.name else None
        if value is not None and len(found) < METRICS:
            found[name] = value
    return found


def _value(survey: Survey, table: Table, metric: Metric) -> exp.Expr | None:
    if metric.type != "simple" or metric.agg not in ("sum", "count"):
        return None
    value: exp.Expr | None = exp.Literal.number(1)
    if metric.expr not in (None, "*"):
        value = survey.tree(metric.expr or "", table)
        if value is not None and metric.agg == "count":
            value = _when(exp.Is(this=value, expression=exp.null()).not_())
    if value is None or metric.filter is None:
        return value
    narrowed = survey.tree(metric.filter, table)
    return None if narrowed is None else exp.Case(ifs=[exp.If(this=narrowed, true=value)])


def _factors(met: dict[str, float], metrics: dict[str, Any]) -> dict[str, float]:
    """What each metric would be multiplied by, where it has a value at all."""
    return {
        name: round(met[f"many_{number}"] / met[f"plain_{number}"], 4)
        for number, name in enumerate(metrics)
        if met[f"plain_{number}"]
    }


def _effect(factors: dict[str, float]) -> str:
    wrong = [(name, factor) for name, factor in factors.items() if abs(factor - 1) > 1e-9]
    said = ", ".join(f"`{name}` would be ×{factor:.1f}" for name, factor in wrong[:NAMED])
    return f"{said} and {len(wrong) - NAMED} more metrics wrong" if len(wrong) > NAMED else said


def _per(found: Multiplicity) -> str:
    """`5 rows per`, or `up to 7 rows per` where it differs."""
    return f"{'' if found.most * found.groups == found.rows else 'up to '}{found.most:,} rows per"


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f"`{column}`" for column in columns)


def _when(condition: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
