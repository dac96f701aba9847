"""What reading and checking look up in a bundle: rules by outcome and action, the facts and the limits they test.

Built once for each index; an index is immutable and serves thousands of questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.enforcement.figures import Figure, limits_of
from bot.enforcement.sentences import Quotable, quotable_texts
from bot.index import BundleIndex
from bylaw.logic.evaluate import Evaluator
from bylaw.logic.ir import ConditionalRule, names

Rules = tuple[ConditionalRule, ...]
Limit = tuple[str, Figure]


@dataclass(frozen=True)
class Lookups:
    """`facts` are those of each rule; `by_limit` are the rules that test a fact at a figure."""

    quotable: Quotable
    facts: Mapping[str, frozenset[str]]
    by_outcome: Mapping[str, Rules]
    by_action: Mapping[str, Rules]
    by_limit: Mapping[Limit, frozenset[str]]
    limited: Mapping[Figure, frozenset[str]]  # the facts that are tested at a figure

    def facts_of(self, rules: Iterable[ConditionalRule]) -> frozenset[str]:
        """The facts that *rules* test."""
        return frozenset().union(*(self.facts[rule.rule_id] for rule in rules))

    def answering(self, outcomes: Iterable[str], evaluator: Evaluator, day: int) -> list[ConditionalRule]:
        """The rules of *evaluator* in force that answer one of *outcomes*."""
        return self._in_force((self.by_outcome.get(outcome, ()) for outcome in outcomes), evaluator, day)

    def speaking(self, actions: Iterable[str], evaluator: Evaluator, day: int) -> list[ConditionalRule]:
        """The rules of *evaluator* in force that speak of one of *actions*, or imply it."""
        return self._in_force((self.by_action.get(action, ()) for action in actions), evaluator, day)

    def _in_force(self, groups: Iterable[Rules], evaluator: Evaluator, day: int) -> list[ConditionalRule]:
        found = {rule.rule_id: rule for group in groups for rule in group if rule.holds_on(day)}
        known = evaluator.ruleset.rules
        if len(known) == len(self.facts):
            return list(found.values())
        visible = {rule.rule_id for rule in known}  # somebody who may not be answered from every rule
        return [rule for rule in found.values() if rule.rule_id in visible]


_KEPT: dict[int, tuple[BundleIndex, Lookups]] = {}


def lookups(index: BundleIndex) -> Lookups:
    """The lookups of *index*; the last few are kept."""
    held = _KEPT.get(id(index))
    if held is None or held[0] is not index:
        if len(_KEPT) >= 4:
            _KEPT.clear()
        held = _KEPT[id(index)] = (index, _gathered(index))
    return held[1]


def _gathered(index: BundleIndex) -> Lookups:
    by_outcome: dict[str, list[ConditionalRule]] = defaultdict(list)
    by_action: dict[str, list[ConditionalRule]] = defaultdict(list)
    by_limit: dict[Limit, set[str]] = defaultdict(set)
    limited: dict[Figure, set[str]] = defaultdict(set)
    for rule in index.ruleset.rules:
        for outcome in dict.fromkeys(outcome for outcome, _ in rule.effect.takes):
            by_outcome[outcome].append(rule)
        for action in dict.fromkeys((rule.effect.action, *rule.effect.implied)):
            by_action[action].append(rule)
        for fact, figure in limits_of(rule.guard, index.vocabulary, index.ruleset.variables):
            by_limit[fact, figure].add(rule.rule_id)
            limited[figure].add(fact)
    return Lookups(
        quotable=quotable_texts(rule.source.text for rule in index.ruleset.rules if rule.source.text),
        facts={rule.rule_id: frozenset(names(rule.guard)) for rule in index.ruleset.rules},
        by_outcome={outcome: tuple(rules) for outcome, rules in by_outcome.items()},
        by_action={action: tuple(rules) for action, rules in by_action.items()},
        by_limit={limit: frozenset(rules) for limit, rules in by_limit.items()},
        limited={figure: frozenset(facts) for figure, facts in limited.items()},
    )
