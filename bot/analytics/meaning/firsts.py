"""Which row is the first of which: by its own date, among the rows of each of what is spoken of, or among all."""

from __future__ import annotations

from bot.analytics.grammar.said import FirstSaid, Ref
from bot.analytics.meaning.draft import Draft
from bot.analytics.meaning.narrowed import owner_of
from bot.analytics.meaning.times import place, within
from bot.analytics.reading import Stop, not_understood
from bylaw.semantic.query import Condition, Filter, First, Related


def add_firsts(draft: Draft, filters: list[Condition]) -> None:
    """Add a condition for every row that is the first or the last of its kind."""
    if (several := owner_of_several(draft)) is not None:
        draft.compared.add(several)
        filters += [Filter(dimension=key, operator="is_null", negated=True) for key in keys_of_owner(draft)]
    for said in draft.said.firsts:
        entity = entity_of(draft, said)
        by = born(draft, entity) if said.is_age else None
        by = by or (draft.default_time(entity) if not said.is_age or not said.is_last else None)
        if by is None:
            words = said.ref.words
            raise Stop(not_understood(f"`{words}` has no date, so none of them is the first", None, (words,)))
        inside = [] if said.is_told else [part for part in filters if is_inside(draft, entity, part)]
        for time in draft.said.times:
            if time.span.start is not None and not said.is_told:
                names = [target.name for target in time.ref.of("time")] if time.ref else [by]
                inside += within(by, time) if by in names else []
        narrowed = tuple(part for part in inside if not isinstance(part, Related))
        owners = owners_of(draft, said, entity)
        draft.compared |= {entity, *owners}
        first = First(by=by, per=owners, is_last=said.is_last, filters=narrowed)
        place(draft, filters, [first], entity)


def born(draft: Draft, entity: str) -> str | None:
    """The date by which its rows are old or young: of people that of their birth."""
    for date in draft.context.entities[entity].time_dimensions:
        said = f" {date.name} {' '.join(date.synonyms)} ".lower().replace("_", " ")
        if " birth " in said or " born " in said:
            return f"{entity}.{date.name}"
    return None


def columns_of_first(draft: Draft, said: FirstSaid) -> list[str]:
    """What a list of the first rows shows where nobody says what: of each of what, and the rows."""
    entity = entity_of(draft, said)
    if entity != draft.base:
        return []
    owners = [owner for owner in owners_of(draft, said, entity) if draft.is_labelled(owner)]
    return [name for owner in owners for name in draft.label(owner)] + draft.columns(entity)


def keys_of_owner(draft: Draft) -> tuple[str, ...]:
    """What tells apart of each of what the first rows are shown: "the last 5 orders of each customer"."""
    owner = owner_of_several(draft)
    key = draft.context.entities[owner].primary_key if owner else None
    if owner and key is None:
        raise Stop(not_understood(f"nothing tells the rows of `{owner}` apart", "declare its `primary_key`", (owner,)))
    return tuple(f"{owner}.{column}" for column in key.columns) if key else ()


def owner_labels(draft: Draft) -> list[str]:
    """The same, as people tell it apart."""
    owner = owner_of_several(draft)
    return draft.label(owner) if owner and draft.is_labelled(owner) else []


def owner_of_several(draft: Draft) -> str | None:
    said = draft.said.each_of
    return None if said is None else draft.choose(said, said.of("entity")).name


def group_by_owners(draft: Draft) -> None:
    """ "The balance of the latest count of each product" is a number for each; "the average of …" is one of all."""
    said = draft.said
    for first in said.firsts:
        if first.per is not None and all(number.agg is None for number in said.numbers) and not said.groups:
            said.groups.append(Ref(first.per.words, first.per.of("entity"), (), first.per.is_plural))


def entity_of(draft: Draft, said: FirstSaid) -> str:
    return draft.choose(said.ref, said.ref.targets).owner


def is_inside(draft: Draft, entity: str, part: Condition) -> bool:
    """Does a condition choose among the rows, because each of them leads to what it is said of?"""
    return not isinstance(part, First | Related) and draft.nearness.leads_to_one(entity, owner_of(part))


def owners_of(draft: Draft, said: FirstSaid, entity: str) -> tuple[str, ...]:
    """Of each of what it is the first: what is said, what is grouped by, or the many that are spoken of."""
    if said.per is not None:
        return (draft.choose(said.per, said.per.of("entity")).name,)
    groups = [ref for ref in draft.said.groups if ref.entities]
    if len(groups) < len(draft.said.groups):
        words = next(ref.words for ref in draft.said.groups if not ref.entities)
        raise Stop(not_understood(f"I do not see the {said.ref.words} of each `{words}`", None, (words,)))
    spoken = [ref for ref in draft.said.heads if ref.entities != said.ref.entities and (ref.is_plural or said.is_owned)]
    shown = [ref.near or ref.owners for ref in draft.said.outputs] if said.is_owned else []
    names = [name for ref in (*groups, *spoken) for name in ref.entities] + [name for near in shown for name in near]
    if said.is_owned:
        names += draft.said.subject.entities if draft.said.subject is not None else ()
        names += [name for number in draft.said.numbers for name in number.ref.entities]
    found = (name for name in names if name != entity and draft.nearness.leads_to_one(entity, name))
    owner = next(found, None)
    if owner is None and said.is_owned:
        words = said.ref.words
        raise Stop(not_understood(f"I do not see whose `{words}` is meant", f"say `{words} of each …`", (words,)))
    return () if owner is None else (owner,)
