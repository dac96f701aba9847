"""Why a case is decided as it is, and what would have to be different: as data, and in words.

Who fired and lost, to whom and by which step of the lattice; which test of whom failed; and per outcome the smallest
change of facts that gives another action, decided anew before it is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from bot.index import BundleIndex
from bylaw.authored.labels import labels
from bylaw.errors import UsageError
from bylaw.logic.contest import Duties
from bylaw.logic.evaluate import Decision, Evaluator
from bylaw.logic.firing import as_bits, bits
from bylaw.logic.ir import And, Atom, ConditionalRule, Facts, Formula, names
from bylaw.logic.nearby import Goal
from bylaw.logic.nearest import TRIALS, Nearest, nearest
from bylaw.logic.prose import UNKNOWN, Label, Labels, phrase, sentence, value_in_words
from bylaw.logic.shorter import shorter
from bylaw.logic.truth import truth

MOST_FAILED = 5  # rules told per outcome, those that come nearest first


@dataclass(frozen=True)
class Lost:
    """A rule that fired and gave way: to whom, and by which step."""

    rule: ConditionalRule
    to: ConditionalRule
    step: str


@dataclass(frozen=True)
class Failed:
    """A rule that did not fire, the tests of it that failed, and the facts it still waits for."""

    rule: ConditionalRule
    tests: tuple[Formula, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Other:
    """The smallest change that gives a *subject* (an outcome, or a wanted action) something else."""

    subject: str
    action: str | None
    policy_id: str | None
    rule_id: str | None
    found: Nearest


@dataclass(frozen=True)
class Why:
    """Everything about one decision."""

    lost: tuple[Lost, ...]
    failed: Mapping[str, tuple[Failed, ...]]
    different: tuple[Other, ...]


def why(
    index: BundleIndex, evaluator: Evaluator, facts: Facts, day: int, decision: Decision, want: str | None = None
) -> Why:
    """Why *decision*, made by *evaluator*, is what it is. With *want* only a change that gives that action is told."""
    if want is not None:
        other = _wanted(index, evaluator, facts, day, want)
        spoken = [other.subject] if other.subject in decision.outcomes else []
        others: tuple[Other, ...] = (other,)
    else:
        spoken = _told(evaluator, facts, decision)
        others = tuple(another(evaluator, facts, day, decision, name) for name in spoken)
    return Why(
        lost=tuple(_lost(index, evaluator, decision)),
        failed={name: tuple(_failed(evaluator, facts, day, name)) for name in spoken},
        different=others,
    )


def _told(evaluator: Evaluator, facts: Facts, decision: Decision) -> list[str]:
    """The outcomes that are decided or disputed; else the open ones that most of the facts speak to."""
    told = {name for name, result in decision.outcomes.items() if result.action}
    told |= {name for conflict in decision.conflicts for name in conflict.outcomes}
    if told:
        return sorted(told)
    weight: dict[str, int] = {}
    for name in decision.undecided:
        rules = [evaluator.ruleset.rules[i] for i in bits(evaluator.contest.takers(name))]
        weight[name] = max(len(names(rule.guard) & facts.keys()) for rule in rules)
    most = max(weight.values(), default=0)
    return sorted(name for name, count in weight.items() if count == most and count)


# ---- what would have to be different ----------------------------------------------------------------------------


def another(
    evaluator: Evaluator, facts: Facts, day: int, decision: Decision, outcome: str, trials: int = TRIALS
) -> Other:
    """The smallest change that gives *outcome* another action than it has."""
    contest, now = evaluator.contest, decision.outcomes[outcome].action
    giving = contest.taking.get(outcome, {})
    goal = Goal(
        rules=reduce(or_, (those for action, those in giving.items() if action != now), 0),
        may_stand=lambda stands: contest.action_of(stands, outcome) not in (None, now),
        is_reached=lambda changed: changed.outcomes[outcome].action not in (None, now),
    )
    return _other(evaluator, facts, day, outcome, goal, trials)


def _wanted(index: BundleIndex, evaluator: Evaluator, facts: Facts, day: int, want: str) -> Other:
    action = index.vocabulary.canonical(want)
    rules = evaluator.ruleset.rules
    speaking = [i for i, rule in enumerate(rules) if action in (rule.effect.action, *rule.effect.implied)]
    if not speaking:
        raise UsageError(f"no policy speaks of the action `{want}`", "`bylaw explain ACTION` says what is declared")
    outcome = index.vocabulary.outcome_of(action)

    contest = evaluator.contest

    def is_given(given: str | None, duties: Duties) -> bool:
        required, prohibited, permitted = duties
        if outcome is not None:
            return given == action
        return action in required or (action in permitted and action not in prohibited)

    def may_stand(stands: int) -> bool:
        return is_given(outcome and contest.action_of(stands, outcome), contest.duties(stands))

    def is_reached(changed: Decision) -> bool:
        duties = changed.required, changed.prohibited, changed.permitted
        return is_given(outcome and changed.outcomes[outcome].action, duties)

    goal = Goal(as_bits(speaking), may_stand, is_reached)
    return _other(evaluator, facts, day, outcome or action, goal, TRIALS)


def _other(evaluator: Evaluator, facts: Facts, day: int, subject: str, goal: Goal, trials: int) -> Other:
    found = nearest(evaluator, facts, day, goal, trials)
    if found.decision is None:
        return Other(subject, None, None, None, found)
    if subject in found.decision.outcomes:
        result = found.decision.outcomes[subject]
        return Other(subject, result.action, result.policy_id, result.rule_id, found)
    lost = {item.rule_id for item in found.decision.lost}
    for item in found.decision.fired:
        effect = evaluator.ruleset.rules[evaluator.index_of(item.rule_id)].effect
        if item.rule_id not in lost and subject in (effect.action, *effect.implied):
            return Other(subject, subject, item.policy_id, item.rule_id, found)
    return Other(subject, subject, None, None, found)


# ---- who lost, and what failed ----------------------------------------------------------------------------------


def _lost(index: BundleIndex, evaluator: Evaluator, decision: Decision) -> Iterator[Lost]:
    contest, rules = evaluator.contest, evaluator.ruleset.rules
    fires = as_bits(evaluator.index_of(item.rule_id) for item in decision.fired)
    lost = as_bits(evaluator.index_of(item.rule_id) for item in decision.lost)
    called = {level: name for name, level in index.bundle.priority_lattice.items()}
    for i in bits(lost):
        beaters = contest.rank_of[i].beaters & fires
        j = min(bits(beaters & ~lost or beaters), key=lambda j: (rules[j].level, rules[j].rule_id))
        mine, its = rules[i], rules[j]
        if mine.level == its.level:
            step = f"{its.policy_id} declares an override of {mine.policy_id}"
        else:
            step = f"level {its.level}{_named(called, its.level)} beats level {mine.level}{_named(called, mine.level)}"
        yield Lost(mine, its, step)


def _named(called: Mapping[int, str], level: int) -> str:
    return f" ({called[level].replace('_', ' ')})" if level in called else ""


def _failed(evaluator: Evaluator, facts: Facts, day: int, outcome: str) -> list[Failed]:
    """The rules for *outcome* that did not fire, those with the fewest failed tests first."""
    found = []
    for i in bits(evaluator.contest.takers(outcome)):
        rule = evaluator.ruleset.rules[i]
        if not rule.holds_on(day) or truth(rule.guard, facts):
            continue
        guard = shorter(rule.guard, evaluator.ruleset.variables)
        tests = tuple(item for item in (guard.items if isinstance(guard, And) else (guard,)))
        failed = tuple(item for item in tests if truth(item, facts) is False)
        waiting = sorted({var for item in tests if truth(item, facts) is None for var in names(item)} - facts.keys())
        found.append(Failed(rule, failed, tuple(waiting)))
    found.sort(key=lambda one: (len(one.tests), len(one.unknown), one.rule.rule_id))
    return found[:MOST_FAILED]


# ---- words and data ---------------------------------------------------------------------------------------------


def changes_in_words(other: Other, spoken: Labels) -> str:
    """The change as a clause: "if days since purchase is at most 14 days (now 20 days)"."""
    clauses = []
    for step in other.found.steps:
        now = "unknown" if step.before is None else value_in_words(step.before, _label(spoken, step.fact))
        clauses.append(f"{_test_in_words(step.test, spoken)} (now {now})")
    *rest, last = clauses
    return f"if {', '.join(rest)} and {last}" if rest else f"if {last}"


def _test_in_words(test: Atom, spoken: Labels) -> str:
    """The clause of *test*; one about a yes or no by its label, which need not begin with a noun."""
    if not isinstance(test.value, bool):
        return phrase(test, spoken)
    label = _label(spoken, test.var).label or test.var.replace("_", " ")
    return f"“{label}” is {value_in_words(test.value)}"


def _label(spoken: Labels, fact: str) -> Label:
    return spoken.get(fact, UNKNOWN)


def other_in_words(other: Other, spoken: Labels) -> str:
    """One line about a subject: the change and what it gives, or why there is none."""
    if other.found.steps:
        by = f" ({other.policy_id})" if other.policy_id else ""
        unsure = "" if other.found.is_sure else "; a smaller change was not ruled out"
        return f"{other.subject} would be {other.action}{by} {changes_in_words(other, spoken)}{unsure}"
    if other.found.is_sure:
        return f"{other.subject}: no change of facts gives anything else"
    limit = other.found.tried
    tried = f"no change of up to {limit} fact{'s' * (limit != 1)} gives anything else" if limit else "nothing was found"
    return f"{other.subject}: {tried}; larger changes are too many to try"


def as_lines(told: Why, index: BundleIndex) -> Iterator[str]:
    """The explanation for a terminal."""
    spoken = labels(index.vocabulary)
    for lost in told.lost:
        yield f"lost: {lost.rule.policy_id} ({lost.rule.effect.action}) to {lost.to.policy_id}: {lost.step}"
    for outcome, failed in told.failed.items():
        for one in failed:
            about = [f"not so: {sentence(test, spoken)}" for test in one.tests]
            about += [f"unknown: {', '.join(one.unknown)}"] if one.unknown else []
            yield f"{outcome} is not {one.rule.effect.action} by {one.rule.policy_id}: {'; '.join(about)}"
    for other in told.different:
        yield f"different: {other_in_words(other, spoken)}"


def as_json(told: Why, index: BundleIndex) -> dict[str, Any]:
    """The explanation for machines."""
    spoken, variables = labels(index.vocabulary), index.ruleset.variables

    def named(rule: ConditionalRule) -> dict[str, str]:
        return {"policy_id": rule.policy_id, "rule_id": rule.rule_id, "action": rule.effect.action}

    return {
        "lost": [{**named(lost.rule), "lost_to": named(lost.to), "step": lost.step} for lost in told.lost],
        "failed": {
            outcome: [
                {
                    **named(one.rule),
                    "tests": [sentence(test, spoken) for test in one.tests],
                    "unknown": list(one.unknown),
                }
                for one in failed
            ]
            for outcome, failed in told.failed.items()
        },
        "different": [
            {
                "subject": other.subject,
                "action": other.action,
                "policy_id": other.policy_id,
                "rule_id": other.rule_id,
                "changes": [
                    {
                        "fact": step.fact,
                        "from": None if step.before is None else variables[step.fact].show(step.before),
                        "to": variables[step.fact].show(step.after),
                        "test": phrase(step.test, spoken),
                    }
                    for step in other.found.steps
                ],
                "is_sure": other.found.is_sure,
                "text": other_in_words(other, spoken),
            }
            for other in told.different
        ],
    }
