"""A number of numbers: the average of what each customer, or each month, has. One statement over the rows of another.

The inner statement answers an ordinary query: the number by the groups of the answer and by what each of it is. The
outer one aggregates its rows, so that no row of the warehouse can count twice here that does not count twice there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Aggregation
from bylaw.semantic.clauses import times
from bylaw.semantic.clauses.measures import Atom, Number
from bylaw.semantic.clauses.sheets import aggregated
from bylaw.semantic.clauses.trees import is_null
from bylaw.semantic.query import SemanticQuery, Summary, Unanswerable

EACH = "each_one"
_WORDS = {"avg": "average", "median": "median", "min": "lowest", "max": "highest"}


def of_each(query: SemanticQuery) -> SemanticQuery:
    """The query whose rows have the numbers that *query* aggregates. Raises Unanswerable."""
    names = {part.name for part in query.summaries}
    first = query.summaries[0]
    kinds = {(part.per, part.dimensions, part.grain, part.with_empty) for part in query.summaries}
    if len(kinds) > 1 or not names.issuperset(query.metrics):
        raise Unanswerable(
            f"the {_WORDS[first.agg]} of what each of several has stands beside no other number", "ask for it alone"
        )
    coarse, fine = query.grain, first.grain
    if coarse and fine and (times.GRAINS.index(fine) >= times.GRAINS.index(coarse) or fine == "week"):
        raise Unanswerable(f"one {coarse} is no whole number of {fine}s", "leave one of them out")
    if not {*first.per, *first.dimensions, *([fine] if fine else [])} - {*query.per, *query.dimensions}:
        raise Unanswerable(f"each group has one number, so there is no {_WORDS[first.agg]} of several")
    return query.model_copy(
        update={
            "metrics": tuple(dict.fromkeys(part.metric for part in query.summaries)),
            "summaries": (),
            "dimensions": tuple(dict.fromkeys((*query.dimensions, *first.dimensions))),
            "per": tuple(dict.fromkeys((*query.per, *first.per))),
            "grain": fine or coarse,
            "with_empty": first.with_empty,
            "order": (),
            "limit": None,
            "limit_by": (),
            "place": None,
            "hidden": (),
        }
    )


def said(query: SemanticQuery, atoms: Sequence[Atom]) -> Iterator[str]:
    """Whether what has none counts, for each kind of thing."""
    first = query.summaries[0]
    counted = " or ".join(dict.fromkeys(atom.entity.replace("_", " ") for atom in atoms))
    things = [name.partition("@")[0] for name in first.per]
    things += [f"{first.grain}s"] if first.grain else []
    things += [f"values of {name.partition('.')[2]}" for name in first.dimensions]
    for thing in things:
        readable = thing.replace("_", " ")
        if first.with_empty:
            yield f"{readable.capitalize()} that have no {counted} are counted too."
        else:
            yield f"Only {readable} that have {counted} are counted; for all ask `including those with none`."


@dataclass(frozen=True, slots=True)
class Each:
    """The frame of the outer statement. `columns` say for each group of the answer which inner column it is."""

    columns: Mapping[str, str]
    query: SemanticQuery
    numbers: Mapping[str, str]
    calendar: Calendar

    @property
    def keys(self) -> dict[str, exp.Expr]:
        """The groups of the answer: a longer period holds all the shorter ones that begin in it."""
        found: dict[str, exp.Expr] = {}
        for alias, theirs in self.columns.items():
            column = exp.column(theirs, table=EACH)
            grain = self.query.grain
            is_longer = grain is not None and alias == grain != theirs
            found[alias] = times.truncated(column, grain, self.calendar) if is_longer and grain else column
        return found

    @property
    def period(self) -> exp.Expr | None:
        return self.keys.get(self.query.grain or "")

    @property
    def others(self) -> Sequence[exp.Expr]:
        return [tree for alias, tree in self.keys.items() if alias != self.query.grain]

    def value(self, atom: Atom) -> exp.Expr:
        raise AssertionError("a summary has no atoms of its own")

    def number(self, part: Summary) -> Number:
        """The aggregate over the rows of the inner statement."""
        agg: Aggregation = part.agg
        column = self.numbers[part.metric]
        return Number((), lambda frame: aggregated(Atom(EACH, agg), exp.column(column, table=EACH), []))

    def rows(self, inner: exp.Select, each: Sequence[str]) -> exp.Select:
        """FROM, WHERE and GROUP BY over *inner*; *each* of something is what there is, so nothing unnamed counts."""
        inner.set("order", None)
        tree = exp.select().from_(inner.subquery(EACH, copy=False), copy=False)
        known = [exp.not_(is_null(exp.column(name, table=EACH)), copy=False) for name in each]
        return tree.where(*known, copy=False).group_by(*self.keys.values(), copy=False)
