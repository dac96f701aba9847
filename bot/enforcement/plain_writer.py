"""The plain writer: what is decided, what is asked, or who can decide, from the rules alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice

from bot.conversation import Ask, Turn
from bot.enforcement import template
from bot.enforcement.case import Case
from bot.enforcement.question.asking import asks_why
from bot.enforcement.question.lookups import lookups
from bot.enforcement.turn import turn_of
from bot.enforcement.uncovered import refused
from bot.enforcement.weighed import conflicts
from bot.enforcement.writing import missing, write
from bylaw.logic.decide.evaluate import Conflict
from bylaw.logic.formula.ir import ConditionalRule

_MOST_CITED = 3  # of the rules that were only looked at


def plain(case: Case) -> Turn:
    """The answer of the plain writer: what is decided, what is asked, or who can decide. It is not checked yet."""
    if found := conflicts(case):
        return _escalated_conflict(case, found)
    decided = [name for name in case.scope.outcomes if case.decision.outcomes[name].action is not None]
    primary = case.scope.outcomes[0] if case.scope.outcomes else None
    is_open = bool(case.scope.missing) and (primary is None or primary not in decided)
    if is_open:
        return _asked(case) or _escalated_unknown(case)
    if decided or case.scope.duties or case.scope.silent:
        return _decided(case, decided)
    return refused(case)


def _decided(case: Case, decided: Sequence[str]) -> Turn:
    told = [*template.decided(case, decided)]
    cited = [line.rule for line in told if line.rule is not None]
    told += template.duties(case, case.scope.duties, is_explained=not decided, cited=cited)
    cited = list({line.rule.rule_id: line.rule for line in told if line.rule is not None}.values())
    lines = [line.text for line in told]
    silence = "No policy in force requires, forbids or expressly allows this in the case as told"
    lines += [f"{silence}: {case.words.action(action)}." for action in case.scope.silent]
    cited += [rule for rule in _rules_of(case, case.scope.silent) if rule not in cited][:_MOST_CITED]
    lines += _left_out(case, decided)
    following = asked_next(case, (*case.withheld, *case.scope.missing))  # who declined one may answer another
    ask = None if following is None else ask_for(case, following)
    if ask is not None:
        lines = [*_unheard(case, ask.fact), *lines, f"{write.CHANCE} {ask.question}"]
    if ask is None and _is_more_of_nothing(case):
        lines.insert(0, write.NOTHING_NEW)
    turn = turn_of(case, "policy", "answered", lines, cited, decided, ask)
    claims = [claim.model_dump(mode="json", exclude_defaults=True) for line in told for claim in line.claims]
    return replace(turn, artifacts={**turn.artifacts, "policy": {**turn.artifacts["policy"], "claims": claims}})


def _left_out(case: Case, decided: Sequence[str]) -> list[str]:
    """What is asked beside what is told: still open, or decided by no policy in force."""
    lines = []
    for name in case.memory.topic.outcomes:
        if name not in case.scope.outcomes:
            lines.append(f"No policy in force decides this: {case.words.outcome(name)}.")
        elif name not in decided:
            unknown = write.listing(case.words.fact(fact) for fact in case.decision.undecided.get(name, ()))
            lines.append(f"Still open: {case.words.outcome(name)}. It depends on {unknown or 'more than is known'}.")
    return lines


def _is_more_of_nothing(case: Case) -> bool:
    """Does the turn go on with what was said ("and for a cat?", "40") in words that tell nothing of it?"""
    is_silent = not (case.reads or case.bounded or case.is_declined or case.is_new) and bool(case.facts)
    return is_silent and not case.asks


def asked_next(case: Case, missing: Sequence[str]) -> str | None:
    """The most deciding fact that the person has not declined, one that has a question of its own first."""
    facts = case.index.vocabulary.facts
    left = [name for name in missing if name not in case.memory.declined and name in facts]
    liked = sorted(left, key=lambda name: not facts[name].ask)
    return next(iter(case.evaluator.asking.in_turn(liked)), None)


def ask_for(case: Case, name: str) -> Ask:
    choices = write.choices(case.index.vocabulary.facts[name])
    return Ask(fact=name, question=write.question(case.words, name), choices=choices)


def _asked(case: Case) -> Turn | None:
    """Ask for a missing fact, if there is one to ask for."""
    name = asked_next(case, case.scope.missing)
    if name is None:
        return None
    ask = ask_for(case, name)
    lines = [ask.question]
    if case.is_declined and case.asked:
        lines.insert(0, f"Without knowing that ({case.words.fact(case.asked)}) it depends on something else.")
    return turn_of(case, "policy", "needs_fact", [*_unheard(case, name), *lines], _open_rules(case, 1), (), ask)


def _unheard(case: Case, name: str) -> list[str]:
    """What to say where *name* was asked for, and nothing in this turn is an answer: who asks why hears why."""
    if case.asked != name or case.is_declined or case.reads or case.bounded:
        return []
    if not asks_why(case.text):
        return [write.UNHEARD]
    tested = lookups(case.index).facts
    policies = dict.fromkeys(rule.policy_id for rule in _open_rules(case) if name in tested[rule.rule_id])
    outcome = case.words.outcome(case.scope.outcomes[0]) if case.scope.outcomes else "the answer"
    return [write.why_asked(outcome, list(policies)[:_MOST_CITED])]


def _escalated_unknown(case: Case) -> Turn:
    """Nothing is left to ask: name what is missing, and who can decide without it."""
    unknown = write.listing(case.words.fact(name) for name in case.scope.missing)
    rules = _open_rules(case)
    about = case.words.outcome(case.scope.outcomes[0]) if case.scope.outcomes else "this"
    lines = [f"I cannot decide {about} without knowing: {unknown}.", missing.whom_to_ask(rules, case.index)]
    return turn_of(case, "policy", "escalated", lines, rules[:_MOST_CITED])


def _escalated_conflict(case: Case, conflicts: Sequence[Conflict]) -> Turn:
    rules = [case.index.rule(rule_id) for rule_id in dict.fromkeys(r for c in conflicts for r in c.rules)]
    said = [f"{rule.policy_id} says {case.words.action(rule.effect.action)}" for rule in rules]
    lines = [f"The policies contradict each other here, and none of them gives way: {write.listing(said)}."]
    lines.append(missing.whom_to_ask(rules, case.index))
    return turn_of(case, "policy", "escalated", lines, rules)


def _open_rules(case: Case, most: int | None = None) -> list[ConditionalRule]:
    """The rules that the missing facts could still make fire, at *most* so many: the likeliest domain comes first."""
    known, missing, first = lookups(case.index), frozenset(case.scope.missing), case.memory.topic.domains[:1]
    ranked = known.ranked(case.scope.outcomes[0], case.evaluator, case.day) if case.scope.outcomes else []
    rules = ranked or sorted(_rules_of(case, case.scope.actions), key=lambda rule: (rule.level, rule.rule_id))
    near = (rule for rule in rules if rule.domain in first)
    far = (rule for rule in rules if rule.domain not in first)
    waiting = (rule for rule in chain(near, far) if not missing.isdisjoint(known.facts[rule.rule_id]))
    return list(islice(waiting, most))


def _rules_of(case: Case, actions: Sequence[str]) -> list[ConditionalRule]:
    """The rules in force that speak of *actions*, whether or not they fire."""
    speaking = lookups(case.index).speaking(actions, case.evaluator, case.day)
    return sorted((rule for rule in speaking if rule.effect.action in actions), key=lambda rule: rule.rule_id)
