"""A formula as people read it: "not" stands at single tests, and conditions on the same facts are told case by case.

Equal in every full case, like `bylaw.logic.words.shorter`, and for readers alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from bylaw.logic.boxes.boxes import Box, Cut, Region, TooManyBoxes, boxes, domain
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.ir import (
    NEGATED,
    And,
    Atom,
    Compare,
    Facts,
    Formula,
    Not,
    Number,
    Or,
    Value,
    Variable,
    conj,
    disj,
    names,
)
from bylaw.logic.words.shorter import shorter, size


def readable(formula: Formula, variables: Mapping[str, Variable]) -> Formula:
    """An equivalent of *formula* in few words, without a "not" around more than one test."""
    return _by_case(pushed(shorter(formula, variables)), variables)


def so(formula: Formula, facts: Facts) -> Formula:
    """What of *formula*, which holds for *facts*, is why it does: of alternatives the shortest that holds."""
    match pushed(formula):
        case And(items):
            return conj([so(item, facts) for item in items])
        case Or(items):
            held = [so(item, facts) for item in items if truth(item, facts)]
            return min(held, key=size) if held else formula
        case other:
            return other


def pushed(formula: Formula, is_so: bool = True) -> Formula:
    """*formula*, or its opposite, with every "not" at a single test; none where another test says the same."""
    match formula:
        case And(items) | Or(items):
            parts = [pushed(item, is_so) for item in items]
            return conj(parts) if isinstance(formula, And) is is_so else disj(parts)
        case Not(item):
            return pushed(item, not is_so)
        case _ if is_so:
            return formula
        case Compare(left, op, right):
            return Compare(left, NEGATED[op], right)
        case Atom(var, op, value) if op != "in" and isinstance(value, bool):
            return Atom(var, "==", value is (op == "!="))
        case Atom(var, op, value) if op != "in":
            return Atom(var, NEGATED[op], value)
    return Not(formula)


def _by_case(formula: Formula, variables: Mapping[str, Variable]) -> Formula:
    """Parts that speak of the same facts as one: "tv or at most 30 days, and at most 15 days or no tv" is two cases."""
    if not isinstance(formula, And | Or):
        return formula
    groups: dict[frozenset[str], list[Formula]] = {}
    for item in formula.items:
        groups.setdefault(frozenset(names(item)), []).append(_by_case(item, variables))
    join = conj if isinstance(formula, And) else disj
    parts = [part for about, group in groups.items() for part in _together(join(group), group, about, variables)]
    return join(parts)


def _together(
    whole: Formula, group: list[Formula], about: frozenset[str], variables: Mapping[str, Variable]
) -> list[Formula]:
    """The cases that *whole* is made of, where they take fewer words than its parts as they stand."""
    if len(group) < 2 or len(about) < 2:
        return group
    try:
        found = boxes(whole, variables)
    except TooManyBoxes:
        return group
    cases = shorter(disj([as_formula(box, variables) for box in found]), variables)
    is_plainer = all(box.is_exact for box in found) and size(cases) < size(whole)
    return [cases] if is_plainer else group


def as_formula(box: Box, variables: Mapping[str, Variable]) -> Formula:
    """The box as the formula that holds exactly inside, in the words of its facts."""
    parts: list[Formula] = []
    for var, where in sorted(box.regions.items()):
        variable = variables[var]
        if isinstance(where, frozenset):
            values = listed(where, variable)
            parts.append(_one_of(var, values, variable))
        else:
            parts.append(disj([conj(_bounds(variable, low, high)) for low, high in where]))
    return conj([*parts, *box.residue])


def _one_of(var: str, values: list[Value], variable: Variable) -> Formula:
    others = [value for value in variable.values if value not in values]
    if len(values) == 1:
        return Atom(var, "==", values[0])
    return Atom(var, "!=", others[0]) if len(others) == 1 else Atom(var, "in", tuple(values))


def listed(region: Region, variable: Variable) -> list[Value]:
    """The values of a region of a finite fact in declared order; none of a range."""
    if not isinstance(region, frozenset):
        return []
    every: list[Value] = [False, True] if variable.kind == "boolean" else list(variable.values)
    return [value for value in every if value in region]


def _bounds(variable: Variable, low: Cut, high: Cut) -> Iterator[Formula]:
    """The tests that say "between these cuts"; ends of the fact's own domain go without saying."""
    whole = domain(variable)
    assert isinstance(whole, tuple)
    if low[0] != -math.inf and low != whole[0][0]:
        yield Atom(variable.name, ">" if low[1] else ">=", _end(low))
    if high[0] != math.inf and high != whole[-1][1]:
        if variable.is_whole:
            yield Atom(variable.name, "<=", _end(high) - 1)
        else:
            yield Atom(variable.name, "<=" if high[1] else "<", _end(high))


def _end(cut: Cut) -> Number:
    """The number at a cut that is not an open end."""
    assert not isinstance(cut[0], float)
    return cut[0]
