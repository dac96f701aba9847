"""Boxes, Z3 and plain evaluation agree on thousands of random sets of rules, and so do the answers about a set."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import EVERYTHING, Box, boxes, lies_in, overlap, subtract, uncovered
from bylaw.logic.decide.evaluate import Standing
from bylaw.logic.formula.ir import Ruleset, Variable, negate
from bylaw.logic.solver.smt import Reasoner
from ci.proofs.conflicts.conflict import clashes, shown, subject
from ci.proofs.nearby import Nearby
from ci.proofs.questions.dead import can_fire
from ci.proofs.questions.gap import gap
from ci.proofs.questions.reach import never_wins
from ci.proofs.standing import WINS, Referee, mark
from ci.proofs.theory import Theory
from tests.ci.proofs.smallsets import CASES, DAYS, EVERY, GRID, VARIABLES, Tried, mask, rulesets

SETS = 5_000
BATCH = 100  # sets an example
SPARE = 2  # examples more than it takes, for sets that are drawn twice
MOST = 3  # rules in a set
WITH = {  # the cases in which a fact has a value
    var: {value: sum(1 << n for n, case in enumerate(CASES) if case[var] == value) for value in values}
    for var, values in GRID.items()
}


class Solvers:
    """The solvers of the product, shared by the sets of a batch: a fresh one for each set would take all the time."""

    def __init__(self) -> None:
        worlds = [f"{world}{way}" for world in ("stands", "spared") for way in ("", WINS)]
        marks = [mark(world, i) for world in worlds for i in range(MOST)]
        self.facts = Reasoner(VARIABLES, rlimit=5_000_000)
        self.duels = Reasoner({**VARIABLES, **{name: Variable(name, "boolean") for name in marks}}, rlimit=5_000_000)

    def theory(self, ruleset: Ruleset) -> tuple[Theory, Referee]:
        theory = Theory(ruleset, 1, rlimit=5_000_000)
        referee = Referee(theory)
        theory.reasoner, referee.reasoner = self.facts, self.duels
        return theory, referee


# ---- formulas -------------------------------------------------------------------------------------------------------


def agree_on_formulas(ruleset: Ruleset, tried: Tried, solver: Reasoner, turn: int) -> None:
    """Overlap, difference and cover of the guards: the same by boxes, by Z3 and by trying every case.

    Boxes are asked all three of all pairs, the solver one of one pair, by turns: it takes most of the time.
    """
    guards = [rule.guard for rule in ruleset.rules]
    unions = [boxes(guard, VARIABLES) for guard in guards]
    for guard, union, holds in zip(guards, unions, tried.guards, strict=True):
        assert within(union) == holds, guard
    pairs = list(permutations(range(len(guards)), 2))
    for i, j in pairs:
        met, both, only = overlap(unions[i], unions[j]), tried.guards[i] & tried.guards[j], outside(tried, i, j)
        assert bool(both) <= (met is not None), (guards[i], guards[j])
        if exact(*unions[i], *unions[j]):
            assert (met is not None) == bool(both), (guards[i], guards[j])
            assert within(difference(unions[i], unions[j])) == only, (guards[i], guards[j])
    left = EVERY
    for holds in tried.guards:
        left &= ~holds
    everyone = [box for union in unions for box in union]
    if exact(*everyone):
        hole = uncovered(EVERYTHING, everyone, VARIABLES)
        assert (hole is not None) == bool(left), guards
        assert hole is None or within([hole]) & ~left == 0
    i, j = pairs[turn // 3 % len(pairs)] if pairs else (0, 0)
    formulas, cases = [
        ([guards[i], guards[j]], tried.guards[i] & tried.guards[j]),
        ([guards[i], negate(guards[j])], outside(tried, i, j)),
        ([*map(negate, guards)], left),
    ][turn % 3]
    assert solver.check(formulas).status == ("sat" if cases else "unsat"), formulas


def outside(tried: Tried, i: int, j: int) -> int:
    """The cases of one guard that are none of another's."""
    return tried.guards[i] & ~tried.guards[j]


def within(union: Iterable[Box]) -> int:
    """The cases in one of the boxes, comparisons of facts included."""
    found = 0
    for box in union:
        inside = EVERY
        for var, where in box.regions.items():
            inside &= sum(holds for value, holds in WITH[var].items() if lies_in(value, where))
        for item in box.residue:
            inside &= mask(item)
        found |= inside
    return found


def exact(*union: Box) -> bool:
    return all(box.is_exact for box in union)


def difference(one: Iterable[Box], other: Iterable[Box]) -> list[Box]:
    """The cases of *one* outside *other*, as boxes."""
    rest = list(one)
    for box in other:
        rest = [part for piece in rest for part in subtract(piece, box, VARIABLES)]
    return rest


# ---- the answers about a set ----------------------------------------------------------------------------------------


def agree_on_answers(theory: Theory, referee: Referee, tried: Tried, turn: int) -> None:
    """Conflicts, gaps, dead rules and rules that never win: found exactly where some case of some day shows them."""
    assert found_clashes(theory) == shown_clashes(theory, tried)
    outcome = theory.ruleset.outcomes[turn % 2]
    holes = any(is_hole(theory, standing, outcome) for day in DAYS for standing in tried.standings(day))
    assert gap(theory, outcome).status == ("COUNTEREXAMPLE" if holes else "PROVEN"), outcome
    nearby = Nearby(theory)
    for i in range(len(tried.rules)):
        assert can_fire(theory, i).status == ("COUNTEREXAMPLE" if tried.guards[i] else "PROVEN")
        losing = [day for day in tried.alive(i) if always_loses(tried, i, day)]
        found = never_wins(nearby, referee, i)
        assert found.verdict.status == ("PROVEN" if losing else "COUNTEREXAMPLE")
        told = [d for d in tried.alive(i) if any((a or 0) <= d <= (b or 9) for a, b in found.stretches)]
        assert told == losing


def found_clashes(theory: Theory) -> set[tuple[object, ...]]:
    found = set()
    for clash in clashes(theory):
        assert clash.verdict.status == "COUNTEREXAMPLE"
        assert shown(theory, clash).verdict.facts is not None  # and the plain reading confirmed it
        found.add(named(theory, clash.first, clash.second, clash.winner is not None))
    return found


def named(theory: Theory, i: int, j: int, is_resolved: bool) -> tuple[object, ...]:
    """What a clash is told by: the two policies, what about, and whether somebody wins."""
    policies = sorted((theory.ruleset.rules[i].policy_id, theory.ruleset.rules[j].policy_id))
    return *policies, subject(theory, min(i, j), max(i, j)), is_resolved


def shown_clashes(theory: Theory, tried: Tried) -> set[tuple[object, ...]]:
    rivals, found = theory.rivals, set[tuple[object, ...]]()
    for standing in {standing for day in DAYS for standing in tried.standings(day)}:
        found |= {named(theory, i, j, False) for i, j in standing.clashes}
        for winner in standing.stands:
            losers = (k for k in rivals.of(winner) if k in standing.fires and rivals.beats(winner, k))
            found |= {named(theory, winner, loser, True) for loser in losers}
    return found


def is_hole(theory: Theory, standing: Standing, outcome: str) -> bool:
    """Does a case in which these stand get nothing for *outcome*, and no conflict about it either?"""
    answers = [{o for o, _ in rule.effect.takes} for rule in theory.ruleset.rules]
    disputed = any(outcome in answers[i] | answers[j] for i, j in standing.clashes)
    return theory.evaluator.answer(standing, outcome)[0] is None and not disputed


def always_loses(tried: Tried, i: int, day: int) -> bool:
    firing = [standing for standing in tried.standings(day) if i in standing.fires]
    return bool(firing) and not any(i in standing.stands for standing in firing)


# ---- the tests ------------------------------------------------------------------------------------------------------


def agree(count: int) -> int:
    """Hold *count* sets to everything above; how many of them differ from one another."""
    seen: set[int] = set()

    @given(st.integers(0, 2**62))
    @settings(max_examples=count // BATCH + SPARE)
    def batch(seed: int) -> None:
        solvers = Solvers()
        for turn, ruleset in enumerate(rulesets(seed, BATCH, MOST)):
            theory, referee = solvers.theory(ruleset)
            tried = Tried(theory)
            agree_on_formulas(ruleset, tried, solvers.facts, turn)
            agree_on_answers(theory, referee, tried, turn)
            seen.add(hash((ruleset.rules, ruleset.constraints, ruleset.excludes, *sorted(ruleset.overrides.items()))))

    batch()
    return len(seen)


@pytest.mark.slow
def test_boxes_the_solver_and_plain_evaluation_agree_on_thousands_of_sets() -> None:
    assert agree(SETS) >= SETS


@pytest.mark.longer
def test_they_agree_on_forty_times_as_many() -> None:
    assert agree(40 * SETS) >= 40 * SETS
