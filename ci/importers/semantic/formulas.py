"""A formula over aggregates as metrics: one aggregate is a simple metric, two divided a ratio, the rest derived."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from ci.importers.draft import ContextDraft, Record
from ci.importers.sql import Aggregate, Tables, Unsayable, aggregates, parsed, said


def metric_of(
    draft: ContextDraft,
    name: str,
    formula: str,
    dialect: str | None,
    tables: Tables,
    own: str | None,
    extras: Record,
    where: str,
) -> None:
    """Add the metric *name* that *formula* says, and the metrics it is made of; or say why it is left behind.

    *own* is the entity whose columns may be named bare; *extras* are what else is known: description, synonyms.
    """
    try:
        tree = parsed(formula, dialect)
        while isinstance(tree, exp.Paren):
            tree = tree.this
        found = aggregates(tree, tables, own)
        if found[0][0] is tree:
            draft.add("metrics", simple(name, found[0][1], extras), where)
            return
        parts = _parts(draft, name, found, where)
        draft.add("metrics", _composed(name, tree, found, parts, extras), where)
    except Unsayable as why:
        draft.drop(where, str(why))


def simple(name: str, part: Aggregate, extras: Mapping[str, Any] = {}) -> Record:
    """A simple metric."""
    base = {"name": name, "entity": part.entity, "agg": part.agg, "expr": part.expr, "filter": part.filter}
    return {**base, **extras}


def _parts(draft: ContextDraft, name: str, found: list[tuple[exp.Expr, Aggregate]], where: str) -> list[str]:
    """The name of a metric for each aggregate: one that is there already, or a new one."""
    names = []
    for number, (_, part) in enumerate(found, 1):
        known = _known(draft, part)
        if known is None:
            known = _free(draft, f"{name}_part_{number}")
            draft.add("metrics", simple(known, part), where)
        names.append(known)
    return names


def _known(draft: ContextDraft, part: Aggregate) -> str | None:
    wanted = {key: value for key, value in simple("", part).items() if key != "name"}
    for name, record in draft.records["metrics"].items():
        is_plain = not {"time_dimension", "non_additive_dimension", "type", "fill_nulls_with"} & set(record)
        if is_plain and {key: record.get(key) for key in wanted} == wanted:
            return name
    return None


def _free(draft: ContextDraft, name: str) -> str:
    while name.casefold() in (known.casefold() for known in draft.records["metrics"]):
        name += "_"
    return name


def _composed(
    name: str, tree: exp.Expr, found: list[tuple[exp.Expr, Aggregate]], parts: list[str], extras: Record
) -> Record:
    if isinstance(tree, exp.Div) and len(found) == 2 and _bare(tree.this) is found[0][0]:
        below = _bare(tree.expression)
        if isinstance(below, exp.Nullif) and below.expression.sql() == "0":
            below = _bare(below.this)
        if below is found[1][0]:
            return {"name": name, "type": "ratio", "numerator": parts[0], "denominator": parts[1], **extras}
    stands = {id(node): part for (node, _), part in zip(found, parts, strict=True)}
    marks: dict[int, exp.Expr] = {id(node): exp.column(stands[id(node)]) for node, _ in found}
    rebuilt = tree.transform(lambda node: marks.get(id(node), node), copy=False) or tree
    if any(column.table or column.name not in parts for column in rebuilt.find_all(exp.Column)):
        raise Unsayable("it mixes single rows with totals")
    metrics = list(dict.fromkeys(parts))
    return {"name": name, "type": "derived", "expr": said(rebuilt), "metrics": metrics, **extras}


def _bare(node: exp.Expr) -> exp.Expr:
    """The node inside its parentheses and casts to a number with a point, which a ratio makes anyway."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    return node
