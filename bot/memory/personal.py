"""One person's own view of the data: the shared context with their corrections in it, and an answer that says so.

INVARIANT: the shared index is never changed; rights, rows and personal data are judged by it alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

from bot.conversation import Question, Reply, Turn
from bot.index import BundleIndex
from bot.memory import preferences
from bot.memory.changes import Change, field_of, in_words
from bot.memory.recall import OwnCorrection, Recalled, SharedChange, in_days
from bot.memory.structure import applied, check_compiles, is_in_force, is_readable, is_there, may_read
from bot.rights import PERSONAL
from bot.router import Answerer
from bylaw.authored.context import Context
from bylaw.errors import BylawError

_MOST_VIEWS = 64  # people whose own view is kept ready


def answering(answerer: Answerer, recalled: Recalled, index: BundleIndex) -> Answerer:
    """*answerer*, for the person of whom this is remembered."""
    fitting = tuple(one for one in recalled.corrections if _fits(one.change, recalled.actor_id, index))
    liked = tuple(sorted(recalled.preferences.items()))
    mine, changes = _view(index, recalled.actor_id if liked else "", tuple(one.change for one in fitting), liked)
    used = tuple(one for one in fitting if one.change in changes)

    def score(text: str, _index: BundleIndex) -> float:
        return answerer.score(text, mine)

    def answer(question: Question, state: dict[str, Any], _index: BundleIndex) -> Turn:
        turn = _over_time(question, state, recalled, answerer, mine) or answerer.answer(question, state, mine)
        return replace(turn, reply=_said(turn.reply, used, _news(recalled, question, mine), mine.bundle.context))

    return replace(answerer, score=score, answer=answer)


def _over_time(
    question: Question, state: dict[str, Any], recalled: Recalled, answerer: Answerer, index: BundleIndex
) -> Turn | None:
    """The answer by the grain that the person likes, where they ask for figures over time and say no unit.

    None where they do not, or where that is not read whole: they are answered as they asked.
    """
    asked = preferences.over_time(question.text, recalled.preferences, index.rules)
    if asked is None:
        return None
    turn = answerer.answer(question.model_copy(update={"text": asked}), state, index)
    grain = recalled.preferences[preferences.GRAIN]
    query = (turn.artifacts.get("plan") or {}).get("query") or {}
    if query.get("grain") != grain or turn.reply.sql is None:
        return None
    note = f"By {grain}, as you prefer: `bylaw memory forget grain` takes it back."
    return replace(turn, reply=turn.reply.model_copy(update={"caveats": (*turn.reply.caveats, note)}))


def _news(recalled: Recalled, question: Question, index: BundleIndex) -> tuple[SharedChange, ...]:
    """What became shared knowledge lately, and still is."""
    since = question.asked_at.date() - timedelta(days=index.rules.promotion.told_days)
    context = index.bundle.context
    return tuple(
        one
        for one in recalled.shared
        if one.merged_on >= since and is_there(one.change, context) and is_in_force(one.change, context)
    )


def _said(reply: Reply, used: Iterable[OwnCorrection], news: Iterable[SharedChange], context: Context) -> Reply:
    """*reply*, with what it rests on of the asker's own, and of what was corrected for everybody lately."""
    if reply.sql is None:
        return reply
    own = [one for one in used if _is_near(one.change, reply, context)]
    told = [f"Using your correction of {one.day}: {in_words(one.change)}. Nobody else's answers use it." for one in own]
    told += [_told(one) for one in news if _is_near(one.change, reply, context)]
    meta = {**(reply.meta or {}), PERSONAL: [one.correction_id for one in own]} if own else reply.meta
    return reply.model_copy(update={"caveats": (*told, *reply.caveats), "meta": meta})


def _told(one: SharedChange) -> str:
    where = f" ({one.pull_request})" if one.pull_request else ""
    return f"Since {in_days(one.merged_on)} for everybody, as colleagues corrected it{where}: {in_words(one.change)}."


def _is_near(change: Change, reply: Reply, context: Context) -> bool:
    """Does the answer rest on the record that was corrected?"""
    cited = {one.id for one in reply.citations}
    names = {key.partition("/")[2] for key in cited}
    names |= {metric.entity for name in names if (metric := context.metrics.get(name)) and metric.entity}
    match change.kind:
        case "metrics":
            return change.name in names
        case "entities":
            table = context.entities[change.name].base_table.table
            return change.name in names or table in (reply.sql or "")
        case "gotchas":
            return not names.isdisjoint(context.gotchas[change.name].applies_to)
        case _:
            return change.name.casefold() in {one.words.casefold() for one in reply.bindings}


def _fits(change: Change, actor_id: str, index: BundleIndex) -> bool:
    """Is there still something to correct? What was merged or removed meanwhile is not applied any more, nor what would
    have its author denied the answer.
    """
    field, context = field_of(change), index.bundle.context
    if field is None or not field.is_private or not is_there(change, context):
        return False
    if not is_readable(change, context) or not may_read(change, actor_id, index.rules.roles, context):
        return False
    return not is_in_force(change, context)


@lru_cache(_MOST_VIEWS)
def _view(
    index: BundleIndex, actor_id: str, changes: tuple[Change, ...], liked: tuple[tuple[str, str], ...]
) -> tuple[BundleIndex, frozenset[Change]]:
    """The index with the changes that still fit, and with what the person likes; which changes those are."""
    context, used = index.bundle.context, set[Change]()
    for change in changes:
        try:
            changed = applied(context, change)
            check_compiles(change, changed)
        except BylawError:
            continue  # the record moved on: the shared knowledge is newer than the correction
        context = changed
        used.add(change)
    if context is not index.bundle.context:
        index = BundleIndex(index.bundle.model_copy(update={"context": context}))
    return preferences.applied(index, actor_id, dict(liked)) if liked else index, frozenset(used)
