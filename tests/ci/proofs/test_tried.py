"""Broken invariants, idle overrides, rules against themselves, exceptions out of reach: as trying every case says.

Each question is asked about thousands of random sets, and whether something is found is what the cases of all days
show. Conflicts, gaps, dead rules and rules that never win are held to the same in test_agreement.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from bylaw.logic.boxes.boxes import boxes
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.conflicts import contradicts
from bylaw.logic.formula.ir import conj, negate
from bylaw.logic.solver.smt import Reasoner
from ci.proofs.nearby import Nearby
from ci.proofs.questions.dead import satisfiable
from ci.proofs.questions.gap import gap
from ci.proofs.questions.idle import contradiction
from ci.proofs.questions.invariant import core, fires, possible
from ci.proofs.questions.joint import at_odds
from ci.proofs.questions.joint import fires as ever_fires
from ci.proofs.theory import Theory
from tests.ci.proofs.smallsets import CASES, DAYS, EFFECTS, EVERY, GRID, TORN, VARIABLES, Tried, cases_of, guard, mask
from tests.ci.proofs.smallsets import ruleset as any_ruleset

SETS, BATCH = 400, 50
Question = Callable[[Theory, Tried, random.Random], int]


def hold(question: Question, most: int = 3) -> int:
    """Ask *question* about every set; how often something was found."""
    found = []

    @given(st.integers(0, 2**62))
    @settings(max_examples=SETS // BATCH)
    def batch(seed: int) -> None:
        rng = random.Random(seed)
        solver = Reasoner(VARIABLES, rlimit=5_000_000)
        for _ in range(BATCH):
            theory = Theory(any_ruleset(rng, most, (*EFFECTS, TORN)), 1, rlimit=5_000_000)
            theory.reasoner = solver
            found.append(question(theory, Tried(theory), rng))

    batch()
    assert len(found) >= SETS
    return sum(found)


# ---- invariants -----------------------------------------------------------------------------------------------------


def silenced(theory: Theory, tried: Tried, rng: random.Random) -> int:
    """Rules that no existing case of a day fires."""
    nearby, count = Nearby(theory), 0
    for i in range(len(tried.rules)):
        for day in tried.alive(i):
            found = fires(nearby, i, day).status == "PROVEN"
            assert found == (not tried.fires(i, day))
            count += found and bool(tried.guards[i])
    return count


def test_a_rule_is_silenced_by_invariants_exactly_when_no_case_they_leave_fires_it() -> None:
    assert hold(silenced) > 20


def impossible(theory: Theory, tried: Tried, rng: random.Random) -> int:
    """Days on which the invariants leave no case, and which of them it takes."""
    nearby, count = Nearby(theory), 0
    for day in DAYS:
        found = nearby.base(day) is None
        assert found == (not tried.exist(day))
        if found:
            clashing = core(theory, day)
            held = [mask(constraint.formula) for constraint in clashing]
            assert not meeting(held)
            assert all(meeting(held[:n] + held[n + 1 :]) for n in range(len(held)))
            count += 1
    return count


def meeting(masks: list[int]) -> int:
    found = EVERY
    for one in masks:
        found &= one
    return found


def test_invariants_are_impossible_together_exactly_when_no_case_is_left_and_none_named_is_spare() -> None:
    assert hold(impossible) > 20


def breaking(theory: Theory, tried: Tried, rng: random.Random) -> int:
    """Some facts of a case that no existing case has."""
    known = {name: rng.choice(values) for name, values in GRID.items() if rng.random() < 0.6}
    count = 0
    for day in DAYS:
        meant = [case for case in cases_of(tried.exist(day)) if all(case[name] == v for name, v in known.items())]
        found = possible(theory, known, day).status == "PROVEN"
        assert found == (not meant), (known, day)
        count += found and bool(tried.exist(day))
    return count


def test_a_case_breaks_the_invariants_exactly_when_no_existing_case_has_its_facts() -> None:
    assert hold(breaking) > 20


# ---- overrides ------------------------------------------------------------------------------------------------------


def idle(theory: Theory, tried: Tried, rng: random.Random) -> int:
    """Pairs of policies that no existing case of any day makes contradict each other."""
    rules, count = tried.rules, 0
    named = sorted({rule.policy_id for rule in rules})
    for one in named:
        mine = [i for i, rule in enumerate(rules) if rule.policy_id == one]
        for other in (name for name in named if name != one):
            its = [j for j, rule in enumerate(rules) if rule.policy_id == other]
            rivals = [
                (i, j)
                for i in mine
                for j in its
                if contradicts(rules[i].effect, rules[j].effect, theory.ruleset.excludes)
            ]
            meets = any(tried.fires(i, day) & tried.fires(j, day) for i, j in rivals for day in DAYS)
            assert contradiction(theory, mine, other).status == ("COUNTEREXAMPLE" if meets else "PROVEN")
            count += bool(rivals) and not meets
    return count


def test_an_override_is_idle_exactly_when_no_case_of_any_day_makes_the_two_contradict() -> None:
    assert hold(idle) > 20


# ---- a rule against itself ------------------------------------------------------------------------------------------


def against_itself(theory: Theory, tried: Tried, rng: random.Random) -> int:
    """Rules that demand two answers of one outcome, in some existing case."""
    count = 0
    for i, rule in enumerate(tried.rules):
        assert (at_odds(rule.effect, theory.ruleset.excludes) is not None) == (rule.effect == TORN)
        if rule.effect != TORN:
            continue
        verdict = ever_fires(theory, i)
        shown = [day for day in DAYS if tried.fires(i, day)]
        assert verdict.status == ("COUNTEREXAMPLE" if shown else "PROVEN")
        if verdict.facts is not None:
            assert verdict.day in shown and truth(rule.guard, verdict.facts)
            meant = [case for case in CASES if all(case[name] == v for name, v in verdict.facts.items())]
            assert any(tried.exist(verdict.day) >> CASES.index(case) & 1 for case in meant)
            count += 1
    return count


def torn_gap(theory: Theory, tried: Tried, rng: random.Random) -> int:
    """Cases in which nothing answers an outcome, a rule against itself least of all: that is a conflict, no gap."""
    takers = {i for i, rule in enumerate(tried.rules) if any(outcome == "refund" for outcome, _ in rule.effect.takes)}
    holes = False
    for standing in (standing for day in DAYS for standing in tried.standings(day)):
        disputed = any(i in takers or j in takers for i, j in standing.clashes)
        holes |= not disputed and not standing.stands & takers
    assert gap(theory, "refund").status == ("COUNTEREXAMPLE" if holes else "PROVEN")
    return any(tried.rules[i].effect == TORN for i in takers) and not holes


def test_a_rule_against_itself_leaves_no_gap() -> None:
    assert hold(torn_gap) > 0


def test_a_rule_contradicts_itself_exactly_when_some_existing_case_fires_it() -> None:
    assert hold(against_itself) > 20


# ---- exceptions -----------------------------------------------------------------------------------------------------


def out_of_reach(theory: Theory, tried: Tried, rng: random.Random) -> int:
    """An exception holds only where what it replaces would: its guard and the rule's, and no earlier exception."""
    count = 0
    for rule in tried.rules:
        earlier, own = guard(rng), guard(rng)
        formula = conj([rule.guard, own, negate(earlier)])
        found = satisfiable(theory, formula).status == "PROVEN"
        assert found == (not mask(formula)), formula
        assert found or boxes(formula, VARIABLES)
        count += found
    return count


def test_an_exception_is_out_of_reach_exactly_when_no_case_holds_where_it_replaces_something() -> None:
    assert hold(out_of_reach, most=1) > 20
