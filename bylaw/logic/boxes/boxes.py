"""Guards as unions of boxes: exact overlap, difference and witnesses, in microseconds and without a solver.

A conjunction of tests on single facts is a *box*: for every fact a *region* of its domain. A region of a finite fact
is a set of values; of a numeric fact it is a sorted tuple of disjoint half-open spans between *cuts*. The cut
`(v, 0)` lies just before `v`, `(v, 1)` just after it, so open and closed bounds need no cases of their own, and whole
numbers are normalised to cuts of side 0. What a box cannot say (fact against fact, arithmetic) is kept beside the
regions as `residue`; a box with residue is an upper bound, and Z3 decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from bylaw.logic.formula.ir import NEGATED, And, Atom, Compare, Facts, Formula, Not, Number, Or, Value, Variable, names

Cut: TypeAlias = tuple[Number | float, int]
Span: TypeAlias = tuple[Cut, Cut]
Region: TypeAlias = frozenset[Value] | tuple[Span, ...]

START: Cut = (-math.inf, 0)
END: Cut = (math.inf, 0)
MAX_BOXES = 64  # a guard that needs more is left to the solver


class TooManyBoxes(Exception):
    """The formula has no union of boxes of the size asked for."""


@dataclass(frozen=True, slots=True)
class Box:
    """A conjunction: facts that are not in `regions` may have any value. Regions are never empty."""

    regions: Mapping[str, Region]
    residue: tuple[Compare, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Do the regions say everything?"""
        return not self.residue

    @property
    def facts(self) -> set[str]:
        """Those it speaks of."""
        return self.regions.keys() | set().union(*map(names, self.residue))


EVERYTHING = Box({})


# ---- regions ----------------------------------------------------------------------------------------------------


def domain(variable: Variable) -> Region:
    """All values that the fact can take."""
    if variable.kind == "boolean":
        return frozenset((True, False))
    if variable.kind == "enum":
        return frozenset(variable.values)
    low: Cut = START if variable.minimum is None else (variable.minimum, 0)
    high: Cut = END if variable.maximum is None else (variable.maximum, 1)
    if variable.kind == "date":  # the calendar has a first and a last day
        low, high = max(low, (date.min.toordinal(), 0)), min(high, (date.max.toordinal(), 1))
    return _spans([(low, high)], variable.is_whole)


def region(atom: Atom, variable: Variable) -> Region:
    """The values of the fact that satisfy *atom*, within its domain; empty when none does."""
    whole = domain(variable)
    if isinstance(whole, frozenset):
        values = frozenset(atom.value) if isinstance(atom.value, tuple) else frozenset((atom.value,))
        return whole - values if atom.op == "!=" else whole & values
    return meet_regions(whole, _spans(_ordered_spans(atom), variable.is_whole))


def _ordered_spans(atom: Atom) -> list[Span]:
    if isinstance(atom.value, tuple):
        return sorted(((_number(v), 0), (_number(v), 1)) for v in atom.value)
    value = _number(atom.value)
    match atom.op:
        case "==" | "in":
            return [((value, 0), (value, 1))]
        case "!=":
            return [(START, (value, 0)), ((value, 1), END)]
        case "<":
            return [(START, (value, 0))]
        case "<=":
            return [(START, (value, 1))]
        case ">":
            return [((value, 1), END)]
        case ">=":
            return [((value, 0), END)]


def _number(value: Value) -> Number:
    assert isinstance(value, int | Fraction) and not isinstance(value, bool)
    return value


def _spans(spans: Iterable[Span], is_whole: bool) -> tuple[Span, ...]:
    """Normalised, merged and without the empty ones. INVARIANT: cuts of whole facts have side 0 and whole values."""
    out: list[Span] = []
    for low, high in spans:
        if is_whole:
            low, high = _whole_cut(low), _whole_cut(high)
        if low >= high:
            continue
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def _whole_cut(cut: Cut) -> Cut:
    value, side = cut
    if isinstance(value, float):
        return cut
    return (math.floor(value) + 1 if side else math.ceil(value), 0)


def meet_regions(a: Region, b: Region) -> Region:
    """The values in both."""
    if isinstance(a, frozenset):
        assert isinstance(b, frozenset)
        return a & b
    assert isinstance(b, tuple)
    if len(a) == 1 == len(b):
        low, high = max(a[0][0], b[0][0]), min(a[0][1], b[0][1])
        return ((low, high),) if low < high else ()
    met = [(max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b]
    return tuple(sorted(span for span in met if span[0] < span[1]))


def without(a: Region, b: Region) -> Region:
    """The values in *a* that are not in *b*."""
    if isinstance(a, frozenset):
        assert isinstance(b, frozenset)
        return a - b
    assert isinstance(b, tuple)
    gaps = zip((START, *(high for _, high in b)), (*(low for low, _ in b), END), strict=True)
    return meet_regions(a, tuple(gap for gap in gaps if gap[0] < gap[1]))


def join_regions(a: Region, b: Region) -> Region:
    """The values in either."""
    if isinstance(a, frozenset):
        assert isinstance(b, frozenset)
        return a | b
    assert isinstance(b, tuple)
    return _spans(sorted((*a, *b)), is_whole=False)


def lies_in(value: Value, where: Region) -> bool:
    """Is *value* one of the region's?"""
    if isinstance(where, frozenset):
        return value in where
    cut = (_number(value), 0)
    return any(low <= cut < high for low, high in where)


# ---- boxes --------------------------------------------------------------------------------------------------------


def boxes(formula: Formula, variables: Mapping[str, Variable], limit: int = MAX_BOXES) -> tuple[Box, ...]:
    """The union of boxes that *formula* is, empty boxes left out. Raises TooManyBoxes beyond *limit*."""
    return tuple(_boxes(formula, variables, limit, wanted=True))


def _boxes(formula: Formula, variables: Mapping[str, Variable], limit: int, wanted: bool) -> list[Box]:
    match formula:
        case Atom():
            variable = variables[formula.var]
            found = region(formula, variable)
            whole = domain(variable)
            if not wanted:
                found = without(whole, found)
            if not found:
                return []
            return [EVERYTHING] if found == whole else [Box({formula.var: found})]
        case Compare(left, op, right):
            return [Box({}, (formula if wanted else Compare(left, NEGATED[op], right),))]
        case Not(item):
            return _boxes(item, variables, limit, not wanted)
        case And(items) | Or(items):
            parts = [_boxes(item, variables, limit, wanted) for item in items]
            if isinstance(formula, And) == wanted:
                return _product(parts, limit)
            return _checked(_absorb([box for part in parts for box in part]), limit)


def _product(parts: list[list[Box]], limit: int) -> list[Box]:
    product = [EVERYTHING]
    for part in sorted(parts, key=len):
        product = [met for a in product for b in part if (met := meet(a, b)) is not None]
        if len(product) > 1:
            product = _checked(_absorb(product), limit)
    return product


def _checked(found: list[Box], limit: int) -> list[Box]:
    if len(found) > limit:
        raise TooManyBoxes
    return found


def _absorb(found: list[Box]) -> list[Box]:
    """Drop boxes inside others and join neighbours that differ in one fact, until nothing changes."""
    if len(found) > 4 * MAX_BOXES:  # quadratic work for a formula that is refused anyway
        return found
    todo, kept = list(found), list[Box]()
    while todo:
        box = todo.pop(0)
        for i, other in enumerate(kept):
            if contains(other, box):
                break
            if contains(box, other):
                kept.pop(i)
                todo.append(box)
                break
            joined = _join(other, box)
            if joined is not None:
                kept.pop(i)
                todo.append(joined)
                break
        else:
            kept.append(box)
    return kept


def contains(outer: Box, inner: Box) -> bool:
    """Is every case of *inner* one of *outer*?"""
    if not set(outer.residue) <= set(inner.residue):
        return False
    for var, where in outer.regions.items():
        mine = inner.regions.get(var)
        if mine is None or not _lies_within(mine, where):
            return False
    return True


def _lies_within(inner: Region, outer: Region) -> bool:
    if isinstance(inner, frozenset):
        return inner.issubset(outer)
    assert isinstance(outer, tuple)
    if len(inner) == 1 == len(outer):
        (low, high), (start, end) = inner[0], outer[0]
        return bool(start <= low and high <= end)
    return inner == outer or not without(inner, outer)


def _join(a: Box, b: Box) -> Box | None:
    if a.residue != b.residue or a.regions.keys() != b.regions.keys():
        return None
    differing = [var for var in a.regions if a.regions[var] != b.regions[var]]
    if len(differing) != 1:
        return None
    (var,) = differing
    return Box({**a.regions, var: join_regions(a.regions[var], b.regions[var])}, a.residue)


def meet(a: Box, b: Box) -> Box | None:
    """The cases in both, None when no case is (by the regions alone)."""
    if not b.regions and not b.residue:
        return a
    if not a.regions and not a.residue:
        return b
    merged = dict(a.regions)
    for var, where in b.regions.items():
        mine = merged.get(var)
        if mine is None:
            merged[var] = where
        else:
            both = meet_regions(mine, where)
            if not both:
                return None
            merged[var] = both
    residue = a.residue if not b.residue else (*a.residue, *(item for item in b.residue if item not in a.residue))
    return Box(merged, residue)


def meets(a: Box, b: Box) -> bool:
    """Do the two share a case, by the regions alone? Like `meet`, without building what they share."""
    mine = a.regions
    for var, where in b.regions.items():
        own = mine.get(var)
        if own is None:
            continue
        if isinstance(own, frozenset):
            if own.isdisjoint(where):
                return False
            continue
        assert isinstance(where, tuple)
        if len(own) == 1 == len(where):
            (low, high), (start, end) = own[0], where[0]
            if not (low < end and start < high):
                return False
        elif not meet_regions(own, where):
            return False
    return True


def overlap(a: Sequence[Box], b: Sequence[Box]) -> Box | None:
    """The first non-empty meeting of two unions, None when they are disjoint."""
    return next((met for x in a for y in b if (met := meet(x, y)) is not None), None)


def subtract(box: Box, other: Box, variables: Mapping[str, Variable]) -> list[Box]:
    """The cases of *box* outside *other*, as disjoint boxes. *other* must be exact."""
    assert other.is_exact
    if not meets(box, other):
        return [box]
    rest: list[Box] = []
    inside = dict(box.regions)
    for var, where in sorted(other.regions.items()):
        mine = inside.get(var)
        if mine is None:
            mine = domain(variables[var])
        outside = without(mine, where)
        if outside:
            rest.append(Box({**inside, var: outside}, box.residue))
        inside[var] = meet_regions(mine, where)
    return rest


def uncovered(start: Box, covers: Sequence[Box], variables: Mapping[str, Variable], budget: int = 20_000) -> Box | None:
    """A box inside *start* that no cover touches, None when *start* is covered whole. *covers* must be exact.

    Raises TooManyBoxes when more than *budget* pieces were looked at: the question is then the solver's.
    """
    if any(contains(cover, start) for cover in covers):
        return None
    ordered = sorted(covers, key=lambda cover: len(cover.regions))
    todo: list[tuple[Box, int]] = [(start, 0)]
    looked_at = 0
    while todo:
        piece, i = todo.pop()
        looked_at += 1
        if looked_at > budget:
            raise TooManyBoxes
        while i < len(ordered) and not meets(piece, ordered[i]):
            i += 1
        if i == len(ordered):
            return piece
        todo.extend((part, i + 1) for part in reversed(subtract(piece, ordered[i], variables)))
    return None


# ---- witnesses ----------------------------------------------------------------------------------------------------


def point(box: Box, variables: Mapping[str, Variable]) -> dict[str, Value]:
    """One telling case of an exact box: for each fact it speaks of, a round value near a bound that someone wrote."""
    return {var: _telling(where, variables[var]) for var, where in sorted(box.regions.items())}


def _telling(where: Region, variable: Variable) -> Value:
    if isinstance(where, frozenset):
        if variable.kind == "boolean":
            return min(where) if len(where) == 1 else False
        return next(value for value in variable.values if value in where)
    low, high = where[0]
    for candidate in _candidates(low, high, variable):
        if low <= (candidate, 0) < high:
            return candidate
    assert not isinstance(low[0], float) and not isinstance(high[0], float)
    middle = (Fraction(low[0]) + Fraction(high[0])) / 2
    return middle.numerator if middle.denominator == 1 else middle


def _candidates(low: Cut, high: Cut, variable: Variable) -> Iterator[Number]:
    """Values to show a span by. A bound that someone wrote tells more than that of the domain."""
    whole = domain(variable)
    assert isinstance(whole, tuple)
    natural = {cut for span in whole for cut in span}
    if low not in natural:
        yield from near(low, upward=True, is_whole=variable.is_whole)
    if high not in natural:
        yield from near(high, upward=False, is_whole=variable.is_whole)
    yield from near(low, upward=True, is_whole=variable.is_whole)
    yield from near(high, upward=False, is_whole=variable.is_whole)
    yield 0


def near(cut: Cut, upward: bool, is_whole: bool) -> list[Number]:
    """Round values on the inner side of a bound, the nearest telling one first."""
    value, side = cut
    if isinstance(value, float):
        return []
    if is_whole:
        return [int(value) if upward else int(value) - 1]
    if (side == 0) == upward:
        return [value]
    sign = 1 if upward else -1
    return [_tidy(value + sign * step) for step in (Fraction(1), Fraction(1, 10), Fraction(1, 100))]


def _tidy(value: Number) -> Number:
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


def holds_in(box: Box, facts: Facts) -> bool:
    """Do the known *facts* leave the box possible? Facts that are unknown do not speak against it."""
    return all(var not in facts or lies_in(facts[var], where) for var, where in box.regions.items())
