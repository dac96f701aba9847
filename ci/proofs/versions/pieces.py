"""Formulas over boxes of cases: what one says in a whole box, where a box must be cut, how pieces grow together again.

A comparison between facts counts as a yes-or-no fact of its own (`?0`, `?1`, …), so that every piece is an exact box;
whether such a piece holds a case at all is for the solver to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bylaw.logic.boxes.boxes import (
    Box,
    Region,
    TooManyBoxes,
    domain,
    join_regions,
    meet_regions,
    region,
    uncovered,
    without,
)
from bylaw.logic.formula.ir import (
    TRUE,
    And,
    Atom,
    Compare,
    Formula,
    Not,
    Or,
    Value,
    Variable,
    conj,
    disj,
    names,
    negate,
)

Piece: TypeAlias = Mapping[str, Region]


@dataclass(frozen=True, slots=True)
class Test:
    """One fact lies in a region that is neither empty nor everything; None where cases are silent about the fact."""

    var: str
    where: Region | None


@dataclass(frozen=True, slots=True)
class Group:
    """All items hold, or any does. Negations are worked into the tests."""

    kind: Literal["all", "any"]
    items: tuple[Read, ...]


Read: TypeAlias = Test | Group
YES, NO = Group("all", ()), Group("any", ())
SILENT = Test("?", None)  # a comparison with a fact that cases are silent about


class Space:
    """The facts that pieces speak of, and the comparisons between facts met so far."""

    def __init__(self, variables: Mapping[str, Variable], widened: int) -> None:
        self.variables, self.most_widened = variables, widened
        self.axes: dict[str, Variable] = dict(variables)
        self.comparisons: dict[str, Compare] = {}
        self._known: dict[Compare, str] = {}
        self._domains: dict[str, Region] = {}

    def read(self, formula: Formula, wanted: bool = True) -> Read:
        """*formula* (or its negation) made ready for `reading` and `cut`."""
        match formula:
            case Atom(var=var):
                if var not in self.variables:
                    return Test(var, None)
                whole, found = self._domain(var), region(formula, self.variables[var])
                return _test(var, found if wanted else without(whole, found), whole)
            case Compare():
                return self._comparison(formula, wanted)
            case Not(item):
                return self.read(item, not wanted)
            case And(items) | Or(items):
                kind: Literal["all", "any"] = "all" if isinstance(formula, And) == wanted else "any"
                return Group(kind, tuple(self.read(item, wanted) for item in items))

    def _domain(self, var: str) -> Region:
        if var not in self._domains:
            self._domains[var] = domain(self.axes[var])
        return self._domains[var]

    def _comparison(self, item: Compare, wanted: bool) -> Read:
        if not names(item) <= self.variables.keys():
            return SILENT
        match item.op:
            case "==" | "!=":
                one, two = sorted((item.left, item.right), key=repr)
                plain, is_said = Compare(one, "==", two), item.op == "=="
            case "<=" | ">":
                plain, is_said = Compare(item.left, "<=", item.right), item.op == "<="
            case _:
                plain, is_said = Compare(item.right, "<=", item.left), item.op == ">="
        name = self._known.setdefault(plain, f"?{len(self._known)}")
        self.comparisons[name] = plain
        self.axes[name] = Variable(name, "boolean")
        return Test(name, frozenset((is_said == wanted,)))

    # ---- pieces -----------------------------------------------------------------------------------------------------

    def halves(self, piece: Piece, test: Test) -> tuple[Piece, Piece]:
        """The part of *piece* in which *test* holds, and the part in which it does not. Neither is empty."""
        assert test.where is not None
        mine = piece.get(test.var)
        if mine is None:
            mine = domain(self.axes[test.var])
        inside, outside = meet_regions(mine, test.where), without(mine, test.where)
        return {**piece, test.var: inside}, {**piece, test.var: outside}

    def within(self, box: Box) -> Box | None:
        """The part of *box* that compared cases can lie in, as far as single facts say; None when there is none."""
        regions = {}
        for var, where in box.regions.items():
            if var in self.variables:
                regions[var] = meet_regions(where, self._domain(var))
                if not regions[var]:
                    return None
        return Box(regions)

    def joined(self, pieces: Iterable[Piece]) -> list[Piece]:
        """The same cases in as few pieces as neighbours can be joined to; disjoint ones stay so."""
        found = [dict(piece) for piece in pieces]
        before = -1
        while before != len(found):
            before = len(found)
            for var in sorted({var for piece in found for var in piece}):
                found = self._joined_along(var, found)
        return sorted(found, key=self.order)

    def _joined_along(self, var: str, pieces: Sequence[dict[str, Region]]) -> list[dict[str, Region]]:
        whole = self._domain(var)
        rows: dict[tuple[bool, frozenset[tuple[str, Region]]], dict[str, Region]] = {}
        for piece in pieces:
            key = var in piece, frozenset((name, where) for name, where in piece.items() if name != var)
            other = rows.get(key)
            if other is None or var not in piece:
                rows[key] = piece
            else:
                rows[key] = {**piece, var: join_regions(other[var], piece[var])}
        return [{n: w for n, w in row.items() if n != var or w != whole} for row in rows.values()]

    def widest(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The same cases in pieces that cannot be wider, and of which none can be spared. They may overlap.

        A region of more pieces than are to be widened is left as it was found.
        """
        if not 1 < len(pieces) <= self.most_widened:
            return list(pieces)
        boxes = [Box(piece) for piece in pieces]
        wide = [Box(self._widened(box, boxes)) for box in boxes]
        kept = list({repr(sorted(box.regions.items(), key=repr)): box for box in wide}.values())
        for box in sorted(kept, key=lambda box: self.order(box.regions), reverse=True):
            others = [other for other in kept if other is not box]
            if self._lies_in(box, others):
                kept = others
        return sorted((box.regions for box in kept), key=self.order)

    def _widened(self, box: Box, cases: Sequence[Box]) -> Piece:
        """*box* with every fact left out, and every range extended, that *cases* allow."""
        regions = dict(box.regions)
        for var in sorted(regions):
            wider = {name: where for name, where in regions.items() if name != var}
            if self._lies_in(Box(wider), cases):
                regions = wider
                continue
            for other in cases:
                joined = join_regions(regions[var], other.regions.get(var, regions[var]))
                if joined != regions[var] and self._lies_in(Box({**regions, var: joined}), cases):
                    regions[var] = joined
        return regions

    def _lies_in(self, box: Box, cases: Sequence[Box]) -> bool:
        try:
            return uncovered(box, cases, self.axes, budget=8 * self.most_widened) is None
        except TooManyBoxes:
            return False

    def order(self, piece: Piece) -> tuple[int, str]:
        """Few facts first, then by what is said of them."""
        return len(piece), repr([(var, _listed(where, self.axes[var])) for var, where in sorted(piece.items())])

    def formula(self, piece: Piece) -> Formula:
        """The piece as the logic says it: comparisons as themselves."""
        return conj([self._part(var, where) for var, where in sorted(piece.items())])

    def as_formula(self, item: Read, silent: Formula = TRUE) -> Formula:
        """*item* within the shared values. What waits for a fact that cases are silent about counts as *silent*."""
        if isinstance(item, Test):
            return silent if item.where is None else self._part(item.var, item.where)
        parts = [self.as_formula(part, silent) for part in item.items]
        return conj(parts) if item.kind == "all" else disj(parts)

    def _part(self, var: str, where: Region) -> Formula:
        if var in self.comparisons:
            plain = self.comparisons[var]
            return plain if True in where else negate(plain)
        variable = self.axes[var]
        if isinstance(where, frozenset):
            values = _listed(where, variable)
            return Atom(var, "==", values[0]) if len(values) == 1 else Atom(var, "in", tuple(values))
        return disj([conj(_bounds(var, span, variable)) for span in where])

    def facts_of(self, var: str) -> set[str]:
        """The facts behind one axis: itself, or those that a comparison speaks of."""
        return names(self.comparisons[var]) if var in self.comparisons else {var}

    def plain(self, piece: Piece) -> Piece:
        """What the piece says of single facts."""
        return {var: where for var, where in piece.items() if var not in self.comparisons}


def _test(var: str, where: Region, whole: Region) -> Read:
    return NO if not where else YES if where == whole else Test(var, where)


def _listed(where: Region, variable: Variable) -> list[Value]:
    if not isinstance(where, frozenset):
        return [repr(where)]
    return [value for value in (variable.values or (False, True)) if value in where]


def _bounds(var: str, span: object, variable: Variable) -> Iterator[Formula]:
    assert isinstance(span, tuple)
    (low, low_side), (high, high_side) = span
    if variable.is_whole:  # cuts of whole facts lie before a whole value: `< 31` is better said as `<= 30`
        high, high_side = high - 1, 1
    if low == high:
        yield Atom(var, "==", low)
        return
    if not isinstance(low, float) and (variable.minimum is None or low > variable.minimum or low_side):
        yield Atom(var, ">" if low_side else ">=", low)
    if not isinstance(high, float) and (variable.maximum is None or high < variable.maximum or not high_side):
        yield Atom(var, "<=" if high_side else "<", high)


# ---- reading --------------------------------------------------------------------------------------------------------


def reading(item: Read, piece: Piece) -> bool | None:
    """Does *item* hold in every case of *piece* (True), in none (False), or in some, or can it not be known (None)?"""
    if isinstance(item, Test):
        mine = piece.get(item.var)
        if mine is None or item.where is None:
            return None
        both = meet_regions(mine, item.where)
        return False if not both else True if both == mine else None
    settles = item.kind == "any"  # one item that holds settles "any", one that does not settles "all"
    result: bool | None = not settles
    for part in item.items:
        found = reading(part, piece)
        if found is settles:
            return settles
        if found is None:
            result = None
    return result


def cut(item: Read, piece: Piece) -> Test | None:
    """A test that *piece* leaves open and *item* waits for; None when it waits for no fact of the compared cases."""
    if isinstance(item, Test):
        return item if item.where is not None and reading(item, piece) is None else None
    for part in item.items:
        if reading(part, piece) is None and (found := cut(part, piece)) is not None:
            return found
    return None


def size(item: Read) -> int:
    """How many tests *item* is made of."""
    return 1 if isinstance(item, Test) else sum(map(size, item.items))


def waits(item: Read) -> bool:
    """Does *item* speak of a fact that cases are silent about?"""
    return item.where is None if isinstance(item, Test) else any(map(waits, item.items))


def is_silent(item: Read) -> bool:
    """Does *item* compare a fact that cases are silent about with another one?"""
    return item == SILENT if isinstance(item, Test) else any(map(is_silent, item.items))
