"""Why a case is decided as it is, and what would have to be different: as data, and in words.

Who fired and lost, to whom and by which step of the lattice; which test of whom failed; and per outcome the smallest
change of facts that gives another action, decided anew before it is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

from bot.index import LogicIndex
from bylaw.authored.causes import Cause, causes_in
from bylaw.authored.labels import called, labels
from bylaw.authored.vocabulary import Vocabulary
from bylaw.errors import UsageError
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.conflicts import Duties
from bylaw.logic.decide.counterfactual import TRIALS, Goal, Nearest, nearest
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.decide.firing import as_bits, bits
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.ir import And, ConditionalRule, Facts, Formula, Not, names
from bylaw.logic.words.changes import changes_in_words
from bylaw.logic.words.prose import Labels, phrase, sentence
from bylaw.logic.words.readable import pushed, readable, so
from bylaw.logic.words.shorter import shorter

MOST_FAILED = 5  # rules told per outcome, those that come nearest first


@dataclass(frozen=True)
class Lost:
    """A rule that fired and gave way: to whom, and by which step."""

    rule: ConditionalRule
    to: ConditionalRule
    step: str


@dataclass(frozen=True)
class Failed:
    """A rule that did not fire, the tests of it that failed, and the facts it still waits for.

    `because` is what is so instead, of each test; for people, who find two negations in a row hard to follow.
    """

    rule: ConditionalRule
    tests: tuple[Formula, ...]
    unknown: tuple[str, ...]
    because: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Lifted:
    """Rules of one policy that would have fired, but for an exception of it: what that says, and where."""

    policy_id: str
    rules: tuple[ConditionalRule, ...]
    text: str
    path: str
    line: int


@dataclass(frozen=True)
class Other:
    """The smallest change that gives a *subject* (an outcome, or a wanted action) something else.

    `is_given`: what is wanted is given already, so that nothing has to change.
    """

    subject: str
    action: str | None
    policy_id: str | None
    rule_id: str | None
    found: Nearest
    is_given: bool = False


@dataclass(frozen=True)
class Why:
    """Everything about one decision."""

    lost: tuple[Lost, ...]
    lifted: tuple[Lifted, ...]
    failed: Mapping[str, tuple[Failed, ...]]
    different: tuple[Other, ...]
    causes: tuple[tuple[str, Cause], ...] = ()  # the policies that speak, each with a decision that it comes from


def why(
    index: LogicIndex, evaluator: Evaluator, facts: Facts, day: int, decision: Decision, want: str | None = None
) -> Why:
    """Why *decision*, made by *evaluator*, is what it is. With *want* only a change that gives that action is told."""
    if want is not None:
        other = _wanted(index, evaluator, facts, day, decision, want)
        spoken = [other.subject] if other.subject in decision.outcomes else []
        others: tuple[Other, ...] = (other,)
    else:
        spoken = _told(evaluator, facts, decision)
        fixed = unchangeable(index.vocabulary)
        others = tuple(
            another(
                evaluator,
                facts,
                day,
                decision,
                name,
                fixed=fixed,
                worse=more_restrictive(index.vocabulary, name, decision.outcomes[name].action),
            )
            for name in spoken
        )
    return Why(
        lost=tuple(_lost(index, evaluator, decision)),
        lifted=tuple(_lifted(index, evaluator, facts, day, decision)),
        failed={name: tuple(_failed(evaluator, facts, day, name, decision.outcomes[name].action)) for name in spoken},
        different=others,
        causes=tuple(_causes(index, decision)),
    )


def _causes(index: LogicIndex, decision: Decision) -> Iterator[tuple[str, Cause]]:
    for policy_id in sorted({one.policy_id for one in (*decision.fired, *decision.lost)}):
        yield from ((policy_id, one) for one in causes_in(index.bundle.policies.get(policy_id, {})))


def _told(evaluator: Evaluator, facts: Facts, decision: Decision) -> list[str]:
    """The outcomes that are decided or disputed; else the open ones that most of the facts speak to."""
    told = {name for name, result in decision.outcomes.items() if result.action}
    told |= {name for conflict in decision.conflicts for name in conflict.outcomes}
    if told:
        return sorted(told)
    weight: dict[str, int] = {}
    for name in decision.undecided:
        rules = [evaluator.ruleset.rules[i] for i in bits(evaluator.conflicts.takers(name))]
        weight[name] = max(len(names(rule.guard) & facts.keys()) for rule in rules)
    most = max(weight.values(), default=0)
    return sorted(name for name, count in weight.items() if count == most and count)


# ---- what would have to be different ----------------------------------------------------------------------------


def unchangeable(vocabulary: Vocabulary) -> frozenset[str]:
    """The facts that nobody can change."""
    return frozenset(name for name, fact in vocabulary.facts.items() if not fact.changeable)


def more_restrictive(vocabulary: Vocabulary, outcome: str, action: str | None) -> tuple[str, ...]:
    """The actions of *outcome* that its declared order puts before *action*; none where that says nothing of it."""
    declared = vocabulary.outcomes[outcome].restrictive if outcome in vocabulary.outcomes else ()
    order = [vocabulary.canonical(name) for name in declared]
    return tuple(order[: order.index(action)]) if action in order else ()


def another(
    evaluator: Evaluator,
    facts: Facts,
    day: int,
    decision: Decision,
    outcome: str,
    trials: int = TRIALS,
    fixed: Collection[str] = (),
    worse: Collection[str] = (),
) -> Other:
    """The smallest change that gives *outcome* another action than it has, and none of those that are *worse*."""
    conflicts, unwanted = evaluator.conflicts, {None, decision.outcomes[outcome].action, *worse}
    giving = conflicts.taking.get(outcome, {})
    goal = Goal(
        rules=reduce(or_, (those for action, those in giving.items() if action not in unwanted), 0),
        may_stand=lambda stands: conflicts.action_of(stands, outcome) not in unwanted,
        is_reached=lambda changed: changed.outcomes[outcome].action not in unwanted,
    )
    return _other(outcome, nearest(evaluator, facts, day, goal, trials, fixed), evaluator)


def _wanted(index: LogicIndex, evaluator: Evaluator, facts: Facts, day: int, decision: Decision, want: str) -> Other:
    action = index.vocabulary.canonical(want)
    rules = evaluator.ruleset.rules
    speaking = [i for i, rule in enumerate(rules) if action in (rule.effect.action, *rule.effect.implied)]
    if not speaking:
        raise UsageError(f"no policy speaks of the action `{want}`", "`bylaw explain ACTION` says what is declared")
    outcome = index.vocabulary.outcome_of(action)

    conflicts = evaluator.conflicts

    def is_given(given: str | None, duties: Duties) -> bool:
        required, prohibited, permitted = duties
        if outcome is not None:
            return given == action
        return action in required or (action in permitted and action not in prohibited)

    def may_stand(stands: int) -> bool:
        return is_given(outcome and conflicts.action_of(stands, outcome), conflicts.duties(stands))

    def is_reached(changed: Decision) -> bool:
        duties = changed.required, changed.prohibited, changed.permitted
        return is_given(outcome and changed.outcomes[outcome].action, duties)

    if is_reached(decision):
        given = _other(outcome or action, Nearest((), decision, True, 0), evaluator)
        return replace(given, is_given=True)
    goal = Goal(as_bits(speaking), may_stand, is_reached)
    found = nearest(evaluator, facts, day, goal, TRIALS, unchangeable(index.vocabulary))
    return _other(outcome or action, found, evaluator)


def _other(subject: str, found: Nearest, evaluator: Evaluator) -> Other:
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


def _lost(index: LogicIndex, evaluator: Evaluator, decision: Decision) -> Iterator[Lost]:
    conflicts, rules = evaluator.conflicts, evaluator.ruleset.rules
    fires = as_bits(evaluator.index_of(item.rule_id) for item in decision.fired)
    lost = as_bits(evaluator.index_of(item.rule_id) for item in decision.lost)
    called = {level: name for name, level in index.bundle.priority_lattice.items()}
    for i in bits(lost):
        beaters = conflicts.rank_of[i].beaters & fires
        j = min(bits(beaters & ~lost or beaters), key=lambda j: (rules[j].level, rules[j].rule_id))
        mine, its = rules[i], rules[j]
        if mine.level == its.level:
            step = f"{its.policy_id} declares an override of {mine.policy_id}"
        else:
            step = f"level {its.level}{_named(called, its.level)} beats level {mine.level}{_named(called, mine.level)}"
        yield Lost(mine, its, step)


def _named(called: Mapping[int, str], level: int) -> str:
    return f" ({called[level].replace('_', ' ')})" if level in called else ""


def _failed(evaluator: Evaluator, facts: Facts, day: int, outcome: str, given: str | None) -> list[Failed]:
    """The rules that would give *outcome* another action than the *given* one and did not fire.

    Those with the fewest failed tests come first.
    """
    found, variables = [], evaluator.ruleset.variables
    for i in bits(evaluator.conflicts.takers(outcome)):
        rule = evaluator.ruleset.rules[i]
        if not rule.holds_on(day) or dict(rule.effect.takes)[outcome] == given or truth(rule.guard, facts):
            continue
        guard = readable(rule.guard, variables)
        tests = guard.items if isinstance(guard, And) else (guard,)
        failed = tuple(item for item in tests if truth(item, facts) is False)
        because = tuple(shorter(so(pushed(item, is_so=False), facts), variables) for item in failed)
        waiting = sorted({var for item in tests if truth(item, facts) is None for var in names(item)} - facts.keys())
        found.append(Failed(rule, failed, tuple(waiting), because))
    found.sort(key=lambda one: (len(one.tests), len(one.unknown), one.rule.rule_id))
    return found[:MOST_FAILED]


def _lifted(index: LogicIndex, evaluator: Evaluator, facts: Facts, day: int, decision: Decision) -> Iterator[Lifted]:
    """The exceptions that hold and take away what their policy says otherwise."""
    fired = {item.rule_id for item in decision.fired}
    of_policy: dict[str, list[ConditionalRule]] = {}
    for rule in evaluator.ruleset.rules:
        if rule.holds_on(day):
            of_policy.setdefault(rule.policy_id, []).append(rule)
    for policy_id, rules in of_policy.items():
        away = tuple(rule for rule in rules if rule.rule_id not in fired and _but_for_an_exception(rule.guard, facts))
        if not away:
            continue
        policy = index.bundle.policies[policy_id]
        for rule in rules:
            if rule.origin == "exception" and rule.rule_id in fired:
                yield Lifted(policy_id, away, rule.source.text or "", rule.source.path, rule.source.line)
        for lifting in policy.get("lifted_by", ()):
            if truth(decode(lifting["conditions"], evaluator.ruleset.variables), facts):
                named = lifting.get("actions")  # a bundle of an older version does not say
                mine = away if named is None else tuple(rule for rule in away if rule.effect.action in named)
                yield Lifted(policy_id, mine, lifting["text"] or "", policy["path"], lifting["line"])


def _but_for_an_exception(guard: Formula, facts: Facts) -> bool:
    """Does everything in *guard* hold, but for a "not", which is how an exception is worked into it?"""
    items = guard.items if isinstance(guard, And) else (guard,)
    against = [item for item in items if truth(item, facts) is not True]
    return bool(against) and all(isinstance(item, Not) and truth(item, facts) is False for item in against)


# ---- words and data ---------------------------------------------------------------------------------------------


def other_in_words(other: Other, spoken: Labels, words: Mapping[str, str]) -> str:
    """One line about a subject: the change and what it gives, or why there is none."""
    subject, action = words[other.subject], f"“{words[other.action or other.subject]}”"
    by = f" ({other.policy_id})" if other.policy_id else ""
    said = f"{subject}: {action}{by}" if other.action != other.subject else f"{action}{by}"
    if other.is_given:
        return f"{said} as it is, nothing has to change"
    if other.found.steps:
        unsure = "" if other.found.is_sure else "; a smaller change was not ruled out"
        return f"{said} {changes_in_words(other.found.steps, spoken)}{unsure}"
    if other.found.is_sure:
        return f"{subject}: no change of facts gives anything else"
    limit = other.found.tried
    tried = f"no change of up to {limit} fact{'s' * (limit != 1)} gives anything else" if limit else "nothing was found"
    return f"{subject}: {tried}; larger changes are too many to try"


def as_lines(told: Why, index: LogicIndex) -> Iterator[str]:
    """The explanation for a terminal."""
    yield from dict.fromkeys(_told_lines(told, labels(index.vocabulary), called(index.vocabulary)))


def _told_lines(told: Why, spoken: Labels, words: Mapping[str, str]) -> Iterator[str]:
    for lost in told.lost:
        yield f"lost: “{words[lost.rule.effect.action]}” ({lost.rule.policy_id}): {lost.step}"
    for one in told.lifted:
        actions = ", ".join(dict.fromkeys(f"“{words[rule.effect.action]}”" for rule in one.rules))
        yield f"lifted: {actions} ({one.policy_id}), by the exception “{one.text}” --> {one.path}:{one.line}"
    for outcome, failed in told.failed.items():
        for rule in failed:
            about = "; ".join(sentence(item, spoken) for item in rule.because)
            if not about:
                about = f"not known yet: {'; '.join(spoken[name].label or name for name in rule.unknown)}"
            yield f"{words[outcome]}: why not “{words[rule.rule.effect.action]}” ({rule.rule.policy_id}): {about}"
    for policy_id, cause in told.causes:
        yield f"decided: {policy_id} comes from {cause.words}"
    for other in told.different:
        yield f"different: {other_in_words(other, spoken, words)}"


def as_json(told: Why, index: LogicIndex, roles: Collection[str] | None = None) -> dict[str, Any]:
    """The explanation for machines, to whoever has these *roles*; None: to whoever runs it."""
    spoken, words, variables = labels(index.vocabulary), called(index.vocabulary), index.ruleset.variables

    def named(rule: ConditionalRule) -> dict[str, str]:
        return {"policy_id": rule.policy_id, "rule_id": rule.rule_id, "action": rule.effect.action}

    readable = [(id, one) for id, one in told.causes if roles is None or one.is_for(roles)]
    return {
        "decisions": [{"policy_id": policy_id, **cause.as_json()} for policy_id, cause in readable],
        "lifted": [
            {
                "policy_id": one.policy_id,
                "rules": [named(rule) for rule in one.rules],
                "text": one.text,
                "path": one.path,
                "line": one.line,
            }
            for one in told.lifted
        ],
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
                "is_given": other.is_given,
                "text": other_in_words(other, spoken, words),
            }
            for other in told.different
        ],
    }
