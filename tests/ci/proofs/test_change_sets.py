"""Random pairs of versions: outside the regions every case gets the same, in each region one case does not.

Held for regions that boxes tell exactly, and for those that the solver tells by a bound because boxes would be too
many; with comparisons of facts, arithmetic, periods and invariants.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Decision
from bylaw.logic.formula.ir import Facts, Ruleset
from bylaw.logic.solver.smt import Reasoner
from ci.proofs.theory import Theory
from ci.proofs.versions.change import Change, Changes, Limits, changes
from ci.proofs.versions.influence import Subject
from ci.proofs.versions.regions import Held
from tests.ci.proofs.smallsets import CASES, DAYS, VARIABLES, Tried, cases_of, ruleset

MANY, FEW = Limits(boxes=100_000, widened=8), Limits(boxes=2, widened=1)
BATCH = 20  # pairs an example
SUBJECTS = [
    *(Subject("outcome", name) for name in ("refund", "shipping")),
    *(Subject("required", name) for name in ("notify", "verify")),
    *(Subject("prohibited", name) for name in ("full", "notify", "fast")),
    *(Subject("permitted", name) for name in ("full", "verify")),
]
Difference = tuple[Subject, Held, Held]


def versions(seed: int, count: int) -> Iterator[tuple[Ruleset, Ruleset]]:
    """Pairs of which some rules are dropped, added, moved in time or level, or get another guard or effect."""
    rng = random.Random(seed)
    for _ in range(count):
        before, other = ruleset(rng, 3), ruleset(rng, 3)
        rules = []
        for n, rule in enumerate(before.rules):
            donor = other.rules[n % len(other.rules)]
            match rng.randrange(10):
                case 0:
                    continue
                case 1 | 2:
                    rule = replace(rule, guard=donor.guard)
                case 3:
                    rule = replace(rule, effect=donor.effect)
                case 4:
                    rule = replace(rule, rule_id=f"{rule.rule_id}b", start=donor.start, end=donor.end)
            rules.append(rule)
        if rng.random() < 0.4:
            rules.append(replace(other.rules[0], rule_id="R9"))
        levels = {rule.policy_id: rng.choice((rule.level, rule.level, rng.randint(2, 4))) for rule in rules}
        yield (
            before,
            replace(
                before,
                rules=tuple(replace(rule, level=levels[rule.policy_id]) for rule in rules),
                constraints=rng.choice((before.constraints, before.constraints, other.constraints)),
                overrides=rng.choice((before.overrides, before.overrides, other.overrides)),
                excludes=rng.choice((before.excludes, before.excludes, other.excludes)),
            ),
        )


def held(decision: Decision, subject: Subject) -> Held:
    if subject.kind == "outcome":
        return decision.outcomes[subject.name].action
    return subject.name in getattr(decision, subject.kind)


class Both:
    """Two versions of which every case on every day was tried."""

    def __init__(self, before: Ruleset, after: Ruleset) -> None:
        self.sides = Theory(before, 1, 5_000_000), Theory(after, 1, 5_000_000)
        self.tried = Tried(self.sides[0]), Tried(self.sides[1])
        self._decided: dict[object, Decision] = {}

    def exist(self, day: int) -> int:
        """The cases that the invariants of both sides leave."""
        return self.tried[0].exist(day) & self.tried[1].exist(day)

    def differences(self, case: int, day: int) -> set[Difference]:
        """What a case gets otherwise after than before."""
        one, two = (self._decision(n, case, day) for n in (0, 1))
        pairs = ((subject, held(one, subject), held(two, subject)) for subject in SUBJECTS)
        return {(subject, before, after) for subject, before, after in pairs if before != after}

    def _decision(self, n: int, case: int, day: int) -> Decision:
        """What one side says: for full cases it depends on who fires, and is read once for all alike."""
        fires = tuple(i for i in range(len(self.tried[n].rules)) if self.tried[n].fires(i, day) >> case & 1)
        if (n, fires) not in self._decided:
            self._decided[n, fires] = self.sides[n].evaluator.decide(CASES[case], day)
        return self._decided[n, fires]


def now(found: Changes, day: int) -> list[Change]:
    return [change for change in found.changes if change.day <= day <= (change.until or day)]


def agree(pair: tuple[Ruleset, Ruleset], limits: Limits, solver: Reasoner) -> int:
    """Hold one pair to trying every case; the number of bounds among its regions."""
    both = Both(*pair)
    found = changes(*both.sides, limits, solver)
    assert not found.unknown
    really: set[Difference] = set()
    for day in DAYS:
        exist, today, seen = both.exist(day), now(found, day), set[Difference]()
        for n, case in enumerate(CASES):
            if not exist >> n & 1:
                continue
            differences = both.differences(n, day)
            told = {(c.subject, c.before, c.after): c.is_bound for c in today if truth(c.where, case)}
            assert differences <= told.keys(), (case, day)
            assert all(what in differences or is_bound for what, is_bound in told.items()), (case, day)
            seen |= differences
        assert {(c.subject, c.before, c.after) for c in today} == seen, day
        really |= seen
    for change in found.changes:
        confirmed(both, change)
    assert found.tendency == tendency(really)
    return sum(change.is_bound for change in found.changes)


def confirmed(both: Both, change: Change) -> None:
    """The case of a region shows its change, and some full case like it exists."""
    decisions = [side.evaluator.decide(change.facts, change.day) for side in both.sides]
    assert [held(decision, change.subject) for decision in decisions] == [change.before, change.after]
    assert any(meant(change.facts, case) for case in cases_of(both.exist(change.day)))


def meant(facts: Facts, case: Facts) -> bool:
    return all(case[name] == value for name, value in facts.items())


def tendency(really: set[Difference]) -> str:
    """Which way it goes, said from what differs."""
    ways = set()
    for subject, _, after in really:
        narrower = after is (subject.kind != "permitted")
        ways.add("changed" if subject.kind == "outcome" else "tightened" if narrower else "loosened")
    return ways.pop() if len(ways) == 1 else "changed" if ways else "equivalent"


def hold(count: int, limits: Limits) -> int:
    """Hold *count* pairs to it; the number of regions that were told by a bound."""
    bounds = []

    @given(st.integers(0, 2**62))
    @settings(max_examples=count // BATCH)
    def batch(seed: int) -> None:
        solver = Reasoner(VARIABLES, rlimit=5_000_000)  # one for many: a process for every pair would take all the time
        bounds.extend(agree(pair, limits, solver) for pair in versions(seed, BATCH))

    batch()
    assert len(bounds) >= count
    return sum(bounds)


def test_a_case_changes_exactly_where_a_region_says_so() -> None:
    assert hold(100, MANY) == 0


def test_a_case_changes_only_within_a_bound_and_every_bound_has_a_case_that_does() -> None:
    assert hold(100, FEW) > 0


@pytest.mark.slow
@pytest.mark.parametrize("limits", [MANY, FEW], ids=["exactly", "within bounds"])
def test_three_hundred_pairs_more(limits: Limits) -> None:
    assert (hold(300, limits) > 0) == (limits is FEW)


@pytest.mark.longer
@pytest.mark.parametrize("limits", [MANY, FEW], ids=["exactly", "within bounds"])
def test_twenty_thousand_pairs_more(limits: Limits) -> None:
    assert (hold(20_000, limits) > 0) == (limits is FEW)
