"""What reading and checking look up in a bundle: rules by outcome and action, and the facts they test.

Built once for each index; an index is immutable and serves thousands of questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter

from bot.enforcement.question.remembering import remember
from bot.index import BundleIndex
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ConditionalRule, names

Rules = tuple[ConditionalRule, ...]
_MOST_KEPT = 256
_RULE_ID = attrgetter("rule_id")


@dataclass(frozen=True)
class Tables:
    """The rules that answer each outcome, and that speak of each action or imply it.

    `ranked` are those that answer each outcome, the highest level first; `by_duty` speak of an action and answer none.
    """

    by_outcome: Mapping[str, Rules]
    by_action: Mapping[str, Rules]
    by_duty: Mapping[str, Rules]
    ranked: Mapping[str, Rules]


@dataclass(frozen=True)
class Lookups:
    """`facts` are those of each rule, `deciding` those of each outcome."""

    rules: Rules
    facts: Mapping[str, frozenset[str]]
    deciding: Mapping[str, frozenset[str]]
    by_domain: Mapping[str, Rules]
    _by_day: dict[int, Tables] = field(default_factory=dict)
    # of the last rules that were asked for, each by the very tuple
    _tested: Callable[..., frozenset[str]] = field(default_factory=lambda: remember(_MOST_KEPT)(_facts_of))
    _merged: Callable[..., Rules] = field(default_factory=lambda: remember(_MOST_KEPT)(_merge))
    _known: Callable[..., Rules] = field(default_factory=lambda: remember(_MOST_KEPT)(_known_by))

    def facts_of(self, rules: Rules) -> frozenset[str]:
        """The facts that *rules* test; those of more than one rule are kept."""
        return (self._tested if len(rules) > 1 else _facts_of)(self.facts, rules)

    def joined(self, *groups: Rules) -> Rules:
        """The rules of all *groups*, each once: the same tuple for the same groups, as far as the last are kept."""
        return groups[0] if len(groups) == 1 else self._merged(*groups)

    def answering(self, outcomes: Iterable[str], evaluator: Evaluator, day: int) -> Rules:
        """The rules of *evaluator* in force that answer one of *outcomes*."""
        return self._of(self.in_force(day).by_outcome, outcomes, evaluator)

    def ranked(self, outcome: str, evaluator: Evaluator, day: int) -> Rules:
        """The rules of *evaluator* in force that answer *outcome*, by level and id."""
        return self._of(self.in_force(day).ranked, (outcome,), evaluator)

    def of_domain(self, domain: str, evaluator: Evaluator) -> Rules:
        """The rules of *evaluator* in *domain*, in force or not."""
        return self._of(self.by_domain, (domain,), evaluator)

    def speaking(self, actions: Iterable[str], evaluator: Evaluator, day: int) -> Rules:
        """The rules of *evaluator* in force that speak of one of *actions*, or imply it."""
        return self._of(self.in_force(day).by_action, actions, evaluator)

    def demanding(self, action: str, evaluator: Evaluator, day: int) -> Rules:
        """Those among them that answer no outcome."""
        return self._of(self.in_force(day).by_duty, (action,), evaluator)

    def _of(self, table: Mapping[str, Rules], names: Iterable[str], evaluator: Evaluator) -> Rules:
        found = self.joined(*(table[name] for name in names if name in table))
        return found if len(evaluator.ruleset.rules) == len(self.rules) else self._known(evaluator, found)

    def in_force(self, day: int) -> Tables:
        """The tables of that day; those of the last few are kept."""
        found = self._by_day.get(day)
        if found is None:
            if len(self._by_day) >= 4:
                self._by_day.clear()
            found = self._by_day[day] = _tables(rule for rule in self.rules if rule.holds_on(day))
        return found


@remember(4)
def lookups(index: BundleIndex) -> Lookups:
    """The lookups of *index*; the last few are kept."""
    rules = index.ruleset.rules
    alike: dict[frozenset[str], frozenset[str]] = {}  # one set for all rules that test the same facts
    facts = {rule.rule_id: frozenset(names(rule.guard)) for rule in rules}
    by_outcome = _tables(rules).by_outcome
    return Lookups(
        rules=rules,
        facts={rule_id: alike.setdefault(its, its) for rule_id, its in facts.items()},
        deciding={
            outcome: frozenset().union(*(facts[rule.rule_id] for rule in found))
            for outcome, found in by_outcome.items()
        },
        by_domain=index.rules_by_domain,
    )


def _tables(rules: Iterable[ConditionalRule]) -> Tables:
    by_outcome, by_action, by_duty = (defaultdict[str, list[ConditionalRule]](list) for _ in range(3))
    for rule in rules:
        for outcome in dict.fromkeys(outcome for outcome, _ in rule.effect.takes):
            by_outcome[outcome].append(rule)
        for action in dict.fromkeys((rule.effect.action, *rule.effect.implied)):
            by_action[action].append(rule)
            if not rule.effect.takes:
                by_duty[action].append(rule)
    ranked = {
        outcome: sorted(found, key=lambda rule: (rule.level, rule.rule_id)) for outcome, found in by_outcome.items()
    }
    return Tables(_frozen(by_outcome), _frozen(by_action), _frozen(by_duty), _frozen(ranked))


def _facts_of(facts: Mapping[str, frozenset[str]], rules: Rules) -> frozenset[str]:
    return frozenset().union(*set(map(facts.__getitem__, map(_RULE_ID, rules))))


def _merge(*groups: Rules) -> Rules:
    return tuple({rule.rule_id: rule for rule in chain(*groups)}.values())


def _known_by(evaluator: Evaluator, rules: Rules) -> Rules:
    return tuple(rule for rule in rules if evaluator.knows(rule.rule_id))


def _frozen(lists: Mapping[str, list[ConditionalRule]]) -> Mapping[str, Rules]:
    return {name: tuple(rules) for name, rules in lists.items()}
