"""Words that say how one thing belongs to another ("received", "placed by"): the query joins them that way anyway.

A word that is declared for a relationship adds nothing where the query follows that relationship, and no other one
leads from the one thing to the other. Anywhere else it is left over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from bylaw.authored.context import Context
from bylaw.hold.item import HeldItem, Reading, Stretch
from bylaw.hold.text import Seen
from bylaw.hold.words import Index, Mention

Place = tuple[int, int]


def account_relations(reading: Reading, seen: Seen, index: Index, context: Context, used: Collection[str]) -> Reading:
    """*reading* without the residue that only says how the entities that are *used* belong together."""
    accounted = set(_places(seen, index, context, used)) if reading.residue else set()
    if not accounted:
        return reading
    left = tuple(one for one in reading.residue if not _is_among(one, seen, accounted))
    held = tuple(_strengthened(one, reading, left, seen) for one in reading.held)
    return replace(reading, residue=left, held=held)


def _places(seen: Seen, index: Index, context: Context, used: Collection[str]) -> Iterator[Place]:
    """The words of relationships that are followed."""
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        for mention in index.find(tokens):
            if _is_followed(mention, context, used):
                yield from ((t.start, t.end) for t in tokens[mention.first : mention.last + 1])


def _is_followed(mention: Mention, context: Context, used: Collection[str]) -> bool:
    named = {name for name in used if "@" in name}
    roles = [owner.name.partition("@") for owner in mention.owners]
    if any(not role for _, _, role in roles):
        return False
    for right, _, role in roles:
        for left in sorted(set(used)):
            entity = context.entities.get(left)
            ways = [one for one in entity.relationships if one.right_entity == right] if entity is not None else []
            mine = [one for one in ways if one.name == role]
            is_named = f"{right}@{role}" in named
            is_other = any(name.startswith(f"{right}@") for name in named) and not is_named
            if mine and right in used and not is_other and (is_named or len(ways) == 1 or mine[0].default):
                return True
    return False


def _is_among(one: Stretch, seen: Seen, places: Collection[Place]) -> bool:
    return any(seen.stretch(*place) == one for place in places)


def _strengthened(one: HeldItem, reading: Reading, left: tuple[Stretch, ...], seen: Seen) -> HeldItem:
    """An item that was weak for such words alone is borne."""
    if one.status != "weak" or one.weaknesses != {"words"} or one.place is None:
        return one
    first, last = seen.stretch(*one.place).start, seen.stretch(*one.place).end
    gone = [other for other in reading.residue if first <= other.start < last and other not in left]
    still = [other for other in left if first <= other.start < last]
    is_sole = gone and not still and "; " not in one.why and one.why.startswith("nothing accounts for")
    return replace(one, status="borne", why="", weaknesses=frozenset()) if is_sole else one
