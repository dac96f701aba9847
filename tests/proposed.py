"""Proposals that were written as a query and the words of each of its parts, as the items that say the same."""

from __future__ import annotations

import re

from pydantic import ValidationError

from bot.analytics.plan.restatement import renamed
from bot.ask.query.reading import hold_question
from bylaw.errors import BylawError
from bylaw.hold.hold import Ground
from bylaw.hold.item import HeldItem, Item, Proposal, misfit_of
from bylaw.hold.text import see
from bylaw.semantic.query import SemanticQuery
from tests.rendered import asked, grouped, ordered, render, said

_NAMES = re.compile(r"[\w@]+(?:\.\w+)?(?:\([^()]*\))?")


def items_of(text, query, bindings):
    """The items that *query* with its *bindings* (words, kind, name) says of *text*: each in the words bound to it."""
    query = SemanticQuery.model_validate(query)
    bound = [(words, kind, name) for words, kind, name in bindings if kind != "noise"]
    found = []
    for item, names, kinds in _parts(query):
        own = [words for words, kind, name in bound if name in names and (not kinds or kind in kinds)]
        own = own or [words for words, _, name in bound if name in names]
        if item.kind == "asks":
            own += [words for words, kind, name in bound if kind == "entity" and name in str(item.name)]
            inner = {name for part in item.of for name in _names_of(part)}
            own += [words for words, _, name in bound if name in inner]
        if item.kind == "order":
            own += [words for words, kind, name in bound if kind == "limit"]
        found += _quoted(item, text, own, bound)
    times = [(words, name) for words, kind, name in bound if kind == "time"]
    spans, dates = [one for one, name in times if not name], [one for one in times if one[1]]
    if len(spans) == 1 and dates:
        span = Item(kind="time", name=dates[0][1])
        return found + _quoted(span, text, [*spans, *(one for one, _ in dates)], bound)
    return found + [Item(kind="time", quote=words, name=name or None) for words, name in times]


def _parts(query):
    """Each item of *query*, the names that words may be bound to for it, and the kinds of these."""
    for name in query.shown:
        item = asked(name, query)
        yield item, {name, item.name, *_NAMES.findall(item.name)}, ("metric",)
    first = 0 if query.shown else 1
    for name in query.dimensions[:first]:
        yield Item(kind="asks", name=f"values({name})"), {name, name.partition(".")[0]}, ()
    for name in query.dimensions[first:]:
        yield grouped((name,), ())[0], {name}, ("dimension",)
    for name in query.per:
        yield (
            grouped((), (name,))[0],
            {name, *(one for one in query.dimensions if one.startswith(f"{name}."))},
            ("dimension", "entity"),
        )
    if query.grain:
        yield Item(kind="group", unit=query.grain, name=query.time_dimension), {query.grain}, ("grain",)
    for one in query.filters:
        for item in said(one):
            yield item, _names_of(item), ("filter", "entity", "time")
    for one in query.order:
        item = ordered(one, query)
        yield item, {one.by, item.name, *_NAMES.findall(item.name)}, ("order",)
    plain = query.model_copy(
        update={
            "metrics": (),
            "hidden": (),
            "dimensions": ("x.y",),
            "filters": (),
            "order": (),
            "grain": None,
            "per": (),
            "window": None,
            "measures": (),
        }
    )
    for item in render(plain)[1:]:
        if item.kind == "limit":
            yield item, {str(item.value)}, ("limit",)
        else:
            yield item, set(), ()


def _names_of(item):
    names = set(_NAMES.findall(item.name or "")) | {item.name}
    for part in (*item.any_of, *(one for one in item.of if one.kind == "group")):
        names |= _names_of(part)
    return names


def _quoted(item, text, words, bound):
    """*item* in the stretch of each sentence that holds all of *words*; what stands in it in words of its own."""
    seen = see(text)
    stretches = {}
    for one in words:
        for a, b in seen.find(one)[:1]:
            passage = seen.passage_of(a, b)
            key = (passage.start, passage.end) if passage else (a, b)
            first, last = stretches.get(key, (a, b))
            stretches[key] = min(a, first), max(b, last)
    inner = {}
    if item.of:
        inner["of"] = []
        for part in item.of:
            own = [one for one, _, name in bound if name in _names_of(part)] if part.kind != "group" else []
            inner["of"].append(_quoted(part, text, own, bound)[0])
    quotes = [seen.text.seen[a:b] for a, b in sorted(stretches.values())] or [None]
    return [item.model_copy(update={**({"quote": quote} if quote else {}), **inner}) for quote in quotes]


def hold_row(text, query, bindings, means, unknown=()):
    """What becomes of a proposal that was written as a query with its bindings."""
    items = items_of(text, query, [(str(words), kind, str(name)) for words, kind, name in bindings])
    problems = [misfit_of(item, "data") or ("it has no quote" if item.quote is None else None) for item in items]
    fitting = tuple(item for item, problem in zip(items, problems, strict=True) if problem is None)
    misfits = tuple(HeldItem(item, "refused", why) for item, why in zip(items, problems, strict=True) if why)
    ground = Ground("data", means.index, means.clock)
    return hold_question(text, Proposal(fitting, tuple(unknown), misfits), ground, means.compiler, "model")


def is_confirmed(held, query, means):
    """Does what was held run as *query* asks? An answer to something else than was proposed is none of it."""
    if not held.is_whole:
        return False
    compile_ = means.compiler.compile
    try:
        asked = compile_(renamed(SemanticQuery.model_validate(query))).sql
    except (BylawError, ValidationError):
        return False
    return compile_(renamed(held.query)).sql == asked
