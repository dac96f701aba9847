"""Random sets of rules by the ten thousand, in a world of 72 cases, with the plain reading of every one of them.

Drawn with `random.Random` from a seed that hypothesis chooses: hypothesis itself takes fifty times as long for a set.
The plain reading is `truth` for every case, kept as a mask: bit *n* stands for case *n*.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product

from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Standing
from bylaw.logic.formula.ir import (
    And,
    Arith,
    Atom,
    Compare,
    ConditionalRule,
    Const,
    Constraint,
    Effect,
    Formula,
    Not,
    Or,
    Ref,
    Ruleset,
    Source,
    Term,
    Variable,
)
from ci.proofs.theory import Theory
from tests.bylaw.logic.strategies import EFFECTS

GRID = {"flag": (False, True), "kind": ("tv", "shirt", "book"), "days": (0, 1, 2, 3), "left": (0, 1, 2)}
VARIABLES = {
    "flag": Variable("flag", "boolean"),
    "kind": Variable("kind", "enum", GRID["kind"]),
    "days": Variable("days", "integer", minimum=0, maximum=3),
    "left": Variable("left", "integer", minimum=0, maximum=2),
}
CASES = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
EVERY = (1 << len(CASES)) - 1
DAYS = (1, 2, 3, 4)  # asked from day 1 on; nothing changes after day 4

OPS = ("==", "!=", "<", "<=", ">", ">=")
TERMS: tuple[Term, ...] = (
    Ref("days"),
    Ref("left"),
    Arith("+", Ref("left"), Const(1)),
    Arith("-", Ref("days"), Ref("left")),
    Arith("*", Const(2), Ref("left")),
    Arith("*", Ref("days"), Ref("left")),
    Const(2),
)
# It demands two answers of one outcome: a policy against itself.
TORN = Effect("required", "torn", implied=("full", "reject"), implied_takes=(("refund", "full"), ("refund", "reject")))
PERIODS = ((None, None),) * 5 + ((None, 2), (3, None), (2, 3), (None, 0))
EXCLUDED = frozenset((("credit", "verify"), ("verify", "credit")))
OVERRIDES = ({}, {}, {"P0": frozenset(("P1",))}, {"P0": frozenset(("P1",)), "P1": frozenset(("P2",))})
SOURCE = Source("x.yaml")


def guard(rng: random.Random, depth: int = 2) -> Formula:
    """All of, any of, not, tests of one fact and comparisons of facts."""
    chosen = rng.random()
    if depth == 0 or chosen < 0.4:
        return single(rng)
    if chosen < 0.5:
        return Not(guard(rng, depth - 1))
    parts = tuple(guard(rng, depth - 1) for _ in range(rng.choice((1, 2, 2, 3))))
    return And(parts) if chosen < 0.8 else Or(parts)


def single(rng: random.Random) -> Formula:
    """One test; in one of eight two terms are compared."""
    match rng.randrange(8):
        case 0:
            return Atom("flag", rng.choice(("==", "!=")), rng.random() < 0.5)
        case 1:
            return Atom("kind", rng.choice(("==", "!=")), rng.choice(GRID["kind"]))
        case 2:
            return Atom("kind", "in", tuple(rng.sample(GRID["kind"], rng.randint(1, 3))))
        case 3:
            one, other = rng.sample(TERMS, 2)
            return Compare(one, rng.choice(OPS), other)
        case 4 | 5:
            return Atom("left", rng.choice(OPS), rng.randint(-1, 3))
        case _:
            return Atom("days", rng.choice(OPS), rng.randint(-1, 4))


def ruleset(rng: random.Random, most: int = 4, effects: Sequence[Effect] = EFFECTS) -> Ruleset:
    """A few rules of up to four policies, some for a while only; one set in three has invariants."""
    policies = ("P0", "P1", "P2", "P3")
    levels = {policy: rng.randint(2, 4) for policy in policies}
    timed = rng.random() < 0.4
    periods = {policy: rng.choice(PERIODS) if timed else (None, None) for policy in (*policies, "INV")}
    rules = []
    for n in range(rng.randint(1, most)):
        policy = rng.choice(policies)
        effect = rng.choice(effects)
        rules.append(
            ConditionalRule(f"R{n}", policy, "x", effect, guard(rng), levels[policy], SOURCE, *periods[policy])
        )
    constraints = []
    for n in range(rng.choice((0, 0, 0, 0, 1, 2))):
        policy = rng.choice(("P0", "INV"))
        constraints.append(Constraint(f"C{n}", policy, guard(rng, 1), "", SOURCE, *periods[policy]))
    return Ruleset(
        VARIABLES,
        tuple(rules),
        tuple(constraints),
        rng.choice(OVERRIDES),
        rng.choice((frozenset(), EXCLUDED)),
        outcomes=("refund", "shipping"),
    )


def rulesets(seed: int, count: int, most: int = 4, effects: Sequence[Effect] = EFFECTS) -> Iterator[Ruleset]:
    """*count* sets of at most *most* rules, the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        yield ruleset(rng, most, effects)


def mask(formula: Formula) -> int:
    """The cases in which *formula* holds, by trying every one."""
    return sum(1 << n for n, case in enumerate(CASES) if truth(formula, case))


def cases_of(found: int) -> list[dict[str, object]]:
    """The cases of a mask."""
    return [case for n, case in enumerate(CASES) if found >> n & 1]


class Tried:
    """A set of rules of which every case was tried: who fires where, which cases exist, who stands."""

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self.rules = theory.ruleset.rules
        self._standings: dict[frozenset[int], Standing] = {}
        self._together: dict[object, list[Standing]] = {}

    @cached_property
    def guards(self) -> list[int]:
        """For each rule: the cases that its guard holds in."""
        return [mask(rule.guard) for rule in self.rules]

    @cached_property
    def _invariants(self) -> list[int]:
        return [mask(constraint.formula) for constraint in self.theory.ruleset.constraints]

    def exist(self, day: int) -> int:
        """The cases that the invariants of the day leave."""
        found = EVERY
        for constraint, holds in zip(self.theory.ruleset.constraints, self._invariants, strict=True):
            if (constraint.start or 0) <= day <= (constraint.end if constraint.end is not None else day):
                found &= holds
        return found

    def alive(self, i: int) -> list[int]:
        """The days on which rule *i* is in force."""
        return [day for day in DAYS if self.rules[i].holds_on(day)]

    def fires(self, i: int, day: int) -> int:
        """The existing cases in which rule *i* fires."""
        return self.guards[i] & self.exist(day) if self.rules[i].holds_on(day) else 0

    def standings(self, day: int) -> list[Standing]:
        """One standing for each group of rules that fires together in some existing case."""
        firing = tuple(self.fires(i, day) for i in range(len(self.rules)))
        key = self.exist(day), firing
        if key not in self._together:
            groups = [(frozenset[int](), self.exist(day))]
            for i, holds in enumerate(firing):
                groups = [(g | {i}, m & holds) for g, m in groups] + [(g, m & ~holds) for g, m in groups]
                groups = [(group, found) for group, found in groups if found]
            self._together[key] = [self.standing(group) for group, found in groups if found]
        return self._together[key]

    def standing(self, group: frozenset[int]) -> Standing:
        """Who stands where exactly these fire."""
        if group not in self._standings:
            self._standings[group] = self.theory.evaluator.standing(group)
        return self._standings[group]
