"""The domains that the words of a text are near, where it names nothing that is asked: whom to send somebody to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date

from bot.ask.ground import ground_for
from bot.enforcement.question.remembering import remember
from bot.index import BundleIndex
from bylaw.hold.text import see
from bylaw.hold.words import is_content, stems_of
from bylaw.language.lexicon import stem
from bylaw.language.text import words_of
from bylaw.logic.formula.ir import names


def domains_near(text: str, index: BundleIndex) -> tuple[str, ...]:
    """The domains whose declared words stand in *text*, the nearest first: a word counts the less, the more use it."""
    seen = see(text)
    words = (token.word for token in seen.words(0, len(seen.text.seen)))
    said = frozenset[str]().union(*(stems_of(word) for word in words if is_content(word)))
    points: dict[str, float] = defaultdict(float)
    for one in sorted(said):
        for domain, weight in _words(index).get(one, {}).items():
            points[domain] += weight
    best = max(points.values(), default=0.0)
    ranked = sorted(points.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(domain for domain, weight in ranked if 2 * weight >= best)


def drop_declared(said: Iterable[str], index: BundleIndex) -> list[str]:
    """What of *said* holds a word that no name of the rules is called by: nothing in them speaks of it."""
    known = _words(index)
    return [text for text in said if any(known.keys().isdisjoint(stems_of(word)) for word in words_of(text))]


@remember(4)
def _words(index: BundleIndex) -> Mapping[str, Mapping[str, float]]:
    """Of each stem the domains that use it, each with how much it speaks of them."""
    known = ground_for(index, "policy", date(2000, 1, 1)).index  # for words the day does not matter
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for rule in index.ruleset.rules:
        spoken = {rule.effect.action, *rule.effect.implied, *(outcome for outcome, _ in rule.effect.takes)}
        own = frozenset[str]().union(*(known.own_of("asks", name) for name in spoken))
        facts = frozenset[str]().union(*(known.own_of("fact", name) for name in names(rule.guard)))
        _add(used, rule.domain, own, 2)
        _add(used, rule.domain, facts - own, 1)
    for domain, declared in sorted(index.rules.enforcement.domains.items()):
        if domain in index.rules_by_domain:
            stems = (stem(word) for text in (domain, *declared.keywords) for word in words_of(text))
            _add(used, domain, frozenset(stems), 3)
    return {one: {domain: n / len(of) for domain, n in of.items()} for one, of in used.items()}


def _add(used: dict[str, Counter[str]], domain: str, stems: Collection[str], weight: int) -> None:
    for one in stems:
        used[one][domain] = max(used[one][domain], weight)
