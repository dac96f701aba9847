"""How a turn goes on from the ones before (seed 004, C.5): the same again, some of it changed, a choice made once.

The items of a turn are laid over those before: of the same kind and name they take their place, all others stay. All
of it stands in the state of one person in one conversation; nobody else's turn ever sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from bot.analytics.reading import Meant, Unclear
from bot.conversation import Turn, sayable_text
from bylaw.hold.item import Item
from bylaw.language import dates
from bylaw.semantic.query import Filter, SemanticQuery

CARRIED = ("picks", "settled")  # what a new question of the conversation does not end
_SHOWN = 60  # characters of what was said
_AT_MOST = 50  # choices that are remembered


def items_of(state: Mapping[str, Any], previous: SemanticQuery) -> list[Item] | None:
    """The items of the turn before; those that its query says where it kept none. None where no items say it."""
    try:
        kept = [Item.model_validate(one) for one in state.get("items") or ()]
    except (ValidationError, TypeError):
        kept = []  # another version kept them
    return kept or _derived(previous)


def _derived(query: SemanticQuery) -> list[Item] | None:
    computed = (*query.measures, *query.ratios, *query.differences, *query.summaries, *query.hidden, *query.limit_by)
    filters = [one for one in query.filters if isinstance(one, Filter) and one.operator == "in" and one.values]
    if computed or query.place or len(filters) < len(query.filters):
        return None
    return list(_items(query, filters))


def _items(query: SemanticQuery, filters: Sequence[Filter]) -> Iterator[Item]:
    for name in query.metrics:
        yield Item(kind="asks", name=name)
    for name in query.dimensions:
        yield Item(kind="group" if query.metrics else "asks", name=name if query.metrics else f"values({name})")
    for name in query.per:
        yield Item(kind="group", name=name, value="each")
    if query.grain is not None:
        yield Item(kind="group", unit=query.grain)
    for one in filters:
        yield Item(
            kind="filter", name=one.dimension, operator="not in" if one.negated else "in", value=list(one.values)
        )
    if query.window is not None:
        ends = query.window.start, query.window.end
        start, end = ("" if end in (dates.FIRST_DAY, dates.LAST_DAY) else end.isoformat() for end in ends)
        yield Item(kind="time", name=query.time_dimension, value=f"{start}/{end}")
    for order in query.order:
        yield Item(kind="order", name=order.by, value="desc" if order.descending else "asc")
    if query.limit is not None:
        yield Item(kind="limit", value=query.limit, unit="ties" if query.with_ties else None)


def referred(text: str, phrases: Sequence[str]) -> str | None:
    """What *text* says besides that the same is meant: "the same by region" says "by region". None: it does not."""
    said = text.strip(" .!?,;")
    for phrase in sorted(phrases, key=len, reverse=True):
        found = re.match(rf"{re.escape(phrase)}(?!\w)[\s,;:–-]*", said, re.IGNORECASE)
        if found:
            return said[found.end() :]
    return None


def settled(state: Mapping[str, Any], words: str, name: str) -> dict[str, str]:
    """What was chosen so far, and that *words* mean *name* from now on."""
    known = {one: other for one, other in dict(state.get("settled") or {}).items() if one != words.casefold()}
    return dict(list({**known, words.casefold(): name}.items())[-_AT_MOST:])


def chosen(state: Mapping[str, Any], unclear: Unclear) -> Meant | None:
    """The reading that this person chose before for these words, where it is one of them again."""
    name = (state.get("settled") or {}).get(unclear.words.casefold())
    return next((one for one in unclear.meant if one.name == name), None)


def unchanged(turn: Turn, text: str) -> Turn:
    """*turn*, which answers the question before once more: nothing in *text* was read as a change of it."""
    note = f"Nothing in “{sayable_text(text, _SHOWN)}” was read as a change: this answers the question before again."
    return replace(turn, reply=turn.reply.model_copy(update={"caveats": (note, *turn.reply.caveats)}))


def told(unclear: Unclear, meant: Meant) -> str:
    """The caveat of an answer that rests on a choice made before."""
    return f"`{unclear.words}` is read as {meant.name}, as you chose before."
