"""Numbers beside each other: one for each span of time, for each value, or how far one lies above another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.numbers import Decided, identifier
from bot.analytics.reader.meaning.spans import Side
from bot.analytics.reader.reading import Stop, not_understood
from bylaw.semantic.query import Condition, Difference, Filter, Measure, Order

_KINDS = {"change": (False,), "growth": (True,), "both": (False, True)}


@dataclass(slots=True)
class Compared:
    """The numbers of the answer. `instead` says which of them stands for a number when rows are sorted by it."""

    names: list[str]
    differences: list[Difference] = field(default_factory=list)
    instead: dict[str, str] = field(default_factory=dict)

    def sorted_by(self, orders: Sequence[Order]) -> tuple[Order, ...]:
        """*orders* by what stands in the answer."""
        return tuple(order.model_copy(update={"by": self.instead.get(order.by, order.by)}) for order in orders)


def compared_spans(draft: QueryDraft, numbers: Sequence[Decided], sides: Sequence[Side]) -> Compared:
    """A measure for each number and span, and how far the later one lies above the earlier one where that is asked."""
    said = draft.said
    if draft.more or said.ratio is not None:
        raise Stop(not_understood("I cannot put these numbers side by side for several spans", "ask for one at a time"))
    found = Compared([])
    for number in numbers:
        known = number.measure
        if known is not None and (known.over != "value" or known.window is not None):
            raise Stop(not_understood("I cannot compare spans of a number that compares periods itself"))
        if known in draft.measures:
            draft.measures.remove(known)
        metric, filters = (known.metric, known.filters) if known is not None else (number.name, ())
        made = [
            Measure(
                name=identifier(f"{number.name}_{side.label}").lower(),  # PostgreSQL folds what is not quoted
                metric=metric,
                filters=(*filters, *side.parts),
                window=side.window,
                scale=known.scale if known is not None else (1, 1),
                unit=known.unit if known is not None else None,
            )
            for side in sides
        ]
        draft.measures += made
        names = [measure.name for measure in made]
        found.instead[number.name] = names[0]
        found.names += names
    return found


def rank_compared(draft: QueryDraft, found: Compared, orders: tuple[Order, ...]) -> tuple[Order, ...]:
    """What the first rows are the first by: of several columns the one that the words name."""
    said = draft.said
    if said.limit is None and not said.is_ranking:
        return orders
    if None in (None, "both") or len(found.names) != 1:
        words = "top"
        raise Stop(not_understood(f"I do not see by which column `{words}` ranks", "say `by percent growth`", (words,)))
    return (Order(by=found.names[0], descending=said.descending is not False),)


def _differences(name: str, before: str, after: str, kinds: Sequence[bool]) -> list[Difference]:
    return [
        Difference(name=f"{name}_{'growth' if kind else 'change'}", before=before, after=after, is_growth=kind)
        for kind in kinds
    ]


def decide_compared(draft: QueryDraft, found: Compared, filters: list[Condition], dimensions: list[str]) -> None:
    """What is compared where it is no spans: values, numbers, or each period with the one before."""
    said = draft.said
    if said.compares and len(found.names) < 2:
        several = [part.dimension for part in filters if isinstance(part, Filter) and len(part.values) > 1]
        dimensions += [name for name in dict.fromkeys(several) if name not in dimensions]
        if not dimensions and said.grain is None:
            words = said.compares
            message = f"I do not see what to put side by side with `{words}`"
            raise Stop(not_understood(message, "name two spans of time, two values or a group", (words,)))
