"""The ways to each rule's action (seed 001, compiled paths)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from bylaw.logic.boxes.boxes import END, START, Region, Span, TooManyBoxes, boxes, domain
from bylaw.logic.formula.codec import encode
from bylaw.logic.formula.ir import Atom, ConditionalRule, Formula, Variable, names


def compiled_paths(
    rules: Sequence[ConditionalRule], variables: Mapping[str, Variable], order: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Every way to every rule's action (seed 001): one path a box of its guard, its facts in question *order*.

    A fact whose values lie in several stretches has one path for each. What is no box (a comparison between facts, a
    guard of too many boxes) stands as a formula among the tests of the first fact it speaks of.
    """
    return [
        {
            "policy_id": rule.policy_id,
            "rule_id": rule.rule_id,
            "path": [{"var": var, "tests": tests} for var, tests in path],
            "leaf_action": rule.effect.text,
        }
        for rule in rules
        for path in _paths(rule.guard, variables, order)
    ]


_Step: TypeAlias = tuple[str, list[dict[str, Any]]]


def _paths(guard: Formula, variables: Mapping[str, Variable], places: Mapping[str, int]) -> Iterator[list[_Step]]:
    order = sorted(names(guard), key=places.__getitem__)
    try:
        found = boxes(guard, variables)
    except TooManyBoxes:
        yield [(order[0], [encode(guard, variables)])]
        return
    for box in found:
        asked = [var for var in order if var in box.regions]
        for way in product(*(_ways(box.regions[var], variables[var]) for var in asked)):
            steps: dict[str, list[dict[str, Any]]] = dict(zip(asked, map(list, way), strict=True))
            for item in box.residue:
                first = next((var for var in order if var in names(item)), "")
                steps.setdefault(first, []).append(encode(item, variables))
            yield sorted(steps.items(), key=lambda step: order.index(step[0]) if step[0] in order else -1)


def _ways(where: Region, variable: Variable) -> list[list[dict[str, Any]]]:
    """The region as alternatives, each a list of tests that all hold."""
    if isinstance(where, frozenset):
        if variable.kind == "boolean":
            return [[{"op": "==", "value": value}] for value in sorted(where)]
        values = [value for value in variable.values if value in where]
        if len(values) == 1:
            return [[{"op": "==", "value": values[0]}]]
        return [[{"op": "in", "value": values}]]
    whole = domain(variable)
    assert isinstance(whole, tuple)
    return [[_test_json(atom, variable) for atom in _span_tests(span, whole, variable)] for span in where]


def _test_json(atom: Atom, variable: Variable) -> dict[str, Any]:
    return {key: value for key, value in encode(atom, {variable.name: variable}).items() if key != "var"}


def _span_tests(span: Span, whole: tuple[Span, ...], variable: Variable) -> Iterator[Atom]:
    """The bounds of a span that the domain does not give already; `==` where one value is left."""
    (low, low_side), (high, high_side) = span
    if isinstance(low, float):
        first = None
    else:
        first = Atom(variable.name, ">" if low_side else ">=", low)
    if isinstance(high, float):
        last = None
    elif variable.is_whole:
        last = Atom(variable.name, "<=", math.ceil(high) - 1)
    else:
        last = Atom(variable.name, "<=" if high_side else "<", high)
    if first and last and first.op == ">=" and last.op == "<=" and first.value == last.value:
        yield Atom(variable.name, "==", first.value)
        return
    ends = {START, END, *(cut for part in whole for cut in part)}
    if first and span[0] not in ends:
        yield first
    if last and span[1] not in ends:
        yield last
