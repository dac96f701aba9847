"""Numbers beside each other: one for each span of time, for each value, or how far one lies above another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.analytics.meaning.draft import Draft
from bot.analytics.meaning.numbers import Decided, identifier
from bot.analytics.meaning.spans import Side
from bot.analytics.reading import Stop, not_understood
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


def compared_spans(draft: Draft, numbers: Sequence[Decided], sides: Sequence[Side]) -> Compared:
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
        if said.change is not None:
            if len(sides) != 2:
                raise Stop(not_understood("a change lies between two spans of time", "name two of them"))
            before, after = names if sides[0].starts <= sides[1].starts else names[::-1]
            own = _differences(identifier(number.name), before, after, _KINDS[said.change])
            found.differences += own
            found.instead[number.name] = own[0].name
            names = [*(names if said.change == "both" else ()), *(part.name for part in own)]
        found.names += names
    return found


def rank_compared(draft: Draft, found: Compared, orders: tuple[Order, ...]) -> tuple[Order, ...]:
    """What the first rows are the first by: of several columns the one that the words name."""
    said = draft.said
    if said.limit is None and not said.is_ranking:
        return orders
    if said.change in (None, "both") or len(found.names) != 1:
        words = said.change_words or "top"
        raise Stop(not_understood(f"I do not see by which column `{words}` ranks", "say `by percent growth`", (words,)))
    return (Order(by=found.names[0], descending=said.descending is not False),)


def _differences(name: str, before: str, after: str, kinds: Sequence[bool]) -> list[Difference]:
    return [
        Difference(name=f"{name}_{'growth' if kind else 'change'}", before=before, after=after, is_growth=kind)
        for kind in kinds
    ]


def decide_compared(draft: Draft, found: Compared, filters: list[Condition], dimensions: list[str]) -> None:
    """What is compared where it is no spans: values, numbers, or each period with the one before."""
    said = draft.said
    if said.change is not None:
        if said.grain is not None and len(found.names) == 1:
            _each_period(draft, found, said.change)
        elif said.change == "change" and len(found.names) == 2 and not (draft.more or _is_shared(draft)):
            after, before = found.names
            _put_difference(found, after, before)
        elif said.change == "change" and len(found.names) == 1 and len(both := _two_values(filters)) == 1:
            _each_value(draft, found, both[0])
            filters.remove(both[0])
        else:
            words = said.change_words
            raise Stop(not_understood(f"I do not see between what `{words}` is", "name two spans of time", (words,)))
    elif said.compares and len(found.names) < 2:
        several = [part.dimension for part in filters if isinstance(part, Filter) and len(part.values) > 1]
        dimensions += [name for name in dict.fromkeys(several) if name not in dimensions]
        if not dimensions and said.grain is None:
            words = said.compares
            message = f"I do not see what to put side by side with `{words}`"
            raise Stop(not_understood(message, "name two spans of time, two values or a group", (words,)))


def _put_difference(found: Compared, after: str, before: str) -> None:
    """One number less the other, instead of both."""
    found.differences = _differences(identifier(after), before, after, (False,))
    (found.names,) = ([one.name] for one in found.differences)
    found.instead |= dict.fromkeys((after, before), found.names[0])


def _is_shared(draft: Draft) -> bool:
    """Is one value said of each of two numbers, where the values of one column are told together?"""
    places = [number.begins for number in draft.said.numbers[1:]]
    return any(one.begins < place < one.ends for one in draft.said.conditions for place in places)


def _two_values(filters: Sequence[Condition]) -> list[Filter]:
    """The conditions that ask for either of two values."""
    plain = [part for part in filters if isinstance(part, Filter) and part.operator == "in" and not part.negated]
    return [part for part in plain if len(part.values) == 2]


def _each_value(draft: Draft, found: Compared, both: Filter) -> None:
    """ "The difference between the number of online and store orders": a number of each, less the other."""
    (name,) = found.names
    known = next((measure for measure in draft.measures if measure.name == name), Measure(name=name, metric=name))
    if known.over != "value" or any(ratio == name for ratio in (part.name for part in draft.summaries)):
        raise Stop(not_understood("I cannot put this number side by side for two values", "ask for one at a time"))
    made = [
        known.model_copy(
            update={
                "name": identifier(f"{name}_{value}").lower(),
                "filters": (*known.filters, both.model_copy(update={"values": (value,)})),
            }
        )
        for value in both.values
    ]
    draft.measures = [measure for measure in draft.measures if measure.name != name] + made
    _put_difference(found, *(measure.name for measure in made))
    found.instead[name] = found.names[0]


def _each_period(draft: Draft, found: Compared, change: str) -> None:
    """ "Growth by month": each number, and how far it lies above that of the period before."""
    (name,) = found.names
    known = next((measure for measure in draft.measures if measure.name == name), None)
    if known is not None and known.over != "value":
        return  # "month over month change": it is one
    made = [
        Measure(name=f"{identifier(name)}_{over}", metric=name, over=over)
        for over, is_growth in (("change", False), ("growth", True))
        if is_growth in _KINDS[change]
    ]
    draft.measures += made
    found.names += [measure.name for measure in made]
