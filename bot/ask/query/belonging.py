"""Words of no trade that add nothing to a query: verbs that rows are there, or that one thing is had by another.

"Made", and "received", add nothing where only one way leads between any two things of the query; nor does what says
that nothing is left out ("in the database"), or the verb of a thing that the query goes through. Every other verb is
left over: whether bookings that were "refunded" are all of them, no catalogue tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from bylaw.authored.context import Context
from bylaw.hold.item import Stretch
from bylaw.hold.text import Seen
from bylaw.hold.words import Index, Mention
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Token, words_of

Place = tuple[int, int]


def places_of_belonging(
    residue: Sequence[Stretch], seen: Seen, index: Index, context: Context, used: Collection[str]
) -> Iterator[Place]:
    """The words that only say that things are there or belong together; *used* are the entities of the query, and
    *residue* is what nothing accounts for yet.
    """
    if not any(word.endswith("ed") or word in _light() for one in residue for word in words_of(one.text)):
        return
    classes = ("everywhere", *(("doing", "belonging") if _is_unique(context, used) else ()))
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        mentions = list(index.find(tokens))
        for mention in mentions:
            if _is_on_path(mention, tokens, index, used):
                yield tokens[mention.first].start, tokens[mention.first].end
        near = (one for one in mentions if not _is_elsewhere(one, context, used))
        declared = {k for mention in near for k in range(mention.first, mention.last + 1)}
        words = [token.word for token in tokens]
        for first, behind in (span for name in classes for span in lexicon()[name].find(words)):
            if declared.isdisjoint(range(first, behind)):
                yield from ((token.start, token.end) for token in tokens[first:behind])


@cache
def _light() -> frozenset[str]:
    return frozenset(
        word for name in ("everywhere", "doing", "belonging") for text in closed(name) for word in text.split()
    )


def _is_elsewhere(mention: Mention, context: Context, used: Collection[str]) -> bool:
    """Is it declared only for relationships of things that the query does not use?"""
    roles = {role for _, _, role in (owner.name.partition("@") for owner in mention.owners)}
    ways = {one.name for name in used if name in context.entities for one in context.entities[name].relationships}
    return "" not in roles and roles.isdisjoint(ways)


def _is_on_path(mention: Mention, tokens: Sequence[Token], index: Index, used: Collection[str]) -> bool:
    """Is it a verb of a thing that the query goes through anyway: "offered", of offerings?"""
    word = tokens[mention.first].word
    if mention.size > 1 or not word.endswith("ed"):
        return False
    names = [name for owner in mention.owners if (name := index.get("part", owner.name)) is not None]
    is_through = bool(names) and all(name.kind == "entity" and name.name in used for name in names)
    return is_through and not any(word in words_of(text) for name in names for text in name.texts)


def _is_unique(context: Context, used: Collection[str]) -> bool:
    """Does at most one way lead from each of the things to any other?"""
    places = {name.partition("@")[0] for name in used}
    ways = Counter(
        (name, one.right_entity)
        for name in places & set(context.entities)
        for one in context.entities[name].relationships
        if one.right_entity in places
    )
    return all(count == 1 for count in ways.values())
