"""What reading a question gives: a query, a choice to be made, or what was not understood."""

from __future__ import annotations

from dataclasses import dataclass

from bot.conversation import Binding, Choice
from bylaw.semantic.query import Filter, SemanticQuery


@dataclass(frozen=True, slots=True)
class Bound:
    """A question that was understood. `rivals` counts readings that the rest of the question ruled out."""

    query: SemanticQuery
    bindings: tuple[Binding, ...]
    stakes: tuple[str, ...] = ()
    rivals: int = 0
    is_follow_up: bool = False


@dataclass(frozen=True, slots=True)
class Unclear:
    """A question with more than one reading: ask which."""

    words: str
    choices: tuple[Choice, ...]
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A question that cannot be answered faithfully, and the next step."""

    message: str
    help: str | None = None
    words: tuple[str, ...] = ()


Reading = Bound | Unclear | NotUnderstood


def carried(new: SemanticQuery, old: SemanticQuery, forget_time: bool) -> SemanticQuery:
    """*old* with what *new* says put in its place. A new grouping replaces the old one whole."""
    groups = new if new.dimensions or new.grain else old
    narrowed = {part.dimension for part in new.filters if isinstance(part, Filter)}
    kept = [part for part in old.filters if not isinstance(part, Filter) or part.dimension not in narrowed]
    return SemanticQuery(
        metrics=new.metrics,
        dimensions=groups.dimensions,
        grain=groups.grain,
        filters=(*kept, *new.filters),
        window=new.window or (None if forget_time else old.window),
        order=() if groups is new else old.order,
        limit=new.limit or (None if groups is new else old.limit),
    )
