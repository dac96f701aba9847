"""Rules for what the question named before and now says shorter: "the score", "highest tax first", "the top 3".

A shorter name is the end of one that stands before it ("method" of "payment method"), with the words before it in
their order ("itch score" of "itch VAS score at day 100"). Where two could be meant, none is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import NumberSaid, OrderSaid, Pointed, Ref
from bot.analytics.reader.scope import Target

_AT = wording.SMALL | {"on", "by", "per", "with"}  # words that what belongs to a number begins with
_THESE = ("this", "these", "those")
_POINTING = frozenset(
    ["in", "of", "for", "by", "at", "from", "to", "on", "with", "do", "be"]
)  # before "that customer", which is no clause
_AHEAD = wording.RELATIVE | frozenset(
    ["in", "from", "of", "located", "living", "named", "called"]
)  # "those customers who …"


def takes_again(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    """ "The highest list price: return the name and the price": that number, whatever else has a price."""
    if not scan.asks or scan.agg is not None or scan.counting or not ref.of("fact", "metric"):
        return False
    number = _number(scan, scan.normal(ref.words))
    if number is None or scan.tokens[number.begins].sentence == scan.tokens[first].sentence:
        return False
    scan.at = first
    _recall_number(scan, number, after - first)
    return True


def _number(scan: Scan, words: Sequence[str]) -> NumberSaid | None:
    """The only number named before that *words* are short for; with an aggregate before them it is of that kind."""
    found = []
    for number in scan.said.numbers:
        spoken = _core(scan.normal(number.ref.words))
        kind = {number.agg, number.summary, *(wording.AGGREGATES.get(word) for word in spoken)}
        alone = wording.AGGREGATES.get(words[0]) if len(words) == 1 and scan.agg is None else None
        is_total = alone is not None and (alone in kind or (alone == "sum" and number.is_total))
        is_short = is_short_for(words, spoken) or (scan.agg is not None and list(words) == spoken)
        is_of_kind = scan.agg is None or scan.agg[0] in kind
        found += [number] if is_total or (is_short and is_of_kind) else []
    return found[0] if len(found) == 1 else None


def columns_said(scan: Scan) -> Iterator[Ref]:
    """What the question groups by, ranks or shows so far, where it is a column."""
    said = scan.said
    for ref in (*said.groups, said.ranked, said.subject, *said.outputs):
        if ref is not None and ref.of("dimension", "time"):
            yield ref


def _core(words: list[str]) -> list[str]:
    """The words up to what only says where or when: "pasi score" of "pasi score at day 100"."""
    end = next((i for i, word in enumerate(words) if i and word in _AT), len(words))
    return words[:end]


def is_short_for(words: Sequence[str], spoken: Sequence[str]) -> bool:
    """Are they some of the words of *spoken*, in their order, the last among them?"""
    if not words or not spoken or len(words) >= len(spoken) or words[-1] != spoken[-1]:
        return False
    left = iter(spoken)
    return all(word in left for word in words)


def _recall_number(scan: Scan, number: NumberSaid, length: int) -> None:
    first, scan.at = scan.at, scan.at + length
    scan.agg = None
    if scan.ordering:
        scan.said.orders.append(OrderSaid(number))
    else:
        number.is_rank, number.is_again = False, True
        if number.is_extreme and number.ref.of("fact"):  # where rows are ranked by it, their column
            scan.said.outputs.append(Ref(number.ref.words, number.ref.of("fact"), number.ref.near))
    scan.number_ends = scan.at
    scan.say(first, scan.at, "metric", number.ref.words)


def named_before(scan: Scan, ref: Ref, wanted: tuple[Target, ...]) -> tuple[Target, ...]:
    """ "By ticker type. Return the type": of several columns of that name the one that the question groups by."""
    if not scan.asks or len(wanted) < 2 or ref.near:
        return wanted
    words = scan.normal(ref.words)
    same = [{*one.targets} & {*wanted} for one in columns_said(scan) if is_short_for(words, scan.normal(one.words))]
    return tuple(same[0]) if len(same) == 1 and len(same[0]) == 1 else wanted


def point(scan: Scan, ref: Ref, first: int, after: int) -> None:
    """ "How many orders does this customer have": one that is pointed at, and may have been named before."""
    words = [scan.words[first], scan.words[first - 1] if first else ""]
    is_that = words[1] == "that" and not ref.is_plural and scan.at_word(first - 2) in _POINTING
    is_ahead = words[0] != "this" and scan.at_word(after) in _AHEAD
    if scan.follows or not ref.of("entity", "dimension") or not (is_that or (words[0] in _THESE and not is_ahead)):
        return
    said = scan.said
    known = (*said.heads, *said.outputs, *said.groups, said.ranked, said.subject, *(n.ref for n in said.numbers))
    before = [one for one in known if one is not None and set(one.targets) & set(ref.of("entity", "dimension"))]
    said.pointed.append(Pointed(ref, first, bool(before), ref.is_plural or any(one in said.groups for one in before)))
