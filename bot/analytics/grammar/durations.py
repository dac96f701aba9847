"""Rules for the time between two moments, as a number of a row: "days between A and B", "days since the last order"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.analytics.grammar import wording
from bot.analytics.grammar.moments import read_ends, read_moment
from bot.analytics.grammar.names import TAKERS
from bot.analytics.grammar.numbers import add_number
from bot.analytics.grammar.said import NumberSaid, Ref
from bot.analytics.grammar.scan import Scan
from bot.analytics.scope import Target
from bylaw.authored.context import Aggregation
from bylaw.language.span import listed

_UNITS: Mapping[str, str] = {"day": "days", "hour": "hours", "minute": "minutes", "second": "seconds"}
_TIMES = listed("time duration gap interval difference lag delay period")
_ELAPSED = listed("have be it passed elapsed gone by there that take took taken get go ago")
_EXTREMES: Mapping[tuple[str, ...], Aggregation] = {  # the latest of several moments is the one the least time ago
    ("last",): "min", ("latest",): "min", ("most", "recent"): "min", ("newest",): "min",
    ("first",): "max", ("earliest",): "max", ("oldest",): "max", ("very", "first"): "max",
}  # fmt: skip


def read_duration(scan: Scan) -> bool:
    """A number of days, hours, minutes or seconds from one moment to another, or to today."""
    counted = scan.starts(wording.COUNTING)
    return _read_time_between(scan, counted) or _read_again(scan, counted)


def _read_time_between(scan: Scan, counted: int) -> bool:
    found = _opened(scan, scan.at + counted)
    if found is None:
        return False
    place, unit = found
    agg: Aggregation | None = None
    if scan.at_word(place) == "since":
        place, agg = _extreme(scan, _of_each(scan, place + 1))
        moment = read_moment(scan, place)
        if moment is None:
            return False
        after, since, until = moment[0], moment[1], None
    elif scan.at_word(place) in ("between", "from"):
        ends = read_ends(scan, place + 1)
        if ends is None:
            return False
        after, since, until = ends
    else:
        return False
    after, unit = _trailing(scan, after, unit)
    targets = tuple(_facts(scan, unit, since, until)) if unit else ()
    if not targets:
        return False
    _take(scan, after, Ref(scan.raw(scan.at, after), targets), agg)
    return True


def _opened(scan: Scan, place: int) -> tuple[int, str] | None:
    """The place behind "days", "time in days", "how long has it been in days", and the unit where it is said."""
    unit = _UNITS.get(scan.at_word(place), "")
    if scan.at_word(place) == "how" and scan.at_word(place + 1) == "long":
        place += 2
    elif unit or scan.at_word(place) in _TIMES:
        place += 1
    else:
        return None
    while scan.at_word(place) in _ELAPSED or (
        scan.at_word(place) in ("in", "(") and scan.at_word(place + 1) in ("in", *_UNITS)
    ):
        if scan.at_word(place) in ("in", "("):
            place += scan.at_word(place + 1) == "in"
            unit = _UNITS.get(scan.at_word(place + 1), "")
            place += 2 + (scan.at_word(place + 2) == ")")
        else:
            place += 1
    return place, unit


def _trailing(scan: Scan, after: int, unit: str) -> tuple[int, str]:
    """ "… in days" behind it."""
    place = after
    while scan.at_word(place) in ("be", "have", "occurred", "happened", "("):
        place += 1
    if (
        scan.at_word(place) == "in"
        and scan.at_word(place + 1) in _UNITS
        and unit in ("", _UNITS[scan.at_word(place + 1)])
    ):
        unit = _UNITS[scan.at_word(place + 1)]
        return place + 2 + (scan.at_word(place + 2) == ")"), unit
    return after, unit


def _of_each(scan: Scan, place: int) -> int:
    """ "Since each user's last session": a number for each."""
    found = scan.mention(place + 1) if scan.at_word(place) in ("each", "every") else None
    if found is None or not found[1].entities:
        return place
    scan.said.groups.append(Ref(found[1].words, found[1].of("entity")))
    return place + 1 + found[0]


def _extreme(scan: Scan, place: int) -> tuple[int, Aggregation | None]:
    """ "The last …": which of several moments is meant; where a date has such a name ("last login") it is none."""
    start = place + (scan.at_word(place) in wording.DETERMINERS)
    found = scan.phrase(_EXTREMES, start)
    named = scan.mention(start)
    if found is None or (named is not None and named[0] > found[0] and named[1].of("time")):
        return place, None
    return start + found[0], found[1]


def _facts(scan: Scan, unit: str, since: Ref, until: Ref | None) -> Iterator[Target]:
    """The facts that it may mean, on an entity that could lead to both moments; of one entity rather than of two."""
    pairs = [(one, other) for one in _dates(scan, since) for other in (_dates(scan, until) if until else ["today"])]
    alike = [pair for pair in pairs if pair[0].partition(".")[0] == pair[1].partition(".")[0]]
    for one, other in alike or pairs:
        owners = dict.fromkeys(name.partition(".")[0] for name in (one, other) if "." in name)
        for owner in owners:
            if one != other:
                yield Target("fact", f"{owner}.{unit}({one}, {other})")


def _dates(scan: Scan, ref: Ref) -> list[str]:
    times = [target.name for target in ref.of("time")]
    return times or [date for entity in ref.entities if (date := scan.lexicon.dates.get(entity))]


def _take(scan: Scan, after: int, ref: Ref, agg: Aggregation | None) -> None:
    first, scan.at = scan.at, after
    scan.duration = True
    if agg is not None or (scan.agg is not None and not scan.agg[1]):
        agg = agg or (scan.agg[0] if scan.agg else None)
        scan.agg = None
        add_number(scan, NumberSaid(ref, agg), first, after)
        return
    scan.asks |= not scan.said.numbers
    for take in TAKERS:
        if take(scan, ref, first, after):
            break
    scan.last = ref


def _read_again(scan: Scan, counted: int) -> bool:
    """ "… and the number of days": said again."""
    if not scan.duration or not counted or scan.at_word(scan.at + counted) not in _UNITS:
        return False
    scan.at += counted + 1
    return True
