"""How a turn goes on from the ones before (seed 004, C.5): the same again, a choice that was made once.

All of it stands in the state of one person in one conversation; nobody else's turn ever sees it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.analytics.reader.reading import Bound, Unclear
from bot.conversation import Choice, Turn, sayable_text
from bylaw.authored.context import Context
from bylaw.semantic.query import SemanticQuery

CARRIED = ("picks", "settled")  # what a new question of the conversation does not end
_SHOWN = 60  # characters of what was said
_AT_MOST = 50  # choices that are remembered


def referred(text: str, phrases: Sequence[str]) -> str | None:
    """What *text* says besides that the same is meant: "the same by region" says "by region". None: it does not."""
    said = text.strip(" .!?,;")
    for phrase in sorted(phrases, key=len, reverse=True):
        found = re.match(rf"{re.escape(phrase)}(?!\w)[\s,;:–-]*", said, re.IGNORECASE)
        if found:
            return said[found.end() :]
    return None


def offered(state: Mapping[str, Any], unclear: Unclear) -> dict[str, Any]:
    """*state*, waiting for one of the choices: each by its label and by what it stands for."""
    asked = {_named(choice): choice.value for choice in unclear.choices}
    return {**state, "choices": asked, "asked_about": unclear.words.casefold()}


def settled(text: str, state: Mapping[str, Any]) -> Mapping[str, str]:
    """What was chosen so far, with what *text* chooses now."""
    known = dict(state.get("settled") or {})
    choices, about = state.get("choices"), state.get("asked_about")
    if not isinstance(choices, Mapping) or not isinstance(about, str):
        return known
    said = " ".join(text.casefold().strip(" .?!").split())
    label = next((name for name, value in choices.items() if said in (name, str(value).casefold())), None)
    if label is None:
        return known
    kept = {**{words: one for words, one in known.items() if words != about}, about: label}
    return dict(list(kept.items())[-_AT_MOST:])


def chosen(state: Mapping[str, Any], unclear: Unclear) -> Choice | None:
    """The choice that this person made before, where it is offered again."""
    label = (state.get("settled") or {}).get(unclear.words.casefold())
    return next((choice for choice in unclear.choices if _named(choice) == label), None)


def nearest(
    unclear: Unclear, previous: SemanticQuery | None, read: Callable[[str], object], context: Context
) -> Unclear:
    """*unclear*, with what is about the entities discussed before offered first; else in the order that it had."""
    discussed = frozenset() if previous is None else _entities(previous, context)
    if not discussed:
        return unclear

    def is_far(choice: Choice) -> bool:
        found = read(choice.value)
        return not isinstance(found, Bound) or discussed.isdisjoint(_entities(found.query, context))

    return replace(unclear, choices=tuple(sorted(unclear.choices, key=is_far)))


def _entities(query: SemanticQuery, context: Context) -> frozenset[str]:
    """The entities that the numbers of a query are counted from, and those of its groups."""
    counted = {context.metrics[name].entity for name in query.metrics if name in context.metrics}
    groups = {name.partition(".")[0].partition("@")[0] for name in query.dimensions}
    return frozenset(name for name in (*counted, *groups) if name)


def unchanged(turn: Turn, text: str) -> Turn:
    """*turn*, which answers the question before once more: nothing in *text* was read as a change of it."""
    note = f"Nothing in “{sayable_text(text, _SHOWN)}” was read as a change: this answers the question before again."
    return replace(turn, reply=turn.reply.model_copy(update={"caveats": (note, *turn.reply.caveats)}))


def told(unclear: Unclear, choice: Choice) -> str:
    """The caveat of an answer that rests on a choice made before."""
    return f"`{unclear.words}` is read as {_named(choice)}, as you chose before."


def _named(choice: Choice) -> str:
    return choice.label.partition(":")[0].casefold()
