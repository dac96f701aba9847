"""The last step of every statement: what is shown, in which total order, the first of all or of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from bylaw.semantic.clauses.trees import named


@dataclass(frozen=True, slots=True)
class Sort:
    """One thing that rows are sorted by: a column that is shown, or an expression that is not."""

    tree: exp.Expr
    descending: bool = False
    column: str | None = None

    def by(self, tree: exp.Expr) -> exp.Ordered:
        return exp.Ordered(this=tree, desc=self.descending, nulls_first=False)


def finished(
    tree: exp.Select,
    shown: Mapping[str, exp.Expr],
    sorts: Sequence[Sort],
    limit: int | None = None,
    each: Sequence[exp.Expr] = (),
    ranks: Sequence[Sort] = (),
    only: int | None = None,
) -> exp.Select:
    """*tree* (FROM, WHERE and GROUP BY) with its columns, sorted and cut: the first *limit* rows, of *each* group.

    With *ranks*, those that are equal with the last in all of them too; with *only*, those whose place by them is that.
    """
    columns = [named(part, name) for name, part in shown.items()]
    if only is None and (limit is None or not (each or ranks)):
        tree = tree.select(*columns, copy=False)
        if sorts:
            ordered = [sort.by(exp.column(sort.column) if sort.column else sort.tree.copy()) for sort in sorts]
            tree = tree.order_by(*ordered, copy=False)
        return tree.limit(limit, copy=False) if limit else tree
    hidden = {f"sort_{i}": sort for i, sort in enumerate(sorts) if sort.column is None}
    order = exp.Order(expressions=[sort.by(sort.tree.copy()) for sort in ranks or sorts])
    place: exp.Expr = exp.DenseRank() if only is not None else exp.Rank() if ranks else exp.RowNumber()
    number = exp.Window(this=place, partition_by=[part.copy() for part in each], order=order)
    columns += [named(sort.tree.copy(), name) for name, sort in hidden.items()]
    inner = tree.select(*columns, named(number, "place"), copy=False).subquery("ranked", copy=False)
    names = {id(sort): name for name, sort in hidden.items()}
    outer = exp.select(*(exp.column(name) for name in shown)).from_(inner, copy=False)
    kind: type[exp.Binary] = exp.LTE if only is None else exp.EQ
    outer = outer.where(kind(this=exp.column("place"), expression=exp.Literal.number(only or limit)), copy=False)
    return outer.order_by(*(sort.by(exp.column(sort.column or names[id(sort)])) for sort in sorts), copy=False)
