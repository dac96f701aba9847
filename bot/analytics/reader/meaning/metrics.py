"""Metrics of the catalogue: which one is meant, what rows it counts, and whether an aggregate is one."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import Stop, not_understood, unclear
from bot.analytics.reader.said import Ref
from bylaw.authored.context import Aggregation, Metric
from bylaw.semantic.query import (
    SemanticQuery,
)

_COUNTS = ("count", "count_distinct")


def base_of(draft: QueryDraft, name: str, query: SemanticQuery) -> str:
    """The entity whose rows a number of *query* counts."""
    measure = next((part for part in query.measures if part.name == name), None)
    ratio = next((part for part in query.ratios if part.name == name), None)
    difference = next((part for part in query.differences if part.name == name), None)
    summary = next((part for part in query.summaries if part.name == name), None)
    if difference is not None or summary is not None:
        return base_of(draft, difference.after if difference else summary.metric if summary else "", query)
    if measure is not None or ratio is not None:
        return base_of(draft, measure.metric if measure else ratio.numerator if ratio else "", query)
    if name.endswith(")"):
        return name.partition("(")[2][:-1].partition(".")[0]
    return base_of_metric(draft, name)


def base_of_metric(draft: QueryDraft, name: str) -> str:
    """The entity whose rows a metric counts; of one that puts different rows together that of its first part."""
    metric = draft.context.metrics.get(name)
    if metric is not None and len(draft.compiler.bases_of(name)) > 1:
        parts = [metric.numerator, *(part.name for part in metric.inputs)]
        first = next((part for part in parts if part), None)
        if first is not None:
            return base_of_metric(draft, first)
    return draft.compiler.base_of(name)


def declared_name(draft: QueryDraft, name: str) -> str:
    """The metric of the catalogue that is exactly this aggregate, so that one number has one name."""
    agg, _, inside = name.partition("(")
    owner, _, short = inside[:-1].partition(".")
    if not inside or owner not in draft.context.entities:
        return name
    entity = draft.context.entities[owner]
    fact = next((fact for fact in entity.facts if fact.name == short), None)
    for known, metric in sorted(draft.context.metrics.items()):
        same = metric.type == "simple" and metric.entity == owner and metric.agg == agg and is_plain(draft, metric)
        is_all = metric.expr in (None, "*") or [metric.expr] == (entity.primary_key and entity.primary_key.columns)
        if same and ((fact is not None and metric.expr == fact.sql) or (not short and is_all)):
            return known
    return name


def is_plain(draft: QueryDraft, metric: Metric) -> bool:
    """Is it the aggregate and nothing else?"""
    default = draft.default_time(metric.entity) if metric.entity in draft.context.entities else None
    return (
        metric.filter is None
        and metric.time_granularity is None
        and metric.non_additive_dimension is None
        and metric.dated_by in (None, default)
    )


def fits(draft: QueryDraft, metrics: Sequence[str], agg: Aggregation) -> bool:
    return any(aggregates(draft, draft.context.metrics[name], agg) for name in metrics)


def aggregates(draft: QueryDraft, metric: Metric, agg: Aggregation) -> bool:
    """Is the metric by itself what "total" or "average" says?"""
    if agg == "sum":
        return metric.agg in ("sum", *_COUNTS) or metric.type in ("derived", "cumulative")
    return metric.agg == agg or (agg == "avg" and metric.type == "ratio")


def stop_at_counts(draft: QueryDraft, ref: Ref, names: Sequence[str]) -> None:
    """ "How much did we refund", where refunds are only counted by that name. Raises Stop."""
    are_counts = bool(ref.entities) and all(draft.context.metrics[name].agg in _COUNTS for name in names)
    if draft.said.is_amount and not draft.said.counts and are_counts:
        message = f"`{ref.words}` are counted, and `how much` asks for an amount"
        raise Stop(not_understood(message, "ask `how many`, or name the amount", (ref.words,)))


def nearest(draft: QueryDraft, names: Sequence[str]) -> Sequence[str]:
    """Of several metrics the only one whose rows belong to what is asked about: each user, each merchant."""
    said = draft.said
    spoken = [ref.entities for ref in (*said.groups, said.subject, said.ranked) if ref is not None and ref.entities]

    def leads(name: str) -> bool:
        bases = draft.compiler.bases_of(name)
        near = draft.nearness.leads_to_one
        return all(any(near(base, entity) for entity in entities) for base in bases for entities in spoken)

    fitting = [name for name in names if leads(name)]
    return fitting if spoken and len(fitting) == 1 else names


def one_metric(draft: QueryDraft, ref: Ref, names: Sequence[str], agg: Aggregation | None = None) -> tuple[str, str]:
    if agg is not None:
        fitting = [name for name in names if aggregates(draft, draft.context.metrics[name], agg)]
        if not fitting and agg == "sum":
            raise Stop(not_understood(f"`{names[0]}` does not add up, so I cannot give a total of it"))
        if not fitting:
            message = f"I cannot give the {agg} of `{ref.words}`"
            raise Stop(not_understood(message, "ask for the metric as it is", (ref.words,)))
        names = fitting
    if len(names) > 1:
        names = nearest(draft, names)
    if len(names) > 1:
        raise Stop(unclear(draft.text, ref.words, names, draft.context))
    draft.names[ref.words] = names[0]
    return names[0], base_of_metric(draft, names[0])
