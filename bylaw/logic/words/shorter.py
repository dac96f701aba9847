"""The same formula in fewer words: what the rest of it already says is left out.

Equal in every full case (it may be decided sooner when facts are unknown), so it is for readers, never for firing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bylaw.logic.boxes.boxes import Region, domain, meet_regions, region, without
from bylaw.logic.formula.ir import (
    FALSE,
    NEGATED,
    TRUE,
    And,
    Arith,
    Atom,
    Compare,
    Formula,
    Not,
    Or,
    Variable,
    conj,
    disj,
    negate,
)

ROUNDS = 4  # a shorter part can make another one shorter; more rounds change nothing in practice


@dataclass(frozen=True, slots=True)
class _Given:
    """What may be taken for granted where a part of a formula stands."""

    variables: Mapping[str, Variable]
    regions: Mapping[str, Region]
    formulas: frozenset[Formula] = frozenset()

    def where(self, var: str) -> Region:
        found = self.regions.get(var)
        return domain(self.variables[var]) if found is None else found

    def and_(self, formula: Formula) -> _Given:
        """The same, and *formula* holds."""
        given = replace(self, formulas=self.formulas | {formula})
        match formula:
            case Atom(var=var):
                return replace(given, regions={**self.regions, var: meet_regions(self.where(var), self._of(formula))})
            case Not(item=Atom(var=var) as atom):
                return replace(given, regions={**self.regions, var: without(self.where(var), self._of(atom))})
            case And(items):
                for item in items:
                    given = given.and_(item)
        return given

    def _of(self, atom: Atom) -> Region:
        return region(atom, self.variables[atom.var])

    def settles(self, atom: Atom) -> bool | None:
        """Is *atom* true, or false, wherever the given holds?"""
        where, wanted = self.where(atom.var), self._of(atom)
        if not meet_regions(where, wanted):
            return False
        return None if without(where, wanted) else True


def shorter(formula: Formula, variables: Mapping[str, Variable]) -> Formula:
    """An equivalent of *formula* that does not say the same thing twice."""
    for _ in range(ROUNDS):
        before, formula = formula, _under(formula, _Given(variables, {}))
        if formula == before:
            break
    return formula


def _under(formula: Formula, given: _Given) -> Formula:
    if formula in given.formulas:
        return TRUE
    if negate(formula) in given.formulas:
        return FALSE
    match formula:
        case Atom():
            settled = given.settles(formula)
            return formula if settled is None else TRUE if settled else FALSE
        case Compare(left, op, right):
            return FALSE if Compare(left, NEGATED[op], right) in given.formulas else formula
        case Not(item):
            return _positive(_under(item, given), given.variables)
        case And(items):
            return _factored(conj(_each(items, given, wanted=True)))
        case Or(items):
            return _factored(disj(_each(items, given, wanted=False)))


def _each(items: tuple[Formula, ...], given: _Given, wanted: bool) -> list[Formula]:
    """Each item under the others: in a conjunction they hold, in a disjunction they do not. Simple ones first.

    Then the tests from the last one on: "less than 120 and less than 60" is "less than 60".
    """
    parts = _in_turn(sorted(items, key=size), given, wanted)
    tests = [part for part in parts if isinstance(part, Atom)]
    kept = _in_turn(reversed(tests), given, wanted)[::-1]
    return [*kept, *(part for part in parts if not isinstance(part, Atom))]


def _in_turn(items: Iterable[Formula], given: _Given, wanted: bool) -> list[Formula]:
    """Each item under those before it."""
    out = []
    for item in items:
        part = _under(item, given)
        out.append(part)
        given = given.and_(part if wanted else negate(part))
    return out


def _factored(formula: Formula) -> Formula:
    """What several alternatives, or several conditions, share is said once: "a or b, and a or c" is "a, or b and c"."""
    while isinstance(formula, And | Or):
        outer, inner, other = (conj, disj, Or) if isinstance(formula, And) else (disj, conj, And)
        groups = [item for item in formula.items if isinstance(item, other)]
        counts = Counter(part for group in groups for part in group.items)
        shared, count = max(counts.items(), key=lambda pair: pair[1], default=(formula, 0))
        if count < 2:
            break
        held = [group for group in groups if shared in group.items]
        rests = outer([inner([part for part in group.items if part != shared]) for group in held])
        formula = outer([*(item for item in formula.items if item not in held), inner([shared, rests])])
    return formula


def _positive(item: Formula, variables: Mapping[str, Variable]) -> Formula:
    """The negation of *item* without the word not, where one test says it."""
    match item:
        case Atom(var, op, value) if op in NEGATED and not variables[var].is_finite:
            return Atom(var, NEGATED[op], value)
        case Atom(var, op, value) if variables[var].kind == "boolean" and op == "==" and isinstance(value, bool):
            return Atom(var, "==", not value)
        case Atom(var, "==", value):
            return Atom(var, "!=", value)
        case Or(items):
            return conj([_positive(part, variables) for part in items])
        case And(items) if all(isinstance(part, Atom | Compare) for part in items):
            return disj([_positive(part, variables) for part in items])
    return negate(item)


def size(formula: Formula) -> int:
    """How many words it takes, more or less: one for each test and each joint."""
    match formula:
        case And(items) | Or(items):
            return 1 + sum(map(size, items))
        case Not(item):
            return 1 + size(item)
        case Compare(left, _, right):
            return 1 + isinstance(left, Arith) + isinstance(right, Arith)
        case Atom():
            return 1
