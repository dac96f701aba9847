"""The records of the catalogue that an answer rests on, each with its place in the repository."""

from __future__ import annotations

from collections.abc import Mapping

from bot.conversation import Citation
from bylaw.authored.context import Context
from bylaw.semantic.compiler import Compiled
from bylaw.semantic.query import SemanticQuery


def citations_of(
    context: Context, query: SemanticQuery, compiled: Compiled, commit: str | None
) -> tuple[Citation, ...]:
    """The records the answer rests on: the metrics, and the parts of a ratio."""
    used = list(query.named)
    used += [half for part in query.ratios for half in (part.numerator, part.denominator)]
    names = [name for name in dict.fromkeys(used) if name in context.metrics]
    for name in list(names):
        metric = context.metrics[name]
        names += [part for part in (metric.numerator, metric.denominator) if part]
    keys = [f"metrics/{name}" for name in dict.fromkeys(names)] + [f"entities/{compiled.base}"]
    described: Mapping[str, str | None] = {f"metrics/{name}": context.metrics[name].description for name in names}
    return tuple(
        Citation(
            id=key, path=context.paths.get(key), line=1 if key in context.paths else None, commit=commit,
            text=described.get(key),
        )
        for key in keys
    )  # fmt: skip
