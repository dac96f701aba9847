"""Rules for what concerns the whole question: what asks, in what order, out of what, and words that add nothing."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Definition, NumberSaid
from bot.analytics.reader.scope import Target


def read_noise(scan: Scan) -> bool:
    """How somebody would write the SQL, that case does not matter, that empty groups count: no condition on rows."""
    if length := (scan.starts(wording.MATCHING)):
        scan.said.is_whole |= not {"integer", "whole"}.isdisjoint(scan.words[scan.at : scan.at + length])
        scan.at += length
        return True
    for phrases in (wording.HINTS, wording.EMPTY_TOO):
        if length := scan.starts(phrases):
            scan.said.with_empty |= phrases is wording.EMPTY_TOO
            scan.at += length
            return True
    return False


def read_definition(scan: Scan) -> bool:
    """ "Where total loss is the sum of payments and reserves": what the catalogue says of the metric anyway."""
    word = scan.word()
    if word not in ("where", "which", "and") or (word == "and" and not scan.said.definitions):
        return False
    place = scan.at + 1
    defined = scan.mention(place) if word != "which" else None
    names: tuple[Target, ...] = ()
    if defined is not None and defined[1].of("metric"):
        names = defined[1].of("metric")
        place += defined[0]
    elif word == "which" and scan.said.numbers and scan.number_ends >= scan.at - 1:
        names = scan.said.numbers[-1].ref.of("metric")
    elif defined is None and word != "which":
        place += 1  # a word that only the question knows: "where loss is the sum of …"
    else:
        return False
    words = scan.raw(scan.at + 1, place)
    if place >= len(scan.words) or scan.words[place] != "be":
        return False
    begin, parts = place + 1, []
    place += 1
    sentence = scan.here().sentence
    while place < len(scan.tokens) and scan.tokens[place].sentence == sentence:
        found = scan.mention(place)
        if found is not None and found[1].of("metric", "fact", "entity"):
            parts.append(found[1])
            place += found[0]
        elif scan.words[place] in wording.DEFINING:
            place += 1
        else:
            break
    if not parts:
        return False
    is_sum = "sum" in scan.words[begin:place]
    scan.said.definitions.append(Definition(words, names, tuple(parts), is_sum))
    scan.say(scan.at, place, "definition", words)
    scan.at = place
    return True


def read_order(scan: Scan) -> bool:
    behind = scan.at + 2 + (scan.word(2) == "the")
    is_then = scan.word(1) == "in" and not scan.direction_at(1) and scan.is_time(behind)
    if is_then:
        return False  # "who ordered in May"
    if scan.each and scan.word(-1) in ("per", "each", "every"):
        return False  # "net revenue per order by region"
    if scan.here().raw.casefold() in wording.ORDERING and (
        scan.word(1) == "by" or scan.direction_at(1) or scan.word(1) == "in"
    ):
        scan.ordering = True
        if scan.word().startswith("rank") and scan.said.descending is None:
            scan.said.descending = True  # the first has the most
        scan.at += 2 if scan.word(1) in ("by", "in") and not scan.direction_at(1) else 1
        return True
    return False


def read_direction(scan: Scan) -> bool:
    found = scan.direction_at(0)
    if found is None:
        return False
    length, descending = found
    is_named = scan.ordering and scan.said.orders  # "sorted by name in descending order"
    if is_named:
        scan.said.orders[-1].descending = descending
    else:
        scan.said.descending = descending
    scan.say(scan.at, scan.at + length, "order", "descending" if descending else "ascending")
    said, is_led = scan.words[scan.at : scan.at + length], "order" in scan.words[scan.at : scan.at + length]
    scan.said.spelled |= not wording.SPELLED.isdisjoint(said)
    scan.at += length
    is_listed = bool(scan.said.groups) or not scan.said.numbers  # else "by" says of each of what
    goes_on = (scan.word() == "by" and scan.ordering and is_listed) or (
        scan.word() == "of" and (is_led or scan.ordering)
    )
    scan.ordering = goes_on and not is_named  # "sorted alphabetically by name", "in descending order of price"
    scan.at += scan.ordering
    return True


def read_of_these(scan: Scan) -> bool:
    """ "How many of these were on weekends", "out of these, how many …": the number before, for some of its rows."""
    length = scan.starts(wording.PRONOUNS_OF_ALL)
    if not length or not scan.said.numbers:
        return False
    scan.at += length
    if scan.counting is not None:
        repeat_number(scan)
    else:
        scan.part = True
    return True


def repeat_number(scan: Scan) -> None:
    known = scan.said.numbers[-1]
    again = NumberSaid(known.ref, known.agg, known.distinct)
    scan.said.numbers.append(again)
    scan.narrowing = again
    scan.counting, scan.part = None, False


def read_rows(scan: Scan) -> bool:
    """ "Price records", "in the database": rows are what everything is about."""
    is_distinct = scan.word() in wording.DISTINCT and not scan.counting
    if scan.starts_clause() or (scan.word() not in wording.ROWS and not is_distinct):
        return False
    scan.at += 1
    return True


def read_asking(scan: Scan) -> bool:
    word = scan.word()
    if word not in wording.ASKING | wording.WHICH:
        return False
    if word in wording.WHICH and not (scan.starts_clause() or scan.word(-1) in ("and", ",", "of", "in", "for", "tell")):
        return False
    scan.asks = word not in wording.WISHES or scan.word(1) not in ("a", "an")
    scan.at += 1
    return True


def read_or(scan: Scan) -> bool:
    word = scan.word()
    if word not in ("or", "and"):
        return False
    if word == "or" and not (scan.said.conditions or scan.quotient):
        return False
    scan.alternative = word == "or"
    scan.at += 1
    return True


def read_filler(scan: Scan) -> bool:
    word = scan.word()
    is_opening = word == "only" and (scan.follows or scan.opens(scan.at))  # "only EU": elsewhere it may say "no other"
    is_following = scan.follows and word in wording.FOLLOWING
    if is_opening or is_following or word in wording.FILLERS or word in wording.NEUTRAL_VERBS:
        wishes = wording.WISHES | ({"mean", "meant"} if scan.follows else set())
        if (word in ("i", "my") and scan.word(1) not in wishes) or is_abbreviated(scan):
            return False
        if word in wording.PLACES:
            scan.asks = False  # what is asked for has been said
        if word in ("from", "to") and scan.word(1) in ("it", "them", ""):
            scan.at += bool(scan.word(1))  # "the most flights to it"
            scan.role, scan.role_ends = scan.direction(word), scan.at + 1
        scan.at += 1
        return True
    return False


def is_abbreviated(scan: Scan) -> bool:
    """ "Customers in the US", "employees in IT": a name in capitals, where not everything is written so."""
    return scan.here().raw in ("US", "IT") and any(token.raw.islower() for token in scan.tokens)
