"""What people ask for is named in their words: an outcome and an action by phrases, a metric by what it is called."""

from __future__ import annotations

from collections.abc import Iterator

from bylaw.language.lexicon import content
from bylaw.language.text import words_of
from ci.findings import Finding, Place
from ci.loading.load import Workspace


def unaskable_names(workspace: Workspace) -> Iterator[Finding]:
    """Every outcome, every action that answers none and every metric has a word by which people may ask for it."""
    for file in workspace.vocabularies:
        for name, outcome in file.vocabulary.outcomes.items():
            ask = outcome.label.ask if outcome.label is not None else None
            if not (outcome.phrases or ask or _is_word(name)):
                yield _unaskable("outcome", name, Place(file.path, ("outcomes", name), on_key=True))
        for name, action in file.vocabulary.actions.items():
            is_other = action.outcome is not None or action.same_as is not None
            if not (is_other or action.phrases or _is_word(action.label or name)):
                yield _unaskable("action", name, Place(file.path, ("actions", name), on_key=True))
    for name, metric in workspace.context.metrics.items():
        if not (metric.synonyms or _is_word(name)):
            yield _unaskable(
                "metric", name, Place(workspace.context.paths.get(f"metrics/{name}", f"metrics/{name}"), ("name",))
            )


def _is_word(name: str) -> bool:
    """Is an identifier or a label made of words that people say?"""
    return bool(content(word for word in words_of(name) if word.isalpha() and len(word) > 2))


def _unaskable(kind: str, name: str, at: Place) -> Finding:
    help = "say how people ask for it (`phrases: [refund, money back]`); `bylaw read` shows what it is taken for"
    return Finding("unaskable", f"no word of a question names the {kind} `{name}`", at, help=help)
