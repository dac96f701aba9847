"""What a question comes to before it is answered: a query, several readings, or what is not understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.conversation import Binding
from bylaw.hold.item import Item
from bylaw.semantic.query import SemanticQuery

Understood = Mapping[str, tuple[str, ...]]  # the fields of the form, with what fills them in


@dataclass(frozen=True, slots=True)
class Bound:
    """A question that was understood. `items` are what it says; none where it was not put together of items.

    `author` is the language model that proposed it, None where the matcher did. `is_alone`: the other of two readers
    did not understand it.
    """

    query: SemanticQuery
    bindings: tuple[Binding, ...]
    stakes: tuple[str, ...] = ()
    rivals: int = 0
    is_follow_up: bool = False
    author: str | None = None
    is_alone: bool = False
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Meant:
    """One of several readings: what its words are called in it, and what it is told by."""

    name: str
    label: str
    bound: Bound


@dataclass(frozen=True, slots=True)
class Unclear:
    """A question with more than one reading: ask which."""

    words: str
    meant: tuple[Meant, ...]


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A question that cannot be answered faithfully, and the next step. `is_final`: nobody may read it otherwise.

    `understood` are the fields of the form that its other words fill in, `words` those that nobody understood.
    """

    message: str
    help: str | None = None
    words: tuple[str, ...] = ()
    is_final: bool = False
    understood: Understood = field(default_factory=dict)
    bindings: tuple[Binding, ...] = ()
