"""Conditions on moments: two of one row and how far they lie apart, and rows that are the first or the last of theirs.

Moments of one row are compared where it finds at most one of each. Where it finds many of one, one of these rows has
to be near enough (EXISTS), or, where the answer is told by them, each is looked at by itself.
"""

from __future__ import annotations

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.semantic.clauses import times
from bylaw.semantic.clauses.rows import Behind, Branch, Rows
from bylaw.semantic.clauses.trees import cast, is_null, named, or_else
from bylaw.semantic.names import Field
from bylaw.semantic.query import Apart, Unanswerable


def ends(rows: Rows, condition: Apart) -> tuple[Field, Field]:
    """The two moments. Raises Unanswerable where one is none."""
    fields = rows.desk.names.field(condition.moment), rows.desk.names.field(condition.since)
    for field in fields:
        if not field.is_moment:
            raise Unanswerable(f"`{field.place}.{field.name}` is no moment", "name a date")
    return fields


def compared(condition: Apart, fields: tuple[Field, Field], trees: tuple[exp.Expr, exp.Expr], by: Calendar) -> exp.Expr:
    """What *condition* says of two columns. A day is compared with days, not with its first moment."""
    moment, since = trees
    if condition.same is not None:
        found: exp.Expr = exp.EQ(
            this=times.truncated(moment, condition.same, by), expression=times.truncated(since, condition.same, by)
        )
        return _complement(found) if condition.negated else found
    is_exact = condition.least == condition.most
    kinds = [(field.part.data_type or "").lower() if field.part else "" for field in fields]
    if is_exact or (kinds.count("date") == 1 and any(kind.startswith("timestamp") for kind in kinds)):
        moment, since = cast(moment, "date"), cast(since, "date")
    sides: list[exp.Expr] = []
    if condition.least is not None:
        kind: type[exp.Binary] = exp.GT if condition.leaves_out(condition.least) else exp.GTE
        sides.append(kind(this=moment.copy(), expression=_moved(since, condition.least, condition)))
    if condition.most is not None:
        kind = exp.LT if condition.leaves_out(condition.most) else exp.LTE
        sides.append(kind(this=moment.copy(), expression=_moved(since, condition.most, condition)))
    found = exp.and_(*sides, copy=False)
    return _complement(found) if condition.negated else found


def _moved(since: exp.Expr, count: int, condition: Apart) -> exp.Expr:
    if count == 0:
        return since.copy()
    kind = exp.Add if count > 0 else exp.Sub
    return kind(this=since.copy(), expression=times.Span(abs(count), condition.unit).sql)


def _complement(tree: exp.Expr) -> exp.Expr:
    return exp.not_(or_else(tree, exp.false()), copy=False)


def narrow_apart(rows: Rows, condition: Apart, by: Calendar) -> exp.Expr:
    """The condition on one row of *rows*."""
    fields = ends(rows, condition)
    far = [field.place for field in fields if not rows.leads_to(field.place)]
    if not far:
        return compared(condition, fields, (rows.tree(fields[0]), rows.tree(fields[1])), by)
    place = finest(rows, far)
    inner = rows.inner(place)
    if inner is not None:
        return _beside_groups(rows, condition, fields, far, by)
    branch = rows.branch(place, lambda _: False)
    positive = condition.model_copy(update={"negated": False})
    trees = tuple(_seen(rows, branch, field, far) for field in fields)
    branch.add(compared(positive, fields, (trees[0], trees[1]), by))
    rows.branches[rows.prefix(place)].remove(branch)
    branch.guard()
    found = branch.exists()
    return exp.not_(found) if condition.negated else found


def meet(rows: Rows, branch: Branch, condition: Apart, by: Calendar) -> None:
    """Hold the rows of *branch* to a condition that is not negated, together with what else they are held to."""
    fields = ends(rows, condition)
    far = [field.place for field in fields if not rows.leads_to(field.place)]
    trees = tuple(_seen(rows, branch, field, far) for field in fields)
    branch.add(compared(condition, fields, (trees[0], trees[1]), by))


def far_place(rows: Rows, condition: Apart) -> str | None:
    """The entity behind a join to many whose rows are compared; None where a row of *rows* has both moments itself."""
    far = [field.place for field in ends(rows, condition) if not rows.leads_to(field.place)]
    return finest(rows, far) if far else None


def finest(rows: Rows, far: list[str]) -> str:
    """Of one or two places behind a join to many the one whose rows lead to the other."""
    first, last = far[0], far[-1]
    if first == last or rows.desk.joins.leads_to(first, last):
        return first
    if rows.desk.joins.leads_to(last, first):
        return last
    raise Unanswerable(
        f"`{first}` and `{last}` only share `{rows.base}`, so it is not known which of their rows to compare",
        f"ask for rows that belong to one `{first}` and to one `{last}`",
    )


def _seen(rows: Rows, branch: Behind, field: Field, far: list[str]) -> exp.Expr:
    """A moment as a row of *branch* sees it: its own, or that of the row it belongs to."""
    if field.place in far:
        return branch.tree(field)
    if field.place != rows.base:
        raise Unanswerable(
            f"`{field.place}` and `{far[0]}` are compared for each `{rows.base}`, which only leads to them",
            f"ask for rows of `{far[0]}`",
        )
    return rows.tree(field)


def _beside_groups(rows: Rows, condition: Apart, fields: tuple[Field, Field], far: list[str], by: Calendar) -> exp.Expr:
    """Where the answer has a row for each of the many, each is compared by itself."""
    (place, *others) = dict.fromkeys(far)
    fan = rows.fans[rows.prefix(place)]
    keys = [exp.column(name, table=fan.reach(place)) for name in rows.desk.names.key(place)]
    if others or condition.negated or not all(key in fan.offers.values() for key in keys):
        raise Unanswerable(
            f"the answer is grouped by `{place}`, so its dates are not compared with those of `{rows.base}`",
            f"ask for rows of `{place}`",
        )
    trees = tuple(
        fan.offer(place, lambda at, field=field: at.tree(field), f"moment_{len(fan.offers)}")  # type: ignore[misc]  # bound now
        if field.place in far
        else rows.tree(field)
        for field in fields
    )
    return compared(condition, fields, (trees[0], trees[1]), by)


def first_keys(rows: Rows, inner: Rows, by: Field, per: list[Field], is_last: bool) -> exp.Expr:
    """The key of a row of *rows* is among those of *inner*, narrowed already, that are the first of theirs."""
    at = inner.tree(by)
    within = [inner.tree(field) for field in per]
    keys = inner.key(by.place)
    inner.guard()
    order = exp.Order(expressions=[exp.Ordered(this=at.copy(), desc=is_last, nulls_first=False)])
    place = exp.Window(this=exp.Rank(), partition_by=[tree.copy() for tree in within], order=order)
    names = [f"key_{i}" for i in range(1, len(keys) + 1)]
    tree = inner.select([*(named(key, name) for key, name in zip(keys, names, strict=True)), named(place, "place")])
    tree = tree.where(*(exp.not_(is_null(part), copy=False) for part in (at, *within)), copy=False)
    outer = exp.select(*(exp.column(name) for name in names)).from_(tree.subquery("ranked", copy=False), copy=False)
    outer = outer.where(exp.EQ(this=exp.column("place"), expression=exp.Literal.number(1)), copy=False)
    mine = rows.key(by.place)
    this = mine[0] if len(mine) == 1 else exp.Tuple(expressions=mine)
    return exp.In(this=this, query=outer.subquery(copy=False))
