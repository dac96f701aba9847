"""How well a text fits as a question about policies: by what the matcher takes of it, and by how it asks.

What this cannot tell, it leaves open: the router compares it with data and decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from bot.ask.ground import ground_for
from bot.ask.matcher.match import match
from bot.enforcement.question.asking import asking_clause, asks_for_permission, asks_open, named_policies
from bot.enforcement.question.near import domains_near
from bot.index import BundleIndex
from bylaw.hold.item import Item
from bylaw.language.lexicon import closed
from bylaw.language.reports import asks_for_a_rule, counts, is_of_one, is_report
from bylaw.language.words import read_words

_ANY_DAY = date(2000, 1, 1)  # for its kind the day does not matter
_NONE, _ALL = Decimal(0), Decimal(1)


def score(text: str, index: BundleIndex) -> float:
    """How well *text* fits as a question about policies, in [0, 1]."""
    return index.recently(_score)(text)


def _score(index: BundleIndex, text: str) -> float:
    weights = index.rules.routing.policy
    items = index.recently(_items)(text)
    is_named = any(one.kind == "asks" for one in items)
    stated = min(weights.stated_at_most, sum(one.kind == "fact" for one in items))
    words = [word.text for word in read_words(text)]
    is_figure, is_case = is_report(text), is_of_a_case(text, index)
    is_ruled = not closed("of_policies").isdisjoint(words)
    is_permission = asks_for_permission(text)
    near = domains_near(text, index)
    opens = is_case or (is_permission and (is_named or stated > 0 or bool(near)))
    opens = opens or (is_named and not is_figure and asks_open(text) and words[0] != "why")  # what was once decided
    points = weights.opener * opens + weights.named * is_named + weights.stated * stated
    points += weights.fact_word * (not stated and bool(near))
    points += weights.domain * (bool(near) and (opens or is_named or is_ruled or stated > 1))
    points += weights.policy_word * (is_ruled and not is_figure)
    said = f" {' '.join(words)} "
    is_counting = any(f" {counting} " in said for counting in closed("reporting"))
    if is_figure or (is_counting and not is_case):
        points -= weights.counting
    is_asked = is_permission or bool(named_policies(text))
    if is_asked or (words and asking_clause(text) and _is_alone(index)):  # also for what no rule covers
        points = max(points, weights.form)
    return float(min(_ALL, max(_NONE, points)))


def _is_alone(index: BundleIndex) -> bool:
    """Does the bundle hold neither data nor decisions, so that nobody else answers?"""
    return not index.bundle.context.entities and not index.bundle.decisions.decisions


def _items(index: BundleIndex, text: str) -> tuple[Item, ...]:
    return match(text, ground_for(index, "policy", _ANY_DAY)).items


def is_of_a_case(text: str, index: BundleIndex) -> bool:
    """Does *text* ask what holds in a case, or tell of a single one, in words that the policies know?"""
    items = index.recently(_items)(text)
    facts = [one for one in items if one.kind == "fact"]
    if not asks_for_a_rule(text) and not is_of_one(text):
        return sum(not isinstance(one.value, str) for one in facts) > 1 and not counts(text)
    return any(one.kind == "asks" for one in items) or bool(facts)


def topics(index: BundleIndex) -> Sequence[str]:
    """The domains that can be asked about, sorted."""
    return tuple(sorted({rule.domain for rule in index.ruleset.rules}))


def prepare(index: BundleIndex) -> None:
    """Build what the first question on a bundle would otherwise wait for."""
    score("", index)
    index.evaluator.decide({}, 1)
