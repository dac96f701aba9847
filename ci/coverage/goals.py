"""What cases can show: each rule at work, both sides of each bound, each region of a guard, each exception.

Rules that have ended are left out; one that has not started yet is asked for its first day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from bylaw.canonical import number_text
from bylaw.logic.boxes.boxes import Box, Cut, Region, Span, domain, lies_in, meet_regions, point, region
from bylaw.logic.formula.ir import And, Atom, Formula, Not, Number, Or, Value, Variable, exact
from ci.proofs.theory import Theory

Kind = Literal["rule", "boundary", "region", "exception"]
Aim = Literal["fires", "wins", "inside", "outside", "region", "otherwise"]

KINDS: tuple[Kind, ...] = ("rule", "boundary", "region", "exception")
CENT = Fraction(1, 100)  # how far "just beyond" lies where numbers are dense


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a bound: its telling value, and the values that stand close enough to count as being there."""

    value: Number
    near: Span


@dataclass(frozen=True, slots=True)
class Edge:
    """A bound that a guard sets on a number or a date; the guard may hold on the inner side only."""

    var: str
    inside: Side
    outside: Side


@dataclass(frozen=True, eq=False, slots=True)
class Goal:
    """One thing that a case can show of a rule. Goals are told apart by identity."""

    aim: Aim
    rule: int
    day: int
    edge: Edge | None = None
    box: Box | None = None
    siblings: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Item:
    """What is counted: covered when every goal is shown."""

    kind: Kind
    rule: int
    goals: tuple[Goal, ...]


def items(theory: Theory, rules: Iterable[int] | None = None) -> tuple[Item, ...]:
    """Everything that cases can show of the rules in force on the theory's day or later, rule by rule.

    *rules*: only of these.
    """
    asked = range(len(theory.ruleset.rules)) if rules is None else rules
    return tuple(item for i in asked for item in _of_rule(theory, i))


def _of_rule(theory: Theory, i: int) -> Iterator[Item]:
    day = first_day(theory, i)
    if day is None:
        return
    yield Item("rule", i, (Goal("fires", i, day), Goal("wins", i, day)))
    for edge in edges(theory, i):
        yield Item("boundary", i, (Goal("inside", i, day, edge), Goal("outside", i, day, edge)))
    for box in theory.evaluator.boxes_of(i) or ():
        yield Item("region", i, (Goal("region", i, day, box=box),))
    siblings = _siblings(theory, i)
    if siblings:
        yield Item("exception", i, (Goal("fires", i, day), Goal("otherwise", i, day, siblings=siblings)))


def first_day(theory: Theory, i: int) -> int | None:
    """The first day from the theory's own on which rule *i* is in force; None when it has ended."""
    rule = theory.ruleset.rules[i]
    if rule.holds_on(theory.at):
        return theory.at
    return rule.start if rule.start is not None and rule.start > theory.at else None


def _siblings(theory: Theory, i: int) -> tuple[int, ...]:
    """The rules of the policy that an exception stands beside: where it does not hold, one of them speaks."""
    rules = theory.ruleset.rules
    if rules[i].origin != "exception":
        return ()
    same = [j for j, rule in enumerate(rules) if j != i and rule.policy_id == rules[i].policy_id]
    outcome = rules[i].effect.outcome
    return tuple(j for j in same if outcome is None or rules[j].effect.outcome == outcome)


# ---- bounds ---------------------------------------------------------------------------------------------------------


def edges(theory: Theory, i: int) -> list[Edge]:
    """The bounds on numbers and dates that the guard of rule *i* sets, the ends of the facts' own domains left out."""
    variables = theory.ruleset.variables
    boxes = theory.evaluator.boxes_of(i)
    found: dict[tuple[str, Cut, bool], None] = {}
    if boxes is not None:
        for box in boxes:
            for var, where in box.regions.items():
                found.update(dict.fromkeys((var, cut, is_low) for cut, is_low in _cuts(where, variables[var])))
    else:
        for atom in _atoms(theory.ruleset.rules[i].guard):
            for cut, _ in _cuts(region(atom, variables[atom.var]), variables[atom.var]):
                found.update({(atom.var, cut, True): None, (atom.var, cut, False): None})
    made = (_edge(variables[var], cut, is_low) for var, cut, is_low in sorted(found))
    return [edge for edge in made if edge is not None]


def _atoms(formula: Formula) -> Iterator[Atom]:
    match formula:
        case Atom():
            yield formula
        case And(items=parts) | Or(items=parts):
            for part in parts:
                yield from _atoms(part)
        case Not(item=part):
            yield from _atoms(part)


def _cuts(where: Region, variable: Variable) -> Iterator[tuple[Cut, bool]]:
    """The ends of the spans of *where*, and whether the span lies above; not the ends of the domain."""
    if isinstance(where, frozenset):
        return
    natural = {cut for span in domain(variable) if isinstance(span, tuple) for cut in span}
    for low, high in where:
        yield from ((cut, is_low) for cut, is_low in ((low, True), (high, False)) if cut not in natural)


def _edge(variable: Variable, cut: Cut, is_low: bool) -> Edge | None:
    below, above = _sides(variable, cut)
    if below is None or above is None:
        return None
    return Edge(variable.name, above, below) if is_low else Edge(variable.name, below, above)


def _sides(variable: Variable, cut: Cut) -> tuple[Side | None, Side | None]:
    value, side = cut
    assert not isinstance(value, float)
    if variable.is_whole:
        low: Span = ((value - 1, 0), (value, 0))
        high: Span = ((value, 0), (value + 1, 0))
        return _side(variable, value - 1, low), _side(variable, value, high)
    step, at = last_place(value), ((value, 0), (value, 1))
    if side == 0:
        return _side(variable, value - min(step, CENT), ((value - step, 0), (value, 0))), _side(variable, value, at)
    beyond: Span = ((value, 1), (value + step, 1))
    return _side(variable, value, at), _side(variable, value + min(step, CENT), beyond)


def last_place(value: Number) -> Fraction:
    """One in the last place in which the number is written: 1 for 1000, 0.01 for 14.99."""
    text = number_text(Fraction(value))
    return CENT if "/" in text else Fraction(1, 10 ** len(text.partition(".")[2]))


def _side(variable: Variable, value: Number, near: Span) -> Side | None:
    """The side as far as the fact's domain reaches; None when nothing of it is left."""
    left = meet_regions(domain(variable), (near,))
    if not left:
        return None
    if not lies_in(exact(Fraction(value)), left):
        told = point(Box({variable.name: left}), {variable.name: variable})[variable.name]
        assert isinstance(told, int | Fraction)
        value = told
    return Side(exact(Fraction(value)), near)


def cut_points(theory: Theory, rules: tuple[int, ...]) -> Mapping[str, list[Value]]:
    """For every fact that the guards of *rules* speak of, one value for each stretch that they tell apart."""
    variables = theory.ruleset.variables
    cuts: dict[str, set[Cut]] = {}
    for i in rules:
        for box in theory.evaluator.boxes_of(i) or ():
            for var, where in box.regions.items():
                cuts.setdefault(var, set()).update(cut for cut, _ in _cuts(where, variables[var]))
    return {var: _representatives(variables[var], sorted(found)) for var, found in sorted(cuts.items())}


def _representatives(variable: Variable, cuts: list[Cut]) -> list[Value]:
    whole = domain(variable)
    if isinstance(whole, frozenset):
        return [False, True] if variable.kind == "boolean" else list(variable.values)
    ends = [whole[0][0], *cuts, whole[-1][1]]
    spans = [(low, high) for low, high in pairwise(ends) if low < high]
    regions = [met for span in spans if (met := meet_regions(whole, (span,)))]
    return [point(Box({variable.name: where}), {variable.name: variable})[variable.name] for where in regions]
