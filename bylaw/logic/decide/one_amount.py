"""The nearest case that would do where guards compare amounts with each other, like a limit with what is spent.

Boxes say nothing of a comparison. With all its facts but one known it is a bound of that one, like the limit of a
budget less what is spent: the amounts that are compared are tried as such, one after the other, each with any other
facts beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import cast

from bylaw.logic.boxes.boxes import Box, TooManyBoxes, boxes
from bylaw.logic.boxes.sums import NotLinear, read
from bylaw.logic.boxes.truth import FLIPPED
from bylaw.logic.decide.counterfactual import Goal, Nearest, as_number, nearest
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.decide.firing import bits
from bylaw.logic.decide.ground import Ground, ground
from bylaw.logic.formula.ir import And, Atom, Compare, Facts, Formula, Not, Or, Value, names

MOST_AMOUNTS = 6  # that are compared; of more, the first are tried


def nearest_amount(
    evaluator: Evaluator,
    members: int,
    facts: Facts,
    day: int,
    goal: Goal,
    trials: int,
    fixed: Collection[str] = (),
    past: Collection[str] = (),
) -> Nearest | None:
    """The smallest change in which at most one of the amounts moves that guards of *members* (as bits) compare.

    What is *past* (the sum that is spent) is that one only where no other will do. None where nothing was found.
    """
    rules = evaluator.ruleset.rules
    compared = frozenset[str]().union(*(names(one) for i in bits(members) for one in _comparisons(rules[i].guard)))
    able = [var for var in sorted(compared - frozenset(fixed)) if not isinstance(facts.get(var, True), bool | str)]
    for those in ([var for var in able if var not in past], [var for var in able if var in past]):
        found = []
        for var in those[:MOST_AMOUNTS]:
            asked = cast("Evaluator", _Bounded(evaluator, members, var, facts))
            still = {*fixed, *compared - {var}}
            change = nearest(asked, facts, day, goal, trials, still, is_firm=True)
            if change.steps:
                found.append((len(change.steps), _away(change), var, change))
        if found:
            return replace(min(found, key=lambda one: one[:3])[3], is_sure=False)
    return None


class _Bounded:
    """An evaluator to the search for the nearest case, to whom comparisons of one amount are bounds of it."""

    def __init__(self, evaluator: Evaluator, members: int, var: str, facts: Facts) -> None:
        self.conflicts, self.decide = evaluator.conflicts, evaluator.decide
        self._members, self._own = members, evaluator
        rules = list(evaluator.ruleset.rules)
        self._moved = 0
        for i in bits(members):
            if any(True for _ in _comparisons(rules[i].guard)):
                rules[i] = replace(rules[i], guard=_bounded(rules[i].guard, var, facts))
                self._moved |= 1 << i
        self.ruleset = replace(evaluator.ruleset, rules=tuple(rules))

    def ground(self, rules: int, day: int) -> Ground:
        return ground(self.ruleset, self._boxes_of, self._members, day)

    def _boxes_of(self, i: int) -> tuple[Box, ...] | None:
        if not self._moved >> i & 1:
            return self._own.boxes_of(i)
        try:
            return boxes(self.ruleset.rules[i].guard, self.ruleset.variables)
        except TooManyBoxes:
            return None


def _bounded(formula: Formula, var: str, facts: Facts) -> Formula:
    """A guard whose comparisons are bounds of one fact, or known, as far as the other facts are."""
    match formula:
        case And(items):
            return And(tuple(_bounded(item, var, facts) for item in items))
        case Or(items):
            return Or(tuple(_bounded(item, var, facts) for item in items))
        case Not(item):
            return Not(_bounded(item, var, facts))
        case Compare():
            try:
                asked = read(formula, {name: value for name, value in facts.items() if name != var})
            except NotLinear:
                return formula
            if isinstance(asked, bool):
                return And(()) if asked else Or(())
            if asked.facts == [var]:
                ((_, by),), rest = asked.sum
                bound = Fraction(-rest, by)
                value: Value = bound.numerator if bound.denominator == 1 else bound
                return Atom(var, asked.op if by > 0 else FLIPPED[asked.op], value)
    return formula


def _comparisons(formula: Formula) -> Iterator[Compare]:
    match formula:
        case Compare():
            yield formula
        case And(items) | Or(items):
            for item in items:
                yield from _comparisons(item)
        case Not(item):
            yield from _comparisons(item)


def _away(change: Nearest) -> Fraction:
    """How far the facts of a change move, each by its size."""
    total = Fraction(0)
    for step in change.steps:
        if step.before is None or isinstance(step.after, bool | str):
            total += 1
        else:
            now = Fraction(as_number(step.before))
            total += abs(as_number(step.after) - now) / max(abs(now), Fraction(1))
    return total
