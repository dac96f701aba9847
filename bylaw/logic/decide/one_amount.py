"""The nearest value of one known amount that would do, where guards compare amounts with each other.

With every other fact known such a comparison has a bound, like the limit of a budget less what is spent. Between two
bounds nothing changes: each part is tried, from where the case is outwards.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from math import ceil, floor

from bylaw.logic.boxes.boxes import near
from bylaw.logic.boxes.sums import NotLinear, read
from bylaw.logic.decide.counterfactual import Step, as_number
from bylaw.logic.formula.ir import And, Atom, Compare, Facts, Formula, Not, Number, Op, Or, Value, Variable, names

MOST_PARTS = 200  # of one amount; beyond that nothing is said


def nearest_amount(
    guards: Collection[Formula],
    variables: Mapping[str, Variable],
    facts: Facts,
    does: Callable[[Mapping[str, Value]], bool],
    fixed: Collection[str] = (),
    past: Collection[str] = (),
) -> Step | None:
    """The change of one amount that *guards* compare with others, after which the case *does*; None where none will.

    What is *past* (the sum that is spent) is changed only where nothing else would do.
    """
    compared = frozenset[str]().union(*(names(one) for guard in guards for one in _comparisons(guard)))
    found = []
    for var in sorted((compared & facts.keys()) - frozenset(fixed)):
        now = facts[var]
        if isinstance(now, bool | str) or variables[var].is_finite:
            continue
        bounds = sorted({bound for guard in guards for bound in _bounds(guard, var, facts)})
        if len(bounds) <= MOST_PARTS:
            for is_lower in (True, False):
                step = _outwards(variables[var], now, bounds, is_lower, partial(_with, facts, var, does))
                if step is not None:
                    away = abs(Fraction(as_number(step.after)) - now) / max(abs(Fraction(now)), Fraction(1))
                    found.append((var in past, away, var, step))
    return min(found, key=lambda one: one[:3])[3] if found else None


def _with(facts: Facts, var: str, does: Callable[[Mapping[str, Value]], bool], at: Number) -> bool:
    return does({**facts, var: at})


def _outwards(
    variable: Variable, now: Number, bounds: Iterable[Number], is_lower: bool, does: Callable[[Number], bool]
) -> Step | None:
    parts = [part for part in _parts(variable, now, bounds, is_lower) if _is_in(variable, part[1])]
    first = next((n for n, (_, at, _) in enumerate(parts) if does(at)), None)
    if first is None:
        return None
    test, at, _ = parts[first]
    is_open_ended = all(does(further) for _, _, further in parts[first:] if _is_in(variable, further))
    return Step(variable.name, now, at, test if is_open_ended else Atom(variable.name, "==", at))


def _parts(
    variable: Variable, now: Number, bounds: Iterable[Number], is_lower: bool
) -> Iterator[tuple[Atom, Number, Number]]:
    """Each bound and what lies beyond it: the test of all from there on, its nearest value, and one to try it by."""
    past = sorted((bound for bound in bounds if bound != now and (bound < now) == is_lower), reverse=is_lower)
    here, beyond = ("<=", "<") if is_lower else (">=", ">")
    for n, bound in enumerate(past):
        if not variable.is_whole or bound == int(bound):
            yield Atom(variable.name, _op(here), bound), bound, bound
        inner: list[Number] = near((bound, 0 if is_lower else 1), not is_lower, is_whole=False)
        if variable.is_whole:
            inner = [ceil(bound) - 1 if is_lower else floor(bound) + 1]
        last = past[n + 1] if n + 1 < len(past) else None
        if inner := [at for at in inner if last is None or (at > last if is_lower else at < last)]:
            yield Atom(variable.name, _op(beyond), bound), inner[0], inner[-1]


def _op(text: str) -> Op:
    found: Mapping[str, Op] = {"<=": "<=", "<": "<", ">=": ">=", ">": ">"}
    return found[text]


def _is_in(variable: Variable, at: Number) -> bool:
    low, high = variable.minimum, variable.maximum
    return (low is None or at >= low) and (high is None or at <= high)


def _comparisons(formula: Formula) -> Iterator[Compare]:
    match formula:
        case Compare():
            yield formula
        case And(items) | Or(items):
            for item in items:
                yield from _comparisons(item)
        case Not(item):
            yield from _comparisons(item)


def _bounds(formula: Formula, var: str, facts: Facts) -> Iterator[Number]:
    """Where a guard can change along one fact, the others as they are."""
    match formula:
        case Atom(var=name, value=value) if name == var and isinstance(value, int | Fraction):
            yield value
        case And(items) | Or(items):
            for item in items:
                yield from _bounds(item, var, facts)
        case Not(item):
            yield from _bounds(item, var, facts)
        case Compare() if var in names(formula):
            try:
                asked = read(formula, {name: value for name, value in facts.items() if name != var})
            except NotLinear:
                return
            if not isinstance(asked, bool) and asked.facts == [var]:
                ((_, by),), rest = asked.sum
                bound = Fraction(-rest, by)
                yield bound.numerator if bound.denominator == 1 else bound
