"""What of the context could not be read, and which questions are therefore not answered.

A trap that nobody can read may make any number of its table wrong; an entity or a metric that is not there may be what
the words mean. A refusal is better than a plausible wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.index import BundleIndex
from bylaw.authored.context import Context
from bylaw.canonical import texts_in
from bylaw.sections import BundleUnread
from bylaw.semantic.query import SemanticQuery, Withheld

_KINDS = {"entities": "the entity", "metrics": "the metric", "gotchas": "the gotcha"}


def named_in(text: str, index: BundleIndex) -> BundleUnread | None:
    """What *text* calls by its name and could not be read."""
    unread = index.bundle.bundle_metadata.unread
    said = " ".join(text.casefold().replace("_", " ").split()) if unread else ""
    for one in unread:
        if any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said) for word in one.words if word):
            return one
    return None


def check_words(text: str, index: BundleIndex) -> None:
    """Raise Withheld for a question that calls something by its name that could not be read."""
    if (one := named_in(text, index)) is not None:
        raise _unanswerable(one)


def check_plan(query: SemanticQuery, entities: Iterable[str], index: BundleIndex) -> None:
    """Raise Withheld for a plan over *entities* of which something is not known that was written."""
    unread = index.bundle.bundle_metadata.unread
    if not unread:
        return
    used = {*entities, *_metrics(query, index.bundle.context)}
    for one in unread:
        if one.touches is None or not used.isdisjoint(one.touches):
            raise _unanswerable(one)


def _metrics(query: SemanticQuery, context: Context) -> set[str]:
    """The metrics that a query names, and those that these are made of."""
    found: set[str] = set()
    waiting = [text for text in texts_in(query.model_dump(mode="json")) if text in context.metrics]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            inner = texts_in(context.metrics[name].model_dump(mode="json"))
            waiting += [text for text in inner if text in context.metrics]
    return found


def _unanswerable(one: BundleUnread) -> Withheld:
    what = f"{_KINDS.get(one.kind, 'a file of context/,')} `{one.name}`"
    message = f"{what} cannot be read at the moment ({one.path}:{one.line}), so nothing that it touches is answered"
    return Withheld(message, "`bylaw check` says what is wrong with the file")
