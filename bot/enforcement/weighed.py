"""The case that a question tells, weighed: what it is about, what the rules decide of it, and the part asked for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from bot.claims.judge import holds
from bot.enforcement.case import Case
from bot.enforcement.judged.reading import situation
from bot.enforcement.question.case.bounds import Bound, cases
from bot.enforcement.question.case.facts import Reading
from bot.enforcement.question.intent import asks_what_follows
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.restrictive import most_restrictive
from bot.enforcement.question.topic import offers
from bot.enforcement.question.topic.recognise import Topic, naming
from bot.enforcement.question.topic.scope import Scope, following, scope_of
from bot.enforcement.question.understanding import understand
from bot.enforcement.writing import write
from bot.index import BundleIndex
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.evaluate import Conflict, Decision, Evaluator, OutcomeResult
from bylaw.logic.formula.ir import Value

_MOST_UNUSED = 3  # that are told


def case_of(
    text: str,
    today: date,
    state: Mapping[str, Any],
    index: BundleIndex,
    evaluator: Evaluator,
    given: Mapping[str, Value] | None = None,
) -> Case:
    """What *text*, said *today*, is about, by the rules of *evaluator*. Facts *given* count more than those read."""
    before = load(state, evaluator.ruleset.variables)
    memory, reading, is_declined = understand(text, today, before, index, evaluator)
    given = given or {}
    facts = {**memory.facts, **given}
    told = frozenset(name for name, value in facts.items() if memory.facts.get(name, value) == value)
    memory = replace(memory, facts=facts)
    on = memory.days.start if memory.days else today
    bounds, (about, decision, scope) = weigh_within(text, memory, reading, index, evaluator, on.toordinal())
    memory = replace(memory, topic=about)
    words = write.Words(index.vocabulary)
    read = tuple(one for one in reading.reads if given.get(one.fact, one.value) == one.value)
    unclear, asked = reading.unclear, before.asking if memory.number == before.number else None
    left = tuple(not_used(reading))
    memory = replace(memory, topic=_carried(memory.topic, scope))
    case = Case(text, today, index, evaluator, words, memory, read, unclear, decision, scope, asked, is_declined)
    case = replace(case, bounds=bounds)
    pick = offers.picked(text, before.offered, index)
    return replace(case, told=told, unused=left, picked=pick, on=on)


def _weighed(
    text: str,
    about: Topic,
    facts: Mapping[str, Value],
    said: Mapping[str, Value],
    index: BundleIndex,
    evaluator: Evaluator,
    day: int,
) -> tuple[Topic, Decision, Scope]:
    """What *text* is about, what the rules decide where *facts* hold, and the part of it that is asked for."""
    decision = evaluator.decide(facts, day)
    matter = (facts, said, index, evaluator, decision, day)
    scope = scope_of(about, *matter)
    if scope.is_offer and asks_what_follows(text):
        followed = naming(about, following(said, decision, evaluator), index)
        if set(scope.choices) <= {*followed.outcomes, *followed.actions}:  # else some of it is still open
            return followed, decision, scope_of(followed, *matter)
    return about, decision, scope


def weigh_within(
    text: str, memory: Memory, reading: Reading, index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[Mapping[str, Bound], tuple[Topic, Decision, Scope]]:
    """The same, with the bounds that were told, where all the cases that they leave come out alike."""
    now, said = {one.fact for one in reading.unclear if one.tests}, reading.facts
    found = [
        _weighed(text, memory.topic, {**memory.facts, **case}, said | told, index, evaluator, day)
        for case in (cases(memory.bounds, evaluator) if memory.bounds else ())
        for told in [{name: value for name, value in case.items() if name in now}]
    ]
    if found and len({_said_of(decision, scope) for _, decision, scope in found}) == 1:
        return memory.bounds, found[0]
    return {}, _weighed(text, memory.topic, memory.facts, said, index, evaluator, day)


def _said_of(decision: Decision, scope: Scope) -> Hashable:
    """What an answer of that scope says, but for the rules that it cites."""
    duties = tuple((kind, action) for kind, action, _ in scope.duties)
    taken = tuple(decision.outcomes[name].action for name in scope.outcomes)
    clashes = tuple((one.outcome, one.action) for one in decision.conflicts)
    return (*(scope.outcomes, scope.actions, scope.silent, scope.missing, scope.choices), duties, taken, clashes)


def case_on(case: Case, on: date) -> Case:
    """*case* by the rules of another of its days, as one of several parts of an answer."""
    decision = case.evaluator.decide(case.facts, on.toordinal())
    return case_about(replace(case, decision=decision, on=on, is_part=True), case.memory.topic)


def case_about(case: Case, topic: Topic) -> Case:
    """*case* as one about *topic*."""
    said = {read.fact: read.value for read in case.reads}
    scope = scope_of(topic, case.facts, said, case.index, case.evaluator, case.decision, case.day)
    return replace(case, memory=replace(case.memory, topic=topic), scope=scope)


def _carried(topic: Topic, scope: Scope) -> Topic:
    """*topic* with what it turned out to be about, so that the conversation goes on with it."""
    return topic if topic.is_named else replace(topic, outcomes=scope.outcomes, actions=scope.actions)


def not_used(reading: Reading) -> list[str]:
    """What to say of what was told and not used."""
    told = [one.words for one in reading.unclear]
    used = [*told, *(read.words for read in reading.reads)]
    left = [words for words in reading.unused if not any(words in one or one in words for one in used)]
    return [f"not used: {words}" for words in left[:_MOST_UNUSED]]


def settled(case: Case) -> Case:
    """*case* with the outcomes decided that no rule decides for sure, and that come out alike whatever is not known."""
    about = case.scope.outcomes if case.scope.is_named else case.scope.outcomes[:1]
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
    about = set(case.scope.outcomes[:1] if not case.scope.is_named else case.scope.outcomes)
    return [
        c for c in case.decision.conflicts if c.outcome in about or (not c.outcome and c.action in case.scope.actions)
    ]
