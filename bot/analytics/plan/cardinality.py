"""Does each row find at most one partner, as the catalogue declares? Where it finds more, every total is too high.

`bylaw check --warehouse` measures it for the pull request; the rows may have changed since, so they are asked before
an answer is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from bylaw.authored.context import Context
from bylaw.semantic.clauses.rows import table_of
from bylaw.semantic.expressions import expression
from bylaw.semantic.joins import Step
from bylaw.semantic.rights import VisibleRows
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import Warehouse, WarehouseError

_OURS = "duckdb"


@dataclass(frozen=True)
class Cardinality:
    """The joins of one context as its rows have them, as far as one person sees them."""

    context: Context
    warehouse: Warehouse
    visible: VisibleRows | None = None
    seen: dict[str, int | None] = field(default_factory=dict)  # statement -> the most rows that share a key

    def check(self, joins: Mapping[Step, tuple[str, ...]]) -> None:
        """Raises WarehouseError for a join of *joins* that finds several partners, or that cannot be looked at.

        The partners of each join are those that meet its conditions. Several joins are looked at in one statement, and
        one by one only to name the one that finds several.
        """
        order = sorted(joins.items(), key=lambda item: (item[0].left, item[0].right, item[0].columns))
        trees = {step: self._most_of(step, conditions) for step, conditions in order}
        if len(trees) > 1 and self._seen(_most_of_all(trees.values())) <= 1:
            return
        for step, tree in trees.items():
            most = self._seen(tree)
            if most > 1:
                raise _several(step, most)

    def check_spreads(self, spreads: Iterable[tuple[str, exp.Select]]) -> None:
        """Raises WarehouseError where one row of an entity would be added up whole in each of several groups."""
        for name, tree in spreads:
            most = self._seen(tree if self.visible is None else self.visible.narrowed(tree))
            if most > 1:
                raise WarehouseError(
                    f"a row of `{name}` belongs to up to {most} of these groups at once, and says nothing about one of "
                    "them alone: each would show the total of all",
                    "group by something that it has one of",
                )

    def left_out(self, counts: Mapping[tuple[str, str], exp.Select]) -> Iterator[str]:
        """What is said of the rows that belong to none of what the answer has a row for."""
        for (name, place), tree in counts.items():
            count = self._seen(tree if self.visible is None else self.visible.narrowed(tree))
            if count:
                rows, (owner, _, value) = name.replace("_", " "), place.replace("_", " ").partition(".")
                of_none = f"belong to none of the {owner.partition('@')[0]}" if not value else f"have no {value}"
                yield f"Left out: {count:,} of the {rows}, which {of_none}."

    def _seen(self, tree: exp.Query) -> int:
        sql = written(tree.sql(dialect=_OURS), self.warehouse.dialect)
        if sql not in self.seen:
            rows = self.warehouse.run(sql, 1).rows
            self.seen[sql] = rows[0][0] if rows and rows[0] else None
        return self.seen[sql] or 0

    def _most_of(self, step: Step, conditions: tuple[str, ...]) -> exp.Query:
        """The most rows of the right side that share one key; NULL where none has a key."""
        entity = self.context.entities[step.right]
        keys = [exp.column(right, table=entity.name) for _, right in step.columns]
        tree = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(table_of(entity, entity.name), copy=False)
        tree = tree.where(*(key.copy().is_(exp.null()).not_() for key in keys), copy=False)
        tree = tree.where(*(expression(text, entity.name) for text in conditions), copy=False)
        tree = tree.group_by(*(key.copy() for key in keys), copy=False)
        return _most(tree if self.visible is None else self.visible.narrowed(tree), "n", "keys")


def _most_of_all(trees: Iterable[exp.Query]) -> exp.Query:
    return _most(exp.union(*trees, distinct=False), "most", "joins")


def _most(tree: exp.Query, column: str, name: str) -> exp.Query:
    return exp.select(exp.alias_(exp.Max(this=exp.column(column)), "most")).from_(tree.subquery(name), copy=False)


def _several(step: Step, most: int) -> WarehouseError:
    keys = " and ".join(f"`{right}`" for _, right in step.columns)
    return WarehouseError(
        f"the catalogue says that a row of `{step.left}` has one row of `{step.right}`, but up to {most} rows of "
        f"`{step.right}` have the same {keys}: what is added up would be counted several times",
        "`bylaw check --warehouse` shows it on its line; it is answered once the relationship is declared as it is",
    )
