"""Rules for parts of a date that come again: "by weekday", "which hour of the day", "on Mondays and Tuesdays"."""

from __future__ import annotations

from collections.abc import Mapping

from bot.analytics.grammar import wording
from bot.analytics.grammar.conditions import narrow
from bot.analytics.grammar.places import group_follows
from bot.analytics.grammar.quantities import is_inside_number
from bot.analytics.grammar.said import CycleSaid, Ref
from bot.analytics.grammar.scan import Scan
from bylaw.semantic.parts import DAYS

_DAYS: Mapping[str, str] = {day.lower(): day for day in DAYS}


def read_cycle(scan: Scan) -> bool:
    """ "By weekday", "on which day of the week": a group of its own for each of them."""
    found = scan.phrase(wording.CYCLES)
    if found is None or not (scan.each or scan.word(-1) in wording.WHICH | {"each", "every"}):
        return False
    length, part = found
    known, behind = scan.lexicon.longest_at(scan.words, scan.at), scan.at + length
    is_of_one = scan.is_time(behind) and scan.tokens[behind].raw[:1].isdigit()  # "month of the year 2021"
    if (known is not None and known[0] >= length) or is_of_one or is_inside_number(scan):
        return False
    words = scan.raw(scan.at, scan.at + length)
    scan.said.cycles.append(CycleSaid(part, words, len(scan.said.groups)))
    scan.say(scan.at, scan.at + length, "dimension", part)
    scan.at += length
    scan.each = scan.word() in ("and", ",") and group_follows(scan)
    return True


def read_days(scan: Scan) -> bool:
    """ "On Mondays", "on a Friday": those days of every week. "On Monday" is one day, and nobody says which."""
    days: list[str] = []
    place = scan.at
    while (day := _day_at(scan, place)) is not None:
        days.append(day)
        place += 1
        behind = place + (scan.at_word(place) in ("and", "or", ","))
        if behind == place or _day_at(scan, behind) is None:
            break
        place = behind
    if not days or scan.each:
        return False
    ref = scan.last if scan.last is not None and scan.last.of("time") else Ref(scan.raw(scan.at, place), ())
    narrow(scan, ref, "in", days[0], scan.at, place)
    scan.narrowed[-1].values, scan.narrowed[-1].cycle = tuple(days), "weekday"
    return True


def _day_at(scan: Scan, place: int) -> str | None:
    """The weekday that is named at *place*, in the plural or as any one, and not by the catalogue."""
    day = _DAYS.get(scan.at_word(place))
    if day is None or scan.lexicon.longest_at(scan.words, place) is not None:
        return None
    is_any = scan.tokens[place].raw.lower().endswith("days") or scan.at_word(place - 1) == "a"
    return day if is_any else None
