"""The rules of one policy → an ordered decision graph with shared nodes.

The graph is reduced like an ordered decision diagram. Facts are asked in order (steps first, then booleans, enums,
numbers and dates, comparisons between facts), each fact at one place: its thresholds ascending, its values one by
one. So what one answer implies is never asked again: `days <= 15` settles `days <= 30`, one value excludes the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from bylaw.logic.boxes.boxes import domain, region
from bylaw.logic.boxes.truth import simplify
from bylaw.logic.decide.asking import kind_rank
from bylaw.logic.formula.ir import (
    FALSE,
    TRUE,
    And,
    Atom,
    Compare,
    ConditionalRule,
    Formula,
    Not,
    Number,
    Or,
    Value,
    Variable,
    atoms,
    disj,
    names,
)
from bylaw.logic.formula.notation import infix
from bylaw.logic.words.graph import NOTHING, Graph, Node, from_json, graph_problems, mermaid, test_text, traverse, walk

__all__ = [
    "Graph",
    "build_graph",
    "from_json",
    "graph_problems",
    "mermaid",
    "traverse",
    "walk",
]

MAX_NODES = 512
EFFORT = 8  # states looked at for each node allowed, before the graph counts as too large

# ---- what holds at the end ----------------------------------------------------------------------------------------

_RANK = {"outcome": 0, "required": 1, "prohibited": 2, "permitted": 3}


def _guards(rules: Sequence[ConditionalRule]) -> dict[str, Formula]:
    """Effect → when any rule has it; outcomes first, then duties, prohibitions, permissions, each by name."""
    ordered = sorted(rules, key=lambda rule: (_RANK[rule.effect.kind], rule.effect.action))
    texts = dict.fromkeys(rule.effect.text for rule in ordered)
    return {text: disj([rule.guard for rule in ordered if rule.effect.text == text]) for text in texts}


def _terminal(texts: Iterable[str], holds: Iterable[Formula]) -> str:
    return "+".join(text for text, formula in zip(texts, holds, strict=True) if formula == TRUE) or NOTHING


# ---- questions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """Everything the guards ask about one fact: tests in order, and a value for each way they can fall.

    On a scale each test implies the next: cell *i* is reached when test *i* is the first that holds, the last cell
    when none does. In a choice, cell *i* stands for the values of `groups[i]`, and tests are made when it is known
    which of them lead to the same place.
    """

    name: str
    tests: tuple[Formula, ...]
    cells: tuple[Value, ...]
    groups: tuple[tuple[Value, ...], ...] = ()


def _ordered(facts: Iterable[str], variables: Mapping[str, Variable], steps: Sequence[str]) -> list[str]:
    def key(name: str) -> tuple[int, int, str]:
        step = steps.index(name) if name in steps else len(steps)
        return step, kind_rank(variables[name]) if name in variables else 3, name

    return sorted(facts, key=key)


def _question(name: str, made: Iterable[Atom], variable: Variable | None, comparison: Compare | None) -> Question:
    if variable is None or variable.kind == "boolean":
        return Question(name, (comparison or Atom(name, "==", True),), (True, False))
    if variable.kind == "enum":
        return _choice(variable, made)
    return _scale(variable, made)


def _choice(variable: Variable, made: Iterable[Atom]) -> Question:
    named: set[Value] = set()
    for atom in made:
        named.update(atom.value if isinstance(atom.value, tuple) else (atom.value,))
    asked = [(value,) for value in variable.values if value in named]
    others = tuple(value for value in variable.values if value not in named)
    groups = (*asked, others) if others else tuple(asked)
    return Question(variable.name, (), tuple(group[0] for group in groups), groups)


def _scale(variable: Variable, made: Iterable[Atom]) -> Question:
    whole = domain(variable)
    tests: list[Atom] = []
    kept: list[tuple[Number, int]] = []
    for value, side in sorted({cut for atom in made for cut in _cuts(atom, variable.is_whole)}):
        test = Atom(variable.name, "<=" if side else "<", value)
        inside = region(test, variable)
        if inside and inside != whole:
            tests.append(test)
            kept.append((value, side))
    between = [_between(low, high, variable.is_whole) for low, high in pairwise(kept)]
    return Question(variable.name, tuple(tests), (_lowest(kept, variable), *between, *_highest(kept, variable)))


# INVARIANT: every cell's value lies in the domain, so tests that the domain settles fall the way it settles them.


def _lowest(kept: Sequence[tuple[Number, int]], variable: Variable) -> Number:
    low, high = variable.minimum, variable.maximum
    if kept:
        value, side = kept[0]
        return value if side else value - 1 if low is None else low
    if low is not None:
        return math.ceil(low) if variable.is_whole else low
    return 0 if high is None else math.floor(high) if variable.is_whole else high


def _highest(kept: Sequence[tuple[Number, int]], variable: Variable) -> list[Number]:
    if not kept:
        return []
    value, side = kept[-1]
    if not side:
        return [value]
    return [value + 1 if variable.is_whole or variable.maximum is None else variable.maximum]


def _cuts(atom: Atom, is_whole: bool) -> Iterator[tuple[Number, int]]:
    """Where the test changes its answer: before (0) or after (1) a value; whole numbers only after one."""
    values = atom.value if isinstance(atom.value, tuple) else (atom.value,)
    sides = {"<": (0,), ">=": (0,), "<=": (1,), ">": (1,)}.get(atom.op, (0, 1))
    for value in values:
        assert isinstance(value, int | Fraction)
        for side in sides:
            if is_whole:
                yield (math.floor(value) if side else math.ceil(value) - 1), 1
            else:
                yield value, side


def _between(low: tuple[Number, int], high: tuple[Number, int], is_whole: bool) -> Number:
    if is_whole or (high[1] and high[0] != low[0]):
        return high[0]
    if low[0] == high[0] or not low[1]:
        return low[0]
    return (Fraction(low[0]) + Fraction(high[0])) / 2


# ---- the diagram --------------------------------------------------------------------------------------------------


class _TooLarge(Exception):
    """More states than the caller allows."""


_Vector: TypeAlias = tuple[Formula, ...]
_Place: TypeAlias = int | str  # a node by number, a terminal by name


class _Diagram:
    """The reduced diagram of a vector of guards, built top down: what is equal is built once."""

    def __init__(self, guards: Mapping[str, Formula], questions: Sequence[Question], max_nodes: int) -> None:
        self.texts = tuple(guards)
        self.questions = questions
        self.budget = EFFORT * max_nodes
        self.nodes: list[tuple[Formula, _Place, _Place]] = []
        self._numbers: dict[tuple[Formula, _Place, _Place], int] = {}
        self._built: dict[_Vector, _Place] = {}

    def build(self, i: int, vector: _Vector) -> _Place:
        """The place where *vector* is decided, with questions from *i* on still open."""
        if all(formula in (TRUE, FALSE) for formula in vector):
            return _terminal(self.texts, vector)
        if vector in self._built:
            return self._built[vector]
        spoken = set().union(*map(names, vector))
        while self.questions[i].name not in spoken:
            i += 1
        self.budget -= 1
        if self.budget < 0:
            raise _TooLarge
        question = self.questions[i]
        below = [
            self.build(i + 1, tuple(simplify(formula, {question.name: cell}) for formula in vector))
            for cell in question.cells
        ]
        self._built[vector] = self._asked(question, below)
        return self._built[vector]

    def _asked(self, question: Question, below: Sequence[_Place]) -> _Place:
        """The tests of *question* as a chain of nodes, without those that make no difference."""
        if question.groups:
            return self._chosen(question, below)
        place = below[-1]
        for i in reversed(range(len(question.tests))):
            if below[i] != below[i + 1]:
                place = self._node(question.tests[i], below[i], place)
        return place

    def _chosen(self, question: Question, below: Sequence[_Place]) -> _Place:
        """One test for all values that lead to the same place; the place of the most values needs none."""
        together: dict[_Place, list[Value]] = {}
        for child, group in zip(below, question.groups, strict=True):
            together.setdefault(child, []).extend(group)
        place = max(reversed(together), key=lambda child: len(together[child]))
        for child, values in reversed([item for item in together.items() if item[0] != place]):
            single = len(values) == 1
            test = Atom(question.name, "==" if single else "in", values[0] if single else tuple(values))
            place = self._node(test, child, place)
        return place

    def _node(self, test: Formula, true: _Place, false: _Place) -> _Place:
        if true == false:
            return true
        key = (test, true, false)
        if key not in self._numbers:
            self._numbers[key] = len(self.nodes)
            self.nodes.append(key)
        return self._numbers[key]


def build_graph(
    rules: Sequence[ConditionalRule],
    variables: Mapping[str, Variable],
    steps: Sequence[str] = (),
    max_nodes: int = MAX_NODES,
) -> Graph:
    """The decision graph of one policy's *rules*; *steps* are facts to be asked first, in that order.

    Its terminal names, in every case, exactly the effects whose guards hold. Beyond *max_nodes* the graph is a row
    of rules, and says so (`truncated`).
    """
    comparisons: dict[str, Compare] = {}
    guards = {text: _opaque(guard, variables, comparisons) for text, guard in _guards(rules).items()}
    tests: dict[str, list[Atom]] = {}
    for guard in guards.values():
        for atom in atoms(guard):
            tests.setdefault(atom.var, []).append(atom)
    order = _ordered(tests, variables, steps)
    questions = [_question(name, tests[name], variables.get(name), comparisons.get(name)) for name in order]
    diagram = _Diagram(guards, questions, max_nodes)
    try:
        root = diagram.build(0, tuple(simplify(guard, {}) for guard in guards.values()))
        graph = _named(diagram, root, variables)
    except (_TooLarge, RecursionError):
        return _row(rules, variables)
    return graph if len(graph.nodes) <= max_nodes else _row(rules, variables)


def _opaque(formula: Formula, variables: Mapping[str, Variable], found: dict[str, Compare]) -> Formula:
    """*formula* with every comparison between facts as a question of its own; a comparison and its opposite are one."""
    match formula:
        case Atom():
            return formula
        case Compare(left, op, right):
            if op in ("==", "!="):
                one, two = sorted((left, right), key=repr)
                test = Compare(one, "==", two)
            else:
                # a > b is b < a, and a < b is not b <= a: one form remains
                test = Compare(left, "<=", right) if op in ("<=", ">") else Compare(right, "<=", left)
            name = f"?{infix(test, variables)}"
            found[name] = test
            return Atom(name, "==", op in ("==", "<=", ">="))
        case And(items):
            return And(tuple(_opaque(item, variables, found) for item in items))
        case Or(items):
            return Or(tuple(_opaque(item, variables, found) for item in items))
        case Not(item):
            return Not(_opaque(item, variables, found))


def _named(diagram: _Diagram, root: _Place, variables: Mapping[str, Variable]) -> Graph:
    """The diagram with readable names, in the order in which a reader meets them."""
    met: dict[_Place, str] = {}
    order: list[int] = []
    terminals: set[str] = set()
    todo: list[_Place] = [root]
    while todo:
        place = todo.pop()
        if isinstance(place, str):
            terminals.add(place)
        elif place not in met:
            met[place] = test_text(diagram.nodes[place][0], variables)
            order.append(place)
            todo.extend((diagram.nodes[place][2], diagram.nodes[place][1]))
    taken = set(terminals)
    for number in order:
        name, count = met[number], 1
        while met[number] in taken:
            count += 1
            met[number] = f"{name}#{count}"
        taken.add(met[number])

    def target(place: _Place) -> str:
        return place if isinstance(place, str) else met[place]

    nodes = {
        met[number]: Node(diagram.nodes[number][0], target(diagram.nodes[number][1]), target(diagram.nodes[number][2]))
        for number in order
    }
    return Graph(target(root), nodes, tuple(sorted(terminals)), variables)


def _row(rules: Sequence[ConditionalRule], variables: Mapping[str, Variable]) -> Graph:
    """The rules one after the other, for a policy whose graph nobody could read."""
    ids = [rule.rule_id for rule in rules]
    following = [*ids[1:], NOTHING]
    nodes = {
        rule.rule_id: Node(rule.guard, rule.effect.text, after) for rule, after in zip(rules, following, strict=True)
    }
    terminals = tuple(sorted({NOTHING, *(rule.effect.text for rule in rules)}))
    return Graph(ids[0] if ids else NOTHING, nodes, terminals, variables, truncated=True)
