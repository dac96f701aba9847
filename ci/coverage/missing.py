"""The cases that are missing: few, each showing as much as it can, with today's decision as what they expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bylaw.logic.decide.evaluate import Decision
from bylaw.logic.formula.ir import Facts, Value
from ci.coverage.goals import Aim, Goal, Item
from ci.coverage.measure import Coverage, Reading, Tried, measure, shown
from ci.coverage.search import Search

Showing: TypeAlias = tuple[Tried, frozenset[Goal]]  # a case and the goals that it shows
Hints: TypeAlias = Mapping[tuple[str, Aim], Sequence[Facts]]  # by rule id and aim

HARDEST_FIRST: Sequence[Aim] = ("inside", "outside", "region", "wins", "otherwise", "fires")


@dataclass(frozen=True, slots=True)
class MissingCase:
    """A case to add: what it shows that no other case shows, and what is decided in it today."""

    domain: str
    facts: Mapping[str, Value]
    day: int
    expect: Mapping[str, Any]
    goals: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """What the cases cover, what would cover the rest, and the goals for which no case was found either way."""

    coverage: Coverage
    missing: tuple[MissingCase, ...]
    unknown: tuple[Goal, ...]


def survey(reading: Reading, items: Sequence[Item], cases: Sequence[Tried]) -> Survey:
    """Measure *cases*, and look for a case for everything that they leave open."""
    coverage, showing, unknown = _reached(reading, items, cases, {})
    return Survey(coverage, tuple(_fewest(reading, showing, coverage.open)), unknown)


def reached(reading: Reading, items: Sequence[Item], cases: Sequence[Tried], hints: Hints) -> Coverage:
    """The coverage of a survey alone. Where a case of *hints* shows a goal, no other is looked for."""
    return _reached(reading, items, cases, hints)[0]


def hints(reading: Reading, found: Survey) -> Hints:
    """The missing cases by what they show: for another version of the set, in which most of it is as it is here."""
    hints: dict[tuple[str, Aim], list[Facts]] = {}
    for case in found.missing:
        for name in dict.fromkeys(_name(reading, goal) for goal in case.goals):
            hints.setdefault(name, []).append(case.facts)
    return hints


def _name(reading: Reading, goal: Goal) -> tuple[str, Aim]:
    return reading.rules[goal.rule].rule_id, goal.aim


def _reached(
    reading: Reading, items: Sequence[Item], cases: Sequence[Tried], hints: Hints
) -> tuple[Coverage, list[Showing], tuple[Goal, ...]]:
    """The coverage, a case for each goal that one was found for, and the goals that nothing was found out about."""
    coverage = measure(reading, items, cases)
    search = Search(reading, cases)
    found: list[Showing] = []
    impossible: set[Goal] = set()
    unknown: list[Goal] = []
    by_now: set[Goal] = set()
    waiting = sorted(coverage.open, key=lambda goal: HARDEST_FIRST.index(goal.aim))
    for goal in waiting:
        domain = reading.rules[goal.rule].domain
        if goal in by_now or any(search.is_shown_near(goal, facts) for facts in hints.get(_name(reading, goal), ())):
            continue
        answer = search.case_for(goal)
        if answer.status == "found":
            tried = Tried(answer.facts, goal.day)
            own = [other for other in waiting if reading.rules[other.rule].domain == domain]
            found.append((tried, frozenset(_told(reading, tried, own))))  # a domain's cases speak of it alone
            by_now |= found[-1][1]
        elif answer.status == "impossible":
            impossible.add(goal)
        else:
            unknown.append(goal)
    return Coverage(coverage.items, coverage.met, frozenset(impossible)), found, tuple(unknown)


def _fewest(reading: Reading, showing: Sequence[Showing], wanted: Sequence[Goal]) -> list[MissingCase]:
    """Greedily the case that shows most of what is left; of equals the one with the fewest facts, then the first."""
    left = dict.fromkeys(wanted)
    chosen: list[tuple[int, MissingCase]] = []
    while left:
        best = max(
            range(len(showing)),
            key=lambda n: (len(showing[n][1] & left.keys()), -len(showing[n][0].facts), -n),
            default=None,
        )
        if best is None or not showing[best][1] & left.keys():
            break
        tried, shows = showing[best]
        new = tuple(g for g in left if g in shows)
        chosen.append((best, _case(reading, tried, new)))
        left = {g: None for g in left if g not in shows}
    return [case for _, case in sorted(chosen, key=lambda pair: (pair[1].domain, pair[1].goals[0].rule, pair[0]))]


def _told(reading: Reading, tried: Tried, goals: Sequence[Goal]) -> list[Goal]:
    """What a case to add is good for: what it shows of subjects that its facts settle."""
    goals = shown(reading, tried, goals)
    return [goal for goal in goals if reading.settled(goal.rule, reading.decide(goal.rule, tried.facts, tried.day))]


def _case(reading: Reading, tried: Tried, goals: tuple[Goal, ...]) -> MissingCase:
    decision = reading.theory.evaluator.decide(tried.facts, tried.day)
    about = sorted(
        ((reading.key(goal.rule), reading.rules[goal.rule].effect.action) for goal in goals), key=_last_duties
    )
    expect: dict[str, Any] = {}
    for key, action in about:
        told = expected(decision, key, action)
        expect[key] = {**expect.get(key, {}), **told} if key in DUTIES else told
    first = reading.rules[min(goal.rule for goal in goals)]
    return MissingCase(first.domain, tried.facts, tried.day, expect, goals)


def _last_duties(about: tuple[str, str]) -> tuple[bool, str, str]:
    key, action = about
    return key in DUTIES, key, action


DUTIES = ("required", "prohibited", "permitted")


def expected(decision: Decision, key: str, action: str) -> Any:
    """What a case expects under *key* of what is decided: of a duty whether it is that of *action*, and of no other."""
    duties = {"required": decision.required, "prohibited": decision.prohibited, "permitted": decision.permitted}
    return {action: action in duties[key]} if key in duties else decision.outcomes[key].action
