"""Read one text: who proposes, then the holder. The one trip of every kind of text on every door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from bot.ask.ground import ground_for
from bot.ask.matcher.match import match
from bot.index import BundleIndex
from bylaw.hold.hold import hold
from bylaw.hold.item import Proposal, Reading, TextKind, parse_items
from bylaw.hold.text import see
from bylaw.hold.words import Index
from bylaw.language.text import Token


def read_text(
    text: str,
    kind: TextKind,
    index: BundleIndex,
    today: date,
    user: str = "anonymous",
    items: str | None = None,
    query: str = "",
    facts: Mapping[str, Any] | None = None,
) -> Reading:
    """What *text* says, held. *items* is JSON of a caller; without it the matcher proposes. Raises UsageError."""
    ground = ground_for(index, kind, today, user, query, facts)
    if items is not None:
        return hold(text, parse_items(items, kind), ground, "given")
    return hold(text, Proposal(()) if kind == "answer" else match(text, ground), ground, "matcher")


def kind_of(text: str, index: BundleIndex, today: date, user: str = "anonymous") -> TextKind:
    """The kind of question whose declared words hold most words of *text*; a policy question where none does."""
    seen = see(text)
    tokens = seen.words(0, len(seen.text.seen))
    kinds: tuple[TextKind, ...] = ("policy", "data", "decision")
    return max(kinds, key=lambda kind: _known(ground_for(index, kind, today, user).index, tokens))


def _known(words: Index, tokens: Sequence[Token]) -> int:
    return sum(mention.size for mention in words.find(tokens))
