"""What a text is held against, for one bundle, one kind of text and one person: the declared words and the clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from bot.index import BundleIndex
from bylaw.authored.calendar import Calendar
from bylaw.hold.answers.background import Background
from bylaw.hold.declared import index_vocabulary
from bylaw.hold.hold import Ground
from bylaw.hold.item import TextKind
from bylaw.hold.values import Clock
from bylaw.hold.words import Index
from bylaw.language.lexicon import stem
from bylaw.language.periods import CalendarRules
from bylaw.language.text import words_of
from bylaw.logic.formula.ir import names as names_in

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def ground_for(
    index: BundleIndex,
    kind: TextKind,
    today: date,
    user: str = "anonymous",
    query: str = "",
    facts: Mapping[str, Any] | None = None,
) -> Ground:
    """What a text of that *kind* is held against. *query* and *facts* are what an answer answers."""
    clock = Clock(today, calendar_rules(index.bundle.context.calendar))
    words = _words(index, kind, user)
    return Ground(kind, words, clock, query, _known(index, words, facts or {}) if kind == "answer" else Background())


def _known(index: BundleIndex, words: Index, facts: Mapping[str, Any]) -> Background:
    """What is known beside the claims of an answer: the words of the facts that were told, and what is permitted."""
    told = frozenset[str]().union(*(_told(words, name, value) for name, value in facts.items()))
    permitted = (rule.effect.action for rule in index.ruleset.rules if rule.effect.kind == "permitted")
    values = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in facts.items()}
    return Background(told, values, permitted=frozenset(permitted))


def ground_of_data(index: BundleIndex, today: date, schemas: Collection[str] | None) -> Ground:
    """What a data question of somebody who may read *schemas* is held against; None is everything."""
    known = None if schemas is None else tuple(sorted(schemas))
    return Ground(
        "data", index.recently(_context_words)(known), Clock(today, calendar_rules(index.bundle.context.calendar))
    )


def _words(index: BundleIndex, kind: TextKind, user: str) -> Index:
    if kind == "data":
        known = {entity.base_table.schema_name for entity in index.bundle.context.entities.values()}
        return index.recently(_context_words)(tuple(sorted(index.rules.roles.schemas_of(user, known))))
    if kind == "decision":
        from bot.ask.recorded import words_for  # the records are only needed for their questions

        return words_for(index, user)
    return index.recently(_policy_words)()


def _policy_words(index: BundleIndex) -> Index:
    cited = {
        policy: tuple(map(str, filter(None, (record.get("source"), *record.get("regulatory_linkage", ())))))
        for policy, record in index.bundle.policies.items()
    }
    return index_vocabulary(index.vocabulary, cited, *_tested(index))


def _tested(index: BundleIndex) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """The facts that the rules of each outcome and action test, and those that the rules of its domains do."""
    own: dict[str, set[str]] = {}
    domains: dict[str, set[str]] = {}
    by_domain: dict[str, set[str]] = {}
    for rule in index.ruleset.rules:
        tested = names_in(rule.guard)
        by_domain.setdefault(rule.domain, set()).update(tested)
        for spoken in (rule.effect.action, *rule.effect.implied, *(outcome for outcome, _ in rule.effect.takes)):
            own.setdefault(spoken, set()).update(tested)
            domains.setdefault(spoken, set()).add(rule.domain)
    for name in index.vocabulary.actions:  # who asks for one action of an outcome asks what the outcome gives
        outcome = index.vocabulary.outcome_of(name) or ""
        own.setdefault(name, set()).update(own.get(outcome, ()))
        domains.setdefault(name, set()).update(domains.get(outcome, ()))
    beside = {name: frozenset[str]().union(*(by_domain[one] for one in those)) for name, those in domains.items()}
    return {name: frozenset(facts) for name, facts in own.items()}, beside


def _context_words(index: BundleIndex, schemas: tuple[str, ...] | None) -> Index:
    from bylaw.semantic.words import index_context  # the models of the context are only needed for data

    return index_context(index.bundle.context, schemas)


def _told(words: Index, name: str, value: object) -> frozenset[str]:
    """The stems of the words that say a fact that was told."""
    found = words.get("fact", name)
    if found is None:
        return frozenset()
    spelled = str(value).lower() if isinstance(value, bool) else str(value)
    return words.own(found) | words.told(found, spelled) | frozenset(map(stem, words_of(spelled)))


def calendar_rules(calendar: Calendar) -> CalendarRules:
    """The calendar file as the grammar of time takes it."""
    return CalendarRules(
        week_start=_WEEKDAYS.index(calendar.week_start),
        fiscal_start=calendar.fiscal_year_start,
        fiscal_by_default=calendar.year == "fiscal",
        whole_periods=calendar.relative_window == "complete",
    )
