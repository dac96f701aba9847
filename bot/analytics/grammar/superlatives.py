"""Rules for rows ranked by an adjective: "the largest order", "the 3 cheapest products", "the longest session".

An adjective speaks of columns of a kind. Where the rows have exactly one of that kind it is meant; of several nobody
says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.analytics.grammar import wording
from bot.analytics.grammar.conditions import narrow_value
from bot.analytics.grammar.firsts import kinds_before
from bot.analytics.grammar.mentions import rows_at
from bot.analytics.grammar.numbers import add_number
from bot.analytics.grammar.said import NumberSaid, Ref
from bot.analytics.grammar.scan import Scan

_MOST_ROWS = 1_000
SUPERLATIVES: Mapping[tuple[str, ...], tuple[str, bool]] = {  # what they speak of, and is it the most of it?
    **dict.fromkeys((("largest",), ("biggest",), ("greatest",)), ("size", True)),
    ("smallest",): ("size", False),
    **dict.fromkeys((("most", "expensive"), ("priciest",), ("costliest",), ("dearest",)), ("price", True)),
    **dict.fromkeys((("cheapest",), ("least", "expensive")), ("price", False)),
    ("longest",): ("length", True), ("shortest",): ("length", False),
    **dict.fromkeys((("tallest",), ("highest",)), ("height", True)), ("lowest",): ("height", False),
    ("heaviest",): ("weight", True), ("lightest",): ("weight", False),
    ("fastest",): ("speed", True), ("slowest",): ("speed", False),
}  # fmt: skip


def read_superlative(scan: Scan) -> bool:
    """The rows asked for, before anything else of the question: how many of them, and by which column they rank."""
    said = scan.said
    is_first = not (said.numbers or said.outputs or said.subject or said.heads or said.conditions or said.groups)
    number = scan.here().number if scan.here().kind == "number" else wording.NUMBERS.get(scan.word())
    is_counted = isinstance(number, int) and 0 < number <= _MOST_ROWS
    found = scan.phrase(SUPERLATIVES, scan.at + is_counted)
    owner = None if is_first or is_counted else owner_asked(scan)
    if (
        found is None
        or not (is_first or owner)
        or scan.quotient is not None
        or scan.counting is not None
        or scan.agg is not None
    ):
        return False
    length, (quality, is_most) = found
    begins = scan.at + is_counted
    kinds, place = kinds_before(scan, begins + length)
    row = rows_at(scan, place)
    if row is None or not row[1].entities or (row[1].is_plural and not is_counted) or row[1].of("fact"):
        return False
    ref = Ref(row[1].words, row[1].of("entity"), row[1].near, row[1].is_plural)
    columns = tuple(target for target in scan.lexicon.qualities.get(quality, ()) if target.owner in ref.entities)
    named = scan.mention(begins)
    if not columns or (named is not None and named[0] >= length and bool(named[1].targets)):
        return False
    words, after = scan.raw(begins, begins + length), place + row[0]
    if len(columns) > 1:
        said.unclear.append(Ref(words, columns))
    if owner is not None:
        if not set(owner.entities or owner.owners).isdisjoint(ref.entities) and not owner.of("dimension"):
            return False
        said.is_owner = True
        said.outputs, said.heads = [replace(owner, near=ref.entities if owner.of("dimension") else ())], []
    for start, end, kind in kinds:
        narrow_value(scan, kind, start, end)
    said.subject, scan.head = ref, ref
    said.heads.append(ref)
    said.limit = number if is_counted and isinstance(number, int) else None
    said.descending = is_most
    by = NumberSaid(Ref(words, columns, ref.entities), "max" if is_most else "min", is_extreme=True)
    add_number(scan, by, scan.at, after)
    scan.number_ends, scan.at, scan.last = -1, after, ref
    return True


def owner_asked(scan: Scan) -> Ref | None:
    """ "Which country has the longest river", "which customer placed the largest order": whose that one row is."""
    said, place = scan.said, scan.at - 1
    while scan.at_word(place) in ("the", "our"):
        place -= 1
    is_held = scan.at_word(place) in ("have", "with", "place", "placed", "make", "made")
    asked = [*said.outputs, *([said.subject] if said.subject is not None else [])]
    rest = said.numbers or said.conditions or said.groups or said.related or said.times or said.orders or said.done
    if not is_held or rest or said.place or len(asked) != 1 or asked[0].is_plural or scan.said.limit is not None:
        return None
    return asked[0]
