"""Words that say how one thing belongs to another ("received", "placed by"): the query joins them that way anyway.

A word that is declared for a relationship adds nothing where the query follows that relationship, and no other one
leads from the one thing to the other. Anywhere else it is left over.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from bot.ask.query.belonging import places_of_belonging
from bot.ask.query.definitions import places_of_definitions
from bylaw.authored.context import Context
from bylaw.hold.item import HeldItem, Item, Reading, Stretch
from bylaw.hold.targets import parse_expression
from bylaw.hold.text import Seen
from bylaw.hold.words import Index, Mention
from bylaw.language.lexicon import closed
from bylaw.language.text import Token

Place = tuple[int, int]
_NAME = re.compile(r"\w+")


def account_relations(reading: Reading, seen: Seen, index: Index, context: Context, used: Collection[str]) -> Reading:
    """*reading* without the residue that only says how the entities that are *used* belong together."""
    if not reading.residue:
        return reading
    accounted = {*_places(seen, index, context, used), *_listed(reading, seen, index)}
    accounted.update(places_of_belonging(reading.residue, seen, index, context, used))
    accounted.update(places_of_definitions(reading, seen, index, context))
    left = tuple(one for one in reading.residue if not _is_among(one, seen, accounted))
    held = tuple(_strengthened(one, reading, left, seen) for one in reading.held)
    return replace(reading, residue=left, held=held)


def _places(seen: Seen, index: Index, context: Context, used: Collection[str]) -> Iterator[Place]:
    """The words of relationships that are followed, and those right before them of what they lead from: of what is
    sold for *shows held at* a house nothing else is said than the house.
    """
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        mentions = list(index.find(tokens))
        for k, mention in enumerate(mentions):
            if (left := _followed_from(mention, context, used)) is None:
                continue
            yield from _words_of(mention, tokens)
            before = mentions[k - 1] if k and mentions[k - 1].last == mention.first - 1 else None
            if before is not None and _is_plain(before, tokens, left):
                yield from _words_of(before, tokens)


def _words_of(mention: Mention, tokens: Sequence[Token]) -> Iterator[Place]:
    yield from ((t.start, t.end) for t in tokens[mention.first : mention.last + 1])


def _is_plain(mention: Mention, tokens: Sequence[Token], entity: str) -> bool:
    """Is it the word for that one thing, which nothing counts, denies or hands over?"""
    before = tokens[mention.first - 1].word if mention.first else ""
    opening = closed("grouping") | closed("emptiness") | closed("negation")
    return {owner.name for owner in mention.owners} == {entity} and before not in opening


def _listed(reading: Reading, seen: Seen, index: Index) -> Iterator[Place]:
    """The words for the one thing whose rows are listed: "Which invoices were late? Return the number and the sum."."""
    asked = [parse_expression(one.item.name or "") for one in reading.items if one.item.kind == "asks"]
    if not asked or any(one.function not in ("list", "values") for one in asked):
        return
    listed = {part.text.partition(".")[0] for one in asked for part in one.arguments}
    for passage in seen.text.passages if len(listed) == 1 else ():
        tokens = seen.words(passage.start, passage.end)
        for mention in index.find(tokens):
            if _is_plain(mention, tokens, *listed):
                yield from _words_of(mention, tokens)


def _followed_from(mention: Mention, context: Context, used: Collection[str]) -> str | None:
    """The entity that a relationship leads from, where the words are of it and the query follows it."""
    named = {name for name in used if "@" in name}
    roles = [owner.name.partition("@") for owner in mention.owners]
    if any(not role for _, _, role in roles):
        return None
    entities = {left: context.entities[left].relationships for left in sorted(set(used)) if left in context.entities}
    for right, _, role in roles:
        found = {left: [one for one in those if one.right_entity == right] for left, those in entities.items()}
        is_sole = sum(bool(ways) for ways in found.values()) == 1  # else it may be reached by another thing
        for left, ways in found.items():
            mine = [one for one in ways if one.name == role]
            is_named = f"{right}@{role}" in named
            is_other = any(name.startswith(f"{right}@") for name in named) and not is_named
            is_only = bool(mine) and is_sole and (len(ways) == 1 or mine[0].default)
            if right in used and (is_named or is_only) and mine and not is_other:
                return left
    return None


def settle_dates(reading: Reading, context: Context) -> Reading:
    """*reading* with the times borne whose date no word names, but whose rows do: "patients who came for an injury in
    2026" is of the visits that are narrowed, which belong to the patients.
    """
    named = [one.item for one in reading.items if one.status == "borne"]
    narrowed = {place for one in named if one.kind in ("filter", "having") for place in _places_named(one, context)}
    asked = {place for one in named if one.kind == "asks" for place in _places_named(one, context)}
    return replace(reading, held=tuple(_dated(one, narrowed, asked, context) for one in reading.held))


def _dated(one: HeldItem, narrowed: Collection[str], asked: Collection[str], context: Context) -> HeldItem:
    place, _, short = (one.item.name or "").partition(".")
    if one.item.kind != "time" or one.weaknesses != {"name"} or place not in narrowed or place in asked:
        return one
    is_own = any(date.name == short and date.default for date in context.entities[place].time_dimensions)
    is_below = bool(asked) and all(_belongs(place, other, context) for other in asked)
    return replace(one, status="borne", why="", weaknesses=frozenset()) if is_own and is_below else one


def _places_named(item: Item, context: Context) -> set[str]:
    """The entities that an item and those inside it name, and those of the metrics."""
    found = {word for word in _NAME.findall(item.name or "") if word in context.entities}
    metrics = (context.metrics[word] for word in _NAME.findall(item.name or "") if word in context.metrics)
    found |= {one.entity for one in metrics if one.entity is not None}
    return found.union(*(_places_named(part, context) for part in (*item.of, *item.any_of)))


def _belongs(place: str, other: str, context: Context) -> bool:
    """Does each row of *place* belong to one of *other*, over however many others?"""
    seen: set[str] = set()
    left = [place]
    while left:
        one = left.pop()
        if one not in seen and one in context.entities:
            seen.add(one)
            ways = context.entities[one].relationships
            left += [way.right_entity for way in ways if way.relationship_type == "many_to_one"]
    return other != place and other in seen


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
