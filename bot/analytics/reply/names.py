"""Words that nobody understood may name a row, or a value: a person, a town. Looked up in the rows of the catalogue.

The catalogue lists no names, and a name alone does not say how its row belongs to the rest of the question, so nothing
is answered by it: the form begins with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from bot.analytics.headline import listed, readable
from bot.analytics.reading import NotUnderstood
from bylaw.authored.context import Dimension, Entity
from bylaw.authored.machines.access import Rights
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Filter, SemanticQuery, Unanswerable
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import Warehouse, WarehouseError

_MOST_WORDS = 6  # of one name
_MOST_ROWS = 50
_TEXTS = ("varchar", "char", "text", "string", "nvarchar")


@dataclass(frozen=True, slots=True)
class Named:
    """A row that words of the question name, or a value: the columns that say so. `told` is what it is one of."""

    words: str
    told: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Names:
    """Looks names up, as far as one person may see. `seen` keeps what was asked and found."""

    compiler: Compiler
    warehouse: Warehouse
    rights: Rights | None
    seen: dict[str, list[list[Any]]] = field(default_factory=dict)

    def told(self, unclear: NotUnderstood, text: str) -> NotUnderstood:
        """*unclear*, with the rows that its words name: in what is said, and in the form where only one is meant."""
        found = self._found(tuple(_runs(unclear.words, text)))
        if not found:
            return unclear
        words = found[0].words
        told = listed(dict.fromkeys(one.told for one in found))
        left = [word for word in unclear.words if word not in words.split()]
        rest = "I do not see how it belongs to the rest"
        if left:
            rest = f"I do not understand {listed(f'`{word}`' for word in left)} here"
        known = dict(unclear.understood)
        if len(found) == 1:
            filters = tuple(f"{name}={value}" for name, value in found[0].columns)
            known["filters"] = (*known.get("filters", ()), *filters)
        return replace(unclear, message=f"`{words}` is {told}, and {rest}", help=None, understood=known)

    def _found(self, runs: Sequence[str]) -> list[Named]:
        """What the longest of *runs* names, in each place where it does."""
        entities = self.compiler.context.entities.values() if runs else ()
        named = [one for entity in entities if self._may_know(entity) for one in self._in(entity, runs)]
        longest = max((len(one.words) for one in named), default=0)
        return [one for one in named if len(one.words) == longest]

    def _may_know(self, entity: Entity) -> bool:
        return self.rights is None or entity.base_table.schema_name in self.rights.schemas

    def _in(self, entity: Entity, runs: Sequence[str]) -> Iterator[Named]:
        """The rows of *entity* whose label is one of *runs*, and the values of its other texts that are."""
        if entity.label:
            yield from self._rows(entity, entity.label, runs, f"one of the {readable(entity.name)}")
        for one in entity.dimensions:
            if one.name not in (*entity.label, *entity.pii) and _is_open_text(one):
                yield from self._rows(
                    entity, [one.name], runs, f"a {readable(one.name)} of the {readable(entity.name)}"
                )

    def _rows(self, entity: Entity, columns: Sequence[str], runs: Sequence[str], told: str) -> Iterator[Named]:
        """The rows of *entity* in which *columns* together say one of *runs*."""
        names = tuple(f"{entity.name}.{short}" for short in columns)
        parts = tuple(dict.fromkeys(run for run in runs if len(names) == 1 or " " not in run))
        if len(names) > 1 and not any(" " in run for run in runs):
            return
        filters = tuple(Filter(dimension=name, values=parts) for name in names)
        query = SemanticQuery(dimensions=names, filters=filters, limit=_MOST_ROWS)
        known = {run.lower(): run for run in runs}
        for row in dict.fromkeys(self._asked(query)):
            said = " ".join(map(str, row)).lower()
            if said in known:
                yield Named(known[said], told, tuple(zip(names, map(str, row), strict=True)))

    def _asked(self, query: SemanticQuery) -> list[tuple[Any, ...]]:
        try:
            tree = self.compiler.compile(query, self.compiler.visible(self.rights))
            sql = written(tree.sql, self.warehouse.dialect)
            rows = self.warehouse.run(sql, _MOST_ROWS).rows
        except (Unanswerable, WarehouseError):
            return []  # a label that is no text, or nobody answers: then nothing is known of it
        self.seen[sql] = [list(row) for row in rows]
        return [tuple(row) for row in rows]


def _is_open_text(part: Dimension) -> bool:
    """Is it declared as text whose values the catalogue does not list?"""
    return (part.data_type or "").lower().startswith(_TEXTS) and not part.sample_values


def _runs(words: Sequence[str], text: str) -> Iterator[str]:
    """What may be a name: words that nobody understood, one behind the other, beginning with a capital letter."""
    for first, last in combinations(range(min(len(words), _MOST_WORDS) + 1), 2):
        run = " ".join(words[first:last])
        if run[:1].isupper() and run in text:
            yield run
