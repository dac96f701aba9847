"""The one form of a condition or a computation: equal for all that mean the same over the declared values.

A condition becomes a conjunction of clauses. What a clause says of one column with `=`, `<>`, `in`, `not in` is a set
of values: of those that the column declares where its list is closed, else of all but some. Rows without a value meet
neither side of a comparison, so nothing is lost by it: `channel <> 'in-store'` is `channel in ('online')` where
these two are all there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache, reduce

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize import normalize
from sqlglot.optimizer.simplify import simplify

from bylaw.authored.context import Context
from bylaw.semantic.expressions import InvalidExpression, expression

Column = tuple[str, str]  # entity, column
Lists = tuple[tuple[Column, tuple[str, ...]], ...]  # sorted, so that it can be a key

_FLAG = ("false", "true")
_KEPT = 4_096  # forms that are kept: candidates compare thousands of corrections


@dataclass(frozen=True)
class _Values:
    """The values that a column may have: these, or (not `is_listed`) all but these."""

    values: frozenset[str]
    is_listed: bool = True

    def inverted(self) -> _Values:
        return _Values(self.values, not self.is_listed)

    def united(self, other: _Values) -> _Values:
        return self.inverted().met(other.inverted()).inverted()

    def met(self, other: _Values) -> _Values:
        match self.is_listed, other.is_listed:
            case True, True:
                return _Values(self.values & other.values)
            case False, False:
                return _Values(self.values | other.values, is_listed=False)
        listed, rest = (self, other) if self.is_listed else (other, self)
        return _Values(listed.values - rest.values)

    def within(self, every: tuple[str, ...] | None) -> _Values:
        return self if every is None or self.is_listed else _Values(frozenset(every) - self.values)


_Clause = tuple[dict[Column, _Values], frozenset[str]]  # by column, and what is compared otherwise


def closed_lists(context: Context, entities: Iterable[str]) -> Lists:
    """The columns of these *entities* whose values the context lists to the last, with the values."""
    found: dict[Column, tuple[str, ...]] = {}
    for name in sorted(set(entities) & context.entities.keys()):
        for part in context.entities[name].dimensions:
            column = _column(part.sql, name)
            if column is not None and part.is_enum and part.sample_values:
                found[column] = tuple(sorted({_spelled(value) for value in part.sample_values}))
    return tuple(sorted(found.items()))


def unlisted(text: str, entity: str, lists: Lists) -> Iterator[tuple[Column, str, tuple[str, ...]]]:
    """Each value in *text* that a column with a closed list is compared with and that the list does not hold."""
    known = dict(lists)
    for node in expression(text, entity).find_all(exp.EQ, exp.NEQ, exp.In, exp.Case):
        plain = node.copy()
        folding = list(plain.find_all(exp.Lower, exp.Upper, exp.Trim))
        for one in folding:
            one.replace(one.this)
        column, literals = _compared(plain)
        values = known.get(column, ()) if column is not None else ()
        there = {one.casefold() for one in values} if folding else set(values)
        said = [_spelled(one) for one in literals]
        if column is not None and values:
            yield from ((column, one, values) for one in said if (one.casefold() if folding else one) not in there)


@lru_cache(_KEPT)
def normal_form(text: str, entity: str, lists: Lists) -> str:
    """*text* in its one form. Raises InvalidExpression for what is no expression."""
    tree = expression(text, entity)
    try:
        if not isinstance(tree.unnest(), exp.Connector | exp.Predicate | exp.Not | exp.Column):
            return _computation(tree.unnest())
        return _Condition(dict(lists)).form(tree)
    except (SqlglotError, RecursionError) as error:
        raise InvalidExpression(f"`{text}` is too deeply nested to be compared") from error


class _Condition:
    """One condition on its way: its atoms are taken out first, so that only `and` and `or` are reordered."""

    def __init__(self, lists: Mapping[Column, tuple[str, ...]]) -> None:
        self.lists = lists
        self.atoms: dict[tuple[Column, _Values] | str, str] = {}
        self.by_name: dict[str, tuple[Column, _Values] | str] = {}

    def form(self, tree: exp.Expr) -> str:
        """The clauses in the one order; those that speak of one column alone are one."""
        made = normalize(self._without_negations(tree, True))
        self.by_name = {name: atom for atom, name in self.atoms.items()}
        alone: dict[Column, _Values] = {}
        joint: set[str] = set()
        for clause in made.flatten() if isinstance(made, exp.And) else [made]:
            columns, others = self._clause(clause.unnest())
            if len(columns) == 1 and not others:
                ((column, values),) = columns.items()
                alone[column] = alone[column].met(values) if column in alone else values
            else:
                joint.add(" or ".join(sorted([*(_said(*one) for one in columns.items()), *others])))
        return " and ".join(sorted([*(_said(*one) for one in alone.items()), *joint]))

    def _without_negations(self, tree: exp.Expr, is_so: bool) -> exp.Expr:
        """The same with every `not` within an atom, and each atom a name: sqlglot merges bounds, not always rightly."""
        match tree := tree.unnest():
            case exp.Not():
                return self._without_negations(tree.this, not is_so)
            case exp.And() | exp.Or():
                kind = exp.And if isinstance(tree, exp.And) is is_so else exp.Or
                sides = (self._without_negations(one, is_so) for one in (tree.this, tree.expression))
                return kind(**dict(zip(("this", "expression"), sides, strict=True)))
            case exp.Between():
                low = exp.GTE(this=tree.this.copy(), expression=tree.args["low"].copy())
                high = exp.LTE(this=tree.this.copy(), expression=tree.args["high"].copy())
                return self._without_negations(exp.And(this=low, expression=high), is_so)
        atom = self._atom(tree, is_so)
        return exp.column(self.atoms.setdefault(atom, f"a{len(self.atoms)}"))

    def _atom(self, tree: exp.Expr, is_so: bool) -> tuple[Column, _Values] | str:
        found = _values(tree, is_so)
        if found is None:
            return _comparison(tree, is_so)
        column, values = found
        is_flag = bool(values.values) and values.values <= set(_FLAG)
        return column, values.within(self.lists.get(column, _FLAG if is_flag else None))

    def _clause(self, tree: exp.Expr) -> _Clause:
        columns: dict[Column, _Values] = {}
        others: set[str] = set()
        for part in tree.flatten() if isinstance(tree, exp.Or) else [tree]:
            atom = self._text(part)
            if isinstance(atom, str):
                others.add(atom)
                continue
            column, values = atom
            columns[column] = columns[column].united(values) if column in columns else values
            columns[column] = columns[column].within(self.lists.get(column))
        return columns, frozenset(others)

    def _text(self, tree: exp.Expr) -> tuple[Column, _Values] | str:
        """An atom; the text of what was too large to be put in clauses."""
        tree = tree.unnest()
        if isinstance(tree, exp.Column):
            return self.by_name[tree.name]
        sides = [self._text(one) for one in tree.flatten()]
        told = sorted(one if isinstance(one, str) else _said(*one) for one in sides)
        return f"({(' and ' if isinstance(tree, exp.And) else ' or ').join(told)})"


_OPPOSITE = {exp.GT: exp.LTE, exp.LTE: exp.GT, exp.LT: exp.GTE, exp.GTE: exp.LT, exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}
_TURNED = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE, exp.EQ: exp.EQ, exp.NEQ: exp.NEQ}


def _values(tree: exp.Expr, is_so: bool) -> tuple[Column, _Values] | None:
    """What an atom says of the values of one column; None where it says something else."""
    if isinstance(tree, exp.Column):
        return (tree.table, tree.name), _Values(frozenset({"true"}), is_so)
    if isinstance(tree, exp.Is) and isinstance(tree.this, exp.Column) and isinstance(tree.expression, exp.Null):
        return None if is_so else ((tree.this.table, tree.this.name), _Values(frozenset(), is_listed=False))
    if not isinstance(tree, exp.EQ | exp.NEQ | exp.In):
        return None
    column, literals = _compared(tree)
    sides = [*tree.expressions, tree.this] if isinstance(tree, exp.In) else [tree.this, tree.expression]
    if column is None or len(literals) != len(sides) - 1:
        return None
    return column, _Values(frozenset(_spelled(one) for one in literals), is_so is not isinstance(tree, exp.NEQ))


def _comparison(tree: exp.Expr, is_so: bool) -> str:
    """Another atom as text: what is compared stands left where the other side is a value, and "not" is an operator."""
    kind = type(tree)
    if kind not in _TURNED:
        return _computation(tree) if is_so else f"not ({_computation(tree)})"
    left, right = (_computation(one) for one in (tree.this, tree.expression))
    kind = kind if is_so else _OPPOSITE[kind]
    if tree.this.find(exp.Column) is None or (tree.expression.find(exp.Column) is not None and right < left):
        kind, left, right = _TURNED[kind], right, left
    return f"{left} {kind.__name__} {right}"


def _compared(node: exp.Expr) -> tuple[Column | None, list[exp.Expr]]:
    """The column that a comparison is about, and the values that it is compared with."""
    if isinstance(node, exp.Case):
        sides = [node.this, *(one.this for one in node.args.get("ifs") or [])]
    elif isinstance(node, exp.In):
        sides = [node.this, *node.expressions]
    else:
        sides = [node.this, node.expression]
    sides = [one.unnest() for one in sides if one is not None]
    columns = [one for one in sides if isinstance(one, exp.Column)]
    literals: list[exp.Expr] = [one for one in sides if isinstance(one, exp.Literal | exp.Boolean | exp.Neg)]
    return ((columns[0].table, columns[0].name) if len(columns) == 1 else None), literals


def _computation(tree: exp.Expr) -> str:
    """A tree as text: numbers in one spelling, sums and products in one order."""
    tree = simplify(tree.copy())
    for literal in list(tree.find_all(exp.Literal)):
        if literal.is_number:
            literal.set("this", _number(str(literal.this)))
    return _ordered(tree).sql(dialect="duckdb", comments=False)


def _ordered(tree: exp.Expr) -> exp.Expr:
    """Products, then sums, with their parts in one order."""

    def sort(node: exp.Expr, kind: type[exp.Binary]) -> exp.Expr:
        if not isinstance(node, kind) or isinstance(node.parent, kind):
            return node
        parts = sorted((one.copy() for one in node.flatten()), key=lambda one: one.sql(dialect="duckdb"))
        return reduce(lambda left, right: kind(this=left, expression=right), parts)

    return tree.transform(sort, exp.Mul).transform(sort, exp.Add)


def _said(column: Column, values: _Values) -> str:
    sign = "in" if values.is_listed else "not in"
    return f"{column[0]}.{column[1]} {sign} {sorted(values.values)}"


def _column(text: str, entity: str) -> Column | None:
    """The column that *text* is and nothing more."""
    try:
        tree = expression(text, entity).unnest()
    except InvalidExpression:
        return None
    return (tree.table, tree.name) if isinstance(tree, exp.Column) else None


def _spelled(value: object) -> str:
    """A value as text: `1.0` is `1`, and a flag is `true` or `false`."""
    if isinstance(value, exp.Literal):
        return str(value.this) if value.is_string else _number(str(value.this))
    if isinstance(value, exp.Expr):
        return value.sql(dialect="duckdb").lower()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> str:
    try:
        return format(Decimal(text).normalize(), "f") if len(text) <= 40 else text
    except InvalidOperation:
        return text


def values_in_words(values: Iterable[str], most: int = 20) -> str:
    """`in-store, online`, of many the first."""
    found = list(values)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
