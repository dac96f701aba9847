"""What people ask for is named in their words: an outcome and an action by phrases, data by what they are called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bylaw.authored.context import Entity, Expressed
from bylaw.language.lexicon import content
from bylaw.language.text import words_of
from ci.findings import Finding, Place, Route
from ci.loading.load import Workspace
from ci.loading.spelling import is_said, spoken

_OWN_WORDS: Final = "your own words"


def unaskable_names(workspace: Workspace) -> Iterator[Finding]:
    """Every outcome, every action that answers none, every metric, entity and dimension has a word that asks for it."""
    for file in workspace.vocabularies:
        for name, outcome in file.vocabulary.outcomes.items():
            ask = outcome.label.ask if outcome.label is not None else None
            if not (outcome.phrases or ask or _is_word(name)):
                yield _unaskable("outcome", name, Place(file.path, ("outcomes", name), on_key=True), "phrases")
        for name, action in file.vocabulary.actions.items():
            is_other = action.outcome is not None or action.same_as is not None
            if not (is_other or action.phrases or _is_word(action.label or name)):
                yield _unaskable("action", name, Place(file.path, ("actions", name), on_key=True), "phrases")
    context = workspace.context
    bound = {term.refers_to for term in context.glossary.values()}
    for name, metric in context.metrics.items():
        if not (metric.synonyms or name in bound or is_said(name)):
            yield _unaskable("metric", name, Place(context.paths.get(f"metrics/{name}", f"metrics/{name}"), ("name",)))
    for name, entity in context.entities.items():
        path = context.paths.get(f"entities/{name}", f"entities/{name}")
        if not (entity.synonyms or name in bound or is_said(name)):
            yield _unaskable("entity", name, Place(path, ("name",)))
        for part, route in _cut_short(entity):
            if f"{name}.{part}" not in bound:
                yield _unaskable("dimension", f"{name}.{part}", Place(path, route))


def _cut_short(entity: Entity) -> Iterator[tuple[str, Route]]:
    """The dimensions that only a code names, and where; neither keys nor personal columns, which nobody asks for."""
    keys = {pair.left_column for one in entity.relationships for pair in one.relationship_columns} | set(entity.pii)
    keys |= set(entity.primary_key.columns if entity.primary_key else ())
    parts: tuple[tuple[str, int, Expressed], ...] = (
        *(("dimensions", i, part) for i, part in enumerate(entity.dimensions)),
        *(("time_dimensions", i, part) for i, part in enumerate(entity.time_dimensions) if not _dates_rows(entity, i)),
    )
    for section, i, part in parts:
        if keys.isdisjoint((part.name, part.sql)) and not (part.synonyms or is_said(part.name)):
            yield part.name, (section, i, "name")


def _dates_rows(entity: Entity, i: int) -> bool:
    """Is a date the one that a question means which names none?"""
    return len(entity.time_dimensions) == 1 or entity.time_dimensions[i].default


def _is_word(name: str) -> bool:
    """Is an identifier or a label made of words that people say?"""
    return bool(content(word for word in words_of(name) if word.isalpha() and len(word) > 2))


def _unaskable(kind: str, name: str, at: Place, key: str = "synonyms") -> Finding:
    short = name.rpartition(".")[2]
    called = " ".join(spoken(short))
    words = called if is_said(called) else _OWN_WORDS
    help = f"say how people ask for it, beside `{short}`: `{key}: [{words}]`; `bylaw read` shows what is missing"
    return Finding("unaskable", f"no word of a question names the {kind} `{name}`", at, help=help)
