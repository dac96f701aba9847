"""Rows of one entity by a number over the rows of others that belong to each: "customers with at least 5 orders"."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from bylaw.authored.context import Calendar
from bylaw.semantic.conditions import Conditions, comparison, literal
from bylaw.semantic.measures import Atom, Numbers
from bylaw.semantic.names import Field
from bylaw.semantic.query import Related, SemanticQuery, Unanswerable
from bylaw.semantic.rows import Desk, Rows
from bylaw.semantic.sheets import Direct, Group, Sheet, Sheets, aggregated
from bylaw.semantic.trees import is_null, named, or_else


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

        def narrowed(atom: Atom) -> Atom:
            return replace(atom, conditions=(*atom.conditions, *wanted.filters))

        number = self.numbers.number(wanted.metric).changed(narrowed)
        query = SemanticQuery(metrics=(wanted.metric,))
        sheets = Sheets(self.desk, Conditions(self.keys, self.calendar), query, self.calendar)
        kinds = {sheets.kind(atom) for atom in number.atoms}
        if len(kinds) != 1 or number.is_over or not next(iter(kinds)).is_simple(None):
            raise Unanswerable(f"rows of `{entity}` cannot be compared by `{wanted.metric}`")
        told = self.desk.names.field(wanted.entity) if short else None
        fields = [told] if told else [Field(place, "key", name, name) for name in self.desk.names.key(entity)]
        groups = [Group(f"key_{i}", field, True) for i, field in enumerate(fields, 1)]
        sheet = sheets.sheet(kinds.pop(), list(dict.fromkeys(atom.bare for atom in number.atoms)), groups)
        value = number.build(Direct(sheet, None))
        other = literal(wanted.value) if wanted.against is None else self.typical(sheet, value, wanted)
        is_met = comparison(wanted.comparison, value, other)
        with_none = len(number.atoms) == 1 and _holds(number.atoms[0].nothing, wanted)
        having = exp.not_(or_else(is_met, exp.false()), copy=False) if with_none else is_met
        keys = [tree.copy() for tree in sheet.groups.values()]
        found = sheet.plain().select(*keys, copy=False).having(having, copy=False)
        mine = [rows.tree(told)] if told else rows.key(entity)
        this = mine[0] if len(mine) == 1 else exp.Tuple(expressions=mine)
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
