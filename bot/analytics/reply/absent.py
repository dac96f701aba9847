"""No rows where a value was named: is there such a value at all? If not, which one is meant, the nearest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from bot.analytics.plan.execution import Execution
from bot.analytics.plan.interfaces import ExecutionRequest, Results
from bot.conversation import Choice
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import AnyOf, Condition, Filter, Related, SemanticQuery, Unanswerable
from bylaw.semantic.rights import VisibleRows
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import WarehouseError

_OFFERED = 5
_LOOKED_AT = 2_000  # values of a column among which near ones are looked for
_COMPARED = ("in", "contains", "starts_with", "ends_with")


@dataclass(frozen=True, slots=True)
class Absent:
    """A value that no row has, in which column, and the nearest that some have."""

    value: str
    dimension: str
    nearest: tuple[str, ...]

    @property
    def text(self) -> str:
        column = self.dimension.partition(".")[2].replace("_", " ")
        said = f"No row has `{self.value}` as its {column}, so I do not answer with nothing."
        return f"{said} Which value is meant?" if self.nearest else said

    def choices(self, text: str) -> tuple[Choice, ...]:
        """The question with each near value in the place of the one that is not there, where the question names it."""
        named = re.compile(rf"(?<!\w){re.escape(self.value)}(?!\w)", re.IGNORECASE)
        found = named.search(text)
        if found is None:
            return ()
        begins, ends = found.span()
        return tuple(Choice(value=f'{text[:begins]}"{one}"{text[ends:]}', label=one) for one in self.nearest)


def looked_up(
    query: SemanticQuery,
    shown: Results,
    compiler: Compiler,
    execution: Execution,
    request: ExecutionRequest,
    visible: VisibleRows | None,
) -> Absent | None:
    """The first value of *query* that no row has, where *shown* has nothing; None where all are there."""
    if not _is_empty(shown):
        return None

    def values(dimension: str, filters: Sequence[Condition], limit: int) -> list[str]:
        asked = SemanticQuery(dimensions=(dimension,), filters=tuple(filters), limit=limit)
        sql = written(compiler.compile(asked, visible).sql, execution.dialect)
        probe = request.model_copy(update={"sql": sql})
        planned = execution.planned(probe)
        found = execution.executed(probe, planned, limit).results if planned.validation.is_allowed else None
        return [str(row[0]) for row in found.rows if row[0] is not None] if found is not None else []

    try:
        for one in _named(query.filters):
            for value in one.values:
                alone = one.model_copy(update={"values": (value,)})
                if not values(one.dimension, (alone,), 1) and (known := values(one.dimension, (), _LOOKED_AT)):
                    return Absent(str(value), one.dimension, _nearest(str(value), known))
    except (Unanswerable, WarehouseError):
        return None
    return None


def _is_empty(shown: Results) -> bool:
    """No rows, or only noughts and nothing."""
    cells = [cell for row in shown.rows for cell in row]
    return all(cell is None or (isinstance(cell, int | float | Decimal) and not cell) for cell in cells)


def _named(conditions: Sequence[Condition]) -> Iterator[Filter]:
    """The conditions that name a text, those on related rows too."""
    for one in conditions:
        match one:
            case Filter() if one.operator in _COMPARED and not one.negated:
                if any(isinstance(value, str) for value in one.values):
                    yield one
            case AnyOf():
                yield from _named(one.any_of)
            case Related():
                yield from _named(one.filters)


def _nearest(value: str, known: Sequence[str]) -> tuple[str, ...]:
    from rapidfuzz import fuzz, process, utils

    found = process.extract(
        value, list(dict.fromkeys(known)), scorer=fuzz.WRatio, processor=utils.default_process, limit=_OFFERED
    )
    return tuple(name for name, score, _ in found)
