"""Rules for two moments of a row: how far one lies behind the other, whether both fall into the same day or month.

A moment is a date by its name, by its verb ("they joined", "starting treatment"), or a thing with a date of its own
("the order"). What it is compared with is the date named right before, else the date of the rows that are spoken of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.analytics.grammar import wording
from bot.analytics.grammar.clauses import open_clause
from bot.analytics.grammar.said import ApartSaid, DoneSaid, Ref
from bot.analytics.grammar.scan import Scan
from bot.analytics.verbs import DOING
from bylaw.authored.context import Grain
from bylaw.language.span import listed

_UNITS: Mapping[str, Grain] = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year"}
_LITTLE = listed("the a an their its his her our your it they he she be have when that which who being do get")
_DATED = (("date", "of"), ("day", "of"), ("time", "of"), ("date",), ("day",))
_PLACES = listed("in on at during within for the")
_TOLD_APART = listed("with whose named number id having where")
_AUXILIARIES = listed("be have only ever also first the date that")


@dataclass(frozen=True, slots=True)
class Reach:
    """What a word says before a number: the bounds it gives, in numbers of units, and whether they are left out."""

    lower: bool = False
    upper: bool = False
    is_open: bool = False


_REACHES: Mapping[tuple[str, ...], Reach] = {
    tuple(phrase.split()): reach
    for phrases, reach in (
        (
            "within,at most,no more than,not more than,up to,no later than,in the first,during the first",
            Reach(upper=True),
        ),
        ("less than,fewer than,under,sooner than", Reach(upper=True, is_open=True)),
        ("more than,over,longer than,greater than,later than", Reach(lower=True, is_open=True)),
        ("at least,no less than,not less than,no fewer than", Reach(lower=True)),
        ("exactly", Reach(lower=True, upper=True)),
    )
    for phrase in phrases.split(",")
}
_SIDES: Mapping[tuple[str, ...], str] = {
    ("after",): "after", ("following",): "after", ("from",): "after", ("since",): "after", ("later", "than"): "after",
    ("before",): "before", ("prior", "to"): "before", ("ahead", "of"): "before", ("earlier", "than"): "before",
    ("of",): "around", ("between",): "between",
}  # fmt: skip
_ORDERS: Mapping[tuple[str, ...], tuple[bool, bool]] = {  # does it come after, and may it be the same moment?
    ("after",): (True, False), ("following",): (True, False), ("later", "than"): (True, False),
    ("before",): (False, False), ("prior", "to"): (False, False), ("earlier", "than"): (False, False),
    ("on", "or", "after"): (True, True), ("on", "or", "before"): (False, True), ("no", "later", "than"): (False, True),
    ("no", "earlier", "than"): (True, True),
}  # fmt: skip


def read_apart(scan: Scan) -> bool:
    """ "Within 10 days after the order", "in the same month as it was paid", "after they were due"."""
    return _read_distance(scan) or _read_same(scan) or _read_sequence(scan)


def read_done(scan: Scan) -> bool:
    """ "Shipped last month", "shipped within 2 days": a date told by what was done, right before what is said of it."""
    found = scan.lexicon.moment_at(scan.words, scan.at)
    if found is None:
        return False
    length, targets = found
    first, after = scan.at, scan.at + length
    heads = _spoken_of(scan)
    named = scan.mention(first)
    owned = tuple(target for target in targets if target.owner in heads)
    if named is not None and (not owned or named[1].of("entity", "metric") or set(owned) & set(named[1].targets)):
        return False
    scan.at = after
    span = next((i for i in range(after, min(after + 3, len(scan.tokens))) if scan.words[i] not in _PLACES), after)
    if not scan.is_time(span) and not follows(scan) and not _is_placed(scan):
        scan.at = first
        return False
    scan.last = Ref(scan.raw(first, after), owned or targets)
    scan.say(first, after, "time", scan.last.words)
    if scan.negated and scan.head is not None and scan.is_time(span):
        open_clause(scan)
        scan.said.done.append(DoneSaid(scan.head, scan.last, True, scan.clause))
        scan.negated = scan.is_opened = False
    return True


def _is_placed(scan: Scan) -> bool:
    """ "Joined first", at the end: ranked by that date."""
    words = [token.text for token in scan.tokens[scan.at :] if token.sentence == scan.tokens[scan.at - 1].sentence]
    return words in (["first"], ["last"], ["earliest"], ["latest"], ["most", "recently"])


def follows(scan: Scan, place: int | None = None) -> bool:
    """Does a comparison with another moment begin at *place*, or here? Nothing is taken in."""
    probe = Scan(scan.tokens, scan.lexicon)
    probe.at, probe.head, probe.last = scan.at if place is None else place, scan.head, scan.last
    return read_apart(probe)


def _read_distance(scan: Scan) -> bool:
    place = scan.at
    found = scan.phrase(_REACHES, place)
    length, reach = found if found is not None else (0, Reach(lower=True, upper=True))
    place += length
    is_beginning = False
    while scan.at_word(place) in ("the", "first"):
        is_beginning |= scan.at_word(place) == "first"
        place += 1
    if (is_beginning or (found is not None and found[0] == 3)) and scan.at_word(place) in _UNITS:
        place -= 1  # "the first year": of one
        count: int | None = 1
    else:
        count = _number(scan, place)
    unit = _UNITS.get(scan.at_word(place + 1))
    if count is None or unit is None:
        return False
    place += 2
    if (more := scan.phrase(wording.AFTERWARDS, place)) is not None:
        reach, place = Reach(lower=more[1] == ">=", upper=more[1] == "<="), place + more[0]
    side = scan.phrase(_SIDES, place)
    if side is None:
        return False
    place += side[0]
    if side[1] == "between":
        return _read_gap(scan, place, reach, count, unit)
    moment = read_moment(scan, place)
    if moment is None:
        return False
    after, since = moment
    towards = "after" if is_beginning or found is None or found[0] == 3 else side[1]
    towards = side[1] if side[1] in ("after", "before") else towards
    least, most = _bounds(reach, count, towards)
    return _take(scan, after, ApartSaid(since, least=least, most=most, unit=unit, is_open=reach.is_open))


def _bounds(reach: Reach, count: int, towards: str) -> tuple[int | None, int | None]:
    """From where to where, below zero before the other moment."""
    if reach.lower and reach.upper:
        return (-count, -count) if towards == "before" else (count, count)
    if reach.lower:
        return (None, -count) if towards == "before" else (count, None)
    return {"after": (0, count), "before": (-count, 0)}.get(towards, (-count, count))


def _read_gap(scan: Scan, place: int, reach: Reach, count: int, unit: Grain) -> bool:
    """ "More than 90 days between the start and the end"."""
    ends = read_ends(scan, place)
    if ends is None:
        return False
    after, since, until = ends
    least, most = _bounds(reach, count, "after")
    said = ApartSaid(since, until, least=least, most=most, unit=unit, is_open=reach.is_open)
    return _take(scan, after, said)


def _read_same(scan: Scan) -> bool:
    place = scan.at + (scan.word() in ("on", "in", "within", "during", "at", "be"))
    place += scan.at_word(place) in ("the", "exact")
    place += scan.at_word(place) == "exact"
    is_same = scan.at_word(place) == "same"
    place += is_same + (is_same and scan.at_word(place + 1) in ("calendar", "exact"))
    unit = _UNITS.get("day" if scan.at_word(place) == "date" else scan.at_word(place))
    behind = scan.at_word(place + 1)
    if (
        unit is None
        or place == scan.at
        or not (is_same or behind in ("of", "they", "it", "when", "their", "he", "she"))
    ):
        return False
    place += 2 if behind in ("as", "of", "that", "when") else 1
    moment = read_moment(scan, place)
    if moment is None:
        return False
    after, since = moment
    return _take(scan, after, ApartSaid(since, same=unit))


def _read_sequence(scan: Scan) -> bool:
    found = scan.phrase(_ORDERS, scan.at)
    if found is None:
        return False
    length, (is_after, may_equal) = found
    moment = read_moment(scan, scan.at + length)
    if moment is None:
        return False
    after, since = moment
    if since.is_plural and not since.of("time"):
        return False  # "net revenue after refunds": no moment
    bounds = {"least": 0} if is_after else {"most": 0}
    return _take(scan, after, ApartSaid(since, is_open=not may_equal, **bounds))  # type: ignore[arg-type]  # both are numbers


def _take(scan: Scan, after: int, said: ApartSaid) -> bool:
    """Take in a comparison: of the date named right before it, else of the rows that are spoken of."""
    first = scan.at
    if said.moment is None and _is_beside(scan):
        said.moment = scan.last
        if scan.last in scan.said.outputs and not scan.said.outputs[-1].is_plural and scan.relative:
            scan.said.outputs.remove(scan.last)
    elif said.moment is None and _is_done(scan):
        scan.said.unknown.append(scan.raw(first - 1, after))  # "cancelled within a day": nobody says when it was
    said.near = _spoken_of(scan)
    said.clause, said.negated = scan.clause, scan.negated
    scan.negated = False
    scan.said.aparts.append(said)
    scan.say(first, after, "filter", scan.raw(first, after))
    scan.at = after
    if scan.word() == "(":
        skip_remark(scan)
    return True


def _spoken_of(scan: Scan) -> tuple[str, ...]:
    """The entities of the rows that are spoken of."""
    if scan.head is not None:
        return scan.head.entities or scan.head.owners
    return scan.said.numbers[-1].ref.entities if scan.said.numbers else ()


def _is_done(scan: Scan) -> bool:
    """Is the word right before a value that tells what was done?"""
    known = scan.narrowed[-1].ref if scan.narrowed else None
    return known is not None and known is scan.last and scan.word(-1).endswith("ed") and scan.at > 0


def skip_remark(scan: Scan) -> None:
    """Pass over "(either may come first)": that the order of two moments does not matter is what a period says."""
    end = scan.at
    while end < len(scan.words) and scan.words[end] != ")":
        end += 1
    inside = scan.words[scan.at + 1 : end]
    known = scan.said.aparts[-1].same is not None and {"earlier", "first", "before"} & set(inside)
    if end < len(scan.words) and known and {"either", "or", "other", "each"} & set(inside):
        scan.at = end + 1


def _is_beside(scan: Scan) -> bool:
    """Is the date named last the one that the comparison is said of?"""
    if scan.last is None or not scan.last.of("time") or scan.last.entities:
        return False
    place, last = scan.at - 1, scan.last.words.split()[-1]
    while place > 0 and scan.at_word(place) in _AUXILIARIES and scan.tokens[place].raw != last:
        place -= 1
    return scan.tokens[place].raw == last


def _number(scan: Scan, place: int) -> int | None:
    if place >= len(scan.tokens):
        return None
    token = scan.tokens[place]
    number = token.number if token.kind == "number" else wording.NUMBERS.get(token.text)
    number = 1 if token.text in ("a", "an") else number
    return number if isinstance(number, int) and 0 < number <= 10_000 else None


# ---- moments


def read_ends(scan: Scan, place: int) -> tuple[int, Ref, Ref] | None:
    """ "A and B": the place behind it, where it begins and where it ends."""
    first = read_moment(scan, place)
    if first is None or scan.at_word(first[0]) not in ("and", "to", "until"):
        return None
    second = read_moment(scan, first[0] + 1)
    return None if second is None else (second[0], first[1], second[1])


def read_moment(scan: Scan, place: int) -> tuple[int, Ref] | None:
    """The moment that is named from *place* on, and the place behind it. Its ref names dates, or a thing with one."""
    while place < len(scan.tokens):
        named, told = scan.mention(place), scan.lexicon.moment_at(scan.words, place)
        if told is not None and (named is None or told[0] >= named[0]) and not (named and named[1].entities):
            also = named[1].of("time") if named is not None and named[0] == told[0] else ()
            targets = tuple(dict.fromkeys((*also, *told[1])))
            return _of_owner(scan, place + told[0], Ref(scan.raw(place, place + told[0]), targets))
        if named is not None and named[1].of("time", "entity"):
            return _named_moment(scan, place, *named)
        if (doing := _doing(scan, place)) is not None:
            return doing
        little = next((part for part in _DATED if tuple(scan.words[place : place + len(part)]) == part), ())
        if little:
            place += len(little)
        elif scan.at_word(place) in _LITTLE:
            place += 1
        else:
            return None
    return None


def _named_moment(scan: Scan, place: int, length: int, ref: Ref) -> tuple[int, Ref] | None:
    """A date by its name, with its owner behind or before it; a thing alone stands for its own date."""
    after = place + length
    times = ref.of("time")
    if times:
        return _of_owner(scan, after, Ref(ref.words, times, ref.near))
    while scan.at_word(after) in _LITTLE - {"a", "an", "the"}:
        after += 1
    behind, told = scan.mention(after), scan.lexicon.moment_at(scan.words, after)
    for found in ((told[0], told[1]) if told else None, (behind[0], behind[1].of("time")) if behind else None):
        owned = tuple(target for target in found[1] if target.owner in ref.entities) if found else ()
        if found is not None and owned:
            return after + found[0], Ref(scan.raw(after, after + found[0]), owned, ref.entities)
    if (behind is not None and after == place + length) or scan.at_word(place + length) in _TOLD_APART:
        return None  # "the customer tier" is no moment, "the order with id 3" one of another row
    if after != place + length:
        return None  # "the order was delivered": nobody says when
    return place + length, Ref(ref.words, ref.of("entity"), (), ref.is_plural)


def _of_owner(scan: Scan, after: int, ref: Ref) -> tuple[int, Ref]:
    """ "Start date of the treatment", "admitted student": whose date it is; "of each" says how to group."""
    words = 1 if scan.at_word(after) in ("of", "for") else 0
    owner = scan.mention(after + words)
    if owner is None or not owner[1].entities or owner[1].of("time"):
        return after, ref
    owned = tuple(target for target in ref.targets if target.owner in owner[1].entities)
    if not owned:
        return after, ref
    return after + words + owner[0], Ref(ref.words, owned, owner[1].entities)


def _doing(scan: Scan, place: int) -> tuple[int, Ref] | None:
    """ "Signing up", "starting treatment": a date told by its verb, as something that one does."""
    word = scan.at_word(place)
    if not word.endswith("ing") or len(word) < 6:
        return None
    stem = word[:-3]
    forms = [DOING.get(word, f"{stem}ed"), f"{stem}d", *([f"{stem[:-1]}ed"] if stem[-1] == stem[-2] else [])]
    for form in forms:
        words = [form, *scan.words[place + 1 : place + 4]]
        found = scan.lexicon.moment_at(words, 0) or scan.lexicon.longest_at(words, 0)
        times = tuple(target for target in found[1] if target.kind == "time") if found is not None else ()
        if found is None or not times:
            continue
        after = place + found[0]
        return _of_owner(scan, after, Ref(scan.raw(place, after), times))
    return None
