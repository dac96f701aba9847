"""What a text is held against, for one bundle, one kind of text and one person: the declared words and the clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from bot.index import BundleIndex
from bylaw.authored.calendar import Calendar
from bylaw.hold.declared import index_vocabulary
from bylaw.hold.hold import Ground
from bylaw.hold.item import TextKind
from bylaw.hold.values import Clock
from bylaw.hold.words import Index, Name
from bylaw.language.lexicon import stem
from bylaw.language.periods import CalendarRules
from bylaw.language.text import words_of

if TYPE_CHECKING:
    from bylaw.authored.decisions import Decision, Event

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
    told = frozenset[str]().union(*(_told(words, name, value) for name, value in (facts or {}).items()))
    return Ground(kind, words, clock, query, told)


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
    return index.recently(_decision_words if kind == "decision" else _policy_words)()


def _policy_words(index: BundleIndex) -> Index:
    cited = {
        policy: tuple(map(str, filter(None, (record.get("source"), *record.get("regulatory_linkage", ())))))
        for policy, record in index.bundle.policies.items()
    }
    return index_vocabulary(index.vocabulary, cited)


def _context_words(index: BundleIndex, schemas: tuple[str, ...] | None) -> Index:
    from bylaw.semantic.words import index_context  # the models of the context are only needed for data

    return index_context(index.bundle.context, schemas)


def _decision_words(index: BundleIndex) -> Index:
    decisions = index.bundle.decisions
    names = [_decision(one) for _, one in sorted(decisions.decisions.items())]
    names += [_event(one) for _, one in sorted(decisions.events.items())]
    intents = sorted(index.rules.intents.intents.items())
    return Index([*names, *(Name(name, "intent", tuple(one.words)) for name, one in intents)])


def _decision(one: Decision) -> Name:
    return Name(one.id, "record", (one.option, one.id.replace("-", " "), *one.tags))


def _event(one: Event) -> Name:
    return Name(one.id, "record", (one.summary or one.id.replace("-", " "), *one.tags))


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
