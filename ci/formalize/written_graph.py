"""A decision graph written by hand, read in declared words: what each node asks, and what each end says.

A node asks for a boolean fact, a condition of the policy, a term, the negation of a fact, or an expression over facts.
An end names actions, joined by `+`; what is prohibited there reads `not:action`, what is permitted `may:action`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bylaw.authored.policies import DecisionGraph, GraphNode
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.expressions import InvalidExpression, parse_expression
from bylaw.logic.formula.ir import And, Compare, Formula, Not, Or, Variable, names
from bylaw.logic.words.graph import NOTHING, Graph, Node
from ci.findings import Route
from ci.formalize.requirements import Requirements
from ci.loading.schema.nearest import did_you_mean

JOINED = "+"
_KINDS = ("not:", "may:")
_ASKS = "a node asks for a boolean fact, a condition `id`, a term, or an expression over facts"


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word of a graph that nobody declares, where it stands, and what may be meant."""

    route: Route
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class GraphReader:
    """Reads the graph of one policy."""

    requirements: Requirements
    vocabulary: Vocabulary
    variables: Mapping[str, Variable]

    def read(self, written: DecisionGraph) -> Graph | tuple[UnknownWord, ...]:
        """The graph with what its nodes ask, or the words that are unknown."""
        tests = {name: self._test(name, node) for name, node in written.nodes.items()}
        unknown = [self._unknown_question(name) for name, test in tests.items() if test is None]
        unknown += [word for i, end in enumerate(written.terminals) for word in self._unknown_actions(end, i)]
        if unknown:
            return tuple(unknown)
        nodes = {
            name: Node(tests[name], self._named(node.true), self._named(node.false))
            for name, node in written.nodes.items()
        }
        ends = tuple(dict.fromkeys(map(self._named, written.terminals)))
        return Graph(self._named(written.root), nodes, ends, self.variables)

    def _test(self, name: str, node: GraphNode) -> Formula | None:
        try:
            if node.test is not None:
                test = decode(node.test, self.variables)
                return test if self._fits(test) else None
            asked = name.partition("#")[0]  # a second node that asks the same
            found = self.requirements.formula_named(asked)
            return parse_expression(asked, self.variables) if found is None else found
        except (InvalidExpression, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _fits(self, test: Formula) -> bool:
        """Are only numbers compared with numbers, and dates with dates?"""
        match test:
            case Compare():
                kinds = {self.variables[name].kind for name in names(test)}
                return kinds <= {"integer", "decimal"} or kinds == {"date"}
            case And(items) | Or(items):
                return all(map(self._fits, items))
            case Not(item):
                return self._fits(item)
        return True

    def _unknown_question(self, name: str) -> UnknownWord:
        message = f"has a decision graph that asks for `{name}`, which no vocabulary declares"
        return UnknownWord(
            ("nodes", name), message, did_you_mean(name, self.requirements.known_names(), _ASKS) or _ASKS
        )

    def _unknown_actions(self, end: str, i: int) -> Iterator[UnknownWord]:
        for effect in effects_of(end):
            action = effect.removeprefix("not:").removeprefix("may:")
            if action not in self.vocabulary.actions:
                message = f"has a decision graph that ends in `{action}`, which is no declared action"
                help = f"an end names actions, joined by `{JOINED}`, or is `{NOTHING}`"
                suggested = did_you_mean(action, self.vocabulary.actions, help)
                yield UnknownWord(("terminals", i), message, suggested or help)

    def _named(self, place: str) -> str:
        """A place by its canonical name: an end may name actions by other names that mean the same."""
        effects = effects_of(place)
        if any(effect.removeprefix("not:").removeprefix("may:") not in self.vocabulary.actions for effect in effects):
            return place
        return JOINED.join(map(self._canonical, effects)) or place

    def _canonical(self, effect: str) -> str:
        kind = next((kind for kind in _KINDS if effect.startswith(kind)), "")
        return kind + self.vocabulary.canonical(effect.removeprefix(kind))


def effects_of(end: str) -> tuple[str, ...]:
    """What an end says holds: `full_refund`, `not:disclose_pii`; nothing of the end `nothing`."""
    return () if end == NOTHING else tuple(part.strip() for part in end.split(JOINED))
