"""What a question says + the catalogue → a semantic query. Of several readings the one that the question points to.

A word that could mean several things means the one that belongs to what the words around speak of, then the one
nearest to what is counted. Where two are equally near, nobody guesses: the person who asked is asked back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.analytics.reader.meaning.checks import (
    stop_at_bare_word,
    stop_at_definitions,
    stop_at_done,
    stop_at_each_row,
    stop_at_grouped_rows,
    stop_at_names,
    stop_at_one_row,
    stop_at_pointed,
    stop_at_states,
    stop_at_strangers,
    stop_at_strays,
    stop_at_things,
    stop_at_two_ranks,
    stop_at_uncounted,
    stop_at_unused,
)
from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.guesses import (
    asks_for_many,
    decide_beside,
    decide_done,
    decide_extremes,
    decide_facts,
    decide_grains,
    decide_means,
    decide_rows,
    decide_sorted,
)
from bot.analytics.reader.meaning.links import has_role, stop_at_verbs
from bot.analytics.reader.meaning.metrics import base_of
from bot.analytics.reader.meaning.narrowed import all_filters
from bot.analytics.reader.meaning.numbers import Decided, all_numbers, name_compared, ratios_of
from bot.analytics.reader.meaning.roles import stop_at_kinds, stop_at_roles
from bot.analytics.reader.meaning.rows import (
    first_text,
    group_names,
    label_or_name,
    limited_by,
    metrics_known,
    orders_of,
    shown_name,
    shown_names,
)
from bot.analytics.reader.meaning.times import (
    dated_related,
    list_window,
    stop_at_spans,
    time_of_done,
    time_of_rows,
    window_of,
)
from bot.analytics.reader.meaning.units import in_units, stop_at_units
from bot.analytics.reader.reading import Stop, carried, not_understood, renewed
from bot.analytics.reader.said import NumberSaid, Ref
from bylaw.authored.record import Grain
from bylaw.semantic.query import (
    Difference,
    Order,
    Ratio,
    SemanticQuery,
)

FIRST: tuple[Callable[[QueryDraft], None], ...] = (  # what is decided of the words before any number is, in this order
    stop_at_definitions,
    decide_beside,
    decide_means,
    stop_at_spans,
    decide_done,
    decide_rows,
    decide_facts,
    decide_sorted,
    decide_extremes,
    name_compared,
)
NAMED = (stop_at_pointed, stop_at_names, stop_at_strays)  # words that neither numbers nor rows may drop
STOPS: tuple[Callable[[QueryDraft, SemanticQuery], None], ...] = (  # what a query of numbers is not to be taken for
    stop_at_bare_word,
    stop_at_one_row,
    stop_at_things,
    stop_at_each_row,
    stop_at_done,
)


def query_of(draft: QueryDraft) -> SemanticQuery:
    """The query. Raises Stop with what stands in the way."""
    said, previous = draft.said, draft.previous
    for decide in FIRST:
        decide(draft)
    numbers = in_units(draft, all_numbers(draft))
    ratios = ratios_of(draft)
    if previous is not None and (draft.follows or not numbers) and said.times and dated_related(draft, previous):
        raise Stop(not_understood("I do not see which of the dates before is meant now", "ask the whole question"))
    if not numbers and not ratios:
        if previous is None or (said.subject is not None and not draft.follows):
            return query_of_rows(draft)
        return changed_query(draft, previous)
    query = query_of_numbers(draft, numbers, ratios)
    for stop in STOPS:
        stop(draft, query)
    all_time = any(time.span.start is None for time in said.times)
    return carried(query, previous, all_time) if previous is not None and draft.follows else query


def changed_query(draft: QueryDraft, previous: SemanticQuery) -> SemanticQuery:
    """The question before, with what this one says put in its place."""
    draft.follows = True
    draft.measures, draft.summaries = list(previous.measures), list(previous.summaries)
    if previous.is_list:
        draft.base = previous.dimensions[0].partition(".")[0]
        filters = all_filters(draft)
        list_window(draft, filters)
        shown = tuple(shown_name(draft, ref) for ref in draft.said.outputs)
        return previous.model_copy(
            update={"filters": renewed(previous.filters, filters), "dimensions": shown or previous.dimensions}
        )
    known = {measure.name: measure for measure in previous.measures}
    names = list(previous.metrics)
    if draft.said.times or draft.said.grain:  # other spans than those that were compared
        draft.measures = [measure for measure in draft.measures if measure.window is None]
        names = [name for name in names if not any(name == part.name for part in previous.differences)]
        names = [known[name].metric if name in known and known[name].window else name for name in names]
        previous = previous.model_copy(update={"differences": ()})
    numbers = [
        Decided(name, base_of(draft, name, previous), known.get(name) if known.get(name) in draft.measures else None)
        for name in dict.fromkeys(names)
    ]
    if draft.said.units:
        numbers = in_units(draft, numbers)
    query = query_of_numbers(draft, numbers, list(previous.ratios), previous.differences)
    query = query.model_copy(update={"order": query.order or ranked_anew(draft, previous, query.metrics)})
    return carried(query, previous, any(time.span.start is None for time in draft.said.times))


def ranked_anew(draft: QueryDraft, previous: SemanticQuery, metrics: Sequence[str]) -> tuple[Order, ...]:
    """ "Bottom 5": by the number that was ranked by, else by the only one."""
    said = draft.said
    if said.limit is None or said.descending is None or said.orders:
        return ()
    by = [order.by for order in previous.order if order.by in metrics] or list(metrics)
    if len(by) != 1:
        raise Stop(not_understood("I do not see what it is ranked by", "name the number: `bottom 5 by …`"))
    return (Order(by=by[0], descending=said.descending),)


def query_of_numbers(
    draft: QueryDraft, numbers: list[Decided], ratios: list[Ratio], differences: tuple[Difference, ...] = ()
) -> SemanticQuery:
    """The query for these numbers and everything else that is said."""
    said = draft.said
    if draft.base is None:
        draft.base = numbers[0].base
    decide_grains(draft)
    draft.counted = metrics_of(draft, numbers, ratios)
    metrics = list(dict.fromkeys([number.name for number in numbers] + [ratio.name for ratio in ratios]))
    dimensions = group_names(draft)
    decide_periods(draft, numbers)
    stop_at_roles(draft, dimensions)
    filters = all_filters(draft)
    stop_at_states(draft)
    window, time_dimension = window_of(draft, filters)
    stop_at_kinds(draft, dimensions)
    if time_dimension is None and said.grain is not None:
        time_dimension = time_of_done(draft) or time_of_rows(draft, filters, window)
    orders = orders_of(draft, dimensions)
    limit = limit_of(draft, orders)
    stop_at_two_ranks(draft, {number.name: number.base for number in numbers}, orders)
    if not dimensions and not draft.per:
        orders = orders_of_one(draft, orders)
    for stop in (stop_at_strangers, *NAMED):
        stop(draft)
    stop_at_verbs(draft, draft.base, dimensions)
    asked = said.ranked or said.subject or said.outputs  # "which customer has the most orders in each region"
    return SemanticQuery(
        metrics=tuple(dict.fromkeys([*metrics, *draft.more])),
        measures=tuple(draft.measures),
        ratios=tuple(ratios),
        differences=differences,
        summaries=tuple(draft.summaries),
        dimensions=tuple(dimensions),
        per=tuple(draft.per),
        only_members=bool(draft.per and (said.each or said.subject or said.ranked) and limit is None),
        filters=tuple(filters),
        window=window,
        time_dimension=time_dimension,
        grain=said.grain,
        with_empty=said.with_empty and not any(has_role(draft, draft.base, name) for name in draft.per),
        order=orders,
        limit=limit,
        limit_by=limited_by(draft, dimensions) if limit and asked and said.groups else (),
        hidden=ranked_by(draft, numbers) if limit and dimensions else (),
    )


def decide_periods(draft: QueryDraft, numbers: Sequence[Decided]) -> None:
    """The grain that a metric has by itself."""
    said = draft.said
    if said.grain is None:
        used = [draft.context.metrics[number.name] for number in numbers if number.name in draft.context.metrics]
        said.grain = next((metric.time_granularity for metric in used if metric.time_granularity), None)


def metrics_of(draft: QueryDraft, numbers: Sequence[Decided], ratios: Sequence[Ratio]) -> list[str]:
    """The numbers of the catalogue, or aggregates written out, that those of the answer are made of."""
    names = [
        *(number.name for number in numbers),
        *(half for one in ratios for half in (one.numerator, one.denominator)),
    ]
    made = {measure.name: measure.metric for measure in draft.measures}
    made |= {summary.name: summary.metric for summary in draft.summaries}
    return sorted({made.get(name, name) for name in names})


def limit_of(draft: QueryDraft, orders: Sequence[Order]) -> int | None:
    """How many are shown: as many as are asked for, and of "which has the most" one."""
    said = draft.said
    is_ranked = said.is_ranking or any(number.is_extreme for number in said.numbers)
    is_one = said.limit is None and orders and is_ranked and not asks_for_many(draft)
    return 1 if is_one else said.limit


def orders_of_one(draft: QueryDraft, orders: tuple[Order, ...]) -> tuple[Order, ...]:
    """The order of an answer without groups: there is nothing to rank in it."""
    said = draft.said
    if draft.previous is None and said.grain is None and (orders or said.is_ranking):
        if said.is_ranking or said.limit:
            raise Stop(not_understood("I do not see what should be ranked", "name a dimension: `top 5 regions by …`"))
        orders = ()
    if any(measure.over == "rank" for measure in draft.measures):
        raise Stop(not_understood("I do not see what has a rank", "name it: `rank of each region by …`"))
    return orders


def with_subject(draft: QueryDraft, shown: list[str]) -> list[str]:
    """What a list shows: the rows that are asked for, where only what stands beside them is named, and all of that."""
    assert draft.base is not None
    said, leads = draft.said, draft.nearness.leads_to_one
    entities = [
        draft.choose(ref, ref.of("entity")).name for ref in said.beside if not ref.of("dimension", "fact", "time")
    ]
    others = [
        label for name in entities if name != draft.base and leads(draft.base, name) for label in draft.label(name)
    ]
    is_beside = bool(said.beside) and (not said.outputs or said.outputs[0] in said.beside)
    if not shown or (is_beside and not any(draft.tells_apart(name, draft.base) for name in shown)):
        shown = [*draft.columns(draft.base), *shown]
    return [*shown, *(name for name in others if name not in shown)]


def ranked_by(draft: QueryDraft, numbers: list[Decided]) -> tuple[str, ...]:
    """ "Which region has the most orders" asks for a region; how many it has is only shown where that is asked too."""
    if draft.said.limit is not None:
        return ()
    asked = {number.name for number in numbers if not number.is_rank} | {*draft.more}
    return tuple(dict.fromkeys(number.name for number in numbers if number.name not in asked))


def query_of_rows(draft: QueryDraft) -> SemanticQuery:
    """Rows instead of numbers."""
    said = draft.said
    stop_at_uncounted(draft)
    subject = said.subject or said.ranked or (said.heads[0] if said.heads and not said.outputs else None)
    if subject is None and not said.outputs:
        raise Stop(not_understood("I do not see which number you ask for", metrics_known(draft)))
    draft.base = owner_of_outputs(draft) if subject is None else owner_of_subject(draft, subject)
    for stop in NAMED:
        stop(draft)
    dimensions = [name for ref in said.outputs for name in shown_names(draft, ref)]
    if subject is not None and subject.of("dimension") and not subject.entities:
        dimensions.insert(0, draft.choose(subject, subject.of("dimension")).name)
    told: list[str] = [name.partition(".")[0] for name in dimensions]
    for ref in said.groups:
        owned = zip(dimensions, told, strict=False)
        is_seen = ref not in said.each or any(draft.tells_apart(name, owner) for name, owner in owned)
        labels = [name for name in label_or_name(draft, ref) if name.partition(".")[0] not in told or not is_seen]
        dimensions = dimensions + labels if is_seen else [*labels, *dimensions]  # "the capital of each state"
    stop_at_grouped_rows(draft, dimensions)
    dimensions = with_subject(draft, dimensions)
    stop_at_verbs(draft, draft.base, dimensions)
    stop_at_roles(draft, dimensions)
    filters = all_filters(draft)
    stop_at_unused(draft, dimensions)
    stop_at_units(draft, dimensions)
    stop_at_states(draft)
    list_window(draft, filters)
    stop_at_kinds(draft, dimensions)
    is_one = said.is_ranking and not asks_for_many(draft)
    limit = 1 if said.limit is None and is_one else said.limit
    orders = orders_of_rows(draft, dimensions)
    if not said.outputs and (limit != 1 or said.limit):
        dimensions += [order.by for order in orders]
    return SemanticQuery(
        dimensions=tuple(dict.fromkeys(dimensions)),
        filters=tuple(filters),
        order=tuple(orders),
        limit=limit if orders else said.limit,
    )


def owner_of_subject(draft: QueryDraft, subject: Ref) -> str:
    """The entity whose rows are asked for by name."""
    return draft.choose(subject, subject.of("entity") or subject.of("dimension")).owner


def owner_of_outputs(draft: QueryDraft) -> str:
    """The entity that has all the columns that are asked for: one spoken of, else one whose key is shown."""
    said = draft.said
    owners = [set(ref.near or ref.owners) for ref in said.outputs]
    common = set.intersection(*owners) or owners[0]
    spoken = [name for head in said.heads for name in head.entities if name in common]
    keys = [target.owner for ref in said.outputs for target in ref.of("dimension") if draft.is_key(target)]
    found = spoken or [name for name in keys if name in common]
    return found[0] if found else min(common)


def date_of_rows(draft: QueryDraft, grain: Grain) -> str:
    """ "Sorted by year": the column of that name, else the date of the rows. Raises Stop where they have none."""
    assert draft.base is not None
    part, date = draft.part(draft.base, grain), draft.default_time(draft.base)
    if part is None and date is None:
        raise Stop(not_understood(f"`{draft.base}` has no date to be sorted by", "name a column", (grain,)))
    return f"{draft.base}.{part.name}" if part is not None else date or ""


def orders_of_rows(draft: QueryDraft, dimensions: Sequence[str]) -> list[Order]:
    """What a list of *dimensions* is sorted by: what is said, else its only number or first column."""
    said = draft.said
    orders = []
    for order in said.orders:
        by = order.by.ref if isinstance(order.by, NumberSaid) else order.by
        names = label_or_name(draft, by) if isinstance(by, Ref) else [date_of_rows(draft, by)]
        descending = order.descending if order.descending is not None else bool(said.descending)
        orders += [Order(by=name, descending=descending) for name in names]
    if (said.limit or said.is_ranking) and not orders:
        raise Stop(not_understood("I do not see what should be ranked", "name a number: `top 5 regions by …`"))
    if not orders and said.descending is not None:
        columns = [target.name for ref in said.outputs for target in ref.of("fact") if target.name in dimensions]
        keys = columns if said.descending and len(set(columns)) == 1 else dimensions
        keys = [first_text(draft, dimensions)] if said.spelled else keys
        orders = [Order(by=name, descending=said.descending) for name in keys[:1]]
    return orders
