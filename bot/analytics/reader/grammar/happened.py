"""Rules for what was done, or never was, told by a verb alone: "orders that were refunded", "who never ordered".

The verb stands for rows that belong to those spoken of: what was refunded has a refund. With two spans of time it
stands for two kinds of these rows: "who ordered in 2025 but not in 2026".
"""

from __future__ import annotations

from dataclasses import replace

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.clauses import open_clause, own_clause
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import DoneSaid, Ref

_JOINING = frozenset(("and", "but", ","))
_BEFORE = frozenset(("be", "have", "do", "who", "that", "which", "not", "never", "ever"))
_LITTLE = frozenset(("in", "on", "at", "during", "within", "since", "for", "the"))


def take_named(scan: Scan, done: DoneSaid, after: int) -> None:
    """A date by its verb. In a ratio it says of which rows one side is; with a span behind it, the span does."""
    if scan.quotient is None:
        scan.said.done.append(done)
    elif done.negated or not begins_span(scan, after):
        take_done(scan, replace(done, is_told=True), begins_span(scan, after))


def takes_rows(scan: Scan, ref: Ref) -> bool:
    """ "Who have never written a tip": a verb that says of any rows that they are there, and behind it which."""
    place = scan.at
    while scan.at_word(place) in wording.ARTICLES:
        place += 1
    rows = scan.mention(place)
    if ref.words.lower() not in wording.NEUTRAL_VERBS or rows is None or not rows[1].entities or scan.head is None:
        return False
    if not set(rows[1].entities).isdisjoint(scan.head.entities):
        return False
    own_clause(scan)
    scan.relative = True
    return True


def take_done(scan: Scan, done: DoneSaid, is_dated: bool) -> None:
    """Take in what was done: of the side of a ratio that is read, or of everything. A span behind is its own."""
    open_clause(scan)
    done.clause, scan.is_opened = scan.clause, False
    if scan.quotient is not None:
        scan.quotient.side.mark, scan.quotient.side.place = "strong", ""
        scan.quotient.add(done)
    else:
        scan.said.done.append(done)
    if not is_dated:
        scan.clause = 0


def spoken_of(scan: Scan) -> Ref | None:
    """The rows that the verb is said of: those named last, else those that are counted."""
    if scan.head is not None:
        return scan.head
    number = scan.quotient.side.number if scan.quotient is not None else next(iter(scan.said.numbers[-1:]), None)
    return Ref(number.ref.words, number.ref.of("entity")) if number is not None else None


def is_named(scan: Scan, place: int) -> bool:
    """Is the word one of the catalogue, of another kind than the date that it tells?"""
    found = scan.mention(place)
    return found is not None and any(target.kind != "time" for target in found[1].targets)


def begins_span(scan: Scan, place: int) -> bool:
    """Does a span of time begin at *place*, past small words?"""
    while scan.at_word(place) in _LITTLE:
        place += 1
    return scan.is_time(place)
