"""Rules for units of measure: the unit that an answer is wanted in, and that of a number that is compared with."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Ref, UnitSaid
from bylaw.language.money import CODES
from bylaw.language.quantities import Unit, unit_at


def read_unit(scan: Scan) -> bool:
    """ "In kilometers", "convert to integer minutes": how the number is wanted; whether it is told so is seen later."""
    length = scan.starts(wording.IN_UNIT)
    if not length:
        return False
    place = scan.at + length
    while scan.at_word(place) in ("integer", "whole", "full", "the"):
        place += 1
    found = unit_at(scan.words, place)
    if found is None or scan.is_time(place + found[0]):
        return False
    after = place + found[0]
    is_bare = scan.word() == "("
    if is_bare and scan.at_word(after) != ")":
        return False
    of = scan.said.numbers[-1].ref if scan.number_ends == scan.at and scan.said.numbers else scan.last
    is_number = bool(scan.said.numbers or scan.quotient or (of is not None and of.of("fact", "metric")))
    if scan.words[place] in wording.GRAINS and not is_number:
        return False
    scan.said.units.append(UnitSaid(found[1], scan.raw(place, after), of))
    scan.say(scan.at, after, "unit", found[1].name)
    scan.at = after + is_bare
    return True


def told_in(scan: Scan, unit: Unit, words: str) -> Ref | None:
    """ "Mountains over 5000 meters": the columns of the rows spoken of that are told in such a unit."""
    spoken = [ref for ref in (scan.head, scan.last) if ref is not None]
    owners = next((found for ref in spoken if (found := ref.entities or ref.owners)), ())
    measured = scan.lexicon.measured
    targets = tuple(target for target in measured.get(unit.kind, ()) if target.owner in owners)
    if unit.kind in CODES and not stands_behind(scan, spoken):
        return None  # "cars that were sold for more than $20,000": no column of a car
    if unit.kind in CODES:  # whatever currency: another one is named when it is told apart
        targets = tuple(target for target in measured.get("money", ()) if target.owner in owners)
        return Ref(words, targets) if targets else None
    return Ref(words, targets) if len(targets) == 1 else None


def stands_behind(scan: Scan, spoken: Sequence[Ref]) -> bool:
    """ "Orders over $1,000", "an order of more than 20 dollars": does the comparison follow the rows themselves?"""
    place = scan.begins - 1
    while scan.at_word(place) in ("of", "be", "worth") or (place > 0 and scan.tokens[place].kind == "time"):
        place -= 1
    return any(scan.raw(place, place + 1) == ref.words.split()[-1] for ref in spoken if place >= 0 and ref.entities)


def unit_behind(scan: Scan, place: int) -> tuple[int, Unit | None]:
    """The unit of the number right before *place*: how many words say it, and it."""
    found = unit_at(scan.words, place)
    if found is None:
        return 0, None
    length, unit = found
    named = scan.mention(place)
    is_named = named is not None and named[0] >= length and bool(named[1].of("entity", "metric"))
    return (0, None) if is_named else (length, unit)
