"""Rules for what is put against an average of all: "above average", "more orders than average"."""

from __future__ import annotations

from typing import Literal

from bot.analytics.grammar import wording
from bot.analytics.grammar.clauses import compare_number, relate
from bot.analytics.grammar.said import NumberSaid, Ref, RelatedSaid
from bot.analytics.grammar.scan import Scan
from bylaw.language.words import FUNCTION_WORDS

_BETTER: dict[str, Literal["<", ">"]] = {
    "more": ">", "higher": ">", "greater": ">", "larger": ">", "fewer": "<", "less": "<", "lower": "<", "smaller": "<",
}  # fmt: skip


def read_typical(scan: Scan) -> bool:
    """ "Whose net revenue is above average", "with more orders than the average customer"."""
    found = scan.phrase(wording.COMPARISONS)
    named: Ref | None = None
    operator: Literal["<", "<=", ">", ">="]
    if found is not None and found[1] in ("<", ">", "<=", ">="):
        place, operator = scan.at + found[0], found[1]
    elif (sign := _BETTER.get(scan.word())) is not None and (behind := scan.mention(scan.at + 1)) is not None:
        place, operator, named = scan.at + 1 + behind[0], sign, behind[1]
        if scan.at_word(place) != "than":
            return False
        place += 1
    else:
        return False
    while scan.at_word(place) in ("the", "a", "an", "our", "overall", "that", "of"):
        scan.said.is_overall |= scan.at_word(place) == "overall"
        place += 1
    agg = wording.AGGREGATES.get(scan.at_word(place))
    if agg not in ("avg", "median") or scan.tokens[place].sentence != scan.here().sentence:
        return False
    first, scan.begins = scan.at, scan.at
    before = len(scan.said.related)
    if not takes_left(scan, operator, named):
        return False
    if len(scan.said.related) == before:
        return False
    scan.said.related[-1].against = agg
    related = scan.said.related[-1]
    if related.is_own:
        place = name_own(scan, related, place)
    scan.at = same_again(scan, related, place + 1)
    scan.say(first, scan.at, "filter", f"{operator} {agg} of all")
    return True


def takes_left(scan: Scan, operator: Literal["<", "<=", ">", ">="], named: Ref | None) -> bool:
    """What is compared: what "more … than" names, the number named right before, or a fact of the rows themselves."""
    if named is None and compare_number(scan, operator, 1):
        return True
    head, last = scan.head, scan.last
    if head is None or scan.quotient is not None or scan.narrowing is not None:
        return False
    owners = set(head.entities or head.owners)
    is_own = named is not None and any(target.owner in owners for target in named.of("fact"))  # a column of theirs
    if named is not None and (named.entities or named.of("metric")) and not is_own:
        kinds = named.of("entity") or named.of("metric")
        relate(scan, RelatedSaid(head, Ref(named.words, kinds, named.near, named.is_plural), operator))
        scan.relative = False
        return True
    ref = named or last
    facts = tuple(target for target in ref.of("fact") if target.owner in owners) if ref is not None else ()
    if named is None and not facts and head.entities and is_right_before(scan, head):
        relate(scan, RelatedSaid(head, Ref(head.words, head.of("entity")), operator, is_own=True))
        scan.relative = False
        return True
    if ref is None or not facts:
        return False
    if ref in scan.said.outputs:
        scan.said.outputs.remove(ref)
    number = NumberSaid(Ref(ref.words, facts, ref.near), "max")  # each row has one
    relate(scan, RelatedSaid(head, number.ref, operator, number=number))
    scan.relative = False
    return True


def name_own(scan: Scan, related: RelatedSaid, place: int) -> int:
    """ "Orders above the average order value": the number named with the average; where its last word is."""
    for first in (place, place + 1):
        found = scan.mention(first)
        if found is not None and found[1].of("metric", "fact") and not found[1].entities:
            related.number = NumberSaid(Ref(found[1].words, found[1].of("metric", "fact"), found[1].near), "avg")
            return first + found[0] - 1
    return place


def is_right_before(scan: Scan, head: Ref) -> bool:
    """ "Orders above average": are the rows themselves compared, by a number that each of them has?"""
    place = scan.at - (scan.at_word(scan.at - 1) == "be")
    return scan.raw(place - 1, place) in head.words.split() and not scan.clause


def same_again(scan: Scan, related: RelatedSaid, place: int) -> int:
    """The place behind what only says again what is averaged: "the average list price", "of all customers"."""
    known = set(related.entity.targets) | set(related.head.targets)
    while True:
        at = place
        if scan.at_word(at) in ("of", "for", "across", "among"):
            at += 1
            if scan.at_word(at) not in ("all", "every"):
                return place
            scan.said.is_overall = True
        while scan.at_word(at) in FUNCTION_WORDS | {"all", "every", "number", "count"}:
            at += 1
        found = scan.mention(at) if at < len(scan.tokens) else None
        if found is None or not known & set(found[1].targets) or found[1].of("value"):
            return place
        place = at + found[0]
