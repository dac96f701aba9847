"""What holds of a kind, a column whose value many rows share; and what no row can be at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import NotUnderstood, Stop, not_understood
from bot.analytics.reader.said import Narrowing
from bylaw.semantic.query import Condition, Filter, Related


def none_of_kind(draft: QueryDraft, narrowing: Narrowing, condition: Filter) -> Related | None:
    """ "Food types that are not served in Miami", "cities with no Mexican restaurant": no row of theirs is so.

    None where rows are asked for, or where the condition is said of the column itself. Raises Stop where more is said.
    """
    said, kind, owner = draft.said, kind_asked(draft), condition.dimension.partition(".")[0].partition("@")[0]
    assert draft.base is not None
    if kind is None and not draft.nearness.leads_to_one(draft.base, owner):
        kind = draft.base
    if kind is None or condition.dimension == kind:
        return None
    if said.times or said.done or any(one.begins > narrowing.ends for one in said.conditions):
        words = narrowing.ref.words
        message = f"I do not see what holds for no row where `{words}` is denied"
        raise Stop(not_understood(message, "ask for one condition at a time", (words,)))
    leads = draft.nearness.leads_to_one(draft.base, owner) and draft.base != kind
    metric = f"count({draft.base if leads else owner})"
    positive = condition.model_copy(update={"negated": False})
    return Related(entity=kind, metric=metric, comparison="=", value=0, filters=(positive,))


def kind_asked(draft: QueryDraft) -> str | None:
    """The column that a list shows alone, or whose values are counted, where many rows share one; of rows these."""
    said = draft.said
    asked = [*said.outputs, *(number.ref for number in said.numbers if number.agg == "count")]
    if said.ratio is not None or len(asked) != 1 or len(said.numbers) > 1 or not asked[0].of("dimension"):
        return None
    name = draft.choose(asked[0], asked[0].of("dimension")).name
    owner = name.partition(".")[0]
    is_row = draft.tells_apart(name, owner)
    return (None if owner == draft.base else owner) if is_row else name


def is_other_value(one: Condition, other: Condition) -> bool:
    """Two values of one column, one of them perhaps denied: no row has both, so they speak of two rows."""
    if not isinstance(one, Filter) or not isinstance(other, Filter):
        return False
    is_plain = one.operator == other.operator == "in" and not (one.negated and other.negated) and bool(one.values)
    return is_plain and one.dimension == other.dimension and one.values != other.values


def both_or_either(narrowing: Narrowing) -> NotUnderstood:
    """ "Who bought tea and milk": both, or one of them?"""
    values = tuple(str(value) for value in narrowing.values)
    return not_understood(f"I do not see whether each of `{'` and `'.join(values)}` is meant", "say `or`", values)


def stop_at_contradiction(draft: QueryDraft, conditions: Sequence[Condition]) -> None:
    """ "Received both placebo and non-placebo treatments": no row is both, and nobody asks for none."""
    seen: dict[Filter, bool] = {}
    for one in conditions:
        if isinstance(one, Filter):
            plain, is_negated = told_plainly(draft, one)
            if seen.setdefault(plain, is_negated) != is_negated:
                words = plain.dimension.replace(".", " ").replace("_", " ")
                message = f"no row is both `{words}` and not, so I do not see what is meant"
                raise Stop(not_understood(message, "ask for one of them at a time", (words,)))


def told_plainly(draft: QueryDraft, one: Filter) -> tuple[Filter, bool]:
    """The condition without what denies it, and whether it is denied; of a named one by its expression."""
    owner, _, short = one.dimension.partition(".")
    entity = draft.context.entities.get(owner)
    named = next((part.sql for part in (entity.filters if entity else ()) if part.name == short), "").lower()
    dimension = entity.dimension(short) if entity is not None else None
    values = one.values
    if dimension is not None and values in ((True,), (False,)):
        named, values = f"{'' if values[0] else 'not '}{dimension.sql}".lower(), ()
    is_negated = one.negated ^ named.startswith("not ")
    name = f"{owner}.{named.removeprefix('not ')}" if named else one.dimension
    return one.model_copy(update={"dimension": name, "values": values, "negated": False}), is_negated


def prefer_rows(draft: QueryDraft) -> None:
    """ "Which states have no lake above 300": of all states, not of those alone that lakes are in."""
    asked = draft.said.outputs
    if len(asked) == 1 and any(one.is_of_kind for one in draft.said.conditions):
        rows = tuple(one for one in asked[0].of("dimension") if [one.name] == draft.labels(one.owner))
        asked[0] = replace(asked[0], targets=rows) if len(rows) == 1 else asked[0]


def prefer_counted(draft: QueryDraft) -> None:
    """ "Which countries have more than one river", where all kinds of rows have a country: that of the rivers."""
    asked = draft.said.outputs
    counted = {name for part in draft.said.related for name in part.entity.entities}
    if len(asked) != 1 or len(counted) != 1 or asked[0].entities:
        return
    own = tuple(one for one in asked[0].of("dimension") if one.owner in counted)
    rows = [one for one in asked[0].of("dimension") if one.name in draft.labels(one.owner)]
    if len(own) == 1 and not rows:
        asked[0] = replace(asked[0], targets=own)
