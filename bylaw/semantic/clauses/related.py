"""Rows of one entity by a number over the rows of others that belong to each: "customers with at least 5 orders"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from bylaw.authored.calendar import Calendar
from bylaw.semantic.clauses.conditions import Conditions, comparison, literal
from bylaw.semantic.clauses.measures import Atom, Number, Numbers
from bylaw.semantic.clauses.rows import Desk, Rows
from bylaw.semantic.clauses.sheets import Direct, Group, Sheet, Sheets, aggregated
from bylaw.semantic.clauses.trees import is_null, joined, named, or_else
from bylaw.semantic.clauses.units import Units
from bylaw.semantic.names import Field
from bylaw.semantic.query import Condition, Related, SemanticQuery, Than, Unanswerable


class RelatedRows:
    """Compiles the conditions of one query on related rows. `numbers` are those of the query."""

    def __init__(self, desk: Desk, numbers: Numbers, calendar: Calendar) -> None:
        self.desk = desk
        self.numbers = numbers
        self.calendar = calendar

    def keys(self, rows: Rows, wanted: Related) -> exp.Expr:
        """The condition on a row: its key is among those whose related rows meet the comparison.

        A comparison that no rows meet too is turned round: the key is not among those that fail it.
        """
        place, _, short = wanted.entity.partition(".")
        entity = place.partition("@")[0]
        told = self.desk.names.field(wanted.entity) if short else None
        fields = [told] if told else [Field(place, "key", name, name) for name in self.desk.names.key(entity)]
        groups = [Group(f"key_{i}", field, True) for i, field in enumerate(fields, 1)]
        mine = [rows.tree(told)] if told else rows.key(entity)
        this = mine[0] if len(mine) == 1 else exp.Tuple(expressions=mine)
        number, sheet, value = self.number(entity, wanted.metric, wanted.filters, groups)
        if wanted.than is not None:
            return exp.In(this=this, query=self.more(wanted, wanted.than, groups).subquery(copy=False))
        if wanted.against is not None:
            Units(self.desk.names).check(wanted.metric, number, [], is_ranking=True)
        other = literal(wanted.value) if wanted.against is None else self.typical(sheet, value, wanted)
        is_met = comparison(wanted.comparison, value, other)
        with_none = len(number.atoms) == 1 and _holds(number.atoms[0].nothing, wanted)
        having = exp.not_(or_else(is_met, exp.false()), copy=False) if with_none else is_met
        keys = [tree.copy() for tree in sheet.groups.values()]
        found = sheet.plain().select(*keys, copy=False).having(having, copy=False)
        tree: exp.Expr = exp.In(this=this, query=found.subquery(copy=False))
        if not with_none:
            return tree
        tree = exp.not_(tree, copy=False)
        # A missing key is not among no keys at all, and yet no row of the entity.
        return (
            tree
            if rows.base == entity and not told
            else exp.and_(exp.not_(is_null(mine[0]), copy=False), tree, copy=False)
        )

    def number(
        self, entity: str, metric: str, filters: Sequence[Condition], groups: Sequence[Group]
    ) -> tuple[Number, Sheet, exp.Expr]:
        """A number over the rows that belong to each of *groups*: what it is made of, its rows, and its value."""

        def narrowed(atom: Atom) -> Atom:
            return replace(atom, conditions=(*atom.conditions, *filters))

        number = self.numbers.number(metric).changed(narrowed)
        Units(self.desk.names).check(metric, number, [group.field for group in groups if group.field is not None])
        query = SemanticQuery(metrics=(metric,), only_members=True)
        sheets = Sheets(self.desk, Conditions(self.keys, self.calendar), query, self.calendar)
        kinds = {sheets.kind(atom) for atom in number.atoms}
        if len(kinds) != 1 or number.is_over or not next(iter(kinds)).is_simple(None):
            raise Unanswerable(f"rows of `{entity}` cannot be compared by `{metric}`")
        sheet = sheets.sheet(kinds.pop(), list(dict.fromkeys(atom.bare for atom in number.atoms)), groups)
        return number, sheet, number.build(Direct(sheet, None))

    def more(self, wanted: Related, than: Than, groups: Sequence[Group]) -> exp.Select:
        """The keys of what has more by one number than by another, 0 where it has no rows of the other."""
        sides = [(wanted.metric, wanted.filters), (than.metric, than.filters)]
        parts = []
        for metric, filters in sides if wanted.comparison == ">" else reversed(sides):
            number, sheet, value = self.number(wanted.entity, metric, filters, groups)
            if not all(atom.agg == "sum" or atom.nothing == 0 for atom in number.atoms):
                raise Unanswerable(f"`{metric}` is no sum and no count, so nothing has more of it than of another")
            keys = [named(tree.copy(), alias) for alias, tree in sheet.groups.items()]
            parts.append(sheet.plain().select(*keys, named(value, "number"), copy=False))
        more, less = (part.subquery(name, copy=False) for part, name in zip(parts, ("more", "less"), strict=True))
        names = [group.alias for group in groups]
        same: list[exp.Expr] = [
            exp.EQ(this=exp.column(name, table="more"), expression=exp.column(name, table="less")) for name in names
        ]
        found = exp.select(*(exp.column(name, table="more") for name in names), copy=False).from_(more, copy=False)
        least = or_else(exp.column("number", table="less"), exp.Literal.number(0))
        joined(found, less, "left", same)
        return found.where(exp.GT(this=exp.column("number", table="more"), expression=least), copy=False)

    def typical(self, sheet: Sheet, value: exp.Expr, wanted: Related) -> exp.Expr:
        """The average, or the median, of what all that have any rows have."""
        assert wanted.against is not None
        those, counted = (name.replace("_", " ").replace(".", " ") for name in (wanted.entity, sheet.kind.entity))
        having = "" if those == counted else f" that have {counted}"
        word = "average" if wanted.against == "avg" else "median"
        self.desk.notes.say(f"The {word} is that of all {those}{having}.")
        all_of_them = sheet.plain().select(named(value.copy(), "number")).subquery("all_of_them")
        of_all = aggregated(Atom(sheet.kind.entity, wanted.against), exp.column("number"), [])
        return exp.select(of_all).from_(all_of_them).subquery()


def _holds(number: int | None, wanted: Related) -> bool:
    """Does a row without any related ones meet the comparison?"""
    if number is None or wanted.against is not None or isinstance(wanted.value, str):
        return False
    value = wanted.value
    answers = {
        "=": number == value, "!=": number != value, "<": number < value, "<=": number <= value,
        ">": number > value, ">=": number >= value,
    }  # fmt: skip
    return answers[wanted.comparison]
