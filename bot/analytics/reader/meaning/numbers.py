"""Which numbers are asked for: metrics of the catalogue, counts, aggregates of facts, ratios."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.analytics.reader.headline import readable
from bot.analytics.reader.meaning.draft import QueryDraft, normal_words
from bot.analytics.reader.meaning.metrics import declared_name, fits, is_plain, one_metric, stop_at_counts
from bot.analytics.reader.meaning.narrowed import all_filters
from bot.analytics.reader.meaning.times import times_of_number
from bot.analytics.reader.reading import Stop, not_understood, unclear
from bot.analytics.reader.said import NumberSaid, RatioSaid, Ref
from bot.analytics.reader.scope import Target
from bot.analytics.reader.wording import AMOUNTS
from bylaw.authored.context import Aggregation
from bylaw.language.words import singular
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


def all_numbers(draft: QueryDraft) -> list[Decided]:
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


def decided_number(draft: QueryDraft, number: NumberSaid) -> Decided:
    name, base = named_number(draft, number)
    filters = filters_of(draft, number, base)
    if filters or number.over != "value":
        last = number.over if number.over != "value" else str(len(draft.measures) + 1)
        short = identifier(f"{number.kind}{name}".lower()) if number.kind else ""
        if not short or short in draft.context.metrics:
            short = f"{identifier(name)}_{last}"
        measure = Measure(
            name=short,
            metric=name,
            filters=filters,
            over=number.over,
        )
        draft.measures.append(measure)
        decided = Decided(short, base, measure, number.is_rank)
    else:
        decided = Decided(name, base, is_rank=number.is_rank)
    return decided


def filters_of(draft: QueryDraft, number: NumberSaid, base: str) -> tuple[Condition, ...]:
    """The conditions on the rows that one number counts."""
    known, draft.base = draft.base, base
    found = all_filters(draft, number.conditions, number.related, number.times)
    times_of_number(draft, number, found)
    draft.base = known
    return tuple(found)


def name_compared(draft: QueryDraft) -> None:
    """Decide which numbers rows are compared by: "whose average order value is above 1000"."""
    for said in draft.said.related:
        if said.number is not None:
            known, draft.base = draft.base, said.head.entities[0]
            said.metric, _ = named_number(draft, said.number)
            draft.base = known


def named_number(draft: QueryDraft, number: NumberSaid) -> tuple[str, str]:
    name, base = decide_number(draft, number)
    name = declared_name(draft, name)
    draft.names[number.ref.words] = name
    return name, base


def decide_number(draft: QueryDraft, number: NumberSaid) -> tuple[str, str]:
    ref, agg = number.ref, number.agg
    metrics = list(dict.fromkeys(target.name for target in ref.of("metric")))
    if agg is None and (metrics or ref.entities):
        stop_at_counts(draft, ref, metrics)
    stop_at_amounts(draft, number, metrics)
    if agg == "count":
        counting = [name for name in metrics if draft.context.metrics[name].agg in _COUNTS]
        sums = [name for name in metrics if draft.context.metrics[name].entity in ref.entities and name not in counting]
        if ref.entities and sums and not counting:
            return one_metric(draft, ref, sums)  # "how many store visits", which the rows have sums of
        if ref.entities:
            return counted(draft, ref, counting)
        if metrics and not counting:
            message = f"`{metrics[0]}` is no count, and the question asks how many"
            raise Stop(not_understood(message, "ask for it without counting words, or for a metric that counts"))
        if counting:
            return one_metric(draft, ref, counting)
        target = draft.choose(ref, ref.of("dimension", "fact", "time"))
        if target.kind == "fact":
            return (f"sum({target.name})", target.owner) if number.is_total else added_up(draft, target, ref)
        if draft.is_key(target):
            return counted(draft, Ref(ref.words, (Target("entity", target.owner),)), [])
        return f"count_distinct({target.name})", target.owner
    facts = ref.of("fact", "time", "dimension")
    if metrics and (agg is None or fits(draft, metrics, agg) or not facts):
        return one_metric(draft, ref, metrics, agg)
    target = draft.choose(ref, facts, owners_said(draft, number))
    agg = agg or own_aggregation(draft, target, ref)
    if target.kind != "fact" and (agg not in ("min", "max") or target.kind == "dimension"):
        raise Stop(not_understood(f"`{ref.words}` is no number, so it has no {agg}", None, (ref.words,)))
    return f"{agg}({target.name})", target.owner


def stop_at_amounts(draft: QueryDraft, number: NumberSaid, metrics: Sequence[str]) -> None:
    """ "Total refunds": how many there were, or how much they come to? Raises Stop where both are known."""
    ref, known = number.ref, draft.context.metrics
    is_total = number.agg == "sum" or (number.agg == "count" and number.is_total)
    are_counts = all(known[name].agg in _COUNTS for name in metrics)
    if not is_total or not ref.entities or not are_counts or normal_words(ref.words)[-1] not in AMOUNTS:
        return
    entity = draft.context.entities[draft.choose(ref, ref.of("entity")).name]
    sums = [
        name for name, one in sorted(known.items()) if (one.entity, one.agg, one.filter) == (entity.name, "sum", None)
    ]
    rows = f"{singular(readable(entity.name))} "
    facts = [readable(fact.name) for fact in entity.facts if fact.default_aggregation == "sum"]
    amounts = [f"total {'' if fact.startswith(rows) else rows}{fact}" for fact in facts]
    if names := sums[:1] or amounts:
        text = re.sub(
            rf"\b(?:total|sum of)\s+(?:the\s+)?(?={re.escape(ref.words)})", "", draft.text, flags=re.IGNORECASE
        )
        raise Stop(unclear(text, ref.words, [f"number of {ref.words}", *names], draft.context))


def owners_said(draft: QueryDraft, number: NumberSaid) -> list[str]:
    """Whose fact it is: that of the rows named by their label ("of Texas"), or of those that have a row each."""
    if number.ref.near:
        return []
    told = [part.ref for part in (*number.conditions, *draft.said.conditions) if not part.negated]
    values = [target for ref in told for target in ref.of("value")]
    found = [value.owner for value in values if value.name in draft.labels(value.owner)]
    groups = [*draft.said.groups, *([draft.said.ranked] if draft.said.ranked else [])]
    found += [name for ref in groups for name in ref.entities]
    shown = [target for ref in draft.said.outputs for target in ref.of("dimension")]
    found += [target.owner for target in shown if target.name in draft.labels(target.owner)]
    owners = {target.owner for target in number.ref.of("fact")}
    return [name for name in dict.fromkeys(found) if name in owners] or owners_leading(draft, owners)


def owners_leading(draft: QueryDraft, owners: set[str]) -> list[str]:
    """The only one of *owners* whose rows belong to what is shown and grouped by, where the others' do not."""
    said = draft.said
    columns = [ref for ref in (*said.groups, *said.outputs) if ref.of("dimension") and not ref.of("fact")]
    leads = draft.nearness.leads_to_one
    found = [
        name
        for name in sorted(owners)
        if all(any(leads(name, target.owner) for target in ref.of("dimension")) for ref in columns)
    ]
    return found if len(found) == 1 else []


def added_up(draft: QueryDraft, target: Target, ref: Ref) -> tuple[str, str]:
    """ "Number of citations", where each row has one: the numbers are added up, rows are not counted."""
    if own_aggregation(draft, target, ref) != "sum":
        words = ref.words
        raise Stop(not_understood(f"I do not see how `{words}` are counted", f"say `total {words}`", (words,)))
    return f"sum({target.name})", target.owner


def own_aggregation(draft: QueryDraft, target: Target, ref: Ref) -> Aggregation:
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


def counted(draft: QueryDraft, ref: Ref, counting: Sequence[str]) -> tuple[str, str]:
    """The metric that counts all rows of an entity where one is declared, else the rows themselves."""
    target = draft.choose(ref, ref.of("entity"))
    declared = declared_name(draft, f"count({target.name})")
    named = [name for name in counting if draft.context.metrics[name].entity == target.name]
    if declared not in draft.context.metrics and len(named) == 1:
        metric = draft.context.metrics[named[0]]
        if is_plain(draft, metric) or ref.words.lower() in metric.synonyms:  # who wrote it says what the word counts
            declared = named[0]
    return declared, target.name


def ratios_of(draft: QueryDraft) -> list[Ratio]:
    """The ratio that is asked for. Words that both sides use mean the same on both."""
    said = draft.said.ratio
    if said is None:
        return []
    base = draft.base
    try:
        over, under = (decided_number(draft, half) for half in (said.numerator, said.denominator))
    except Stop:
        draft.measures, draft.base = [], base
        draft.base = decided_number(draft, said.denominator).base
        draft.measures = []
        over, under = (decided_number(draft, half) for half in (said.numerator, said.denominator))
    draft.base = over.base
    stop_at_odd_sides(draft, said, over, under)
    name = "percentage" if said.in_percent else "ratio"
    return [Ratio(name=name, numerator=over.name, denominator=under.name, in_percent=said.in_percent)]


def stop_at_odd_sides(draft: QueryDraft, said: RatioSaid, over: Decided, under: Decided) -> None:
    """An average has no parts, and a total of one column is not divided by the average of another."""
    names = [part.measure.metric if part.measure else part.name for part in (over, under)]
    aggs = [known.agg if (known := draft.context.metrics.get(name)) else name.partition("(")[0] for name in names]
    words = said.numerator.ref.words
    if said.denominator.over == "total" and names[0] != names[1]:
        message = f"`{words}` is no part of `{said.denominator.ref.words}`"
        raise Stop(not_understood(message, "name the groups behind both numbers", (words,)))
    if said.is_part and any(agg not in ("sum", *_COUNTS) for agg in aggs):
        raise Stop(not_understood(f"`{words}` is no sum or count, so it has no parts", None, (words,)))
    if said.in_percent and "sum" in aggs and not {*_COUNTS}.isdisjoint(aggs):
        message = f"`{words}` is no part of `{said.denominator.ref.words}`"
        raise Stop(not_understood(message, "ask for the ratio, or name the whole", (words,)))
    is_bare = all(half.agg is None and half.ref.of("fact") for half in (said.numerator, said.denominator))
    if is_bare and aggs[0] != aggs[1]:
        message = f"I do not see whether `{words}` and `{said.denominator.ref.words}` are added up or averaged"
        raise Stop(not_understood(message, "say `total` or `average` for both", (words,)))


def identifier(name: str) -> str:
    """A column's name for a measure: letters, digits and underscores."""
    return "".join(char if char.isalnum() else "_" for char in name).strip("_").replace("__", "_")
