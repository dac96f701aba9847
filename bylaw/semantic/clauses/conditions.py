"""Conditions of a query as SQL over rows: comparisons of one value or of two moments, alternatives, related rows.

A condition on many rows holds where one of them meets it (EXISTS); several positive ones are met by the same row.
What is negated is everything else, rows without a value among it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import assert_never

from sqlglot import exp
from sqlglot.optimizer.simplify import simplify

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Dimension
from bylaw.semantic.clauses import moments, times
from bylaw.semantic.clauses.rows import Rows
from bylaw.semantic.clauses.trees import grouped, is_null, or_else
from bylaw.semantic.names import Field
from bylaw.semantic.query import AnyOf, Apart, Condition, Filter, First, Related, Unanswerable, Value

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
_PATTERNS = {"contains": "%{}%", "starts_with": "{}%", "ends_with": "%{}"}
_WEEKEND = (6, 7)  # ISO: Saturday, Sunday


def comparison(operator: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return _COMPARISONS[operator](this=left, expression=right)


class Conditions:
    """Narrows rows by the conditions of a query. `related` compiles the keys of a `Related`, for rows of its entity."""

    def __init__(self, related: Callable[[Rows, Related], exp.Expr], calendar: Calendar) -> None:
        self.related = related
        self.calendar = calendar

    def narrow(self, rows: Rows, condition: Condition) -> None:
        """Keep the rows that meet *condition*."""
        if isinstance(condition, Apart):
            far = moments.far_place(rows, condition)
            if far is None or condition.negated or rows.inner(far) is not None:
                return rows.add(self.tree(rows, condition))
            return moments.meet(rows, rows.branch(far, lambda _: True), condition, self.calendar)
        places = places_of(condition)
        place = next(iter(places))
        if len(places) > 1 or rows.leads_to(place):
            return rows.add(self.tree(rows, condition))
        inner = rows.inner(place)
        if inner is None and _is_negated(condition):
            return rows.add(self.tree(rows, condition))
        said = _same(condition)
        inner = inner or rows.branch(place, lambda branch: branch.dimensions.isdisjoint(said))
        inner.dimensions |= said
        return inner.add(self.tree(inner, condition))

    def tree(self, rows: Rows, condition: Condition) -> exp.Expr:
        """What *condition* says of one row."""
        match condition:
            case AnyOf():
                return exp.or_(*(self.tree(rows, part) for part in condition.any_of))
            case Apart():
                return moments.narrow_apart(rows, condition, self.calendar)
            case Filter() | Related() | First():
                (place,) = places_of(condition)
                if rows.leads_to(place):
                    return self._plain(rows, condition)
                return self._among_many(rows, condition, place)
            case _:
                assert_never(condition)

    def _among_many(self, rows: Rows, condition: Filter | Related | First, place: str) -> exp.Expr:
        """One of the rows of *place* meets it; negated: none of them does."""
        if rows.inner(place) is not None:
            raise Unanswerable(
                f"the answer is grouped by `{place}`, so a condition on it holds for all of the answer or not at all",
                "narrow the whole question by it",
            )
        is_negated = isinstance(condition, Filter) and condition.negated
        positive = condition.model_copy(update={"negated": False}) if is_negated else condition
        branch = rows.branch(place, lambda _: False)
        branch.add(self.tree(branch, positive))
        rows.branches[rows.prefix(place)].remove(branch)
        branch.guard()
        found = branch.exists()
        return exp.not_(found) if is_negated else found

    def _plain(self, rows: Rows, condition: Filter | Related | First) -> exp.Expr:
        if isinstance(condition, Related):
            return self.related(rows, condition)
        if isinstance(condition, First):
            return self._first(rows, condition)
        named = None if condition.values else rows.desk.names.named_filter(condition.dimension)
        if named is not None and condition.operator == "in":
            tree = rows.tree(named)
            return _complement(tree) if condition.negated else tree
        field = rows.desk.names.field(condition.dimension)
        column = rows.tree(field)
        tree = test(field, column, condition)
        if not condition.negated:
            return tree
        if condition.operator == "is_null":
            return exp.not_(tree)
        missing = is_null(column)
        return exp.or_(missing, exp.not_(tree))

    def _first(self, rows: Rows, condition: First) -> exp.Expr:
        names = rows.desk.names
        field = names.field(condition.by)
        inner = Rows(rows.desk, field.place)
        for part in condition.filters:
            self.narrow(inner, part)
        per = [Field(place, "key", name, name) for place in condition.per for name in names.key(place)]
        return moments.first_keys(rows, inner, field, per, condition.is_last)


def test(field: Field, column: exp.Expr, condition: Filter) -> exp.Expr:
    """What a filter, not negated, says of a column. Raises Unanswerable for a comparison that means nothing."""
    column = grouped(column)
    match condition.operator:
        case "is_null":
            return is_null(column)
        case "is_weekend":
            if not field.is_moment:
                raise Unanswerable(f"`{condition.dimension}` is no date, so it has no weekends")
            weekday = exp.Extract(this=exp.var("ISODOW"), expression=column)
            return exp.In(this=weekday, expressions=[exp.Literal.number(day) for day in _WEEKEND])
        case "contains" | "starts_with" | "ends_with":
            if field.kind == "time" or (field.kind == "fact" and not field.is_text):
                raise Unanswerable(f"`{condition.dimension}` is no text, so nothing is looked for in it")
            return exp.or_(*(_like(column.copy(), _PATTERNS[condition.operator], value) for value in _some(condition)))
        case "<" | "<=" | ">" | ">=":
            (value,) = condition.values
            if field.is_text and not isinstance(value, str):
                raise Unanswerable(f"`{condition.dimension}` is text, so it is neither more nor less than {value}")
            if field.is_moment:
                return _compared_in_time(column, condition.operator, str(value))
            return comparison(condition.operator, column, literal(value))
        case "in":
            return _is_one_of(field, column, _some(condition))
        case _:
            assert_never(condition.operator)


def _is_one_of(field: Field, column: exp.Expr, values: tuple[Value, ...]) -> exp.Expr:
    if field.is_moment:
        return exp.or_(*(_at(column.copy(), str(value)) for value in values))
    match = field.part.match if isinstance(field.part, Dimension) else "exact"
    texts = [value for value in values if isinstance(value, str)]
    if match == "exact" or len(texts) < len(values):
        return exp.In(this=column, expressions=[literal(value) for value in values])
    if match == "ignore_case":
        return exp.In(this=exp.Lower(this=column), expressions=[exp.Lower(this=literal(text)) for text in texts])
    return exp.or_(*(_like(column.copy(), _PATTERNS["contains"], text) for text in texts))


def _at(column: exp.Expr, text: str) -> exp.Expr:
    """On that day, or at that moment."""
    at = times.moment(text)
    if isinstance(at, datetime):
        return exp.EQ(this=column, expression=times.point(at))
    return exp.and_(_compared_in_time(column, ">=", text), _compared_in_time(column.copy(), "<=", text))


def _compared_in_time(column: exp.Expr, operator: str, text: str) -> exp.Expr:
    """A day is compared as a whole: up to it includes it to its end, after it begins with the next."""
    at = times.moment(text)
    if isinstance(at, datetime):
        return comparison(operator, column, times.point(at))
    after = at + timedelta(days=1)
    whole = {"<": ("<", at), "<=": ("<", after), ">": (">=", after), ">=": (">=", at)}
    sign, day = whole[operator]
    return comparison(sign, column, times.day(day))


def _like(column: exp.Expr, pattern: str, value: Value) -> exp.Expr:
    escaped = str(value).replace("!", "!!").replace("%", "!%").replace("_", "!_")
    tree = exp.ILike(this=column, expression=exp.Literal.string(pattern.format(escaped)))
    return exp.Escape(this=tree, expression=exp.Literal.string("!")) if escaped != str(value) else tree


def _complement(tree: exp.Expr) -> exp.Expr:
    return exp.not_(or_else(tree, exp.false()), copy=False)


def _some(condition: Filter) -> tuple[Value, ...]:
    if not condition.values:
        raise Unanswerable(f"`{condition.dimension}` is compared with nothing", "name a value")
    return condition.values


def places_of(condition: Condition) -> set[str]:
    if isinstance(condition, AnyOf):
        return set().union(*(places_of(part) for part in condition.any_of))
    if isinstance(condition, Related):
        return {condition.entity.partition(".")[0].partition("@")[0]}
    if isinstance(condition, Apart):
        return {name.partition(".")[0] for name in (condition.moment, condition.since)}
    if isinstance(condition, First):
        return {condition.by.partition(".")[0]}
    return {condition.dimension.partition(".")[0]}


def _is_negated(condition: Condition) -> bool:
    """Does it, or a part of it, speak of what is not there?"""
    if isinstance(condition, AnyOf):
        return any(_is_negated(part) for part in condition.any_of)
    return isinstance(condition, Filter | Apart) and condition.negated


def _same(condition: Condition) -> set[str]:
    """The dimensions that one row has one value of, so that two conditions on them speak of two rows."""
    return {condition.dimension} if isinstance(condition, Filter) and condition.operator == "in" else set()


def is_false(condition: exp.Expr, column: exp.Expr, value: Value) -> bool:
    """Does *condition* rule out that *column* is *value*, whatever the other columns hold?"""
    if not any(part == column for part in condition.walk()):
        return False
    if isinstance(condition, exp.In) and condition.this == column:
        return False  # the filter itself
    fixed = condition.transform(lambda node: literal(value) if node == column else node)
    return bool(simplify(fixed) == exp.false())


def literal(value: Value) -> exp.Expr:
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(str(value))
