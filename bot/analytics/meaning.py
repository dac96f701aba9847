"""What a question says + the catalogue → a semantic query. Of several readings the one that the question points to.

A word that could mean several things means the one that belongs to what the words around speak of, then the one
nearest to what is counted. Where two are equally near, nobody guesses: the person who asked is asked back.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.analytics.nearness import Nearness
from bot.analytics.present import readable
from bot.analytics.reading import Stop, carried, not_understood, unclear
from bot.analytics.said import Narrowing, NumberSaid, OrderSaid, Ref, RelatedSaid, Said, TimeSaid
from bot.analytics.scope import Target
from bot.analytics.wording import AMOUNTS, DESTINATIONS, GRAINS, ORIGINS, UNITS
from bylaw.authored.context import Aggregation, Context, Dimension, Metric
from bylaw.language.dates import FIRST_DAY, LAST_DAY
from bylaw.language.words import read_words
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.expressions import columns_of
from bylaw.semantic.query import (
    AnyOf,
    Condition,
    Filter,
    Measure,
    Order,
    Ratio,
    Related,
    SemanticQuery,
    Window,
)

_COUNTS = ("count", "count_distinct")
_NOWHERE = 1_000_000
_NO_QUERY = SemanticQuery(metrics=("none",))


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that was decided: its name in the query, the entity whose rows it counts, and its measure if it has one."""

    name: str
    base: str
    measure: Measure | None = None


class Binder:
    """Decides what one question means."""

    def __init__(
        self,
        context: Context,
        compiler: Compiler,
        nearness: Nearness,
        said: Said,
        text: str,
        previous: SemanticQuery | None = None,
        follows: bool = False,
    ) -> None:
        self.context, self.compiler, self.nearness = context, compiler, nearness
        self.said, self.text, self.previous, self.follows = said, text, previous, follows
        self.base: str | None = None
        self.per: list[str] = []
        self.rivals = 0
        self.measures: list[Measure] = []
        self.more: list[str] = []  # numbers found among what is shown
        self.names: dict[str, str] = {}  # what the words of the question were decided to mean

    def query(self) -> SemanticQuery:
        """The query. Raises Stop with what stands in the way."""
        said, previous = self.said, self.previous
        self._stop_at_definitions()
        self._decide_frequent()
        self._decide_facts()
        self._decide_extremes()
        numbers = self._all_numbers()
        ratios = self._ratio()
        if not numbers and not ratios:
            if previous is None or said.subject is not None:
                return self._list()
            return self._changed(previous)
        query = self._numbers(numbers, ratios)
        self._stop_at_units()
        self._stop_at_bare_word(query)
        all_time = any(time.span.start is None for time in said.times)
        return carried(query, previous, all_time) if previous is not None and self.follows else query

    def _changed(self, previous: SemanticQuery) -> SemanticQuery:
        """The question before, with what this one says put in its place."""
        self.follows = True
        self.measures = list(previous.measures)
        if previous.is_list:
            self.base = previous.dimensions[0].partition(".")[0]
            filters = self._filters()
            self._list_window(filters)
            shown = tuple(self._shown(ref) for ref in self.said.outputs)
            return previous.model_copy(
                update={"filters": (*previous.filters, *filters), "dimensions": shown or previous.dimensions}
            )
        numbers = [_Number(name, self._base_of(name, previous)) for name in previous.metrics]
        query = self._numbers(numbers, list(previous.ratios))
        return carried(query, previous, any(time.span.start is None for time in self.said.times))

    def _base_of(self, name: str, query: SemanticQuery) -> str:
        """The entity whose rows a number of *query* counts."""
        measure = next((part for part in query.measures if part.name == name), None)
        ratio = next((part for part in query.ratios if part.name == name), None)
        if measure is not None or ratio is not None:
            return self._base_of(measure.metric if measure else ratio.numerator if ratio else "", query)
        if name.endswith(")"):
            return name.partition("(")[2][:-1].partition(".")[0]
        return self.compiler.base_of(name)

    def _stop_at_bare_word(self, query: SemanticQuery) -> None:
        """ "A refund for a TV" names rows and asks for no number of them: nothing says how many, by what or when."""
        said = self.said
        named = [number for number in said.numbers if number.agg is None and number.ref.entities]
        asks = (
            said.counts or query.grain or said.times or query.dimensions or query.per or said.ratio or said.is_ranking
        )
        if self.follows or asks or not named or len(named) < len(said.numbers):
            return
        words = named[0].ref.words
        message = f"I do not see what you want to know about `{words}`"
        raise Stop(not_understood(message, f"ask `how many {words}`, or for a metric by name", (words,)))

    def _numbers(self, numbers: list[_Number], ratios: list[Ratio]) -> SemanticQuery:
        """The query for these numbers and everything else that is said."""
        said = self.said
        if self.base is None:
            self.base = numbers[0].base
        self._decide_grains()
        metrics = list(dict.fromkeys([number.name for number in numbers] + [ratio.name for ratio in ratios]))
        dimensions = self._groups()
        if said.grain is None:
            used = [self.context.metrics[number.name] for number in numbers if number.name in self.context.metrics]
            said.grain = next((metric.time_granularity for metric in used if metric.time_granularity), None)
        if said.grain and self._default_time(self.base) is None and (part := self._part(self.base, said.grain)):
            dimensions.insert(0, f"{self.base}.{part.name}")
            said.grain = None
        filters = self._filters()
        window, time_dimension = self._window(filters)
        orders = self._orders(dimensions)
        limit = said.limit
        is_ranked = said.is_ranking or any(number.is_extreme for number in said.numbers)
        if limit is None and orders and is_ranked and not self._asks_for_many():
            limit = 1
        if (orders or said.is_ranking) and not dimensions and not self.per and said.grain is None:
            if said.is_ranking or said.limit:
                raise Stop(
                    not_understood("I do not see what should be ranked", "name a dimension: `top 5 regions by …`")
                )
            orders = ()
        self._stop_at_strangers()
        self._stop_at_strays()
        return SemanticQuery(
            metrics=tuple(dict.fromkeys((*metrics, *self.more))),
            measures=tuple(self.measures),
            ratios=tuple(ratios),
            dimensions=tuple(dimensions),
            per=tuple(self.per),
            filters=tuple(filters),
            window=window,
            time_dimension=time_dimension,
            grain=said.grain,
            with_empty=said.with_empty,
            order=orders,
            limit=limit,
        )

    # ---- numbers

    def _decide_extremes(self) -> None:
        """ "The car with the highest price" ranks rows; "the highest price per make" is a maximum."""
        said = self.said
        plain = [number for number in said.numbers if not number.is_extreme]
        extremes = [number for number in said.numbers if number.is_extreme]
        if not extremes or plain or said.groups or said.ratio:
            for number in extremes:
                if (plain or said.groups) and number.ref.of("metric") and (said.subject or said.ranked or said.outputs):
                    self._rank_by(number)
            return
        subject = said.subject or said.ranked or (said.heads[0] if said.heads and said.outputs else None)
        for number in extremes:
            owners = {target.owner for target in number.ref.of("fact", "time")}
            if number.ref.of("metric") and not owners:
                self._rank_by(number)
            elif subject is not None and owners & set(subject.entities):
                said.numbers.remove(number)
                said.orders.append(OrderSaid(number.ref, number.agg == "max"))
                said.is_ranking = True

    def _stop_at_definitions(self) -> None:
        """A definition that the question brings along must be the one of the catalogue."""
        for names, part in self.said.definitions:
            parts = {name for target in names for name in self._made_of(target.name)}
            meant = {target.name for target in part.targets} | {f"sum({target.name})" for target in part.of("fact")}
            if not parts & meant:
                message = f"the catalogue does not make `{names[0].name}` of `{part.words}`"
                raise Stop(not_understood(message, "ask for the metric by its name alone", (part.words,)))

    def _made_of(self, name: str, depth: int = 0) -> set[str]:
        """The metrics and facts that a metric computes with, and itself."""
        metric = self.context.metrics.get(name)
        if metric is None or depth > 5:
            return {name}
        parts = [part.name for part in metric.inputs] + [
            half for half in (metric.numerator, metric.denominator) if half
        ]
        found = {name} | {inner for part in parts for inner in self._made_of(part, depth + 1)}
        if metric.type == "simple" and metric.entity in self.context.entities:
            entity = self.context.entities[metric.entity]
            found |= {f"{entity.name}.{fact.name}" for fact in entity.facts if fact.sql == metric.expr}
            found.add(entity.name)
            found |= {owner for owner, _ in columns_of(metric.filter, entity.name)} if metric.filter else set()
        return found

    def _decide_facts(self) -> None:
        """ "The payment and the reserve by claim": facts that are grouped are numbers."""
        said = self.said
        facts = [ref for ref in said.outputs if ref.of("fact") and not ref.of("dimension", "time")]
        if said.numbers or not said.groups or len(facts) < len(said.outputs):
            return
        for ref in facts:
            said.outputs.remove(ref)
            said.numbers.append(NumberSaid(ref))

    def _decide_frequent(self) -> None:
        """ "The most used device types for sessions" counts sessions: the rows spoken of, or those that have the type."""
        said = self.said
        if not said.is_frequent or any(number.agg == "count" for number in said.numbers):
            return
        ranked = said.ranked or said.subject or (said.outputs[0] if said.outputs else None)
        heads = [head for head in said.heads if ranked is None or not set(head.entities) & set(ranked.entities)]
        if heads:
            said.numbers.append(NumberSaid(heads[-1], "count"))
        elif ranked is not None and not ranked.entities:
            targets = tuple(Target("entity", owner) for owner in dict.fromkeys(ranked.near or ranked.owners))
            said.numbers.append(NumberSaid(Ref(ranked.words, targets), "count"))

    def _all_numbers(self) -> list[_Number]:
        """Every number; one that could be several is decided after those that are sure, by what they count."""
        found: dict[int, _Number] = {}
        waiting: list[int] = []
        for place, number in enumerate(self.said.numbers):
            try:
                found[place] = self._number(number)
            except Stop:
                waiting.append(place)
                continue
            self.base = self.base or found[place].base
        for place in waiting:
            found[place] = self._number(self.said.numbers[place])
            self.base = self.base or found[place].base
        return [found[place] for place in sorted(found)]

    def _stop_at_units(self) -> None:
        """A unit that was asked for and that nothing says the number has."""
        said = " ".join(
            f"{part.name} {part.description or ''} {' '.join(part.synonyms)}".lower()
            for entity in self.context.entities.values()
            for part in (*entity.facts, *entity.time_dimensions, *entity.dimensions)
            if any(f"{entity.name}.{part.name}" in name for name in self.names.values())
        )
        said += " ".join(
            f" {metric.name} {metric.description or ''} {metric.unit or ''}".lower()
            for name, metric in self.context.metrics.items()
            if name in self.names.values()
        )
        for unit in self.said.units:
            if not any(spelling in said for spelling in UNITS[unit]):
                raise Stop(
                    not_understood(f"nothing says that the number is in `{unit}`", "ask without the unit", (unit,))
                )

    def _decide_grains(self) -> None:
        """ "Monthly" may be the name of a plan; where the rows lead to no plan, it says how to group."""
        assert self.base is not None
        for narrowing in list(self.said.conditions):
            grain = GRAINS.get(narrowing.ref.words.lower())
            owners = {target.owner for target in narrowing.ref.of("value")}
            if (
                grain
                and narrowing.values
                and not narrowing.is_labelled
                and not any(self.nearness.leads_to_one(self.base, name) for name in owners)
            ):
                self.said.conditions.remove(narrowing)
                self.names[narrowing.ref.words] = grain
                self.said.grain = grain

    def _rank_by(self, number: NumberSaid) -> None:
        number.is_extreme, descending = False, number.agg == "max"
        number.agg = None
        self.said.orders.append(OrderSaid(number, descending))
        self.said.is_ranking = True

    def _asks_for_many(self) -> bool:
        """Is what is ranked in the plural, or is there nothing to take one of?"""
        asked = self.said.ranked or self.said.subject
        if asked is None:
            asked = self.said.groups[0] if self.said.groups else None
            return asked is not None
        return asked.is_plural

    def _number(self, number: NumberSaid) -> _Number:
        name, base = self._named(number)
        filters: tuple[Condition, ...] = tuple(self._condition(narrowing, base) for narrowing in number.conditions)
        filters += tuple(self._related(part, base) for part in number.related)
        if filters or number.over != "value":
            short = _identifier(name, len(self.measures), number.over)
            measure = Measure(name=short, metric=name, filters=filters, over=number.over)
            self.measures.append(measure)
            return _Number(short, base, measure)
        return _Number(name, base)

    def _named(self, number: NumberSaid) -> tuple[str, str]:
        name, base = self._decided(number)
        name = self._declared(name)
        self.names[number.ref.words] = name
        return name, base

    def _declared(self, name: str) -> str:
        """The metric of the catalogue that is exactly this aggregate, so that one number has one name."""
        agg, _, inside = name.partition("(")
        owner, _, short = inside[:-1].partition(".")
        if not inside or owner not in self.context.entities:
            return name
        entity = self.context.entities[owner]
        fact = next((fact for fact in entity.facts if fact.name == short), None)
        for known, metric in sorted(self.context.metrics.items()):
            same = metric.type == "simple" and metric.entity == owner and metric.agg == agg and self._is_plain(metric)
            is_all = metric.expr in (None, "*") or [metric.expr] == (entity.primary_key and entity.primary_key.columns)
            if same and ((fact is not None and metric.expr == fact.sql) or (not short and is_all)):
                return known
        return name

    def _is_plain(self, metric: Metric) -> bool:
        """Is it the aggregate and nothing else?"""
        default = (
            self.context.entities[metric.entity].default_time() if metric.entity in self.context.entities else None
        )
        return (
            metric.filter is None
            and metric.time_granularity is None
            and metric.non_additive_dimension is None
            and metric.time_dimension in (None, default.name if default else None)
        )

    def _decided(self, number: NumberSaid) -> tuple[str, str]:
        ref, agg = number.ref, number.agg
        metrics = list(dict.fromkeys(target.name for target in ref.of("metric")))
        if agg == "count" and number.is_total and ref.entities and any(word in AMOUNTS for word in _normal(ref.words)):
            entity = self.context.entities[self._choose(ref, ref.of("entity")).name]
            amounts = [f"total {readable(fact.name)}" for fact in entity.facts if fact.default_aggregation == "sum"]
            if amounts:
                raise Stop(unclear(self.text, ref.words, [f"number of {ref.words}", *amounts], self.context))
        if agg == "count":
            counting = [name for name in metrics if self.context.metrics[name].agg in _COUNTS]
            if ref.entities:
                return self._count(ref, counting)
            if metrics and not counting:
                message = f"`{metrics[0]}` is no count, and the question asks how many"
                raise Stop(not_understood(message, "ask for it without counting words, or for a metric that counts"))
            if counting:
                return self._one_metric(ref, counting)
            target = self._choose(ref, ref.of("dimension", "fact", "time"))
            if target.kind == "fact":
                return self._added_up(target, ref)
            if self._is_key(target):
                return self._count(Ref(ref.words, (Target("entity", target.owner),)), [])
            return f"count_distinct({target.name})", target.owner
        facts = ref.of("fact", "time", "dimension")
        if metrics and (agg is None or self._fits(metrics, agg) or not facts):
            return self._one_metric(ref, metrics, agg)
        target = self._choose(ref, facts)
        agg = agg or self._own_aggregation(target, ref)
        if target.kind != "fact" and (agg not in ("min", "max") or target.kind == "dimension"):
            raise Stop(not_understood(f"`{ref.words}` is no number, so it has no {agg}", None, (ref.words,)))
        return f"{agg}({target.name})", target.owner

    def _added_up(self, target: Target, ref: Ref) -> tuple[str, str]:
        """ "Number of citations", where each row has one: the numbers are added up, rows are not counted."""
        if self._own_aggregation(target, ref) != "sum":
            words = ref.words
            raise Stop(not_understood(f"I do not see how `{words}` are counted", f"say `total {words}`", (words,)))
        return f"sum({target.name})", target.owner

    def _own_aggregation(self, target: Target, ref: Ref) -> Aggregation:
        owner, _, short = target.name.partition(".")
        fact = next((fact for fact in self.context.entities[owner].facts if fact.name == short), None)
        if fact is None or fact.default_aggregation is None:
            words = ref.words
            raise Stop(
                not_understood(
                    f"I do not see whether `{words}` is added up or averaged",
                    f"say `total {words}` or `average {words}`",
                    (words,),
                )
            )
        return fact.default_aggregation

    def _fits(self, metrics: Sequence[str], agg: Aggregation) -> bool:
        return any(self._aggregates(self.context.metrics[name], agg) for name in metrics)

    def _aggregates(self, metric: Metric, agg: Aggregation) -> bool:
        """Is the metric by itself what "total" or "average" says?"""
        if agg == "sum":
            return metric.agg in ("sum", *_COUNTS) or metric.type in ("derived", "cumulative")
        return metric.agg == agg or (agg == "avg" and metric.type == "ratio")

    def _one_metric(self, ref: Ref, names: Sequence[str], agg: Aggregation | None = None) -> tuple[str, str]:
        if agg is not None:
            fitting = [name for name in names if self._aggregates(self.context.metrics[name], agg)]
            if not fitting and agg == "sum":
                raise Stop(not_understood(f"`{names[0]}` does not add up, so I cannot give a total of it"))
            if not fitting:
                message = f"I cannot give the {agg} of `{ref.words}`"
                raise Stop(not_understood(message, "ask for the metric as it is", (ref.words,)))
            names = fitting
        if len(names) > 1:
            raise Stop(unclear(self.text, ref.words, names, self.context))
        self.names[ref.words] = names[0]
        return names[0], self.compiler.base_of(names[0])

    def _count(self, ref: Ref, counting: Sequence[str]) -> tuple[str, str]:
        """The metric that counts all rows of an entity where one is declared, else the rows themselves."""
        target = self._choose(ref, ref.of("entity"))
        declared = self._declared(f"count({target.name})")
        named = [name for name in counting if self.context.metrics[name].entity == target.name]
        if declared not in self.context.metrics and len(named) == 1 and self._is_plain(self.context.metrics[named[0]]):
            declared = named[0]
        return declared, target.name

    def _ratio(self) -> list[Ratio]:
        if self.said.ratio is None:
            return []
        halves = [self._number(half) for half in self.said.ratio]
        self.base = halves[0].base
        return [Ratio(name="ratio", numerator=halves[0].name, denominator=halves[1].name)]

    # ---- which of several

    def _choose(self, ref: Ref, targets: Sequence[Target], near: Iterable[str] = ()) -> Target:
        """The target nearest to what the question speaks of."""
        if not targets:
            raise Stop(
                not_understood(f"answers cannot be grouped by `{ref.words}`", "group by a dimension", (ref.words,))
            )
        spoken = [name for head in self.said.heads for name in head.entities]
        hints = [*ref.near, *near]
        ranked = sorted(
            targets,
            key=lambda target: (
                target.owner not in hints if hints else False,
                target.owner not in self.per,
                self._distance(target.owner),
                spoken.index(target.owner) if target.owner in spoken else len(spoken),
                target.name,
            ),
        )
        best = ranked[0]
        rank = self._rank(best, hints, spoken)
        same = [target for target in ranked if self._rank(target, hints, spoken) == rank and target.name != best.name]
        if same:
            raise Stop(
                unclear(self.text, ref.words, [best.name, *(target.name for target in same)], self.context, best.value)
            )
        if self._distance(best.owner) == _NOWHERE and self.base is not None:
            message = f"`{self.base}` and `{best.owner}` are not connected in the catalogue"
            raise Stop(not_understood(message, "a relationship between them would have to be declared", (ref.words,)))
        self.rivals += len({target.name for target in targets}) - 1
        self.names[ref.words] = best.name
        return best

    def _rank(self, target: Target, hints: Sequence[str], spoken: Sequence[str]) -> tuple[object, ...]:
        return (
            target.owner not in hints if hints else False,
            target.owner not in self.per,
            self._distance(target.owner),
            spoken.index(target.owner) if target.owner in spoken else len(spoken),
        )

    def _distance(self, owner: str) -> int:
        if self.base is None:
            return 0
        distance = self.nearness.distance(self.base, owner)
        return _NOWHERE if distance is None else distance

    def _is_key(self, target: Target) -> bool:
        owner, _, short = target.name.partition(".")
        entity = self.context.entities[owner]
        dimension = entity.dimension(short)
        key = entity.primary_key.columns if entity.primary_key else []
        return dimension is not None and [dimension.sql] == list(key)

    def _stop_at_strangers(self) -> None:
        """An entity that the rows do not lead to would be dropped silently, so it is refused."""
        assert self.base is not None
        used = {self.base, *self.per, *(name for part in self.said.related for name in part.entity.entities)}
        for head in self.said.heads:
            if not used & set(head.entities) and not any(
                self.nearness.leads_to_one(self.base, e) for e in head.entities
            ):
                if any(self._is_narrowed(name) for name in head.entities):
                    continue
                message = f"`{self.base}` says nothing about `{head.words}`"
                raise Stop(not_understood(message, "ask for a metric of it", (head.words,)))

    def _stop_at_strays(self) -> None:
        """A column that is named and that nothing asks to be shown, grouped by or compared."""
        strays = [ref for ref in self.said.strays if ref in self.said.outputs]
        if strays:
            words = strays[0].words
            message = f"I do not see what to do with `{words}`"
            raise Stop(not_understood(message, f"say `by {words}` to group by it, or name one of its values", (words,)))

    def _is_narrowed(self, name: str) -> bool:
        """Does a condition speak of the entity, or of one that its rows lead to?"""
        assert self.base is not None
        if self.nearness.distance(self.base, name) is None:
            return False
        owners = {owner for narrowing in self.said.conditions for owner in narrowing.ref.owners}
        return any(self.nearness.leads_to_one(name, owner) for owner in owners)

    # ---- groups and lists

    def _groups(self) -> list[str]:
        """The dimensions shown; an entity that is grouped by shows its label, or its key."""
        said = self.said
        asked = [*said.groups, *([said.ranked] if said.ranked else [])]
        if said.subject is not None and self.base not in said.subject.entities:
            asked.append(said.subject)
        found: list[str] = []
        for ref in asked:
            self._group(ref, found)
        self._add_up_facts()
        shown = [self._shown(ref) for ref in said.outputs]
        spoken = {name for ref in (*said.heads, *asked) for name in (*ref.entities, *ref.owners)}
        for name, ref in zip(shown, said.outputs, strict=True):
            owner = name.partition(".")[0]
            if not self.nearness.leads_to_one(self.base or owner, owner) and owner not in spoken:
                message = (
                    f"one row of `{self.base}` has many of `{owner}`, so I do not see what to do with `{ref.words}`"
                )
                raise Stop(not_understood(message, f"say `by {ref.words}` to group by it", (ref.words,)))
        if self.per and any(name.partition(".")[0] in self.per for name in shown):
            found = [name for name in found if name.partition(".")[0] not in self.per]
        for name in shown:
            owner, _, short = name.partition(".")
            if short in self.context.entities[owner].label or self._is_key(Target("dimension", name)):
                self._each_row(owner)
        return list(dict.fromkeys([*found, *shown]))

    def _add_up_facts(self) -> None:
        """A fact that is shown beside numbers is a number itself, by its own way of adding up."""
        for ref in list(self.said.outputs):
            if ref.of("fact") and not ref.of("dimension", "time"):
                self.said.outputs.remove(ref)
                self.more.append(self._number(NumberSaid(ref)).name)

    def _group(self, ref: Ref, found: list[str]) -> None:
        dimensions = ref.of("dimension")
        if ref.entities and not dimensions:
            target = self._choose(ref, ref.of("entity"))
            if target.name == self.base and not self.said.ranked:
                self._each_row(target.name)
            self._each_row(target.name)
            found += self._label(target.name)
            return
        target = self._choose(ref, dimensions or ref.of("time", "fact"))
        owner, _, short = target.name.partition(".")
        found.append(target.name)
        if short in self.context.entities[owner].label or self._is_key(target):
            self._each_row(owner)

    def _each_row(self, entity: str) -> None:
        if entity not in self.per:
            self.per.append(entity)

    def _label(self, name: str) -> list[str]:
        """The dimensions that tell rows of an entity apart for people: its label, else its key."""
        entity = self.context.entities[name]
        if entity.label:
            return [f"{name}.{short}" for short in entity.label]
        key = entity.primary_key.columns if entity.primary_key else []
        shown = [f"{name}.{part.name}" for part in entity.dimensions if part.sql in key]
        if not shown:
            raise Stop(not_understood(f"nothing tells the rows of `{name}` apart", "name a dimension of it", (name,)))
        return shown

    def _columns(self, name: str) -> list[str]:
        """What a list of rows shows where nobody says what: the label, else everything that is known of a row."""
        entity = self.context.entities[name]
        if entity.label:
            return [f"{name}.{short}" for short in entity.label]
        parts = [*entity.dimensions, *entity.time_dimensions, *entity.facts]
        return [f"{name}.{part.name}" for part in parts if part.sql not in entity.pii]

    def _shown(self, ref: Ref) -> str:
        return self._choose(ref, ref.of("dimension", "fact", "time"), self._owners_of_answer()).name

    def _owners_of_answer(self) -> list[str]:
        said = self.said
        refs = [said.ranked, said.subject, *said.groups]
        return [*self.per, *(name for ref in refs if ref is not None for name in ref.entities)]

    def _list(self) -> SemanticQuery:
        """Rows instead of numbers."""
        said = self.said
        subject = said.subject or said.ranked or (said.heads[0] if said.heads and not said.outputs else None)
        if subject is not None:
            self.base = self._choose(subject, subject.of("entity") or subject.of("dimension")).owner
        elif said.outputs:
            owners = [set(ref.near or ref.owners) for ref in said.outputs]
            common = set.intersection(*owners) or owners[0]
            spoken = [name for head in said.heads for name in head.entities if name in common]
            keys = [target.owner for ref in said.outputs for target in ref.of("dimension") if self._is_key(target)]
            keys = [name for name in dict.fromkeys(keys) if name in common]
            self.base = spoken[0] if spoken else keys[0] if keys else sorted(common)[0]
            if not spoken and not keys and len(common) > 1:
                self._choose(said.outputs[0], said.outputs[0].of("dimension", "fact", "time"))
        else:
            raise Stop(not_understood("I do not see which number you ask for", self._metrics_known()))
        self._stop_at_strays()
        dimensions = [self._shown(ref) for ref in said.outputs]
        if subject is not None and subject.of("dimension") and not subject.entities:
            dimensions.insert(0, self._choose(subject, subject.of("dimension")).name)
        for ref in said.groups:
            dimensions += self._label_or_name(ref)
        if not dimensions:
            dimensions = self._columns(self.base)
        filters = self._filters()
        self._list_window(filters)
        orders = []
        for order in said.orders:
            by = order.by if isinstance(order.by, Ref) else order.by.ref if isinstance(order.by, NumberSaid) else None
            if by is None:
                continue
            descending = order.descending if order.descending is not None else bool(said.descending)
            for name in self._label_or_name(by):
                orders.append(Order(by=name, descending=descending))
                if name not in dimensions and not said.outputs:
                    dimensions.append(name)
        if said.limit and not orders:
            raise Stop(not_understood("I do not see what should be ranked", "name a number: `top 5 regions by …`"))
        if not orders and said.descending is not None:
            orders = [Order(by=name, descending=said.descending) for name in dimensions[:1]]
        limit = said.limit
        if limit is None and said.is_ranking and orders and not self._asks_for_many():
            limit = 1
        return SemanticQuery(
            dimensions=tuple(dict.fromkeys(dimensions)), filters=tuple(filters), order=tuple(orders), limit=limit
        )

    def _label_or_name(self, ref: Ref) -> list[str]:
        named = ref.of("dimension", "fact", "time")
        if not named and ref.entities:
            return self._label(self._choose(ref, ref.of("entity")).name)
        return [self._choose(ref, named, self._owners_of_answer()).name]

    def _metrics_known(self) -> str:
        known = ", ".join(name.replace("_", " ") for name in sorted(self.context.metrics))
        return f"the metrics are: {known}"

    # ---- conditions

    def _filters(self) -> list[Condition]:
        """All conditions; those of related rows go where the rows are counted."""
        assert self.base is not None
        found: list[Condition] = []
        inside: dict[str, list[Filter | AnyOf]] = {}
        related = [self._related(part) for part in self.said.related]
        names = {self._base_of(part.metric, _NO_QUERY): part for part in related}
        for narrowing in self.said.conditions:
            condition = self._condition(narrowing, self.base)
            owner = _owner(condition)
            home = self._home(owner, names, narrowing.inside)
            if home is not None:
                _join(inside.setdefault(home, []), condition, narrowing.alternative)
            else:
                _join(found, condition, narrowing.alternative)
        found = self._gathered(found, names, inside)
        for name, part in names.items():
            if name == self.base or (name in self.per and part.comparison == ">=" and part.value == 1):
                found += inside.get(name, [])
                if not (part.comparison == ">=" and part.value == 1):
                    found.append(part)
            else:
                found.append(part.model_copy(update={"filters": tuple(inside.get(name, ()))}))
        return found

    def _gathered(
        self, found: list[Condition], names: dict[str, Related], inside: dict[str, list[Filter | AnyOf]]
    ) -> list[Condition]:
        """Conditions on the same kind of related rows hold for one of these rows together, not for one each."""
        assert self.base is not None
        far: dict[str, list[Filter | AnyOf]] = {}
        near: list[Condition] = []
        for condition in found:
            owner = _owner(condition)
            if isinstance(condition, Related) or self.nearness.leads_to_one(self.base, owner) or owner in self.per:
                near.append(condition)
            else:
                far.setdefault(owner, []).append(condition)
        for owner, conditions in far.items():
            reached = [
                name
                for name, part in names.items()
                if self.nearness.leads_to_one(owner, name) and part.comparison == ">=" and part.value == 1
            ]
            for name in reached:
                conditions += inside.pop(name, [])
                del names[name]
            if len(conditions) == 1 and not reached:
                near += conditions
            else:
                near.append(Related(entity=self.base, metric=f"count({owner})", filters=tuple(conditions)))
        return near

    def _home(self, owner: str, names: Iterable[str], inside: Sequence[str]) -> str | None:
        """The related rows that a condition on *owner* narrows; None where it narrows the rows of the answer."""
        assert self.base is not None
        if self.nearness.leads_to_one(self.base, owner):
            return None
        spoken = [name for name in inside if name in names and self.nearness.distance(name, owner) is not None]
        if spoken:
            return spoken[0]
        return next((name for name in names if self.nearness.leads_to_one(name, owner)), None)

    def _related(self, said: RelatedSaid, base: str | None = None) -> Related:
        base = base or self.base
        if not said.entity.entities:
            name, entity = self._one_metric(said.entity, [target.name for target in said.entity.of("metric")])
            heads = said.head.entities or said.head.owners
            return Related(entity=heads[0], metric=name, comparison=said.comparison, value=said.value)
        entity = self._choose(said.entity, said.entity.of("entity")).name
        heads = said.head.entities or said.head.owners
        head = base if base in heads or not heads else heads[0]
        assert head is not None
        return Related(entity=head, metric=f"count({entity})", comparison=said.comparison, value=said.value)

    def _condition(self, narrowing: Narrowing, base: str) -> Filter:
        ref = narrowing.ref
        named = ref.of("condition") if not narrowing.values and narrowing.operator == "in" else ()
        if narrowing.operator == "is_weekend":
            name = self._time_name(base, ref)
            return Filter(dimension=name, operator="is_weekend", negated=narrowing.negated)
        if named:
            target = self._choose(ref, named, narrowing.near)
            return Filter(dimension=target.name, negated=narrowing.negated)
        targets = ref.of("value")
        if targets and narrowing.values and any(target.value == narrowing.values[0] for target in targets):
            target = self._choose(ref, self._towards(targets, narrowing), narrowing.near)
            values = tuple(dict.fromkeys((target.value, *narrowing.values[1:])))
            self.names[ref.words] = f"{target.name} {'!=' if narrowing.negated else '='} {target.value}"
            return Filter(
                dimension=target.name, values=tuple(v for v in values if v is not None), negated=narrowing.negated
            )
        attributes = ref.of("dimension", "fact", "time")
        if not attributes and ref.entities:
            label = self._label(self._choose(ref, ref.of("entity"), narrowing.near).name)
            if len(label) != 1:
                raise Stop(
                    not_understood(f"I do not see what of `{ref.words}` is {narrowing.values[0]}", "name the dimension")
                )
            name = label[0]
        else:
            name = self._choose(ref, attributes, narrowing.near).name
        return Filter(dimension=name, values=narrowing.values, operator=narrowing.operator, negated=narrowing.negated)

    def _towards(self, targets: tuple[Target, ...], narrowing: Narrowing) -> tuple[Target, ...]:
        """ "From LAX": of columns that hold the same values the one that says where it starts."""
        words = {"from": ORIGINS, "to": DESTINATIONS}.get(narrowing.towards)
        if words is None:
            return targets
        fitting = tuple(target for target in targets if words & set(_normal(self._spoken(target.name))))
        return fitting or targets

    def _spoken(self, name: str) -> str:
        owner, _, short = name.partition(".")
        dimension = self.context.entities[owner].dimension(short)
        return f"{readable(short)} {' '.join(dimension.synonyms) if dimension else ''}"

    def _time_name(self, base: str, ref: Ref) -> str:
        if ref.of("time"):
            return self._choose(ref, ref.of("time")).name
        default = self._default_time(base)
        if default is None:
            raise Stop(not_understood(f"`{base}` has no date, so weekends do not apply to it"))
        return default

    def _default_time(self, name: str) -> str | None:
        default = self.context.entities[name].default_time()
        return None if default is None else f"{name}.{default.name}"

    # ---- time

    def _window(self, filters: list[Condition]) -> tuple[Window | None, str | None]:
        """The window of the metrics; spans said of other dates become conditions."""
        window: Window | None = None
        dimension: str | None = None
        for time in self.said.times:
            if time.span.start is None or time.span.end is None:
                continue
            if (parts := self._parts_of_date(time)) is not None:
                filters += parts
                continue
            named = (
                None if time.ref is None else self._choose(time.ref, time.ref.of("time"), self._near_time(time)).name
            )
            elsewhere = named is not None and named.partition(".")[0] != self.base
            if elsewhere:
                assert named is not None
                filters += _within(named, time)
                continue
            if named is None:
                named = self._time_of_related(time)
            if window is not None:
                first, second = self.said.times[0].span, time.span
                said = " and ".join(f"`{self.text[span.begins : span.ends]}`" for span in (first, second))
                raise Stop(not_understood(f"I read two spans of time, {said}", "ask for one of them at a time"))
            window = Window(start=time.span.start, end=time.span.end, label=time.span.label)
            dimension = named
        return window, dimension

    def _parts_of_date(self, time: TimeSaid) -> list[Condition] | None:
        """A year or a month of rows that have no date but columns for its parts. None where a date is at hand."""
        assert self.base is not None and time.span.start is not None and time.span.end is not None
        start, end = time.span.start, time.span.end
        if time.ref is not None and time.ref.of("time"):
            return None
        is_year = (start.month, start.day) == (1, 1) and end == start.replace(year=start.year + 1)
        is_month = start.day == end.day == 1 and (end.year - start.year) * 12 + end.month - start.month == 1
        for name in (self.base, *time.near):
            if name not in self.context.entities:
                continue
            if self._default_time(name) is not None:
                return None
            year, month = self._part(name, "year"), self._part(name, "month")
            if year is None or not (is_year or (is_month and month is not None)):
                continue
            found: list[Condition] = [Filter(dimension=f"{name}.{year.name}", values=(start.year,))]
            if is_month and month is not None:
                spelled = any(str(value) in month_name for value in month.sample_values)
                value = month_name[start.month] if spelled else start.month
                found.append(Filter(dimension=f"{name}.{month.name}", values=(value,)))
            return found
        return None

    def _part(self, entity: str, part: str) -> Dimension | None:
        """The column of an entity for one part of a date."""
        dimensions = self.context.entities[entity].dimensions
        return next((dimension for dimension in dimensions if part in (dimension.name, *dimension.synonyms)), None)

    def _time_of_related(self, time: TimeSaid) -> str | None:
        """ "How many patients had treatments last month": the date of the treatments, which stand beside it."""
        assert self.base is not None
        for name in time.near:
            if name in self.context.entities and not self.nearness.leads_to_one(self.base, name):
                if self.nearness.leads_to_one(name, self.base) and (found := self._default_time(name)):
                    return found
        return None

    def _near_time(self, time: TimeSaid) -> Sequence[str]:
        return time.near

    def _list_window(self, filters: list[Condition]) -> None:
        """Spans in a list are conditions: on the date named, of the related rows, or of the rows themselves."""
        assert self.base is not None
        for time in self.said.times:
            if time.span.start is None or time.span.end is None:
                continue
            if (parts := self._parts_of_date(time)) is not None:
                filters += parts
                continue
            if time.ref is not None:
                name: str | None = self._choose(time.ref, time.ref.of("time"), time.near).name
            else:
                places = [*(part for part in time.near), self.base]
                name = next((found for place in places if (found := self._default_time(place))), None)
            if name is None:
                raise Stop(not_understood(f"`{self.base}` has no date, so `{time.span.label}` does not apply to it"))
            parts = _within(name, time)
            owner = name.partition(".")[0]
            home = next(
                (i for i, part in enumerate(filters) if isinstance(part, Related) and part.metric == f"count({owner})"),
                None,
            )
            if home is not None and not self.nearness.leads_to_one(self.base, owner):
                known = filters[home]
                assert isinstance(known, Related)
                filters[home] = known.model_copy(update={"filters": (*known.filters, *parts)})
            else:
                filters += parts

    # ---- order

    def _orders(self, dimensions: Sequence[str]) -> tuple[Order, ...]:
        said, found = self.said, []
        for order in said.orders:
            descending = order.descending
            if descending is None:
                descending = (
                    said.descending
                    if said.descending is not None
                    else isinstance(order.by, NumberSaid) and said.is_ranking
                )
            if isinstance(order.by, NumberSaid):
                name, _ = self._named(order.by)
                known = next((measure.name for measure in self.measures if measure.metric == name), name)
                found.append(Order(by=known, descending=bool(descending)))
            elif isinstance(order.by, Ref):
                name = self._order_name(order.by, dimensions)
                found.append(Order(by=name, descending=bool(descending)))
            else:
                found.append(Order(by="time", descending=bool(descending)))
        if not found and said.descending is not None and self.said.numbers and (dimensions or self.per or said.grain):
            name, _ = self._named(said.numbers[0])
            found.append(Order(by=name, descending=said.descending))
        return tuple({order.by: order for order in reversed(found)}.values())[::-1]

    def _order_name(self, ref: Ref, dimensions: Sequence[str]) -> str:
        named = {target.name for target in ref.of("dimension", "time", "fact")}
        shown = next((name for name in dimensions if name in named), None)
        if shown is not None:
            return shown
        facts = ref.of("fact")
        for number in self.said.numbers:
            name, _ = self._named(number)
            if any(f"({fact.name})" in name for fact in facts):
                return name
        return self._label_or_name(ref)[0]


def _within(name: str, time: TimeSaid) -> list[Condition]:
    assert time.span.start is not None and time.span.end is not None
    sides: list[Condition] = []
    if time.span.start > FIRST_DAY:
        sides.append(Filter(dimension=name, operator=">=", values=(time.span.start.isoformat(),)))
    if time.span.end < LAST_DAY:
        sides.append(Filter(dimension=name, operator="<", values=(time.span.end.isoformat(),)))
    return sides


def _normal(words: str) -> list[str]:
    return [word.text for word in read_words(words)]


def _owner(condition: Condition) -> str:
    if isinstance(condition, AnyOf):
        return _owner(condition.any_of[0])
    return condition.entity if isinstance(condition, Related) else condition.dimension.partition(".")[0]


def _join(found: list[Condition] | list[Filter | AnyOf], condition: Filter, alternative: bool) -> None:
    """Add a condition; an alternative joins the one before it."""
    if alternative and found:
        last = found[-1]
        if isinstance(last, AnyOf):
            found[-1] = AnyOf(any_of=(*last.any_of, condition))
            return
        if isinstance(last, Filter):
            found[-1] = AnyOf(any_of=(last, condition))
            return
    found.append(condition)


def _identifier(name: str, number: int, over: str) -> str:
    """A column's name for a measure."""
    readable = "".join(char if char.isalnum() else "_" for char in name).strip("_").replace("__", "_")
    return f"{readable}_{over}" if over != "value" else f"{readable}_{number + 1}"
