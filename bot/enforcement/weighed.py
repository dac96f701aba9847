"""The case that a question tells, weighed: what it is about, what the rules decide of it, and the part asked for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from bot.claims.situation import holds
from bot.enforcement.case import Case
from bot.enforcement.judged.reading import situation
from bot.enforcement.question.bounds import Bound, cases
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.memory import Memory
from bot.enforcement.question.restrictive import most_restrictive
from bot.enforcement.question.scope import Scope, scope_of
from bot.enforcement.question.topic import Topic
from bot.index import BundleIndex
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Conflict, Decision, Evaluator, OutcomeResult
from bylaw.logic.formula.ir import Value


def weigh_within(
    memory: Memory, index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[Mapping[str, Bound], Decision, Scope]:
    """What the rules decide of the case that *memory* holds, and the part of it that is asked for; with the bounds that
    were told, where all the cases that they leave come out alike.
    """
    found = [
        _weighed(memory.topic, {**memory.facts, **case}, index, evaluator, day)
        for case in (cases(memory.bounds, evaluator) if memory.bounds else ())
    ]
    if found and len({_said_of(decision, scope) for decision, scope in found}) == 1:
        return memory.bounds, *found[0]
    return {}, *_weighed(memory.topic, memory.facts, index, evaluator, day)


def _weighed(
    about: Topic, facts: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[Decision, Scope]:
    decision = evaluator.decide(facts, day)
    return decision, scope_of(about, facts, index, evaluator, decision, day)


def _said_of(decision: Decision, scope: Scope) -> Hashable:
    """What an answer of that scope says, but for the rules that it cites."""
    duties = tuple((kind, action) for kind, action, _ in scope.duties)
    taken = tuple(decision.outcomes[name].action for name in scope.outcomes)
    clashes = tuple((one.outcome, one.action) for one in decision.conflicts)
    return (*(scope.outcomes, scope.actions, scope.silent, scope.missing), duties, taken, clashes)


def settled(case: Case) -> Case:
    """*case* with the outcomes decided that no rule decides for sure, and that come out alike whatever is not known."""
    about = case.scope.outcomes
    found = {name: result for name in about if (result := _alike(case, name)) is not None}
    if not found:
        return case
    undecided = {name: facts for name, facts in case.decision.undecided.items() if name not in found}
    decision = replace(case.decision, outcomes={**case.decision.outcomes, **found}, undecided=undecided)
    left = {fact for name in about for fact in undecided.get(name, ())}
    missing = tuple(fact for fact in case.scope.missing if fact in left)
    return replace(case, decision=decision, scope=replace(case.scope, missing=missing))


def _alike(case: Case, outcome: str) -> OutcomeResult | None:
    """The action that an undecided outcome gets in every completion, and the strongest rule that may give it."""
    if outcome not in case.decision.undecided or conflicts(case):
        return None
    rules = lookups(case.index).ranked(outcome, case.evaluator, case.day)
    waiting = [rule for rule in rules if truth(rule.guard, case.facts) is not False]
    actions = dict.fromkeys(taken for rule in waiting for name, taken in rule.effect.takes if name == outcome)
    told = situation(case, "")
    action = next((one for one in actions if holds(told, one)), None)
    rule = next((rule for rule in waiting if (outcome, action) in rule.effect.takes), None)
    return None if rule is None else OutcomeResult(action, rule.policy_id, rule.rule_id)


def restricted(case: Case) -> Case:
    """*case* with the most restrictive outcome in place of one that declined facts could decide."""
    missing, outcome = case.scope.missing, next(iter(case.scope.outcomes), None)
    if outcome is None or not any(name in case.memory.declined for name in missing):
        return case
    if case.decision.outcomes[outcome].action is not None or conflicts(case):
        return case
    found = most_restrictive(outcome, case.facts, case.day, case.index, case.evaluator)
    if found is None:
        return case
    undecided = {name: facts for name, facts in case.decision.undecided.items() if name != outcome}
    decision = replace(case.decision, outcomes={**case.decision.outcomes, outcome: found}, undecided=undecided)
    return replace(case, decision=decision, scope=replace(case.scope, missing=()), withheld=missing)


def conflicts(case: Case) -> list[Conflict]:
    about = set(case.scope.outcomes)
    return [
        c for c in case.decision.conflicts if c.outcome in about or (not c.outcome and c.action in case.scope.actions)
    ]
