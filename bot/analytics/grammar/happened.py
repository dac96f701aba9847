"""Rules for what was done, or never was, told by a verb alone: "orders that were refunded", "who never ordered".

The verb stands for rows that belong to those spoken of: what was refunded has a refund. With two spans of time it
stands for two kinds of these rows: "who ordered in 2025 but not in 2026".
"""

from __future__ import annotations

from dataclasses import replace

from bot.analytics.grammar import wording
from bot.analytics.grammar.clauses import open_clause, own_clause, relate, take_head
from bot.analytics.grammar.said import DoneSaid, Narrowing, Ref, RelatedSaid, TimeSaid
from bot.analytics.grammar.scan import Scan
from bot.analytics.scope import Target

_JOINING = frozenset(("and", "but", ","))
_BEFORE = frozenset(("be", "have", "do", "who", "that", "which", "not", "never", "ever"))
_LITTLE = frozenset(("in", "on", "at", "during", "within", "since", "for", "the"))


def read_happened(scan: Scan) -> bool:
    """A verb without an object, of rows of others that belong to those spoken of."""
    found = scan.lexicon.done_at(scan.words, scan.at)
    take_head(scan)
    head, owner = spoken_of(scan), joined_owner(scan)
    if found is None or head is None or not head.entities or scan.only or scan.each or scan.counting or scan.agg:
        return False
    length, rows = found
    first, after = scan.at, scan.at + length
    if takes_object(scan, owner or head, rows, after):
        return True
    if owner is not None and owner.entities != head.entities:
        return False  # "with orders but never refunded": the orders, or who has them?
    is_dated = begins_span(scan, after)
    is_neutral = scan.word() in wording.NEUTRAL_VERBS and not scan.negated
    if is_neutral or is_named(scan, first) or not set(head.entities).isdisjoint(target.owner for target in rows):
        return False
    if not (is_dated or ends_at(scan, after)):
        return False
    if is_dated and not scan.negated and scan.lexicon.moment_at(scan.words, first) is not None:
        return False  # its date says it
    if scan.word(-1) not in _BEFORE and scan.raw(first - 1, first) != head.words.split()[-1]:
        return False
    verb = Ref(scan.raw(first, after), rows)
    take_done(scan, DoneSaid(head, verb, scan.negated, is_told=True), is_dated)
    scan.say(first, after, "filter", f"{'not ' if scan.negated else ''}{verb.words}")
    scan.negated = scan.relative = scan.is_none = False
    scan.last, scan.at = None, after
    return True


def takes_object(scan: Scan, head: Ref, rows: tuple[Target, ...], place: int) -> bool:
    """ "Who opened a ticket", where that is when a ticket begins to be there: the verb adds nothing to its rows."""
    while scan.at_word(place) in wording.ARTICLES:
        place += 1
    begun = {target.owner for target in rows if scan.lexicon.dates.get(target.owner) == target.name}
    behind = scan.mention(place)
    named = set(behind[1].entities) - set(head.entities) if behind is not None else set()
    if not named or not named <= begun or is_named(scan, scan.at):
        return False
    scan.say(scan.at, place, "relation", scan.raw(scan.at, place))
    scan.head = head
    own_clause(scan)
    scan.relative, scan.at = True, place
    return True


def joined_owner(scan: Scan) -> Ref | None:
    """Whose clause goes on here: "with orders but never …", "who ordered and have not …"."""
    place = scan.at
    while scan.at_word(place - 1) in _BEFORE:
        place -= 1
    return scan.owner if scan.at_word(place - 1) in _JOINING and scan.clause > 0 else None


def read_otherwise(scan: Scan) -> bool:
    """ "… in 2025 but not in 2026": some of the related rows in the first span, none in the second."""
    place = scan.at + 2
    while scan.at_word(place) in _LITTLE:
        place += 1
    time = last_time(scan)
    is_not = scan.word() in ("but", "and") and scan.word(1) == "not" and scan.is_time(place)
    if not is_not or time is None or not scan.is_time(scan.at - 1):
        return False
    if not (repeats_done(scan, time) or repeats_related(scan, time)):
        return False
    scan.negated = False
    scan.at = place
    return True


def repeats_done(scan: Scan, time: TimeSaid) -> bool:
    """ "Ordered in 2025": rows of that date are there in the one span, and none in the other."""
    known = [one for one in done_of(scan) if one.clause == time.clause > 0]
    if known and not known[-1].negated:
        take_done(scan, replace(known[-1], negated=True), True)
        return True
    head = spoken_of(scan)
    owners = {target.owner for target in time.ref.of("time")} if time.ref is not None else set[str]()
    if known or head is None or not owners or not owners.isdisjoint(head.entities) or time.ref is None:
        return False
    verb = Ref(time.ref.words, time.ref.of("time"))
    rows = Ref(verb.words, verb.targets)
    for is_not in (False, True):
        take_done(scan, DoneSaid(head, rows, is_not, is_told=True), True)
        time.clause = scan.clause if not is_not else time.clause
    time.ref = None
    scan.last = None
    return True


def repeats_related(scan: Scan, time: TimeSaid) -> bool:
    """ "With online orders in 2025": the same kind of related rows."""
    pieces = [piece.said for piece in scan.quotient.side.pieces] if scan.quotient is not None else []
    known = [one for one in (*scan.said.related, *pieces) if isinstance(one, RelatedSaid) and one.clause == time.clause]
    inside = [one for one in (*scan.said.conditions, *pieces) if isinstance(one, Narrowing)]
    if len(known) != 1 or (known[0].comparison, known[0].value) != (">=", 1) or known[0].against or time.ref:
        return False
    kinds = [one for one in inside if one.clause == time.clause]
    open_clause(scan)
    relate(scan, replace(known[0], comparison="=", value=0, alternative=False))
    for kind in kinds:
        again = replace(kind, clause=scan.clause)
        scan.said.conditions.append(again) if scan.quotient is None else scan.quotient.add(again)
    return True


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


def done_of(scan: Scan) -> list[DoneSaid]:
    pieces = [piece.said for piece in scan.quotient.side.pieces] if scan.quotient is not None else []
    return [one for one in (*scan.said.done, *pieces) if isinstance(one, DoneSaid)]


def last_time(scan: Scan) -> TimeSaid | None:
    """The span of time that was said last."""
    pieces = scan.quotient.side.pieces if scan.quotient is not None else []
    times = [piece.said for piece in pieces if isinstance(piece.said, TimeSaid)] or scan.said.times
    return times[-1] if times else None


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


def ends_at(scan: Scan, place: int) -> bool:
    """Does nothing more that the verb could be said of follow? "Refunded by cash" and "reviewed products" do."""
    if place >= len(scan.tokens) or scan.tokens[place].sentence != scan.here().sentence:
        return True
    if scan.at_word(place) in ("by", "per"):
        behind = scan.mention(place + 1)
        is_column = behind is not None and {target.kind for target in behind[1].targets} <= {"dimension"}
        return scan.at_word(place + 1) in wording.GRAINS or (is_column and behind is not None)
    return scan.at_word(place) in _JOINING
