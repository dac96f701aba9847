"""Which decision is meant: a slug when one is named, else exactly one search, else the one just spoken of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bot.decisions.search import DecisionSearch, Hit, terms
from bylaw.authored.decisions import Decisions, slug_of
from bylaw.authored.machines.intents import SearchRules

How = Literal["slug", "search", "session", "none"]

_POINTS_BACK = re.compile(r"\b(it|its|that|this|them|they|those|these|one|he|she|there|then)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Resolution:
    """The decision that is meant, or None with what comes nearest; `confidence` in [0, 1]."""

    anchor: str | None
    how: How
    confidence: float
    candidates: tuple[Hit, ...] = ()


def resolve(
    text: str, decisions: Decisions, search: DecisionSearch, rules: SearchRules, last: str | None = None
) -> Resolution:
    """The decision that *text* means. *last* is the one that this conversation spoke of before."""
    if (named := slug_in(text, decisions)) is not None:
        return Resolution(named, "slug", 1.0)
    last = last if last in decisions.decisions else None
    if not terms(text):
        return Resolution(last, "session" if last else "none", 1.0 if last else 0.0)
    hits = search.find(text, max(rules.k, 2))
    best = hits[0].confidence if hits else 0.0
    if best >= rules.confidence_from and not _is_close(hits, float(rules.margin)):
        return Resolution(hits[0].id, "search", best, tuple(hits[: rules.k]))
    if last is not None and _POINTS_BACK.search(text) and best < rules.confidence_from:
        return Resolution(last, "session", 1.0, tuple(hits[: rules.k]))
    return Resolution(None, "none", best, tuple(hits[: rules.k]))


def slug_in(text: str, decisions: Decisions) -> str | None:
    """The decision whose id is *text* or stands in it; an event or a transition names the decision it led to."""
    whole = slug_of(text)
    if (found := _decision_of(whole, decisions)) is not None:
        return found
    for token in _TOKEN.findall(text.casefold()):
        # A plain word may be somebody's id: inside a sentence an id is known by its joints.
        if ("-" in token or "_" in token) and (found := _decision_of(token.strip("-_"), decisions)) is not None:
            return found
    return None


def _decision_of(id: str, decisions: Decisions) -> str | None:
    if id in decisions.decisions:
        return id
    if (event := decisions.events.get(id)) is not None and len(event.led_to) == 1:
        return event.led_to[0]
    transition = decisions.transitions.get(id)
    return transition.to if transition is not None else None


def _is_close(hits: list[Hit], margin: float) -> bool:
    return len(hits) > 1 and hits[0].confidence - hits[1].confidence < margin
