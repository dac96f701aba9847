"""A question that no rule answers: whom to ask, and what is kept of it for the list of missing policies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.topic import Topic
from bot.enforcement.writing.write import listing
from bot.index import BundleIndex
from bylaw.language.words import read_words
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ConditionalRule

_MOST = 3  # owners that are named
NO_RULE = "No rule of ours speaks about this."
_LISTED = "The question is on the list of missing policies."


def owners(topic: Topic, index: BundleIndex, evaluator: Evaluator) -> list[str]:
    """Who answers for the domain of what is asked, else for the whole house, as far as *evaluator* knows."""
    known, near = lookups(index), topic.domains[:1]
    for domains in (near, index.rules.priorities.general_domains):
        found = Counter(
            index.owner(rule.policy_id) for domain in domains for rule in known.of_domain(domain, evaluator)
        )
        if ranked := _ranked(found):
            return ranked
    general = index.rules.priorities.cross_department_owners
    return list(general)[:1] or _ranked(Counter(index.owner(rule.policy_id) for rule in evaluator.ruleset.rules))


def _ranked(found: Counter[str]) -> list[str]:
    """The one who owns most."""
    return [name for name, _ in sorted(found.items(), key=lambda pair: (-pair[1], pair[0])) if name][:1]


def whom_to_ask(rules: Iterable[ConditionalRule], index: BundleIndex) -> str:
    """The owners of *rules*, each with the policies that they come from."""
    owners: dict[str, list[str]] = {}
    for rule in rules:
        policies = owners.setdefault(index.owner(rule.policy_id) or "nobody is named as owner", [])
        if rule.policy_id not in policies:
            policies.append(rule.policy_id)
    if not owners:
        return "Please ask the people who own the policies."
    named = [f"{owner} ({', '.join(policies[:3])})" for owner, policies in sorted(owners.items())[:_MOST]]
    return f"Please ask {listing(named)}."


def otherwise(owners: Sequence[str]) -> str:
    """Whom to ask where none of the topics that are offered is meant."""
    return f"If it is something else, please ask {_named(owners)}."


def lines(owners: Sequence[str], evaluator: Evaluator, is_asked: bool) -> list[str]:
    """Whom to ask, unless that *is_asked* already, and what the rules do cover that whoever asks may see."""
    asked = "" if is_asked else f"Please ask {_named(owners)}. "
    domains = sorted({rule.domain.replace("_", " ") for rule in evaluator.ruleset.rules})
    covered = listing(domains) if domains else "nothing yet"
    return [f"{asked}{_LISTED}", f"The policies cover: {covered}."]


def _named(owners: Sequence[str]) -> str:
    whom = listing(owners[:_MOST]) if owners else "the people who own the policies"
    return whom.removesuffix(".")


def meta(words: Sequence[str], owners: Sequence[str]) -> dict[str, Any]:
    """What is kept of it beside the reply."""
    said = dict.fromkeys(word.text for text in words for word in read_words(text))  # however they are typed
    return {"uncovered": {"words": list(said), "owners": list(owners)}}
