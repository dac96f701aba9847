"""Rules for two numbers of the same row: "customers with more refunds than reviews", "more sales in 2025 than 2024"."""

from __future__ import annotations

from typing import Literal

from bot.analytics.grammar import wording
from bot.analytics.grammar.clauses import open_clause, relate, take_head
from bot.analytics.grammar.firsts import kinds_before
from bot.analytics.grammar.said import Narrowing, Ref, RelatedSaid, TimeSaid
from bot.analytics.grammar.scan import Scan

_MORE: dict[str, Literal["<", ">"]] = {
    "more": ">", "higher": ">", "greater": ">", "fewer": "<", "less": "<", "lower": "<",
}  # fmt: skip
_LITTLE = frozenset(("in", "on", "at", "during", "the", "a", "total"))


def read_counterparts(scan: Scan) -> bool:
    """How many rows of one kind belong to a row, against how many of another kind or of another time."""
    sign = _MORE.get(scan.word())
    take_head(scan)
    head = scan.head
    if sign is None or head is None or scan.word(-1) in ("many", "much") or scan.quotient is not None:
        return False
    one = side_at(scan, scan.at + 1, head)
    if one is None or scan.at_word(one[0]) != "than":
        return False
    other = side_at(scan, one[0] + 1, head, one[1])
    if other is None or is_open(scan, other[0]) or not are_two(one[1], other[1]):
        return False
    after, said = other[0], one[1]
    first, said.comparison, said.than = scan.at, sign, other[1]
    after = take_span(scan, after, said) if said.span is None else after
    open_clause(scan)
    relate(scan, said)
    scan.relative, scan.at = False, after
    scan.say(first, after, "filter", scan.raw(first, after))
    return True


def side_at(scan: Scan, place: int, head: Ref, known: RelatedSaid | None = None) -> tuple[int, RelatedSaid] | None:
    """The rows, or the number, that one side counts, and the place behind it; of the second side those of the first."""
    while scan.at_word(place) in _LITTLE and scan.mention(place) is None:
        place += 1
    kinds, behind = kinds_before(scan, place)
    found = scan.mention(behind)
    if found is not None and is_counted(found[1], head):
        ref, place = found[1], behind + found[0]
    elif known is not None and (kinds or scan.is_time(place)):
        ref, place = known.entity, behind  # "more online than in-store orders" is told the other way round
    else:
        return None
    said = RelatedSaid(head, ref, ">", 0)
    for _, _, kind in kinds:
        value = next((target.value for target in kind.of("value")), None)
        if value is None:
            return None
        said.kinds.append(Narrowing(kind, "in", (value,)))
    behind = place
    while scan.at_word(behind) in _LITTLE:
        behind += 1
    if scan.is_time(behind) and (known is None or known.span is not None) and is_between(scan, behind, known):
        token = scan.tokens[behind]
        said.span = TimeSaid(token.span) if token.span is not None else None
        place = behind + 1
    return place, said


def take_span(scan: Scan, place: int, said: RelatedSaid) -> int:
    """ "… in 2026", at the end: both sides are held to it. The place behind it."""
    behind = place
    while scan.at_word(behind) in _LITTLE:
        behind += 1
    span = scan.tokens[behind].span if scan.is_time(behind) else None
    if span is None or said.than is None:
        return place
    said.span = said.than.span = TimeSaid(span)
    return behind + 1


def is_between(scan: Scan, place: int, known: RelatedSaid | None) -> bool:
    """Is the span one of its own side: before "than", or behind a side whose counterpart has one too?"""
    return known is not None or scan.at_word(place + 1) == "than"


def is_counted(ref: Ref, head: Ref) -> bool:
    """Other rows than those spoken of, or a number of the catalogue."""
    return bool(set(ref.entities) - set(head.entities)) or (bool(ref.of("metric")) and not ref.entities)


def are_two(one: RelatedSaid, other: RelatedSaid) -> bool:
    """Do they differ: in what is counted, of which kind, or when? Both have a time or neither has."""
    is_same = set(one.entity.targets) == set(other.entity.targets)
    kinds = [[part.ref.words for part in side.kinds] for side in (one, other)]
    are_spans = one.span is not None and other.span is not None
    return (one.span is None) == (other.span is None) and (not is_same or kinds[0] != kinds[1] or are_spans)


def is_open(scan: Scan, place: int) -> bool:
    """Does more follow that one side alone might be narrowed by? A span of time there holds both."""
    while scan.at_word(place) in _LITTLE or scan.is_time(place):
        place += 1
    is_over = place >= len(scan.tokens) or scan.tokens[place].sentence != scan.here().sentence
    return not (is_over or scan.at_word(place) in (",", "by", "per", *wording.BY))
