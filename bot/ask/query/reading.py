"""A data question as it is held: its reading, and the query that its items ask for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.ask.query.assemble import assemble
from bot.ask.query.names import Means
from bot.ask.query.relations import account_relations, settle_dates
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import By, HeldItem, Item, Proposal, Reading, Stretch
from bylaw.hold.text import see
from bylaw.language.text import words_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery, Unanswerable

_WORD = re.compile(r"[\w@]+")


@dataclass(frozen=True)
class HeldQuery:
    """What a question says. `query` is what its items ask for as far as they hold, None where they ask for nothing;
    `problem` is why the catalogue cannot say it, `items` what it is put together of.
    """

    reading: Reading
    query: SemanticQuery | None
    problem: Unanswerable | None = None
    items: tuple[Item, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Does it hold, with nothing weak, refused, unknown or left over?"""
        reading = self.reading
        is_borne = all(one.status == "borne" for one in reading.held)
        return self.query is not None and is_borne and not (reading.residue or reading.unknown)

    def objections(self, is_for_people: bool = True) -> list[str]:
        """What stands in the way, one by one. People are told no name that only a proposer knows."""
        is_hidden = is_for_people and self.reading.by == "model"
        found = [_objection(one, is_hidden) for one in self.reading.held if one.status != "borne"]
        found += [f"“{one.text}” is left over" for one in (*self.reading.residue, *self.reading.unknown)]
        return [*found, *([self.problem.message] if self.problem is not None else [])]


def _objection(one: HeldItem, is_hidden: bool) -> str:
    name = one.item.kind if is_hidden else one.item.named or one.item.kind
    said = f"“{one.item.quote}”" if one.item.quote else f"`{name}`"
    is_made_up = is_hidden and any(text in one.why for text in _UNDECLARED)
    return f"{said}: {'nothing is declared that is called so' if is_made_up else one.why}"


_UNDECLARED = ("that you can ask for", "is no declared name")


def hold_question(
    text: str,
    proposal: Proposal,
    ground: Ground,
    compiler: Compiler,
    by: By,
    heard: Collection[str] = (),
    before: Sequence[Item] | None = None,
) -> HeldQuery:
    """What *proposal* says of *text*. Of items that a person picked all, no word of the text is asked.

    *heard* are words that say how much depends on the answer, or how it is to be given: they are no part of it. What
    holds is laid over the items *before*, where the question goes on from another.
    """
    is_picked = bool(proposal.items) and all(one.quote is None for one in proposal.items)
    reading = hold("" if is_picked else text, proposal, ground, by)
    held = (*reading.held, *proposal.misfits)
    reading = replace(reading, held=held, residue=_left_over(reading.residue, heard))
    items = tuple(one.item for one in reading.items)
    items = items if before is None else tuple(lay_over(before, items))
    try:
        query = assemble(items, Means(compiler, ground.index, ground.clock))
        compiled = compiler.compile(query)
    except Unanswerable as problem:
        return HeldQuery(reading, None, problem, items)
    used = {*compiled.entities, *(name for one in items for name in _entities(one, compiler))}
    reading = account_relations(reading, see(text), ground.index, compiler.context, used)
    reading = settle_dates(reading, compiler.context)
    return HeldQuery(reading, query, items=items)


_WHOLE = frozenset(("asks", "group", "compare", "order", "limit", "over"))  # replaced whole, whatever they name
_OF_GROUPS = frozenset(("order", "limit"))  # of rows that are no more once the groups are others


def lay_over(before: Sequence[Item], new: Sequence[Item]) -> list[Item]:
    """The items *before* with the *new* ones in the place of those of the same kind and name."""
    if any(one.kind == "asks" for one in before):  # "what about gold customers" lists nobody
        new = [one for one in new if one.kind != "asks" or not (one.name or "").startswith("list(")]
    kinds = {one.kind for one in new}
    gone = (kinds & _WHOLE) | (_OF_GROUPS if "group" in kinds else frozenset())
    names = {(one.kind, one.name) for one in new}
    return [*(one for one in before if one.kind not in gone and (one.kind, one.name) not in names), *new]


def _entities(item: Item, compiler: Compiler) -> Iterator[str]:
    """The entities that an item and those inside it name, in what role they name them."""
    for word in _WORD.findall(item.name or ""):
        place = word.partition("@")[0]
        if place in compiler.context.entities:
            yield from dict.fromkeys((place, word))
    for one in (*item.of, *item.any_of):
        yield from _entities(one, compiler)


def _left_over(residue: tuple[Stretch, ...], heard: Collection[str]) -> tuple[Stretch, ...]:
    known = {word for words in heard for word in words_of(words)}
    return tuple(one for one in residue if not known.issuperset(words_of(one.text)) or not words_of(one.text))
