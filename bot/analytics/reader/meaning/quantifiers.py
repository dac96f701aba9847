"""Only, all and both: what holds for all related rows of a row, and what no row can be at once."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import Stop, not_understood
from bylaw.semantic.query import Condition, Filter


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
