"""Verbs between two things: what somebody wrote, teaches or offers. Whether they are connected so is decided later."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.clauses import own_clause, rows_behind, take_head
from bot.analytics.reader.grammar.places import is_each_one
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import DoneSaid, Ref
from bot.analytics.reader.scope import Target


def read_verb(scan: Scan) -> bool:
    """ "Authors who wrote papers", "courses taught by Jane Doe": the rows, or the value, behind it are related rows."""
    found = verb_at(scan)
    is_pending = scan.counting is not None or scan.agg is not None or scan.each or scan.ordering
    if found is None or is_pending:
        return False
    take_head(scan)
    length, verb = found
    told = scan.narrowed[-1] if scan.narrowed and scan.last is scan.narrowed[-1].ref else None
    if told is not None and told.ends == scan.at and scan.at_word(told.begins - 1) in ("do", "have"):
        told.verb = verb  # "how many papers has Ann Reed written"
        scan.say(scan.at, scan.at + length, "relation", verb.words)
        scan.at += length
        return True
    head = scan.head or next((Ref(one.ref.words, ()) for one in scan.said.numbers), None)
    if head is None:
        return False
    place = scan.at + length
    place += place < len(scan.words) and scan.words[place] in wording.PARTICLES
    place += place < len(scan.words) and scan.words[place] in ("any", "some")
    behind = scan.mention(place)
    if behind is None and verb.of("relation") and is_quantity_at(scan, place):
        scan.say(scan.at, scan.at + length, "relation", verb.words)
        scan.head, scan.verb, scan.relative, scan.at = head, verb, True, place
        own_clause(scan)
        return True
    if behind is None:
        return leave_open(scan, verb, length)
    ref, first = behind[1], scan.at
    is_other = not set(head.entities or head.owners) & set(ref.entities)
    if ref.of("value", "flag", "condition"):
        scan.head = head
        own_clause(scan)
        scan.verb, scan.at = verb, first + length
        scan.relative |= bool(ref.of("flag"))
    elif ref.entities and scan.at_word(place - 1) == "by" and scan.said.numbers and is_each_one(scan, place):
        scan.each, scan.at = True, place
        scan.said.verbs += [] if verb.targets else [verb]
        add_done(scan, verb)
    elif ref.entities and is_other:
        scan.head = head
        own_clause(scan)
        scan.verb, scan.relative, scan.at = verb, True, place
    else:
        return leave_open(scan, verb, length)
    scan.say(first, first + length, "relation", verb.words)
    return True


def verb_at(scan: Scan) -> tuple[int, Ref] | None:
    """The verb that begins here: a phrase that the catalogue has for a connection, or a word of no other meaning."""
    if scan.word() not in wording.VERBS or scan.here().kind != "word":
        return None
    known = scan.known_at(scan.at, min(len(scan.words), scan.at + 5))
    if known is None:
        return 1, Ref(scan.raw(scan.at, scan.at + 1), ())
    length, targets = known
    if any(target.kind not in ("relation", "entity") for target in targets):
        return None
    return length, Ref(scan.raw(scan.at, scan.at + length), targets)


def add_done(scan: Scan, verb: Ref) -> None:
    """ "Cars sold by make": those alone of which there is a sale, where a date tells when that was done."""
    head, owners = scan.head, dict.fromkeys(target.owner for target in verb.of("relation"))
    dates = tuple(Target("time", scan.lexicon.dates[name]) for name in owners if name in scan.lexicon.dates)
    if head is not None and head.entities and dates and len(owners) == 1 and owners.keys().isdisjoint(head.entities):
        done = Ref(verb.words.removesuffix(" by"), dates)
        scan.said.done.append(DoneSaid(head, done, verb=Ref(done.words, verb.of("relation"))))


def is_quantity_at(scan: Scan, place: int) -> bool:
    """ "Written by more than one author", "taught by two instructors": does a number of rows begin at *place*?"""
    if scan.phrase(wording.COMPARISONS, place) is not None:
        return True
    token = scan.tokens[place] if place < len(scan.tokens) else None
    after = scan.phrase(wording.AFTERWARDS, place + 1)
    follows = rows_behind(scan, place + 1 + (after[0] if after is not None else 0))
    is_number = token is not None and (token.kind == "number" or token.text in wording.NUMBERS)
    return is_number and follows is not None and bool(follows[1].entities)


def leave_open(scan: Scan, verb: Ref, length: int) -> bool:
    """A verb without an object behind it: "how many flights does each airline operate"."""
    is_more = verb.targets or scan.word() not in wording.NEUTRAL_VERBS  # than that a row exists
    place, is_dated = scan.at + length, False
    while scan.at_word(place) in wording.GRAINS.keys() | wording.PLACES | {"the", "each", "every"}:
        is_dated |= scan.at_word(place) in wording.GRAINS
        place += 1  # "published in the year 2020", "published in each year"
    if not is_more or verb.words.lower().endswith(" by") or is_dated or scan.is_time(place):
        return False
    scan.said.verbs.append(verb)
    scan.say(scan.at, scan.at + length, "relation", verb.words)
    scan.at += length
    is_through = scan.word() in wording.PARTICLES and scan.word(1) in ("each", "every")
    scan.at += is_through  # "flow through each country"
    return True
