"""Only, all and both: what holds for all related rows of a row, and what no row can be at once."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analytics.grammar.said import Narrowing
from bot.analytics.meaning.draft import Draft
from bot.analytics.reading import Stop, not_understood
from bylaw.language.words import singular
from bylaw.semantic.query import Condition, Filter, Related


def none_otherwise(draft: Draft, narrowing: Narrowing, condition: Filter, part: Related) -> Related:
    """ "Customers who only bought funds": besides some such row each has none that is otherwise.

    *part* asks for some of these rows. Raises Stop where more than one thing is said of them.
    """
    others = [one for one in draft.said.conditions if one is not narrowing and one.clause == narrowing.clause]
    is_some = part.comparison == ">=" and part.value == 1 and part.against is None
    if others or draft.said.times or not is_some:
        words = narrowing.ref.words
        message = f"I do not see what holds for all and what for some of those that are `{words}`"
        raise Stop(not_understood(message, "ask for one condition at a time", (words,)))
    other = condition.model_copy(update={"negated": not condition.negated})
    return part.model_copy(update={"comparison": "=", "value": 0, "filters": (other,)})


def stop_at_all_of_kind(draft: Draft, narrowing: Narrowing) -> None:
    """ "Regions with only gold customers", where a region is a column of the customers: all of each would be asked."""
    asked = next(iter(draft.said.outputs), None) or draft.said.subject
    if asked is None or asked.entities:
        return
    own = [one for one in asked.of("dimension") if one.owner == draft.base]
    owners = {singular(word) for one in own for word in (one.owner, *draft.context.entities[one.owner].synonyms)}
    is_row = any(draft.is_key(one) or draft.tells_apart(one.name, one.owner) for one in own)
    if own and not is_row and singular(asked.words.lower()) not in owners:
        message = f"I do not see whether all rows of `{asked.words}` are meant"
        raise Stop(not_understood(message, "ask for the rows", (narrowing.ref.words,)))


def stop_at_contradiction(draft: Draft, conditions: Sequence[Condition]) -> None:
    """ "Received both placebo and non-placebo treatments": no row is both, and nobody asks for none."""
    seen: dict[Filter, bool] = {}
    for one in conditions:
        if isinstance(one, Filter):
            plain, is_negated = told_plainly(draft, one)
            if seen.setdefault(plain, is_negated) != is_negated:
                words = plain.dimension.replace(".", " ").replace("_", " ")
                message = f"no row is both `{words}` and not, so I do not see what is meant"
                raise Stop(not_understood(message, "ask for one of them at a time", (words,)))


def told_plainly(draft: Draft, one: Filter) -> tuple[Filter, bool]:
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
