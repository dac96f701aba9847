"""Which numbers are asked for: metrics of the catalogue, counts, aggregates of facts, ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.analytics.grammar.said import NumberSaid, Ref
from bot.analytics.grammar.wording import AMOUNTS
from bot.analytics.meaning.draft import Draft, normal_words
from bot.analytics.meaning.metrics import declared_name, fits, is_plain, one_metric
from bot.analytics.meaning.narrowed import condition_of, related_rows
from bot.analytics.present import readable
from bot.analytics.reading import Stop, not_understood, unclear
from bot.analytics.scope import Target
from bylaw.authored.context import Aggregation
from bylaw.semantic.query import (
    Condition,
    Measure,
    Ratio,
)

_COUNTS = ("count", "count_distinct")


@dataclass(frozen=True, slots=True)
class Decided:
    """A number that was decided: its name in the query, the entity whose rows it counts, its measure if it has one."""

    name: str
    base: str
    measure: Measure | None = None
    is_rank: bool = False


def all_numbers(draft: Draft) -> list[Decided]:
    """Every number; one that could be several is decided after those that are sure, by what they count."""
    found: dict[int, Decided] = {}
    waiting: list[int] = []
    for place, number in enumerate(draft.said.numbers):
        try:
            found[place] = decided_number(draft, number)
        except Stop:
            waiting.append(place)
            continue
        draft.base = draft.base or found[place].base
    for place in waiting:
        found[place] = decided_number(draft, draft.said.numbers[place])
        draft.base = draft.base or found[place].base
    return [found[place] for place in sorted(found)]


def decided_number(draft: Draft, number: NumberSaid) -> Decided:
    name, base = named_number(draft, number)
    filters: tuple[Condition, ...] = tuple(condition_of(draft, narrowing, base) for narrowing in number.conditions)
    filters += tuple(related_rows(draft, part, base) for part in number.related)
    if filters or number.over != "value":
        last = number.over if number.over != "value" else str(len(draft.measures) + 1)
        short = f"{identifier(name)}_{last}"
        measure = Measure(name=short, metric=name, filters=filters, over=number.over)
        draft.measures.append(measure)
        return Decided(short, base, measure, number.is_rank)
    return Decided(name, base, is_rank=number.is_rank)


def named_number(draft: Draft, number: NumberSaid) -> tuple[str, str]:
    name, base = decide_number(draft, number)
    name = declared_name(draft, name)
    draft.names[number.ref.words] = name
    return name, base


def decide_number(draft: Draft, number: NumberSaid) -> tuple[str, str]:
    ref, agg = number.ref, number.agg
    metrics = list(dict.fromkeys(target.name for target in ref.of("metric")))
    if agg == "count" and number.is_total and ref.entities and any(word in AMOUNTS for word in normal_words(ref.words)):
        entity = draft.context.entities[draft.choose(ref, ref.of("entity")).name]
        amounts = [f"total {readable(fact.name)}" for fact in entity.facts if fact.default_aggregation == "sum"]
        if amounts:
            raise Stop(unclear(draft.text, ref.words, [f"number of {ref.words}", *amounts], draft.context))
    if agg == "count":
        counting = [name for name in metrics if draft.context.metrics[name].agg in _COUNTS]
        if ref.entities:
            return counted(draft, ref, counting)
        if metrics and not counting:
            message = f"`{metrics[0]}` is no count, and the question asks how many"
            raise Stop(not_understood(message, "ask for it without counting words, or for a metric that counts"))
        if counting:
            return one_metric(draft, ref, counting)
        target = draft.choose(ref, ref.of("dimension", "fact", "time"))
        if target.kind == "fact":
            return added_up(draft, target, ref)
        if draft.is_key(target):
            return counted(draft, Ref(ref.words, (Target("entity", target.owner),)), [])
        return f"count_distinct({target.name})", target.owner
    facts = ref.of("fact", "time", "dimension")
    if metrics and (agg is None or fits(draft, metrics, agg) or not facts):
        return one_metric(draft, ref, metrics, agg)
    target = draft.choose(ref, facts)
    agg = agg or own_aggregation(draft, target, ref)
    if target.kind != "fact" and (agg not in ("min", "max") or target.kind == "dimension"):
        raise Stop(not_understood(f"`{ref.words}` is no number, so it has no {agg}", None, (ref.words,)))
    return f"{agg}({target.name})", target.owner


def added_up(draft: Draft, target: Target, ref: Ref) -> tuple[str, str]:
    """ "Number of citations", where each row has one: the numbers are added up, rows are not counted."""
    if own_aggregation(draft, target, ref) != "sum":
        words = ref.words
        raise Stop(not_understood(f"I do not see how `{words}` are counted", f"say `total {words}`", (words,)))
    return f"sum({target.name})", target.owner


def own_aggregation(draft: Draft, target: Target, ref: Ref) -> Aggregation:
    owner, _, short = target.name.partition(".")
    fact = next((fact for fact in draft.context.entities[owner].facts if fact.name == short), None)
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


def counted(draft: Draft, ref: Ref, counting: Sequence[str]) -> tuple[str, str]:
    """The metric that counts all rows of an entity where one is declared, else the rows themselves."""
    target = draft.choose(ref, ref.of("entity"))
    declared = declared_name(draft, f"count({target.name})")
    named = [name for name in counting if draft.context.metrics[name].entity == target.name]
    if declared not in draft.context.metrics and len(named) == 1 and is_plain(draft, draft.context.metrics[named[0]]):
        declared = named[0]
    return declared, target.name


def ratios_of(draft: Draft) -> list[Ratio]:
    if draft.said.ratio is None:
        return []
    halves = [decided_number(draft, half) for half in draft.said.ratio]
    draft.base = halves[0].base
    return [Ratio(name="ratio", numerator=halves[0].name, denominator=halves[1].name)]


def identifier(name: str) -> str:
    """A column's name for a measure: letters, digits and underscores."""
    return "".join(char if char.isalnum() else "_" for char in name).strip("_").replace("__", "_")
