"""What would be dropped or doubted silently stops the reading instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.analytics.reader.headline import readable
from bot.analytics.reader.meaning.draft import QueryDraft, normal_words
from bot.analytics.reader.meaning.links import links
from bot.analytics.reader.meaning.metrics import base_of
from bot.analytics.reader.reading import Stop, Unclear, not_understood
from bot.analytics.reader.said import Narrowing, Ref
from bot.conversation import Choice
from bylaw.authored.context import Metric
from bylaw.semantic.expressions import columns_of
from bylaw.semantic.gotchas import applicable
from bylaw.semantic.query import (
    Condition,
    Filter,
    Order,
    Related,
    SemanticQuery,
)


def stop_at_states(draft: QueryDraft) -> None:
    """How things stood at a moment: of balances the last one counts, of anything else nobody says what does."""
    said = draft.said
    named = [draft.context.metrics.get(draft.names.get(number.ref.words, "")) for number in said.numbers]
    if named and all(metric is not None and metric.non_additive_dimension for metric in named):
        return
    for time in said.times:
        if time.span.is_state:
            words = draft.text[time.span.begins : time.span.ends]
            message = f"`{words}` asks how something stood then, and this is no balance"
            raise Stop(not_understood(message, "ask for a span of time", (words,)))


def stop_at_bare_word(draft: QueryDraft, query: SemanticQuery) -> None:
    """ "A refund for a TV" names rows and asks for no number of them: nothing says how many, by what or when."""
    said = draft.said
    named = [number for number in said.numbers if number.agg is None and number.ref.entities]
    asks = bool(said.counts or query.grain or query.windows or said.times or query.dimensions or query.per)
    asks = asks or said.ratio is not None or said.is_ranking
    if draft.follows or asks or not named or len(named) < len(said.numbers):
        return
    words = named[0].ref.words
    message = f"I do not see what you want to know about `{words}`"
    raise Stop(not_understood(message, f"ask `how many {words}`, or for a metric by name", (words,)))


def stop_at_one_row(draft: QueryDraft, query: SemanticQuery) -> None:
    """ "How many states border Texas": where the only thing said is which row is meant, one row would be counted."""
    if len(query.metrics) != 1 or query.dimensions or query.per or query.grain or query.measures or query.ratios:
        return
    base, (name,) = draft.base or "", query.metrics
    metric = draft.context.metrics.get(name)
    is_count = metric is not None and metric.agg in ("count", "count_distinct") and metric.entity == base
    for part in query.filters if is_count or name == f"count({base})" else ():
        is_one = isinstance(part, Filter) and part.operator == "in" and len(part.values) == 1 and not part.negated
        if is_one and isinstance(part, Filter) and draft.tells_apart(part.dimension, base):
            message = f"I do not see which {base.replace('_', ' ')} are counted: `{part.values[0]}` is one of them"
            raise Stop(not_understood(message, "ask for what belongs to it", (str(part.values[0]),)))


def stop_at_two_ranks(draft: QueryDraft, bases: Mapping[str, str], orders: Sequence[Order]) -> None:
    """ "Top 3 by highest score and number of patients": of all patients, or of those who have a score?"""
    ranks = [order.by for order in orders if order.by in bases]
    if draft.said.is_ranking and len({bases[name] for name in ranks}) > 1:
        first, second = (name.replace("_", " ") for name in ranks[:2])
        message = f"I do not see whether `{second}` speaks of those alone that `{first}` is of"
        raise Stop(not_understood(message, "rank by one number, and ask for the other beside it"))


def stop_at_definitions(draft: QueryDraft) -> None:
    """A definition that the question brings along must be the one of the catalogue."""
    numbers = [number.ref for number in draft.said.numbers]
    for defined in draft.said.definitions:
        names = [target.name for target in defined.names]
        if not names:
            names = [t.name for ref in numbers for t in ref.of("metric") if defined.words.lower() in ref.words.lower()]
        if not names:
            words = defined.words
            raise Stop(not_understood(f"I do not see what `{words}` is asked for", "leave it out", (words,)))
        for part in defined.parts:
            made = {made for name in names for made in made_of(draft, name)}
            if not made & meant_by(part):
                message = f"the catalogue does not make `{names[0]}` of `{part.words}`"
                raise Stop(not_understood(message, "ask for the metric by its name alone", (part.words,)))
        missing = sorted(added(draft, names[0]) - {name for part in defined.parts for name in meant_by(part)})
        if defined.is_sum and missing:
            message = f"the catalogue adds `{missing[0]}` to `{names[0]}` too"
            raise Stop(not_understood(message, "ask for the metric by its name alone", (defined.words,)))


def meant_by(part: Ref) -> set[str]:
    """The metrics and facts that a part of a definition can mean, and the entity that it names."""
    return {target.name for target in part.targets} | {f"sum({target.name})" for target in part.of("fact")}


def added(draft: QueryDraft, name: str) -> set[str]:
    """The metrics that a derived one adds up; of a ratio what it divides."""
    metric = draft.context.metrics.get(name)
    if metric is None or metric.type not in ("derived", "ratio"):
        return set()
    parts = [part.name for part in metric.inputs] if metric.type == "derived" else []
    parts += [metric.numerator] if metric.type == "ratio" and metric.numerator else []
    return {one for part in parts for one in (added(draft, part) or {part})}


def made_of(draft: QueryDraft, name: str, depth: int = 0) -> set[str]:
    """The metrics and facts that a metric computes with, and itself."""
    metric = draft.context.metrics.get(name)
    if metric is None or depth > 5:
        return {name}
    parts = [part.name for part in metric.inputs] + [half for half in (metric.numerator, metric.denominator) if half]
    found = {name} | {inner for part in parts for inner in made_of(draft, part, depth + 1)}
    if metric.type == "simple" and metric.entity in draft.context.entities:
        entity = draft.context.entities[metric.entity]
        found |= {f"{entity.name}.{fact.name}" for fact in entity.facts if fact.sql == metric.expr}
        found.add(entity.name)
        found |= {owner for owner, _ in columns_of(metric.filter, entity.name)} if metric.filter else set()
    return found


def stop_at_strangers(draft: QueryDraft) -> None:
    """An entity that the rows do not lead to would be dropped silently, so it is refused."""
    assert draft.base is not None
    if draft.said.idle:
        words = draft.said.idle[0].words
        message = f"I do not see whether `{words}` is one, all together or each"
        raise Stop(not_understood(message, f"say `by {words}` for each", (words,)))
    ratio = draft.said.ratio
    numbers = [*draft.said.numbers, *((ratio.numerator, ratio.denominator) if ratio else ())]
    related = [*draft.said.related, *(part for number in numbers for part in number.related)]
    used = {draft.base, *draft.per, *(name for part in related for name in part.entity.entities)}
    for head in draft.said.heads:
        if not used & set(head.entities) and not any(draft.nearness.leads_to_one(draft.base, e) for e in head.entities):
            if any(is_narrowed(draft, name) for name in head.entities):
                continue
            message = f"`{draft.base}` says nothing about `{head.words}`"
            raise Stop(not_understood(message, "ask for a metric of it", (head.words,)))


def stop_at_pointed(draft: QueryDraft) -> None:
    """ "This customer" that nobody named, and "in that venue" of one found by a condition on what is counted there."""
    for one in draft.said.pointed:
        counted = {draft.base} - set(one.ref.entities)
        before = [part for part in draft.said.conditions if part.begins < one.begins and counted & set(part.ref.owners)]
        if not one.is_known or (before and not one.is_any):
            message = f"I do not know which `{one.ref.words}` is meant"
            raise Stop(not_understood(message, "name it: by its id, or its name", (one.ref.words,)))


def stop_at_names(draft: QueryDraft) -> None:
    """ "The top customers, show their names", where customers have none that may be shown: not those of products."""
    said = draft.said
    asked = said.subject or said.ranked or (said.heads[0] if said.heads else None)
    if asked is None or not asked.entities:
        return
    for ref in said.outputs:
        owners = {target.owner for target in ref.of("dimension")}
        if normal_words(ref.words) == ["name"] and not ref.near and owners and not owners & set(asked.entities):
            message = f"I do not see which `{ref.words}` of `{asked.words}` are meant"
            raise Stop(not_understood(message, "name the column that is shown", (ref.words,)))


def stop_at_uncounted(draft: QueryDraft) -> None:
    """ "Products by category", "refunds paid in 2025 by month" ask for no list: only the groups would be left."""
    said = draft.said
    is_asked = said.subject or said.ranked or said.outputs
    if said.heads and (said.grain or (said.groups and not is_asked)):
        words = said.heads[0].words
        message = f"I do not see which number of `{words}` is asked for"
        raise Stop(not_understood(message, f"ask `how many {words} …`, or `list {words}`", (words,)))


def stop_at_strays(draft: QueryDraft) -> None:
    """A column that is named and that nothing asks to be shown, grouped by or compared."""
    strays = [ref for ref in draft.said.strays if ref in draft.said.outputs]
    if strays:
        words = strays[0].words
        message = f"I do not see what to do with `{words}`"
        raise Stop(not_understood(message, f"say `by {words}` to group by it, or name one of its values", (words,)))


def is_narrowed(draft: QueryDraft, name: str) -> bool:
    """Does a condition speak of the entity, or of one that its rows lead to?"""
    assert draft.base is not None
    if draft.nearness.distance(draft.base, name) is None:
        return False
    owners = {owner for narrowing in draft.said.conditions for owner in owners_meant(draft, narrowing)}
    return any(draft.nearness.leads_to_one(name, owner) for owner in owners - {draft.base})


def owners_meant(draft: QueryDraft, narrowing: Narrowing) -> tuple[str, ...]:
    """The entities that a condition may narrow: the one that was decided, as soon as it is."""
    meant = draft.names.get(narrowing.ref.words, "").partition(".")[0]
    return (meant,) if meant in narrowing.ref.owners else narrowing.ref.owners


def stop_at_unused(draft: QueryDraft, dimensions: Sequence[str]) -> None:
    """Rows named in a list that it neither shows nor narrows by: "all policies and their holder"."""
    assert draft.base is not None
    said = draft.said
    used = {
        draft.base,
        *(name for part in said.related for name in (*part.entity.entities, *part.head.owners)),
    }
    used |= {name.partition(".")[0] for name in dimensions}
    used |= {name for narrowing in said.conditions for name in (*narrowing.ref.owners, *narrowing.near)}
    used |= {name for time in said.times for name in time.near}
    for head in said.heads:
        if not used & set(head.entities):
            words = head.words
            raise Stop(
                not_understood(f"I do not see what to do with `{words}`", f"name what of `{words}` is shown", (words,))
            )


def stop_at_grouped_rows(draft: QueryDraft, shown: Sequence[str]) -> None:
    """ "Customers with no orders by region": how many there are in each, or which regions they are in? Raises Stop."""
    said, base = draft.said, draft.base or ""
    rows = said.subject
    if rows is None or not rows.entities or said.outputs or said.beside:
        return
    if said.groups and not said.each and shown and not any(draft.tells_apart(name, base) for name in shown):
        words = rows.words
        message = f"I do not see whether `{words}` are counted by `{said.groups[0].words}`"
        raise Stop(not_understood(message, f"say `number of {words} …`, or name the columns to show", (words,)))


def stop_at_balance(draft: QueryDraft, condition: Condition) -> None:
    """A comparison with a balance, where its owners are spoken of: with which of all their balances? Raises Stop."""
    for _, metric in sorted(draft.context.metrics.items()):
        if metric.non_additive_dimension is None or metric.entity is None or not owns(draft, metric):
            continue
        facts = [f"{metric.entity}.{fact.name}" for fact in draft.context.entities[metric.entity].facts]
        is_told = isinstance(condition, Filter) and condition.operator != "is_null" and condition.dimension in facts
        if is_told or (isinstance(condition, Related) and condition.metric == metric.name):
            words = metric.name.replace("_", " ")
            raise Stop(not_understood(f"I do not compare rows with their `{words}`", "ask for it by each", (words,)))


def owns(draft: QueryDraft, metric: Metric) -> bool:
    """Are those spoken of whose balance it is?"""
    said, given = draft.said, metric.non_additive_dimension
    counted = [number.ref for number in said.numbers if number.agg == "count"]
    refs = (said.subject, said.ranked, *said.heads, *said.groups, *counted, *(part.head for part in said.related))
    spoken = {name for ref in refs if ref is not None for name in ref.entities}
    spoken |= {target.owner for ref in said.outputs for target in ref.of("dimension")}
    return given is not None and any(
        [pair.left_column for pair in one.relationship_columns] == list(given.window_groupings)
        and one.right_entity in spoken
        for one in draft.context.entities[metric.entity or ""].relationships
    )


def stop_at_things(draft: QueryDraft, query: SemanticQuery) -> None:
    """ "Which salesperson sold the most cars": different cars, or sales, of which a car may have several?"""
    said = draft.said
    base = draft.base
    counts = [one for one in said.numbers if one.agg == "count" and base in one.ref.entities and not one.distinct]
    if base is None or not counts or not (said.verbs or said.done) or said.ratio is not None:
        return
    places = dict.fromkeys(name.partition(".")[0].partition("@")[0] for name in (*query.dimensions, *query.per))
    leads = draft.nearness.leads_to_one
    for place in places:
        is_connected = place != base and draft.nearness.distance(base, place) is not None
        if not is_connected or leads(base, place) or leads(place, base):
            continue
        between = [name for name in links(draft, base, place) if name not in (base, place)]
        are_people = bool(draft.context.entities[base].pii)  # of whom one means each once: "treated the most patients"
        if len(between) == 1 and not are_people and not pairs_once(draft, between[0], base, place):
            words = counts[0].ref.words
            kinds = (f"different {words}", readable(between[0]))
            choices = tuple(Choice(value=_replaced(draft.text, words, kind), label=kind) for kind in kinds)
            raise Stop(Unclear(words, choices))


def pairs_once(draft: QueryDraft, link: str, *ends: str) -> bool:
    """Is a row of *link* told by its two ends, so that no two of its rows connect the same two?"""
    entity = draft.context.entities[link]
    columns = [one.relationship_columns for one in entity.relationships if one.right_entity in ends]
    key = set(entity.primary_key.columns) if entity.primary_key is not None else set()
    return bool(key) and key <= {part.left_column for parts in columns for part in parts}


def stop_at_each_row(draft: QueryDraft, query: SemanticQuery) -> None:
    """ "Net revenue per order by month": how much an order has on average, or what each of them has? Raises Stop."""
    said = draft.said
    rows = [ref for ref in said.per if ref in said.groups and ref.entities and not ref.of("dimension")]
    others = bool(query.grain) or len(said.groups) > len(rows)
    is_plain = query.metrics and not (query.ratios or query.summaries or query.limit or said.orders or said.outputs)
    if len(rows) != 1 or not others or not is_plain or len(said.numbers) != 1:
        return
    number, each = said.numbers[0], rows[0].words
    if number.agg is not None and number.agg != "sum":
        return
    words = number.ref.words
    message = f"I do not see whether `{words}` of each `{each}` is asked for, or what one has on average"
    raise Stop(not_understood(message, f"say `by {each} and …` for a row of each", (words,)))


def stop_at_done(draft: QueryDraft, query: SemanticQuery) -> None:
    """ "Total quantity sold", where `items sold` leaves some rows out, as not sold: a column does not. Raises Stop."""
    bases = {
        base_of(draft, name, query) for name in query.metrics if name.endswith(")") and not name.startswith("count")
    }
    for verb in draft.said.verbs:
        word = verb.words.lower()
        for name, metric in sorted(draft.context.metrics.items()):
            known = {one for said in (name.replace("_", " "), *metric.synonyms) for one in said.lower().split()}
            is_narrowed = metric.filter or any(trap.required_filter for trap in applicable(draft.context, [name]))
            if metric.entity in bases and word in known and is_narrowed and not verb.targets:
                message = f"I do not see which rows are `{verb.words}`: the catalogue says it of `{readable(name)}`"
                help = f"ask for `{readable(name)}`, or leave `{verb.words}` out for all rows"
                raise Stop(not_understood(message, help, (verb.words,)))


def _replaced(text: str, words: str, new: str) -> str:
    """*text* with *new* wherever *words* stand."""
    return re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", new, text, flags=re.IGNORECASE)
