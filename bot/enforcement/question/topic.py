"""What a question is about, as the names that are asked say it, and the domains whose rules speak of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from bot.enforcement.question.lookups import lookups
from bot.index import BundleIndex
from bylaw.logic.decide.evaluate import Evaluator


@dataclass(frozen=True)
class Topic:
    """What is asked: outcomes, actions (as they are called canonically), and facts whose rules are asked for.

    `domains` are those of the rules that speak of it, the first named first.
    """

    outcomes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()

    @property
    def is_named(self) -> bool:
        """Is anything asked?"""
        return bool(self.outcomes or self.actions or self.facts)


NO_TOPIC = Topic()


def topic_of(names: Iterable[str], index: BundleIndex, evaluator: Evaluator, day: int) -> Topic:
    """The topic that the asked *names* are: an action asks for its outcome as well."""
    vocabulary, known = index.vocabulary, lookups(index)
    actions: dict[str, None] = {}
    outcomes: dict[str, None] = {}
    facts: dict[str, None] = {}
    for name in names:
        if name in vocabulary.outcomes:
            outcomes[name] = None
        elif name in vocabulary.actions:
            action = vocabulary.canonical(name)
            actions[action] = None
            outcomes.update(dict.fromkeys(filter(None, (vocabulary.outcome_of(action),))))
        elif name in vocabulary.facts:
            facts[name] = None
    rules = chain(
        known.answering(tuple(outcomes), evaluator, day),
        known.speaking(tuple(actions), evaluator, day),
        (rule for rule in evaluator.ruleset.rules if not known.facts[rule.rule_id].isdisjoint(facts)),
    )
    domains = dict.fromkeys(rule.domain for rule in rules)
    return Topic(tuple(outcomes), tuple(actions), tuple(facts), tuple(domains))
