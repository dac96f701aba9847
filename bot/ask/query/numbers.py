"""The numbers of a query from the items that ask for them: metrics, aggregates, and what is made of several.

`of` of an asked number narrows its rows (`filter`, `having`, `time`), runs it on over the groups (`over`), says what
each of its values is of (`group`, for an average of numbers), or refines the numbers that it is made of (`asks`, in
their order). The names of made numbers are temporary: `renamed` gives them ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from bot.ask.query.conditions import read_conditions, spell_number
from bot.ask.query.groups import read_groups
from bot.ask.query.names import Means, is_number, rate_of, unit_of
from bot.ask.query.spans import read_window
from bylaw.hold.item import Item
from bylaw.hold.targets import Expression, parse_expression
from bylaw.language.lexicon import lexicon
from bylaw.semantic.query import Difference, Measure, Over, Ratio, Summary, Unanswerable

_SUMMARIES = ("avg", "median", "min", "max")
_MOST_PERIODS = 1_000
_OVERS = tuple(one for one in get_args(Over) if one != "value")


@dataclass
class Numbers:
    """What a query computes beside the numbers of the catalogue, as far as it is read."""

    means: Means
    measures: list[Measure] = field(default_factory=list)
    ratios: list[Ratio] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)

    def _new(self) -> str:
        count = len(self.measures) + len(self.ratios) + len(self.differences) + len(self.summaries)
        return f"number {count + 1}"

    def read(self, item: Item) -> str:
        """The name of the number that *item* asks for. Raises Unanswerable."""
        expression = parse_expression(item.name or "")
        match expression.function:
            case "share":
                return self._share(item, expression)
            case "ratio":
                return self._ratio(item, expression)
            case "difference" | "growth":
                return self._difference(item, expression)
            case function if function in _SUMMARIES and is_number(expression.arguments[0], self.means):
                return self._summary(item, expression)
        return self._measure(item, spell_number(item, self.means))

    # ---- one number

    def _measure(self, item: Item, name: str) -> str:
        """The number *name* as the item narrows it, dates it, runs it on; itself where it says nothing more."""
        overs = [one for one in item.of if one.kind == "over"]
        times = [one for one in item.of if one.kind == "time" and one.name is None]
        rest = [one for one in item.of if one not in overs and one not in times]
        if len(times) > 1 or len(overs) > 1:
            raise Unanswerable(f"`{item.name}` is of one time, and runs on in one way")
        made = Measure(name=name, metric=name, filters=read_conditions(rest, self.means, None))
        if times:
            made = made.model_copy(update={"window": read_window(times[0], self.means)})
        if overs:
            made = made.model_copy(update=read_over(overs[0]))
        if item.unit is not None:
            made = made.model_copy(update=self._scale(item.unit, name))
        if made == Measure(name=name, metric=name):
            return name
        return self.add(made)

    def add(self, made: Measure) -> str:
        """The name under which the query has *made*."""
        found = made.model_copy(update={"name": self._new()})
        self.measures.append(found)
        return found.name

    def _scale(self, unit: str, name: str) -> dict[str, Any]:
        own = unit_of(name, self.means)
        many = lexicon().scales.get(unit)
        if many is not None:
            return {"scale": (1, many), "unit": f"{unit} {own}" if own else unit}
        if own is not None and unit.casefold() == own.casefold():
            return {}
        rate = 1 / rate_of(unit, own, name)
        return {"scale": (rate.numerator, rate.denominator), "unit": unit}

    # ---- numbers of numbers

    def _share(self, item: Item, expression: Expression) -> str:
        """The part that `of` picks, of the whole; without `of` the part that each group has."""
        whole = self._part(expression, 0)
        of = [one for one in item.of if one.kind in ("filter", "having")]
        if not of:
            over = Item(kind="over", value="share")
            return self._measure(item.model_copy(update={"of": [*item.of, over]}), self.read(whole))
        if len(of) < len(item.of):
            raise Unanswerable(f"`{item.name}` is of the rows that its `of` picks", "say everything else beside it")
        part = whole.model_copy(update={"of": of})
        made = Ratio(name="", numerator=self.read(part), denominator=self.read(whole), in_percent=_is_percent(item))
        return self._add_ratio(made)

    def _ratio(self, item: Item, expression: Expression) -> str:
        if len(expression.arguments) != 2:
            raise Unanswerable(f"`{item.name}` is of two numbers", "write `ratio(a, b)`")
        parts, rest = self._refined(item, expression)
        conditions = [one for one in rest if one.kind in ("filter", "having")]
        if len(conditions) > 1 and parts[0] == parts[1]:
            message = f"`{item.name}` is of one number twice, and nothing says which of the two each condition narrows"
            raise Unanswerable(message, "give an `asks` for each of the two in `of`, each with an `of` of its own")
        upper = parts[0].model_copy(update={"of": [*parts[0].of, *conditions]})
        made = Ratio(name="", numerator=self.read(upper), denominator=self.read(parts[1]), in_percent=_is_percent(item))
        left = [one for one in rest if one not in conditions]
        unit = None if made.in_percent else item.unit
        return self._measure(item.model_copy(update={"of": left, "unit": unit}), self._add_ratio(made))

    def _add_ratio(self, made: Ratio) -> str:
        found = made.model_copy(update={"name": self._new()})
        self.ratios.append(found)
        return found.name

    def _difference(self, item: Item, expression: Expression) -> str:
        """How far the second number lies above the first: `difference(before, after)`, or its `growth`."""
        if len(expression.arguments) != 2:
            raise Unanswerable(f"`{item.name}` is of two numbers", f"write `{expression.function}(before, after)`")
        parts, rest = self._refined(item, expression)
        before, after = (self.read(one) for one in parts)
        name = self._new()
        is_growth = expression.function == "growth"
        self.differences.append(Difference(name=name, before=before, after=after, is_growth=is_growth))
        return self._measure(item.model_copy(update={"of": rest}), name)

    def _refined(self, item: Item, expression: Expression) -> tuple[list[Item], list[Item]]:
        """The two numbers of an expression as the `asks` in `of` refine them, and what else `of` says."""
        given = [one for one in item.of if one.kind == "asks"]
        parts = [self._part(expression, k) for k in range(len(expression.arguments))]
        for k, part in enumerate(parts):
            found = next((one for one in given if one.name == part.name), None)
            if found is not None:
                given.remove(found)
                parts[k] = found
        if given:
            raise Unanswerable(f"`{item.name}` is not made of `{given[0].name}`", "name a number that stands in it")
        return parts, [one for one in item.of if one.kind != "asks"]

    @staticmethod
    def _part(expression: Expression, k: int) -> Item:
        return Item(kind="asks", name=expression.arguments[k].text)

    def _summary(self, item: Item, expression: Expression) -> str:
        """An aggregate of what each of something has; `group` in `of` says of each what."""
        groups = [one for one in item.of if one.kind == "group"]
        rest = [one for one in item.of if one.kind != "group"]
        if not groups:
            message = f"`{item.name}` is of what each of something has"
            raise Unanswerable(message, "say of each what: a `group` in its `of`")
        if item.unit is not None:
            raise Unanswerable(f"`{item.name}` is told in the unit of its number, not in {item.unit}")
        known = read_groups(groups, self.means)
        part = self._part(expression, 0).model_copy(update={"of": rest})
        made = Summary(
            name="",
            agg=cast(Any, expression.function),
            metric=self.read(part),
            per=known.per,
            dimensions=known.dimensions,
            grain=known.grain,
            with_empty=known.with_empty,
        )
        self.summaries.append(made.model_copy(update={"name": self._new()}))
        return self.summaries[-1].name


def _is_percent(item: Item) -> bool:
    return item.unit in ("percent", "%")


def read_over(item: Item) -> dict[str, Any]:
    """What a number does over the groups; of a moving average also over how many periods. Raises Unanswerable."""
    kind, *periods = item.values or (None,)
    if kind not in _OVERS:
        raise Unanswerable(f"`over` is one of {', '.join(_OVERS)}, not `{kind}`")
    is_moving = kind == "moving"
    if len(periods) != is_moving or not all(isinstance(one, int) and 1 <= one <= _MOST_PERIODS for one in periods):
        raise Unanswerable("a moving average is over some periods", "write `value: [moving, 3]`")
    return {"over": kind, "periods": periods[0] if periods else 1}


def told_once(names: Sequence[str], means: Means) -> list[str]:
    """The numbers, each once: "how many orders", beside a metric that counts them all, is that metric."""
    metrics = {_made_of(name, means): name for name in names if name in means.context.metrics}
    return list(dict.fromkeys(metrics.get(_made_of(name, means), name) for name in names))


def _made_of(name: str, means: Means) -> tuple[str, str, str]:
    """What a plain number is made of: the aggregate, the entity, the column; of another number only its name."""
    metric = means.context.metrics.get(name)
    if metric is not None:
        is_plain = metric.entity is not None and metric.agg is not None and metric.filter is None
        if not is_plain or metric.agg not in ("count", "sum", "avg", "min", "max", "median"):
            return name, "", ""
        return str(metric.agg), str(metric.entity), "" if metric.agg == "count" else str(metric.expr)
    expression = parse_expression(name)
    if expression.function is None or len(expression.arguments) != 1:
        return name, "", ""
    place, _, short = expression.arguments[0].text.partition(".")
    entity = means.context.entities.get(place)
    column = next((one.sql for one in entity.facts if one.name == short), short) if entity is not None else short
    return expression.function, place, column
