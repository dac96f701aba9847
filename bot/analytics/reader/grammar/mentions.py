"""How far a mention reaches: rows before what was done to them, attributes and the owner behind "of"."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Pointed, Ref
from bot.analytics.reader.verbs import is_done
from bylaw.language.words import singular

_THESE = ("this", "these", "those")
_POINTING = frozenset(
    ["in", "of", "for", "by", "at", "from", "to", "on", "with", "do", "be"]
)  # before "that customer", which is no clause
_AHEAD = wording.RELATIVE | frozenset(
    ["in", "from", "of", "located", "living", "named", "called"]
)  # "those customers who …"


def of_whom(scan: Scan, ref: Ref) -> Ref:
    """ "Name of the instructor": the entity behind `of` says whose attribute it is, "amount received" the verb."""
    done = scan.mention(scan.at) if len(ref.owners) > 1 and ref.of("fact") and is_done(scan.word()) else None
    told = {target.owner for target in done[1].of("time")} & set(ref.owners) if done is not None else set[str]()
    if len(told) == 1:
        return Ref(ref.words, ref.targets, tuple(told), ref.is_plural)
    if (
        not ref.of("dimension", "fact", "time")
        or ref.entities
        or scan.word() not in ("of", "for")
        or scan.word(1) in ("each", "all")
    ):
        return ref
    place = scan.at + 1 + (scan.word(1) in wording.DETERMINERS)
    found = rows_at(scan, place + max(starts_with(scan, place, phrase) for phrase in wording.ENDS))
    owners = found[1].entities if found is not None else ()
    place = scan.at + 1
    while not owners and found is not None and place < scan.at + 3 and scan.words[place : place + 1]:
        one = scan.lexicon.longest_at(scan.words[place : place + 1], 0)  # "of tickers listed on NASDAQ"
        owners = tuple(target.name for target in one[1] if target.kind == "entity") if one else ()
        place += 1 if scan.words[place] in wording.DETERMINERS else 2
    if not owners:
        return ref
    return Ref(ref.words, ref.targets, owners, ref.is_plural, is_owned=True)


def starts_with(scan: Scan, place: int, phrase: tuple[str, ...]) -> int:
    """How many words of *phrase* stand at *place*: all or none."""
    return len(phrase) if tuple(scan.words[place : place + len(phrase)]) == phrase else 0


def counted_rows(scan: Scan, length: int, ref: Ref) -> tuple[int, Ref]:
    """ "How many restaurants serve …": the rows are counted, though both words together name a column."""
    for shorter in range(length - 1, 0, -1):
        found = scan.lexicon.longest_at(scan.words[scan.at : scan.at + shorter], 0)
        if found is not None and found[0] == shorter and any(target.kind == "entity" for target in found[1]):
            raw = scan.raw(scan.at, scan.at + shorter)
            return shorter, Ref(raw, found[1], (), singular(raw.casefold()) != raw.casefold())
    return length, ref


def without_verb(scan: Scan, length: int, ref: Ref) -> tuple[int, Ref]:
    """ "Invoices settled after …": the rows and what was done to them, though both words together name the date."""
    length, ref = kind_of_rows(scan, length, ref)
    if length < 2 or ref.of("entity", "metric", "value", "condition", "dimension", "fact"):
        return length, ref
    shorter, rows = counted_rows(scan, length, ref)
    is_owner = rows.entities and {target.owner for target in ref.of("time")} <= set(rows.entities)
    is_told = is_done(scan.at_word(scan.at + shorter))
    return (shorter, rows) if is_owner and is_told else (length, ref)


def kind_of_rows(scan: Scan, length: int, ref: Ref) -> tuple[int, Ref]:
    """ "The average refund amount": of each row of that kind, where both words name a metric that adds them up."""
    is_mean = scan.agg is not None and scan.agg[0] in ("avg", "median")
    is_dated = bool(scan.said.grain) or any(token.kind == "time" for token in scan.tokens)  # by the metric's own date
    if not is_mean or is_dated or any(target.kind != "metric" for target in ref.targets):
        return length, ref
    for shorter in range(length - 1, 0, -1):
        kind = scan.lexicon.longest_at(scan.words[scan.at : scan.at + shorter], 0)
        fact = scan.mention(scan.at + shorter)
        if kind is None or kind[0] != shorter or fact is None or fact[0] != length - shorter:
            continue
        values = tuple(target for target in kind[1] if target.kind in ("value", "condition"))
        if values and {target.owner for target in values} & {target.owner for target in fact[1].of("fact")}:
            return shorter, Ref(scan.raw(scan.at, scan.at + shorter), values)
    return length, ref


def rows_at(scan: Scan, place: int) -> tuple[int, Ref] | None:
    """What is named at *place*; of "notification sent" the notification alone."""
    found = scan.mention(place)
    if found is None or found[1].entities:
        return found
    at, scan.at = scan.at, place
    shorter = without_verb(scan, *found)
    scan.at = at
    return shorter


def names_rows(scan: Scan, place: int) -> bool:
    """Does an entity follow, and no column of one, perhaps behind a value: "by gold customers"?"""
    found = rows_at(scan, place)
    if found is not None and found[1].of("value", "condition") and not found[1].of("dimension", "metric", "fact"):
        behind = scan.mention(place + found[0])
        return bool(found[1].entities) or (behind is not None and bool(behind[1].entities))
    return found is not None and bool(found[1].entities)


def follows_number(scan: Scan, place: int) -> bool:
    """Is what stands before *place* a number, with nothing but a span of time or a value behind it?"""
    between = scan.tokens[scan.number_ends : place] if scan.number_ends > 0 else ()
    is_dated = bool(between) and all(token.kind == "time" or token.text in wording.PLACES for token in between)
    is_narrowed = bool(between) and scan.last is not None and bool(scan.last.of("value")) and not scan.last.entities
    return scan.number_ends == place > 0 or is_dated or is_narrowed


def opens_clause(scan: Scan, first: int) -> bool:
    """ "Customers who …", "the product with …", "orders over …": what the question opens with, and says more of."""
    is_compared = scan.phrase(wording.COMPARISONS) is not None
    return (scan.word() in wording.RELATIVE or is_compared) and not scan.said.numbers and scan.opens(first)


def is_personal(scan: Scan, ref: Ref, first: int) -> bool:
    """Personal data and nothing else, or beside those whose it is, whatever it may be: "customers and their phones"."""
    personal = {target.owner for target in ref.targets if target.kind == "personal"}
    spoken = {name for head in scan.said.heads for name in head.entities}
    is_next = scan.at_word(first - 1) in ("and", ",") and scan.last is not None and scan.last in scan.said.outputs
    is_shown = scan.asks or is_next or "their" in (scan.at_word(first), scan.at_word(first - 1))
    return bool(personal) and (
        all(target.kind == "personal" for target in ref.targets) or (is_shown and bool(personal & spoken))
    )


def tells_value(scan: Scan, length: int, ref: Ref) -> bool:
    """ "Which restaurants serve Italian food": the rows and what is said of them, though both words name a column."""
    if ref.of("entity", "metric", "value") or not counted_rows(scan, length, ref)[1].is_plural:
        return False
    names = {target.name for target in ref.of("dimension")}
    place = scan.at + length
    while scan.at_word(place) in ("be", "the", "a", "an"):
        place += 1
    behind = scan.mention(place) if place < len(scan.tokens) else None
    return behind is not None and bool(names & {target.name for target in behind[1].of("value")})


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
