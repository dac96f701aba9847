"""What reading a question gives: a query, a choice to be made, or what was not understood."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.conversation import Binding, Choice
from bylaw.authored.context import Context
from bylaw.semantic.query import Condition, Filter, SemanticQuery


@dataclass(frozen=True, slots=True)
class Bound:
    """A question that was understood. `rivals` counts readings that the rest of the question ruled out.

    `author` is the language model that proposed the query, None where the reader read it. `is_alone`: the other of two
    readers did not understand it.
    """

    query: SemanticQuery
    bindings: tuple[Binding, ...]
    stakes: tuple[str, ...] = ()
    rivals: int = 0
    is_follow_up: bool = False
    author: str | None = None
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Unclear:
    """A question with more than one reading: ask which."""

    words: str
    choices: tuple[Choice, ...]
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A question that cannot be answered faithfully, and the next step. `is_final`: nobody may read it otherwise.

    `understood` are the fields of the form that its other words fill in.
    """

    message: str
    help: str | None = None
    words: tuple[str, ...] = ()
    is_final: bool = False
    understood: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bindings: tuple[Binding, ...] = ()


Reading = Bound | Unclear | NotUnderstood


class Stop(Exception):
    """The reading ends here, with something to say."""

    def __init__(self, reading: Unclear | NotUnderstood) -> None:
        super().__init__()
        self.reading = reading


def not_understood(message: str, help: str | None = None, words: tuple[str, ...] = ()) -> NotUnderstood:
    """What a question without a faithful answer is told."""
    return NotUnderstood(message, help, words)


def unclear(text: str, words: str, names: Sequence[str], context: Context, value: object = None) -> Unclear:
    """A choice between records of the catalogue; each sends back the question with the word made plain."""
    whole = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE)
    begins, ends = whole.span() if whole is not None else (len(text), len(text))
    choices = []
    for name in names:
        readable = name.replace("_", " ").replace(".", " ")
        metric = context.metrics.get(name)
        said = readable if value is None else f"{readable} {value}"
        label = f"{readable}: {metric.description or metric.type}" if metric is not None else said
        choices.append(Choice(value=f"{text[:begins]}{said}{text[ends:]}", label=label))
    return Unclear(words, tuple(choices))


def carried(new: SemanticQuery, old: SemanticQuery, forget_time: bool) -> SemanticQuery:
    """*old* with what *new* says put in its place. A new grouping replaces the old one whole."""
    groups = new if new.dimensions or new.grain or new.per else old
    is_apart = any(measure.window is not None for measure in new.measures)
    return new.model_copy(
        update={
            "dimensions": groups.dimensions,
            "per": groups.per,
            "grain": groups.grain,
            "with_empty": groups.with_empty,
            "filters": renewed(old.filters, new.filters),
            "window": None if is_apart else new.window or (None if forget_time else old.window),
            "time_dimension": new.time_dimension or old.time_dimension,
            "order": new.order or (() if groups is new else old.order),
            "limit": new.limit or (None if groups is new else old.limit),
            "limit_by": new.limit_by or (() if groups is new else old.limit_by),
        }
    )


def renewed(old: Sequence[Condition], new: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions of before and the new ones; a dimension that is narrowed anew loses what it was narrowed to."""
    narrowed = {part.dimension for part in new if isinstance(part, Filter)}
    kept = [part for part in old if not isinstance(part, Filter) or part.dimension not in narrowed]
    return (*kept, *new)
