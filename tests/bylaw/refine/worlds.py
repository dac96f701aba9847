"""Random logic programs with known truth, and a second evaluator: every case of the ground facts, one after another.

Nothing here knows the solver, the notation or the encoding of the product: programs are kept as literals, and only
`document` spells them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from tests import rows

Literal = tuple[str, bool]  # a ground call, and whether it holds
COUNT = 60 if rows.IS_QUICK else 240  # the slow tests look at all of them
KINDS = ("entailed", "open", "inconsistent", "missing_one", "missing_two")


@dataclass(frozen=True)
class World:
    """A program as literals. `text` says in words what `hidden` rules say, for a reader who quotes."""

    atoms: tuple[str, ...]
    facts: tuple[Literal, ...]
    rules: tuple[tuple[tuple[Literal, ...], Literal], ...]
    query: Literal
    hidden: tuple[tuple[tuple[Literal, ...], Literal], ...] = ()
    kind: str = ""

    def document(self) -> dict[str, Any]:
        """The program as the DSL has it."""
        words = sorted({atom.partition("(")[0]: atom.count(",") + ("(" in atom) for atom in self.atoms}.items())
        constants = sorted(
            {arg for atom in self.atoms if "(" in atom for arg in atom[:-1].partition("(")[2].split(",")}
        )
        return {
            "dsl_version": "2.1",
            "sorts": {"Thing": {"type": "Entity"}},
            "constants": {name: {"sort": "Thing"} for name in constants},
            "predicates": {name: {"arity": arity, "sorts": ["Thing"] * arity} for name, arity in words},
            "facts": dict(self.facts),
            "axioms": [],
            "rules": [{"condition": " and ".join(map(spelled, body)), "conclusion": spelled(head)}
                      for body, head in self.rules],
            "query": spelled(self.query),
        }  # fmt: skip

    @property
    def text(self) -> str:
        """The hidden rules in words."""
        return " ".join(sentence(rule) for rule in self.hidden)

    def cases(self, extra: Iterable[Literal] = ()) -> Iterator[dict[str, bool]]:
        """Every case in which all that is said holds."""
        given = (*self.facts, *extra)
        for values in product((False, True), repeat=len(self.atoms)):
            case = dict(zip(self.atoms, values, strict=True))
            if all(case[atom] is value for atom, value in given) and all(
                case[head[0]] is head[1] or not all(case[atom] is value for atom, value in body)
                for body, head in self.rules
            ):
                yield case

    def status(self, extra: Iterable[Literal] = ()) -> str:
        """What follows, by looking at every case."""
        found = {case[self.query[0]] is self.query[1] for case in self.cases(extra)}
        if not found:
            return "inconsistent"
        return {frozenset({True}): "consistent_entails", frozenset({False}): "refuted"}.get(
            frozenset(found), "consistent_no_entailment"
        )

    def repairs(self, extra: Iterable[Literal]) -> bool:
        """Do these literals give the query, without contradicting anything?"""
        return self.status(extra) == "consistent_entails"

    def smallest_repairs(self, most: int) -> set[frozenset[Literal]]:
        """Every minimal set of at most *most* literals, none of them the query, that repairs."""
        literals = [(atom, value) for atom in self.atoms for value in (True, False) if (atom, value) != self.query]
        found: set[frozenset[Literal]] = set()
        for size in range(1, most + 1):
            for chosen in map(frozenset, combinations(literals, size)):
                if not any(one <= chosen for one in found) and self.repairs(chosen):
                    found.add(chosen)
        return found


def spelled(literal: Literal) -> str:
    """A literal in the DSL."""
    return literal[0] if literal[1] else f"not {literal[0]}"


def read(text: str) -> Literal:
    """The literal that a feedback spells."""
    return (text.removeprefix("not "), not text.startswith("not "))


def sentence(rule: tuple[tuple[Literal, ...], Literal]) -> str:
    """A rule in words that name everything in it."""
    body, head = rule
    said = " and ".join(f"{atom}{'' if value else ' is not so'}" for atom, value in body)
    return f"Where {said} then {head[0]}{'' if head[1] else ' is not so'}."


def world(seed: int) -> World:
    """A random program of the kind that its number says, in turn."""
    kind, rng = KINDS[seed % len(KINDS)], random.Random(seed)
    while True:
        found = _tried(kind, rng)
        if found is not None:
            return replace(found, kind=kind)


def _tried(kind: str, rng: random.Random) -> World | None:
    made = _random(rng, 6 + rng.randrange(3))
    status = made.status()
    if kind == "entailed":
        return made if status == "consistent_entails" else None
    if kind == "inconsistent":
        return made if status == "inconsistent" else None
    if kind == "open":
        return made if status == "consistent_no_entailment" and not made.smallest_repairs(1) else None
    if status != "consistent_entails":
        return None
    count = 1 if kind == "missing_one" else 2
    for dropped in combinations(made.facts, count):
        less = replace(made, facts=tuple(fact for fact in made.facts if fact not in dropped))
        needs_all = all(not less.repairs(part) for part in combinations(dropped, count - 1))
        if needs_all and less.status() == "consistent_no_entailment" and less.query not in dropped:
            given = less.facts[:1]
            bridges = tuple((given, fact) for fact in dropped) if given else ()
            bridged = replace(less, rules=(*less.rules, *bridges))
            hidden = bridges if bridged.status() == "consistent_entails" and given else ()
            return replace(less, hidden=hidden)
    return None


def _random(rng: random.Random, count: int) -> World:
    shapes = ["P{}", "Q{}(a)", "R{}(a,b)"]
    atoms = tuple(rng.choice(shapes).format(i) for i in range(count))

    def literal(among: tuple[str, ...]) -> Literal:
        return rng.choice(among), rng.random() < 0.75

    rules = []
    for _ in range(rng.randrange(3, 7)):
        head = literal(atoms[count // 3 :])
        below = tuple(atom for atom in atoms if atom != head[0])
        body = tuple(sorted({literal(below) for _ in range(rng.randrange(1, 4))}))
        if len({atom for atom, _ in body}) == len(body):
            rules.append((body, head))
    facts = tuple(
        sorted({atom: rng.random() < 0.8 for atom in rng.sample(atoms, rng.randrange(1, count // 2 + 2))}.items())
    )
    query = literal(atoms[count // 3 :])
    return World(atoms, facts, tuple(rules), query)
