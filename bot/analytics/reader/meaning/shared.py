"""Numbers of rows that are shared: what is done again and again with a thing, what few of the other rows belong to.

Where the words leave open which of them count, the person who asked is asked back, or sees both.
"""

from __future__ import annotations

import re

from bot.analytics.reader.headline import readable
from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.links import links
from bot.analytics.reader.meaning.metrics import base_of
from bot.analytics.reader.reading import Stop, Unclear, not_understood
from bot.conversation import Choice
from bylaw.semantic.gotchas import applicable
from bylaw.semantic.query import SemanticQuery


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
    rest = rf"\bper\s+{re.escape(each)}\s+(?:by|per|and|for each|for every|in each)\b"
    listed, found = re.subn(rest, f"by {each} and", draft.text, count=1, flags=re.IGNORECASE)
    if not found:
        return
    mean = re.sub(rf"(?<!\w)((?:total )?{re.escape(words)})(?!\w)", r"average \1", draft.text, flags=re.IGNORECASE)
    mean = re.sub(rest, f"per {each} by", mean, count=1, flags=re.IGNORECASE)
    choices = (
        Choice(value=mean, label=f"what one {each} has on average"),
        Choice(value=listed, label=f"a row for each {each}"),
    )
    raise Stop(Unclear(f"{words} per {each}", choices))


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
