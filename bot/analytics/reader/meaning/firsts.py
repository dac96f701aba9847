"""Which row is the first of which: by its own date, among the rows of each of what is spoken of, or among all."""

from __future__ import annotations

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.narrowed import owner_of
from bot.analytics.reader.said import FirstSaid
from bylaw.semantic.query import Condition, First, Related


def owner_of_several(draft: QueryDraft) -> str | None:
    said = None
    return None if said is None else draft.choose(said, said.of("entity")).name


def entity_of(draft: QueryDraft, said: FirstSaid) -> str:
    return draft.choose(said.ref, said.ref.targets).owner


def is_inside(draft: QueryDraft, entity: str, part: Condition) -> bool:
    """Does a condition choose among the rows, because each of them leads to what it is said of?"""
    return not isinstance(part, First | Related) and draft.nearness.leads_to_one(entity, owner_of(part))
