"""Units of numbers: rows whose `unit_column` differs are in units of their own, and nothing is computed across them.

A number over such rows is told where the answer is grouped by that column, or all of its rows have one value of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from bylaw.authored.context import Dimension
from bylaw.semantic import gotchas
from bylaw.semantic.clauses.measures import Atom, Number
from bylaw.semantic.expressions import expression
from bylaw.semantic.names import Field, Names
from bylaw.semantic.query import AnyOf, Condition, Filter, SeveralUnits, Unanswerable, UnknownName

_COMPUTED = ("sum", "avg", "min", "max", "median")
_SHOWN = 8  # values that are named before the rest is left to the reader


@dataclass(frozen=True, slots=True)
class Units:
    """The units of the numbers of one query, all of whose rows meet `filters`."""

    names: Names
    filters: tuple[Condition, ...] = ()

    def check(self, name: str, number: Number, groups: Iterable[Field], *, is_ranking: bool = False) -> None:
        """Raise Unanswerable where *number* would be computed, or ranked, over rows of several units.

        *groups* tell apart the rows that are computed with together.
        """
        known = [(field.place, field.sql) for field in groups]
        values: dict[tuple[str, str], str] = {}
        metric = self.names.context.metrics.get(name)
        for atom in number.atoms:
            for unit in self._of(atom):
                value = self._value(unit, atom)
                is_apart = (unit.place, unit.sql) in known and not atom.is_total
                if value is None and not is_apart:
                    raise _several(name, unit, is_ranking or atom.is_total)
                first = values.setdefault((unit.place, unit.sql), value) if value is not None else None
                if first is not None and first != value and not (metric and metric.unit):
                    both = " and ".join(sorted((first, str(value))))
                    raise Unanswerable(
                        f"`{name}` computes with {both}, which are units of `{unit.name}`",
                        "ask for each by itself; a metric that turns one into the other says so with its `unit`",
                    )

    def value(self, number: Number) -> str | None:
        """The unit that *number* is told in, where all of its rows have one."""
        if len(number.atoms) != 1:
            return None
        (atom,) = number.atoms
        units = list(self._of(atom))
        is_quotient = atom.sql is not None and isinstance(expression(atom.sql, atom.entity), exp.Div)
        return self._value(units[0], atom) if len(units) == 1 and not is_quotient else None

    def _of(self, atom: Atom) -> Iterator[Field]:
        """The unit columns that the values of *atom* depend on."""
        if atom.agg not in _COMPUTED or atom.sql is None:
            return
        metric = self.names.context.metrics.get(atom.metric)
        place = atom.place or atom.entity
        if metric is not None and metric.unit_column is not None:
            yield self._field(place, metric.unit_column)
            return
        entity = place.partition("@")[0]
        tree = _normal(atom.sql, entity)
        reading = _Reading.of(self.names, tree, has_own=metric is not None and metric.unit is not None)
        for owner, column in sorted(reading.units(tree)):
            yield self._field(place if owner == entity else owner, column)

    def _field(self, place: str, column: str) -> Field:
        dimension = self.names.entity(place).dimension_of(column)
        if dimension is None:
            raise UnknownName(f"`{place}` has no dimension `{column}`, which is to say the unit of its rows")
        return self.names.field(f"{place}.{dimension.name}")

    def _value(self, unit: Field, atom: Atom) -> str | None:
        """The only value of *unit* among the rows of *atom*; None where there may be several."""
        part = unit.part
        if isinstance(part, Dimension) and part.is_enum and len(part.sample_values) == 1:
            return str(part.sample_values[0])
        for condition in (*atom.conditions, *self.filters):
            if (found := self._meant(unit, condition)) is not None:
                return found
        fragments = [*((text, atom.entity) for text in atom.fragments), *self._always(unit)]
        return next((value for text, entity in fragments if (value := _asked_in(text, entity, unit)) is not None), None)

    def _meant(self, unit: Field, condition: Condition) -> str | None:
        """The value that *condition* narrows *unit* to."""
        if isinstance(condition, AnyOf):
            found = {self._meant(unit, part) for part in condition.any_of}
            return found.pop() if len(found) == 1 else None
        if not isinstance(condition, Filter) or condition.negated or condition.operator != "in":
            return None
        if not condition.values:
            named = self.names.named_filter(condition.dimension)
            is_its = named is not None and named.place == unit.place
            return _asked_in(named.sql, named.entity, unit) if named is not None and is_its else None
        values = {str(value) for value in condition.values}
        if len(values) != 1 or condition.dimension.partition(".")[0] != unit.place:
            return None
        field = self.names.field(condition.dimension)
        is_loose = isinstance(field.part, Dimension) and field.part.match == "contains"
        return values.pop() if field.sql == unit.sql and not is_loose else None

    def _always(self, unit: Field) -> Iterator[tuple[str, str]]:
        """What holds for every row of the entity that has the unit."""
        entity = self.names.entity(unit.place)
        for trap in gotchas.applicable(self.names.context, [entity.name]):
            if trap.required_filter is not None:
                yield trap.required_filter, entity.name
        yield from ((one.sql, entity.name) for one in entity.filters if one.apply == "always")


@dataclass(frozen=True, slots=True)
class _Told:
    """A fact that says its unit: `column` where each row has one of its own, None where all have the same."""

    tree: exp.Expr
    owner: str
    column: str | None

    @property
    def units(self) -> set[tuple[str, str]]:
        return set() if self.column is None else {(self.owner, self.column)}


@dataclass(frozen=True, slots=True)
class _Reading:
    """Which units an expression has. `has_own`: its author says the unit, so what is converted is in that one."""

    facts: Sequence[_Told]
    has_own: bool

    @staticmethod
    def of(names: Names, tree: exp.Expr, *, has_own: bool) -> _Reading:
        found = []
        for owner in sorted({column.table for column in tree.find_all(exp.Column)}):
            entity = names.context.entities.get(owner)
            facts = [fact for fact in entity.facts if fact.unit_column or fact.unit] if entity else []
            found += [_Told(_normal(fact.sql, owner), owner, fact.unit_column) for fact in facts]
        return _Reading(sorted(found, key=lambda fact: fact.column is None), has_own)

    def units(self, tree: exp.Expr) -> set[tuple[str, str]]:
        """(entity, unit column) of what *tree* computes with; a quotient of one unit by itself has none."""
        told = next((fact for fact in self.facts if fact.tree == tree), None)
        if told is not None:
            return told.units
        if isinstance(tree, exp.Predicate):
            return set()
        if isinstance(tree, exp.Case):
            ends = [*(branch.args["true"] for branch in tree.args["ifs"]), tree.args.get("default")]
            return self._together(end for end in ends if end is not None)
        if isinstance(tree, exp.If):
            return self._together(tree.args[key] for key in ("true", "false") if tree.args.get(key) is not None)
        if isinstance(tree, exp.Mul | exp.Div):
            sides = (tree.this, tree.expression)
            if self.has_own and all(side.find(exp.Column) for side in sides):
                return set()
            if isinstance(tree, exp.Div):
                over, under = (self.units(side) for side in sides)
                return over ^ under
        return self._together(tree.iter_expressions()) | self._within(tree)

    def _together(self, trees: Iterable[exp.Expr]) -> set[tuple[str, str]]:
        return set().union(*(self.units(tree) for tree in trees))

    def _within(self, tree: exp.Expr) -> set[tuple[str, str]]:
        """The units of facts of several columns that are all in *tree*, in whatever order."""
        columns = _columns(tree)
        inside = [fact for fact in self.facts if len(own := _columns(fact.tree)) > 1 and own <= columns]
        return set().union(*(fact.units for fact in inside))


def _columns(tree: exp.Expr) -> set[tuple[str, str]]:
    return {(column.table, column.name) for column in tree.find_all(exp.Column)}


def _normal(text: str, entity: str) -> exp.Expr:
    """The tree of *text*, whose columns are the same however they are capitalised or quoted."""
    tree = expression(text, entity)
    for column in tree.find_all(exp.Column):
        column.set("this", exp.to_identifier(column.name.lower()))
        column.set("table", exp.to_identifier(column.table))
    return tree


def _several(name: str, unit: Field, is_ranking: bool) -> SeveralUnits:
    values = unit.part.sample_values if isinstance(unit.part, Dimension) else []
    some = ", ".join(str(value) for value in values[:_SHOWN])
    one = f"say one of {some}{' …' if len(values) > _SHOWN else ''}" if some else "say which one is meant"
    if is_ranking:
        message = f"`{name}` is in several units (`{unit.name}`), and they are not compared or put together"
        return SeveralUnits(message, f"ask for an order within each `{unit.name}`, or {one}")
    message = f"`{name}` is in several units (`{unit.name}`)"
    return SeveralUnits(message, f"group it by `{unit.name}`, or {one}", f"{unit.place}.{unit.name}")


def _asked_in(text: str, entity: str, unit: Field) -> str | None:
    """The one value that a condition in SQL asks of *unit*."""
    column = _normal(unit.sql, unit.entity)
    return next((value for tree in _all_of(_normal(text, entity)) if (value := _equal(column, tree)) is not None), None)


def _all_of(tree: exp.Expr) -> Sequence[exp.Expr]:
    """The conditions that all hold where *tree* does."""
    tree = tree.unnest()
    return [part for side in tree.flatten() for part in _all_of(side)] if isinstance(tree, exp.And) else [tree]


def _equal(column: exp.Expr, tree: exp.Expr) -> str | None:
    """The one value that *tree* asks of *column*."""
    if isinstance(tree, exp.EQ):
        sides = (tree.this, tree.expression)
        other = next((sides[1 - i] for i in (0, 1) if sides[i] == column), None)
    elif isinstance(tree, exp.In) and tree.this == column and len(tree.expressions) == 1:
        (other,) = tree.expressions
    else:
        other = None
    return other.this if isinstance(other, exp.Literal) else None
