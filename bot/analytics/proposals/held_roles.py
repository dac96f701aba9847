"""Roles and sides: which of several relationships the words mean, and which end of a way."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analytics.proposals.evidence import Mention, alike, stems
from bot.analytics.proposals.holding import Holding, Untenable
from bot.analytics.reader import wording
from bylaw.authored.context import Relationship
from bylaw.semantic.query import (
    Filter,
)

# ---- roles and sides


def role(h: Holding, name: str, places: Sequence[int]) -> None:
    """A relationship that is one of several, or that is named, is the one that the words speak of."""
    place = name.partition(".")[0]
    entity, _, role = place.partition("@")
    owner, meant = relationship(h, role) if role else _walked(h, entity)
    if meant is None:
        return
    others = [one for one in h.context.entities[owner].relationships if one.right_entity == entity and one is not meant]
    if meant.default or not others or not role:
        rivals = [one for one in others if _speaks_of(h, owner, one, meant, places)]
        if others and rivals and not _speaks_of(h, owner, meant, others[0], places):
            raise Untenable(f"the words speak of `{rivals[0].name}`")
        return
    if not any(_speaks_of(h, owner, meant, other, places) for other in others):
        raise Untenable(f"no word says that `{role}` is meant")


def _walked(h: Holding, entity: str) -> tuple[str, Relationship | None]:
    """The relationship that leads to *entity* where the query does not say which."""
    for name in h.compiled.walked:
        owner, one = relationship(h, name.partition(".")[2])
        if one is not None and one.right_entity == entity:
            return owner, one
    return "", None


def relationship(h: Holding, name: str) -> tuple[str, Relationship | None]:
    for owner, entity in h.context.entities.items():
        for one in entity.relationships:
            if one.name == name:
                return owner, one
    return "", None


def _speaks_of(h: Holding, owner: str, one: Relationship, other: Relationship, places: Sequence[int]) -> bool:
    """Do the words at *places*, or right before them, name this relationship rather than the other?"""
    e = h.evidence
    near = sorted({k for i in places for k in (i - 3, i - 2, i - 1, i) if k >= 0})
    if any(t.kind == "relation" and t.name == f"{owner}.{one.name}" for m in h.mentions(near) for t in m.targets):
        return True
    mine = {s for said in (one.name, *one.synonyms) for s in stems(said)}
    theirs = {s for said in (other.name, *other.synonyms) for s in stems(said)}
    own = mine - theirs
    return any(alike(stem, other) for i in near for stem in stems(e.words[i]) for other in own)


def side(h: Holding, part: Filter, one: Mention, places: Sequence[int]) -> None:
    """ "From Oslo" is no destination."""
    side = side_of(h, part.dimension)
    if side is None:
        return
    e = h.evidence
    for i in range(one.first - 1, max(-1, one.first - 7), -1):
        word = e.words[i]
        if word in wording.ORIGINS or word in wording.DESTINATIONS:
            if (word in wording.ORIGINS) != (side == "from"):
                raise Untenable(f"`{word} {one.said}` is not `{part.dimension}`")
            return
        if e.tokens[i].kind == "word" and any(m.first <= i <= m.last and not m.targets for m in e.mentions):
            return


def side_of(h: Holding, name: str) -> str | None:
    record = h.record(name)
    said = [name.partition(".")[2], *getattr(record, "synonyms", ())]
    words = {word for one in said for word in one.replace("_", " ").lower().split()}
    sides = {"from" for word in words if word in wording.ORIGINS} | {
        "to" for word in words if word in wording.DESTINATIONS
    }
    return next(iter(sides)) if len(sides) == 1 else None
