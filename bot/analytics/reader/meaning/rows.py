"""What the rows of the answer are, what they show, and in what order they stand."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.analytics.reader.meaning.checks import stop_at_strays
from bot.analytics.reader.meaning.draft import QueryDraft, normal_words
from bot.analytics.reader.meaning.literals import is_text
from bot.analytics.reader.meaning.numbers import decided_number, named_number
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import NumberSaid, Ref
from bot.analytics.reader.scope import Target
from bylaw.semantic.query import (
    Order,
)


def group_names(draft: QueryDraft) -> list[str]:
    """The dimensions shown; an entity that is grouped by shows its label, or its key."""
    said = draft.said
    asked = [*said.groups, *([said.ranked] if said.ranked else [])]
    if said.subject is not None and draft.base not in said.subject.entities:
        asked.append(said.subject)
    found: list[str] = []
    for ref in asked:
        add_group(draft, ref, found)
    stop_at_strays(draft)
    add_up_facts(draft)
    shown = [shown_name(draft, ref) for ref in said.outputs]
    spoken = {name for ref in (*said.heads, *asked) for name in (*ref.entities, *ref.owners)}
    spoken |= {name for ref in said.outputs for name in ref.near}
    spoken |= {*said.outputs[0].owners} if said.is_ranking and said.outputs and not asked else set()
    for name, ref in zip(shown, said.outputs, strict=True):
        owner = name.partition(".")[0]
        if not draft.nearness.leads_to_one(draft.base or owner, owner) and owner not in spoken:
            message = f"one row of `{draft.base}` has many of `{owner}`, so I do not see what to do with `{ref.words}`"
            raise Stop(not_understood(message, f"say `by {ref.words}` to group by it", (ref.words,)))
    if draft.per and any(name.partition(".")[0] in draft.per for name in shown):
        found = [name for name in found if name.partition(".")[0] not in draft.per]
    for name in shown:
        owner = name.partition(".")[0]
        if tells_row(draft, name, {*found, *shown}) or draft.is_key(Target("dimension", name)):
            each_row(draft, owner)
    return list(dict.fromkeys([*found, *shown]))


def add_up_facts(draft: QueryDraft) -> None:
    """A fact that is shown beside numbers is a number itself, by its own way of adding up."""
    for ref in list(draft.said.outputs):
        if ref.of("fact") and not ref.of("dimension", "time"):
            draft.said.outputs.remove(ref)
            if any(normal_words(one.ref.words)[-1:] == normal_words(ref.words)[-1:] for one in draft.said.numbers):
                message = f"I do not see whether `{ref.words}` is the number before, or one of its own"
                raise Stop(not_understood(message, "ask for it by its whole name", (ref.words,)))
            draft.more.append(decided_number(draft, NumberSaid(ref)).name)


def add_group(draft: QueryDraft, ref: Ref, found: list[str]) -> None:
    dimensions = ref.of("dimension")
    if ref.entities and not dimensions:
        target = draft.choose(ref, ref.of("entity"))
        if target.name == draft.base and not draft.said.ranked:
            each_row(draft, target.name)
        each_row(draft, target.name)
        found += draft.label(target.name)
        return
    target = draft.choose(ref, dimensions or ref.of("time", "fact"))
    owner = target.owner
    found.append(target.name)
    if tells_row(draft, target.name, found) or draft.is_key(target):
        each_row(draft, owner)


def tells_row(draft: QueryDraft, name: str, beside: Collection[str]) -> bool:
    """Does a dimension name rows? A category that is one part of a label ("make" of a make and a model) does not."""
    owner, _, short = name.partition(".")
    label, dimension = draft.context.entities[owner].label, draft.context.entities[owner].dimension(short)
    is_whole = all(f"{owner}.{part}" in beside for part in label)
    return short in label and (is_whole or dimension is None or not dimension.is_enum)


def each_row(draft: QueryDraft, entity: str) -> None:
    if entity not in draft.per:
        draft.per.append(entity)


def shown_name(draft: QueryDraft, ref: Ref) -> str:
    target = draft.choose(ref, ref.of("dimension", "fact", "time"), owners_of_answer(draft))
    return target.name


def shown_names(draft: QueryDraft, ref: Ref) -> list[str]:
    """What a list shows of *ref*; of rows what people tell them apart by."""
    if ref.of("dimension", "fact", "time") or not ref.entities:
        return [shown_name(draft, ref)]
    entity = draft.choose(ref, ref.of("entity")).name
    return draft.label(entity)


def owners_of_answer(draft: QueryDraft) -> list[str]:
    said = draft.said
    refs = [said.ranked, said.subject, *said.groups]
    return [*draft.per, *(name for ref in refs if ref is not None for name in ref.entities)]


def label_or_name(draft: QueryDraft, ref: Ref) -> list[str]:
    named = ref.of("dimension", "fact", "time")
    if not named and ref.entities:
        return draft.label(draft.choose(ref, ref.of("entity")).name)
    return [draft.choose(ref, named, () if ref.near else owners_of_answer(draft)).name]


def metrics_known(draft: QueryDraft) -> str:
    known = ", ".join(name.replace("_", " ") for name in sorted(draft.context.metrics))
    return f"the metrics are: {known}"


def orders_of(draft: QueryDraft, dimensions: list[str]) -> tuple[Order, ...]:
    said, found = draft.said, []
    for order in said.orders:
        descending = order.descending
        if descending is None:
            descending = (
                said.descending if said.descending is not None else isinstance(order.by, NumberSaid) and said.is_ranking
            )
        if isinstance(order.by, NumberSaid):
            name, _ = named_number(draft, order.by)
            measures = [measure for measure in draft.measures if measure.metric == name and measure.over != "rank"]
            known = measures[0].name if measures else name
            found.append(Order(by=known, descending=bool(descending)))
        elif isinstance(order.by, Ref):
            name = order_name(draft, order.by, dimensions)
            owner = name.partition(".")[0]
            if name not in dimensions and owner in draft.per:  # what tells the rows apart is what they are sorted by
                dimensions[:] = [name, *(other for other in dimensions if other.partition(".")[0] != owner)]
            found.append(Order(by=name, descending=bool(descending)))
        else:
            part = draft.part(draft.base, order.by) if draft.base is not None and said.grain is None else None
            column = f"{draft.base}.{part.name}" if part is not None else ""  # "in each year", where the year is one
            found.append(Order(by=column if column in dimensions else "time", descending=bool(descending)))
    if said.ratio is not None and said.ratio.is_ranked:
        found.append(Order(by="percentage" if said.ratio.in_percent else "ratio", descending=bool(said.descending)))
    if not found and said.spelled and dimensions:
        found.append(Order(by=first_text(draft, dimensions), descending=bool(said.descending)))
    if not found and said.descending is not None and draft.said.numbers and (dimensions or draft.per or said.grain):
        name, _ = named_number(draft, said.numbers[0])
        found.append(Order(by=name, descending=said.descending))
    return tuple({order.by: order for order in reversed(found)}.values())[::-1]


def first_text(draft: QueryDraft, dimensions: Sequence[str]) -> str:
    """What is sorted alphabetically: the first column of text, where there is one."""
    return next((name for name in dimensions if is_text(draft, name)), dimensions[0])


def order_name(draft: QueryDraft, ref: Ref, dimensions: Sequence[str]) -> str:
    named = {target.name for target in ref.of("dimension", "time", "fact")}
    shown = next((name for name in dimensions if name in named), None)
    if shown is not None:
        return shown
    facts = ref.of("fact")
    for number in draft.said.numbers:
        name, _ = named_number(draft, number)
        if any(f"({fact.name})" in name for fact in facts):
            return name
    return label_or_name(draft, ref)[0]


def limited_by(draft: QueryDraft, dimensions: Sequence[str]) -> tuple[str, ...]:
    """ "Top 3 products in each category": the groups that each have their own first rows."""
    ranked = draft.said.ranked
    inside = [ref for ref in draft.said.groups if ranked is None or ref.words != ranked.words]
    names = {target.name for ref in inside for target in ref.targets}
    owners = {name for ref in inside for name in ref.entities}
    return tuple(name for name in dimensions if name in names or name.partition(".")[0] in owners)
