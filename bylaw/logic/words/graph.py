"""A decision graph: one question a node, shared where the rest is the same, terminals named by what then holds.

Both wings read it: ci builds and reviews graphs (`ci.formalize.graph`), the bot walks them case by case. Graphs
written by hand have the same shape; their questions may be words that only people understand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.codec import decode, encode
from bylaw.logic.formula.ir import NEGATED, Atom, Compare, Facts, Formula, Value, Variable, names
from bylaw.logic.formula.notation import infix

NOTHING = "nothing"  # the terminal of the cases in which a policy says nothing


@dataclass(frozen=True, slots=True)
class Node:
    """A question and where its two answers lead. `test` is None for a question only people understand."""

    test: Formula | None
    true: str
    false: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by name, from a root. `truncated`: too large to draw, the rules stand in a row instead."""

    root: str
    nodes: Mapping[str, Node]
    terminals: tuple[str, ...]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    truncated: bool = False

    def to_json(self) -> dict[str, Any]:
        """The graph in the shape of seed 000, each node with its test besides."""
        data: dict[str, Any] = {
            "root": self.root,
            "nodes": {name: self._node_json(node) for name, node in self.nodes.items()},
            "terminals": list(self.terminals),
        }
        return {**data, "truncated": True} if self.truncated else data

    def _node_json(self, node: Node) -> dict[str, Any]:
        edges = {"type": "condition", "true": node.true, "false": node.false}
        return edges if node.test is None else {**edges, "test": encode(node.test, self.variables)}


def from_json(data: Mapping[str, Any], variables: Mapping[str, Variable]) -> Graph:
    """The graph that *data* spells. A node without a test asks for the boolean fact of its name, if there is one."""
    nodes = {
        name: Node(_test(name, node.get("test"), variables), node["true"], node["false"])
        for name, node in data["nodes"].items()
    }
    return Graph(data["root"], nodes, tuple(data["terminals"]), variables, bool(data.get("truncated")))


def _test(name: str, test: Any, variables: Mapping[str, Variable]) -> Formula | None:
    if test is not None:
        return decode(test, variables)
    known = variables.get(name)
    return Atom(name, "==", True) if known is not None and known.kind == "boolean" else None


# ---- walking ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Walk:
    """How far the known facts lead: the answers on the way, then a terminal, or the facts that are missing."""

    path: tuple[str, ...]
    terminal: str | None
    missing: tuple[str, ...] = ()


def walk(graph: Graph, facts: Facts) -> Walk:
    """Follow *facts* from the root to a terminal, or to the first question they do not answer."""
    path: list[str] = []
    at = graph.root
    for _ in range(len(graph.nodes) + 1):
        node = graph.nodes.get(at)
        if node is None:
            return Walk(tuple(path), at if at in graph.terminals else None)
        reading = None if node.test is None else truth(node.test, facts)
        if reading is None:
            unknown = () if node.test is None else tuple(sorted(names(node.test) - facts.keys()))
            return Walk(tuple(path), None, unknown or (at,))
        path.append(answer_text(at, node, reading, graph.variables))
        at = node.true if reading else node.false
    return Walk(tuple(path), None)  # a hand-written circle


def traverse(graph: Graph, facts: Facts) -> list[str]:
    """The answers on the way: `has_receipt=false`, `days_since_purchase<=30`."""
    return list(walk(graph, facts).path)


def answer_text(name: str, node: Node, reading: bool, variables: Mapping[str, Variable]) -> str:
    """What was found at a node: the test where it holds, its opposite where it does not."""
    match node.test:
        case Atom(var, "==", bool(value)):
            return f"{var}={str(value == reading).lower()}"
        case Atom(var, "in", tuple(values)):
            return f"{var}{'=' if reading else '!='}{_one_of(values)}"
        case Atom(var, op, value) if op != "in":
            return test_text(node.test if reading else Atom(var, NEGATED[op], value), variables)
        case Compare(left, op, right):
            return test_text(node.test if reading else Compare(left, NEGATED[op], right), variables)
    return f"{name}={str(reading).lower()}"


def test_text(test: Formula, variables: Mapping[str, Variable]) -> str:
    """A test as a name: `has_receipt`, `days_since_purchase<=30`, `refund_amount<=purchase_amount`."""
    if isinstance(test, Atom) and test.value is True and test.op == "==":
        return test.var
    if isinstance(test, Atom) and isinstance(test.value, tuple):
        return f"{test.var}={_one_of(test.value)}"
    if isinstance(test, Atom) and isinstance(test.value, str):
        return f"{test.var}{'=' if test.op == '==' else test.op}{test.value}"
    return infix(test, variables).replace(" ", "")


def _one_of(values: tuple[Value, ...]) -> str:
    return "|".join(map(str, values))


# ---- looking ------------------------------------------------------------------------------------------------------


def mermaid(graph: Graph) -> str:
    """The graph as a Mermaid flowchart, as GitHub draws it."""
    places = {name: f"n{i}" for i, name in enumerate(graph.nodes)}
    places.update({name: f"t{i}" for i, name in enumerate(graph.terminals)})
    lines = ["flowchart TD"]
    lines.extend(f'  {places[name]}{{"{_escaped(_asked(name, places))}"}}' for name in graph.nodes)
    lines.extend(f'  {places[name]}["{_escaped(name)}"]' for name in graph.terminals)
    for name, node in graph.nodes.items():
        for word, target in (("yes", node.true), ("no", node.false)):
            if target in places:
                lines.append(f"  {places[name]} -- {word} --> {places[target]}")
    return "\n".join(lines) + "\n"


def _asked(name: str, others: Collection[str]) -> str:
    """What a node asks: its name, without the number of the second and later nodes that ask the same."""
    asked, _, number = name.rpartition("#")
    return asked if number.isdigit() and asked in others else name


def _escaped(text: str) -> str:
    return "".join(c if c.isalnum() or c in " _-.,:+/" else f"#{ord(c)};" for c in text)


def graph_problems(data: Mapping[str, Any]) -> list[str]:
    """What is wrong with a hand-written graph, each as a clause; empty when it can be walked.

    Every edge leads to a node or a terminal, the root is there, nothing goes round in a circle, nothing is stranded.
    """
    nodes: Mapping[str, Mapping[str, str]] = data["nodes"]
    terminals: list[str] = list(data["terminals"])
    problems = [f"`{name}` is both a node and a terminal" for name in sorted(nodes.keys() & set(terminals))]
    problems += [
        f"the terminal `{name}` is listed twice" for name in sorted(set(terminals)) if terminals.count(name) > 1
    ]
    if data["root"] not in nodes and data["root"] not in terminals:
        problems.append(f"the root `{data['root']}` is neither a node nor a terminal")
    for name, node in nodes.items():
        for answer in ("true", "false"):
            if node[answer] not in nodes and node[answer] not in terminals:
                problems.append(
                    f"`{name}` leads on {answer} to `{node[answer]}`, which is neither a node nor a terminal"
                )
    circle = _circle(nodes)
    if circle:
        problems.append(f"{' → '.join(f'`{name}`' for name in circle)} goes round in a circle")
    reached = set(_reached(data["root"], nodes))
    problems += [f"`{name}` is never reached from the root" for name in (*nodes, *terminals) if name not in reached]
    return list(dict.fromkeys(problems))


def _reached(root: str, nodes: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    seen, todo = {root}, [root]
    while todo:
        name = todo.pop()
        yield name
        for target in (nodes[name]["true"], nodes[name]["false"]) if name in nodes else ():
            if target not in seen:
                seen.add(target)
                todo.append(target)


def _circle(nodes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The first circle met, by depth-first search without recursion; empty when there is none."""
    done: set[str] = set()
    for start in nodes:
        path: list[str] = []
        todo: list[tuple[str, bool]] = [(start, True)]
        while todo:
            name, entering = todo.pop()
            if not entering:
                done.add(path.pop())
            elif name in path:
                return [*path[path.index(name) :], name]
            elif name in nodes and name not in done:
                path.append(name)
                todo.append((name, False))
                todo.extend((nodes[name][answer], True) for answer in ("false", "true"))
    return []
