"""Hold items against the text that is said to bear them: each is borne, weak or refused, and what is left is residue.

Every proposer's items go through `hold`, whatever the text is; who proposed them changes nothing of what becomes of
them. A refused item accounts for no word, so its words are residue.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from bylaw.hold import cases, queries, records
from bylaw.hold.answers.background import Background
from bylaw.hold.answers.courtesy import is_turned
from bylaw.hold.answers.kinds import KINDS_OF_ANSWER
from bylaw.hold.answers.settling import settle
from bylaw.hold.answers.surplus import Surplus
from bylaw.hold.bearing import Bearing, Sentences
from bylaw.hold.foreign import find_foreign
from bylaw.hold.item import By, HeldItem, Item, Proposal, Reading, Status, TextKind, Weakness
from bylaw.hold.residue import Residue, find_residue
from bylaw.hold.targets import read_target
from bylaw.hold.text import Seen, see
from bylaw.hold.values import Clock, Values
from bylaw.hold.words import Index
from bylaw.language.glyphs import disguised
from bylaw.language.lexicon import stem
from bylaw.language.text import Passage, words_of

Check = Callable[[Bearing], None]
Places = tuple[Sequence[tuple[int, int]], list[tuple[Passage, tuple[int, int], list[int]]]]
CHECKS: Mapping[TextKind, Mapping[str, Check]] = {
    "policy": {"asks": cases.bear_asked, "fact": cases.bear_fact},
    "data": queries.KINDS_OF_DATA,
    "decision": records.KINDS_OF_DECISION,
    "answer": KINDS_OF_ANSWER,
}
_MOST_PLACES = 20  # of one quote
_MOST_TRIED = 900  # of all quotes of a text
_RANK: Mapping[Status, int] = {"borne": 0, "weak": 1, "refused": 2}


@dataclass(frozen=True)
class Ground:
    """What a text is held against: the kind of text, the declared words, the day; for an answer the question too."""

    kind: TextKind
    index: Index
    clock: Clock
    query: str = ""
    known: Background = field(default_factory=Background)  # of an answer: what is known beside its claims


def hold(source: str, proposal: Proposal, ground: Ground, by: By = "given") -> Reading:
    """What *source* says of what is proposed. Of items without a quote, which a person picked, the names are held."""
    seen = see(source)
    values = Values(seen, ground.clock)
    sentences = Sentences(seen, ground.index)
    most = max(1, min(_MOST_PLACES, _MOST_TRIED // max(1, len(proposal.items))))
    alike = cache(partial(_places_of, seen))
    found = [_bear(item, seen, values, ground, sentences, alike, most) for item in proposal.items]
    bearings = [one for one in found if isinstance(one, Bearing)]
    if ground.kind == "answer":
        _disown_foreign(seen, bearings)
        settle(bearings, _background(ground))
    residue = _left_over(seen, bearings, ground, values)
    _weaken_by_residue(bearings, residue, ground.kind)
    if any(one.status == "refused" for one in bearings):
        residue = _left_over(seen, bearings, ground, values)
    held = tuple(_held(one, proposal.items[i]) for i, one in enumerate(found))
    unknown = [place for quote in proposal.unknown for place in seen.find(quote)[:1]]
    return Reading(
        by,
        held,
        tuple(seen.stretch(*place) for place in residue.asked),
        tuple(seen.stretch(*place) for place in residue.beside),
        tuple(seen.stretch(*place) for place in sorted(unknown)),
    )


def _left_over(seen: Seen, bearings: Sequence[Bearing], ground: Ground, values: Values) -> Residue:
    if ground.kind != "answer":
        return find_residue(seen, ground.index, bearings, ground.kind)
    light = Surplus(seen, ground.index, values, bearings, _background(ground)).find_light()
    return find_residue(seen, ground.index, bearings, ground.kind, light)


def _disown_foreign(seen: Seen, bearings: Sequence[Bearing]) -> None:
    """No declared word says a link, markup or another script, whatever its letters spell."""
    starts = {token.start for place in find_foreign(seen) for token in seen.text.within(*place)}
    for one in bearings:
        if one.item.kind != "outside":
            one.own -= starts


def _background(ground: Ground) -> Background:
    """What is known beside the claims of an answer, with the words and the names of its question."""
    asked = see(ground.query)
    tokens = asked.words(0, len(asked.text.seen))
    names = {owner.name for mention in ground.index.find(tokens) for owner in mention.owners}
    names = {name for name in names if ground.index.get("asks", name) is not None}
    known, said = ground.known, frozenset(map(stem, words_of(ground.query)))
    turned = is_turned(tokens)
    return replace(known, said=known.said | said, asked=known.asked | names, named=frozenset(names), is_turned=turned)


def _bear(
    item: Item,
    seen: Seen,
    values: Values,
    ground: Ground,
    sentences: Sentences,
    places_of: Callable[[str], Places],
    most: int,
) -> Bearing | HeldItem:
    """*item* at the place that bears it best, of at most so many places in sentences of other words."""
    if item.quote is None:
        return _hold_picked(item, ground)
    places, alike = places_of(item.quote.casefold())
    if not places:
        return HeldItem(item, "refused", "the text does not say this")
    if ground.kind == "policy" and all(map(partial(_is_of_identifier, seen), places)):
        return HeldItem(item, "refused", "it is part of an identifier, which is a name and no word", places[0])
    if not alike:
        return HeldItem(item, "refused", "the quote lies in more than one sentence", places[0])
    bearings = [
        (_bear_at(item, seen, values, ground, sentences, first, passage), steps)
        for passage, first, steps in alike[:most]
    ]
    best = min(
        (one for one, _ in bearings), key=lambda one: (_RANK[one.status], item.kind == "asks" and not _asks(one))
    )
    mine = [(one, frozenset(one.own), steps) for one, steps in bearings if one.status == best.status]
    for one, own, steps in mine:  # the same words further on say the same
        inside = [start for start in own if one.passage.start <= start < one.passage.end]
        best.own |= own.union(start + step for step in steps for start in inside)
    return best


def _places_of(seen: Seen, quote: str) -> Places:
    """Where *quote* stands, and the places in sentences of other words."""
    places = seen.find(quote)
    return places, _places_alike(seen, places)


def _places_alike(seen: Seen, places: Sequence[tuple[int, int]]) -> list[tuple[Passage, tuple[int, int], list[int]]]:
    """The places of a quote in sentences of other words, each with how far on the same sentence says it again."""
    found: dict[tuple[str, str, int], tuple[Passage, tuple[int, int], list[int]]] = {}
    words: dict[int, str] = {}
    for place in places:
        passage = seen.passage_of(*place)
        if passage is None:
            continue
        said = words.setdefault(passage.start, seen.text.seen[passage.start : passage.end])
        _, first, steps = found.setdefault((passage.kind, said, place[0] - passage.start), (passage, place, []))
        if place != first:
            steps.append(place[0] - first[0])
    return list(found.values())


def _asks(one: Bearing) -> bool:
    """Does its sentence end as a question?"""
    return one.seen.text.seen[one.passage.start : one.passage.end].rstrip().endswith("?")


def _is_of_identifier(seen: Seen, place: tuple[int, int]) -> bool:
    """Does a quote stand within an identifier ("refund" in POL-REFUND-001)?"""
    found = seen.identifier_at(place[0])
    return found is not None and place[1] <= found[1]


def _bear_at(
    item: Item,
    seen: Seen,
    values: Values,
    ground: Ground,
    sentences: Sentences,
    place: tuple[int, int],
    passage: Passage,
) -> Bearing:
    one = Bearing(item, seen, ground.index, values, place, passage, sentences)
    CHECKS[ground.kind][item.kind](one)
    word = disguised(seen.text.seen[place[0] : place[1]])
    if word is not None:
        one.refuse(f"“{word}” is not the word that it looks like")
    return one


def _hold_picked(item: Item, ground: Ground) -> HeldItem:
    """An item that a person picked in a form: its name exists; no words bear it."""
    named = item.named
    if named is not None and not is_declared(named, ground):
        return HeldItem(item, "refused", f"`{named}` is no declared name")
    return HeldItem(item, "borne", "picked")


def is_declared(named: str, ground: Ground) -> bool:
    """Is *named* a name of the ground, or an expression over such names?"""
    if ground.kind == "data":
        return read_target(ground.index, named).unknown is None
    return any(ground.index.get(group, named) is not None for group in ("asks", "fact", "anchor", "source", "part"))


def _weaken_by_residue(bearings: Sequence[Bearing], residue: Residue, kind: TextKind) -> None:
    """Residue within its quote makes an item weak, and refuses what an answer gives or denies, or calls courtesy."""
    left = sorted((*residue.asked, *residue.beside))
    for one in bearings:
        first, last = (bisect_left(left, (place,)) for place in one.place)
        inside = [place for place in left[first:last] if place[1] <= one.place[1]]
        if inside and one.status != "refused":
            words = ", ".join(f"“{one.seen.text.seen[a:b]}”" for a, b in inside[:5])
            if kind == "answer" and one.item.kind in ("gives", "denies", "courtesy"):
                one.refuse(f"no claim carries {words}")
            else:
                one.weaken("words", f"nothing accounts for {words}")


def _held(one: Bearing | HeldItem, item: Item) -> HeldItem:
    if isinstance(one, HeldItem):
        return one
    weaknesses: frozenset[Weakness] = frozenset(flaw.weakness for flaw in one.flaws if flaw.weakness is not None)
    told = one.value if item.value is None else None
    return HeldItem(item, one.status, one.why, one.place, weaknesses, told)


def confirm(reading: Reading) -> Reading:
    """The reading with its weak items as a person has confirmed them."""
    held = tuple(replace(one, status="borne", why="confirmed") if one.status == "weak" else one for one in reading.held)
    return replace(reading, held=held)
