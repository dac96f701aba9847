"""What data questions are read with, built once for a bundle, and how much a text looks like one.

Here stands what every question is asked for before anybody knows who answers it; how one is answered is `answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from bot.analytics import carrying
from bot.analytics.headline import readable
from bot.analytics.known import share_known
from bot.analytics.reading import Bound
from bot.analytics.writes import is_write_request
from bot.ask.ground import calendar_rules, ground_of_data
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.authored.context import Context
from bylaw.language.periods import CalendarRules
from bylaw.semantic.query import SemanticQuery

if TYPE_CHECKING:
    from bylaw.semantic.compiler import Compiler
    from bylaw.sql.catalogue import Catalogue

_ANY_DAY = date(2100, 1, 1)  # recognising a phrase of time needs no day of asking
_FEW_WORDS = 2
_LONGEST_FOLLOW_UP = 200  # characters: what nobody told the bot is read only where it is short


@dataclass(frozen=True)
class Prepared:
    """What is built once for a bundle."""

    context: Context
    mask: Mask
    phrases: tuple[str, ...]  # that say how much depends on an answer, or how it is to be given

    @cached_property
    def compiler(self) -> Compiler:
        """What makes SQL of a query."""
        from bylaw.semantic.compiler import Compiler  # heavy, and whether a text speaks of data is known without it

        return Compiler(self.context)

    @cached_property
    def calendar(self) -> CalendarRules:
        """How the organisation counts its periods."""
        return calendar_rules(self.context.calendar)

    @cached_property
    def catalogue(self) -> Catalogue:
        """What the gate may let through: every expression of the context is parsed for it."""
        from bylaw.semantic.catalogue import catalogue_of  # heavy, and only needed where SQL is looked at

        return catalogue_of(self.context)


_desks: WeakKeyDictionary[BundleIndex, Prepared] = WeakKeyDictionary()


def prepare(index: BundleIndex) -> None:
    """Build what questions about this bundle need, before anybody waits for it."""
    prepared = prepared_for(index)
    _ = prepared.compiler, prepared.catalogue


def score(text: str, index: BundleIndex) -> float:
    """How much *text* looks like a question about data, from 0 to 1."""
    return 1.0 if is_write_request(text) else share_known(text, ground_of_data(index, _ANY_DAY, None))


def continues(text: str, state: Mapping[str, Any], index: BundleIndex) -> bool:
    """Does *text* ask for something, but only behind the question before it: "but for Q2", "the same by region"?"""
    previous = previous_of(state)
    if previous is None or len(text) > _LONGEST_FOLLOW_UP:
        return False
    rest = carrying.referred(text, index.rules.autonomy.same.phrases)
    if rest == "":
        return len(text.split()) > _FEW_WORDS  # "same" alone may be said to anybody
    from bot.analytics.matched import Desk  # as heavy as the compiler

    before = carrying.items_of(state, previous)
    found = Desk(ground_of_data(index, _ANY_DAY, None), prepared_for(index).compiler).read(rest or text, before).reading
    return isinstance(found, Bound) and found.is_follow_up and found.query != previous


def topics(index: BundleIndex) -> Sequence[str]:
    """Questions that are known to work: the verified ones marked for newcomers, else the metrics."""
    found = []
    for verified in index.bundle.context.verified_queries.values():
        if verified.use_as_onboarding_question:
            question = verified.question
            for name, value in verified.parameters.items():
                question = question.replace(f"{{{name}}}", str(value))
            found.append(question)
    return found or [readable(name) for name in sorted(index.bundle.context.metrics)][:5]


def prepared_for(index: BundleIndex) -> Prepared:
    """The prepared of this bundle."""
    prepared = _desks.get(index)
    if prepared is None:
        context, rules = index.bundle.context, index.rules
        phrases = tuple(sorted({*rules.risk.stakes_phrases(), *rules.autonomy.preference_phrases()}))
        prepared = Prepared(context, Mask(rules.pii), phrases)
        _desks[index] = prepared
    return prepared


def previous_of(state: Mapping[str, Any]) -> SemanticQuery | None:
    """The query of the turn before; one that this version cannot read counts as none."""
    try:
        return SemanticQuery.model_validate(state["query"]) if state.get("query") else None
    except ValidationError:
        return None
