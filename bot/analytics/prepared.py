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

from bot.analytics.reader import carrying
from bot.analytics.reader.asking import is_follow_up, is_write_request
from bot.analytics.reader.headline import readable
from bot.analytics.reader.read import Reader
from bot.analytics.reader.reading import Bound
from bot.analytics.reader.scope import lexicon_of
from bot.index import BundleIndex
from bot.pii import Mask
from bylaw.authored.context import Context
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
    reader: Reader
    mask: Mask

    @property
    def compiler(self) -> Compiler:
        """What makes SQL of a query that was read."""
        return self.reader.compiler

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
    return 1.0 if is_write_request(text) else prepared_for(index).reader.knows(text, _ANY_DAY)


def continues(text: str, state: Mapping[str, Any], index: BundleIndex) -> bool:
    """Does *text* ask for something, but only behind the question before it: "but for Q2", "the same by region"?"""
    previous = previous_of(state)
    if previous is None or len(text) > _LONGEST_FOLLOW_UP:
        return False
    rest = carrying.referred(text, index.rules.autonomy.same.phrases)
    if rest == "":
        return len(text.split()) > _FEW_WORDS  # "same" alone may be said to anybody
    reader = prepared_for(index).reader
    if not is_follow_up(text) and isinstance(reader.read(text, _ANY_DAY), Bound):
        return False
    behind = reader.read(rest or text, _ANY_DAY, previous)
    return isinstance(behind, Bound) and behind.query != previous


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
        phrases = (*rules.risk.stakes_phrases(), *rules.autonomy.preference_phrases())
        prepared = Prepared(
            context=context,
            reader=Reader(context, lexicon_of(context, phrases)),
            mask=Mask(rules.pii),
        )
        _desks[index] = prepared
    return prepared


def previous_of(state: Mapping[str, Any]) -> SemanticQuery | None:
    """The query of the turn before; one that this version cannot read counts as none."""
    try:
        return SemanticQuery.model_validate(state["query"]) if state.get("query") else None
    except ValidationError:
        return None
