"""Quotients: ratios of two numbers, parts of a whole, shares of a group; and which of their conditions hold for what.

"Ratio of A to B" has two sides. "Percentage of A that are B" has one: what follows the verb, or else what narrows A,
is said of the part. A place or a time at the end is said of the whole question, unless both sides have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.scan import Mark, Piece, Quotient, Scan, Side
from bot.analytics.reader.said import Narrowing, NumberSaid, RatioSaid, Ref, RelatedSaid, TimeSaid

_DIVIDING = ("divided", "per", "as")
_VERBS = ("be", "have", "do")
_PRONOUNS = ("that", "who", "which", "whose")
_PREDICATES = ("that", "who", "which", "whose", "be", "have", "do")


def read_ratio(scan: Scan) -> bool:
    quotient = scan.quotient
    if quotient is None:
        return opens(scan)
    if quotient.separator is not None and scan.at == quotient.separator[0]:
        if scan.counting or scan.agg or scan.negated:
            return False
        scan.at += quotient.separator[1]
        scan.relative = False
        scan.last = scan.head = None
        quotient.sides.append(Side(scan.at))
        return True
    mark(scan, quotient)
    return False


def opens(scan: Scan) -> bool:
    """Begin a quotient at its word, or at the number that another one divides."""
    if scan.said.ratio is not None:
        return False
    found = scan.phrase(wording.QUOTIENTS)
    if found is None and not any(word in scan.words for word in _DIVIDING):
        return False
    start = scan.at
    length, (is_part, in_percent) = found or (0, (False, False))
    second = separator(scan, start + length, is_part)
    if found is None and (second is None or scan.words[second[0]] not in _DIVIDING or not is_divided(scan, second[0])):
        return False
    if second is not None:
        in_percent |= wording.AS_PARTS.get(tuple(scan.words[second[0] : sum(second)]), False)
    quotient = Quotient(scan.raw(start, start + length).split(" ")[0] or "divided", is_part, in_percent, second)
    if found is not None and scan.agg is not None:
        agg, quotient.is_ranked = scan.agg
        scan.agg = None
        if quotient.is_ranked:
            scan.said.is_ranking, scan.said.descending = True, agg == "max"
        else:
            scan.said.unknown.append(scan.agg_words)
    quotient.sides.append(Side(start + length))
    scan.quotient, scan.asks = quotient, False
    if length:
        scan.say(start, start + length, "calculation", "percentage" if in_percent else "ratio")
    scan.at += length
    return bool(length)


def is_divided(scan: Scan, until: int) -> bool:
    """ "Orders divided by customers": does a number begin here, and nothing say that a metric is defined?"""
    if scan.said.numbers or scan.said.ratio or scan.counting or scan.agg or scan.relative or scan.each:
        return False
    sentence = scan.here().sentence
    if any(scan.words[i] in ("where", "which") for i in range(until) if scan.tokens[i].sentence == sentence):
        return False
    if scan.counts_at(scan.at) or scan.word() in wording.AGGREGATES:
        return True
    found = scan.mention(scan.at)
    return found is not None and bool(found[1].of("metric", "fact", "value", "condition"))


def separator(scan: Scan, start: int, is_part: bool) -> tuple[int, int] | None:
    """Where the second side begins and how many words say so: a word between two numbers, or two conditions of one."""
    found: list[tuple[int, int, int]] = []
    place, named = start, None
    while place < len(scan.tokens) and scan.tokens[place].sentence == scan.tokens[scan.at].sentence:
        phrase = scan.phrase(wording.SEPARATORS, place) if place > start else None
        if phrase is not None:
            length, kind = phrase
            if leads_to_number(scan, place + length, kind):
                found.append((kind != "number", place, length))
            elif kind == "number" and not is_part:
                found.append((2, place, length))
        named = scan.mention(place) if scan.words[place] not in wording.DETERMINERS else None
        place += named[0] if named is not None else phrase[0] if phrase is not None else 1
    best = min(found, default=None)
    return None if best is None else best[1:]


def leads_to_number(scan: Scan, place: int, kind: str) -> bool:
    """Does a number follow, before anything ends its phrase? Behind "in" one of everything, behind "per" a column."""
    is_whole = kind != "whole"
    while place < len(scan.tokens):
        word = scan.words[place]
        counts = word in wording.AGGREGATES or scan.counts_at(place)
        if word in wording.WHOLE:
            is_whole = True
        if is_whole and kind != "column" and (counts):
            return True
        if word in wording.ARTICLES | wording.WHOLE | wording.NOT:
            place += 1
            continue
        found = scan.mention(place)
        if found is None:
            return False
        ref = found[1]
        if ref.of("entity", "metric", "fact"):
            return is_whole and (kind != "column" or not ref.of("entity", "dimension", "time", "value"))
        place += found[0]
    return False


def mark(scan: Scan, quotient: Quotient) -> None:
    """How what follows stands to the number of its side."""
    side, word = quotient.side, scan.word()
    if side.number is None:
        return
    if word in _VERBS and is_main(scan, side):
        return_to_number(scan, side)
    side.is_relative |= word in _PRONOUNS and scan.at >= side.number_at
    if word in _PREDICATES and scan.at >= side.number_at:
        side.mark, side.place = "strong", ""
    elif word in ("with", "without", "having") or (
        scan.here().raw.lower().endswith("ing") and scan.mention(scan.at) is None
    ):
        side.mark = "weak" if side.mark != "strong" else side.mark
        side.place = ""
    elif word in wording.NEUTRAL_VERBS and side.mark != "strong":
        side.mark = "weak" if scan.here().raw.lower().endswith(("ed", "en", "de")) else "strong"
        side.place = ""
    elif word in wording.SCOPES and scan.word(-1) not in ("and", "or", "be", *wording.NEUTRAL_VERBS):
        is_first = not any(piece.mark in ("weak", "strong") for piece in side.pieces)
        side.place = word
        if side.mark not in ("strong", "weak") or not is_first:
            side.mark = "place"


def is_main(scan: Scan, side: Side) -> bool:
    """ "Percentage of customers who ordered in 2026 | are gold", "with 5 orders | have a refund": is it its verb?"""
    is_joined = scan.word(-1) in (*_PRONOUNS, "and", "or", "but", ",", "not", "never", "also", "ever")
    marks = {piece.mark for piece in side.pieces}
    return not is_joined and ("weak" in marks or (side.is_relative and "strong" in marks))


def return_to_number(scan: Scan, side: Side) -> None:
    """What was said in the clause before holds for the whole; what comes is said of the number's own rows."""
    for piece in side.pieces:
        piece.mark = "weak" if piece.mark == "strong" and side.is_relative else piece.mark
    side.is_relative = False
    if side.number is not None and side.number.ref.entities:
        scan.head, scan.owner = Ref(side.number.ref.words, side.number.ref.of("entity")), None


def add_half(scan: Scan, number: NumberSaid, first: int, after: int) -> bool:
    """Take in the number of a side; another one on a side that has its own is not understood."""
    quotient = scan.quotient
    if quotient is None or scan.ordering:
        return False
    side = quotient.side
    if side.number is not None:
        between = scan.words[side.number_at : first]
        if len(quotient.sides) == 2 and {"and", ","} & set(between):
            return False
        scan.said.unknown.append(number.ref.words)
        return True
    side.number, side.number_at = number, after
    side.mark = "of"
    return True


def finish(scan: Scan) -> None:
    """Decide which condition holds for which number. What is missing or could hold for either is not understood."""
    quotient, scan.quotient = scan.quotient, None
    if quotient is None:
        return
    numbers = [side.number for side in quotient.sides]
    if idle := [ref.words for side in quotient.sides for ref in side.entities if not is_spoken_of(ref, side)]:
        scan.said.unknown.append(idle[0])  # "people of each country who live in cities"
    elif len(numbers) == 1 and numbers[0] is not None and quotient.is_part:
        part_of_whole(scan, quotient, numbers[0])
    elif len(numbers) == 2 and numbers[1] is not None:
        two_sides(scan, quotient, numbers[0], numbers[1])
    else:
        scan.said.unknown.append(quotient.words)


def is_spoken_of(ref: Ref, side: Side) -> bool:
    """Does a condition narrow rows of an entity that is named beside the number?"""
    owners = {name for group in side.groups for name in group.entities}
    for piece in side.pieces:
        match piece.said:
            case Narrowing():
                owners |= {*piece.said.ref.owners, *piece.said.near}
            case RelatedSaid():
                owners |= {*piece.said.entity.entities}
            case TimeSaid():
                owners |= {*piece.said.near}
    return not owners.isdisjoint(ref.entities)


def part_of_whole(scan: Scan, quotient: Quotient, number: NumberSaid) -> None:
    """ "Percentage of A that are B", "share of each B in A": the part and what it is a part of."""
    side = quotient.side
    part, whole, scope = parts_of(side)
    if part is None:
        scan.said.unknown.append(quotient.words)
        return
    told = NumberSaid(number.ref, number.agg, number.distinct, is_total=number.is_total)
    for piece in part:
        give(told, piece)
    for piece in whole:
        give(told, piece)
        give(number, piece)
    for piece in scope:
        to_all(scan, piece)
    if not part:
        if not side.groups:
            scan.said.unknown.append(quotient.words)
            return
        number.over = "total"
    scan.said.groups += side.groups
    scan.said.ratio = RatioSaid(told, number, quotient.in_percent, True, quotient.is_ranked)


def parts_of(side: Side) -> tuple[list[Piece] | None, list[Piece], list[Piece]]:
    """The conditions of the part, of both numbers, and of the whole question; no part where one cannot tell."""
    those = [(piece.said, piece.mark) for piece in side.pieces]
    related = {one.clause: mark for one, mark in those if isinstance(one, RelatedSaid)}
    for piece in side.pieces:
        is_behind = isinstance(piece.said, Narrowing) and piece.said.clause in related
        if is_behind and piece.mark in ("of", "place"):
            piece.mark = related[piece.said.clause]  # "made by customers from Texas"
    for piece in side.pieces:
        if is_told_of(piece, related):
            piece.mark = related[piece.said.clause]  # "have an order in 2026": the order is, whatever the customer
    times = [piece for piece in side.pieces if isinstance(piece.said, TimeSaid) and not is_told_of(piece, related)]
    others = [piece for piece in side.pieces if piece not in times]
    strong = [piece for piece in others if piece.mark == "strong"]
    weak = [piece for piece in others if piece.mark == "weak"]
    plain = [piece for piece in others if piece.mark == "before"]
    rest = [piece for piece in others if piece.mark in ("of", "place")]
    if strong:
        return strong, [*plain, *weak], [*rest, *times]
    if weak and plain:
        return None, [], []  # "online orders with a coupon": a part of all orders, or of the online ones?
    if found := weak or plain:
        return found, [], [*rest, *times]
    if side.groups:
        places = [piece for piece in rest if piece.mark == "place"]
        return (None, [], []) if places else ([], [], [*rest, *times])
    if rest:
        return [piece for piece in rest if piece.mark == "place"], [], [*(p for p in rest if p.mark == "of"), *times]
    return times, [], []


def is_told_of(piece: Piece, related: Mapping[int, Mark]) -> bool:
    """Is it a span of time said of related rows?"""
    return isinstance(piece.said, TimeSaid) and piece.said.ref is None and piece.said.clause in related


def two_sides(scan: Scan, quotient: Quotient, first: NumberSaid | None, second: NumberSaid) -> None:
    """ "Ratio of A to B": what is said behind B is said of both where A says nothing of the kind."""
    over, under = quotient.sides
    is_shared = first is None
    if first is None:
        first = NumberSaid(second.ref, second.agg, second.distinct)
    is_same = not set(first.ref.targets).isdisjoint(second.ref.targets) or first.ref.words.endswith(second.ref.words)
    says_whole = any(scan.words[i] in wording.WHOLE for i in range(under.start, under.number_at))
    if over.groups and (under.groups or not says_whole):
        scan.said.unknown.append(f"each {over.groups[0].words}")  # of one side only
        return
    if is_shared and not over.pieces and not over.groups:
        scan.said.unknown.append(quotient.words)
        return
    is_of_groups = bool(over.groups)
    for piece in over.pieces:
        if is_doubtful(piece, over, under, is_same and (says_whole or not under.pieces)):
            scan.said.unknown.append(words_of(piece.said))
            return
        give(first, piece)
    for piece in under.pieces:
        if is_of_both(piece, over, is_same and not over.pieces, is_of_groups and is_shared):
            to_all(scan, piece)
        else:
            give(second, piece)
    if is_of_groups:
        second.over = "total"
    scan.said.groups += [*over.groups, *under.groups]
    is_part = says_whole and is_same and not (second.conditions or second.related or second.times)
    scan.said.ratio = RatioSaid(first, second, quotient.in_percent, is_part, quotient.is_ranked)


def is_of_both(piece: Piece, over: Side, is_only: bool, is_of_groups: bool) -> bool:
    """Is a condition behind the second number said of both? "Lakes to rivers in Canada", not "in Ohio to in Iowa"."""
    if is_of_groups:
        return True
    is_time = isinstance(piece.said, TimeSaid)
    if (not is_time and piece.mark != "place") or is_only:
        return False
    return not any(is_alike(piece, other) for other in over.pieces)


def is_doubtful(piece: Piece, over: Side, under: Side, is_whole: bool) -> bool:
    """Could a time or a place of the first number hold for the second too, which has none of its own?"""
    is_scope = isinstance(piece.said, TimeSaid) or (piece.mark == "place" and piece.place in ("in", "during", "within"))
    if not is_scope or is_whole:
        return False
    return not any(is_alike(piece, other) for other in under.pieces)


def is_alike(one: Piece, other: Piece) -> bool:
    """Do two conditions say the same kind of thing: two times, two values of a column, two places?"""
    if isinstance(one.said, TimeSaid) or isinstance(other.said, TimeSaid):
        return isinstance(one.said, TimeSaid) and isinstance(other.said, TimeSaid)
    if isinstance(one.said, Narrowing) and isinstance(other.said, Narrowing):
        names = {target.name for target in one.said.ref.targets} & {target.name for target in other.said.ref.targets}
        operators = {one.said.operator, other.said.operator}
        return bool(names) or operators == {"is_weekend"} or (one.place == other.place != "")
    return False


def give(number: NumberSaid, piece: Piece) -> None:
    """Narrow one of the two numbers."""
    match piece.said:
        case Narrowing():
            number.conditions.append(replace(piece.said))
        case RelatedSaid():
            number.related.append(piece.said)
        case TimeSaid():
            number.times.append(piece.said)


def to_all(scan: Scan, piece: Piece) -> None:
    """Narrow the whole question."""
    match piece.said:
        case Narrowing():
            scan.said.conditions.append(piece.said)
        case RelatedSaid():
            scan.said.related.append(piece.said)
        case TimeSaid():
            scan.said.times.append(piece.said)


def words_of(said: Narrowing | RelatedSaid | TimeSaid) -> str:
    match said:
        case Narrowing():
            return said.ref.words
        case RelatedSaid():
            return said.entity.words
        case TimeSaid():
            return said.span.label
