"""Rules for conditions: values, comparisons, quantities with their units, and spans of time."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.clauses import (
    compare_number,
    count_related,
    rows_behind,
)
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Narrowing, Ref, TimeSaid, UnitSaid
from bylaw.language.units import Unit, is_currency, unit_at
from bylaw.semantic.query import Operator, Value

_BETWEEN = frozenset("the a an of letter be or value with digit".split())  # noqa: SIM905 - words


def read_time(scan: Scan) -> bool:
    token = scan.here()
    if token.kind != "time" or token.span is None:
        return False
    before = [scan.word(-i) for i in (1, 2, 3) if scan.word(-i) not in ("of", "the", "for")]
    if before[:1] in (["each"], ["every"]):  # "each of the last 3 months"
        unit = next((grain for word, grain in wording.GRAINS.items() if word in token.text), None)
        if unit:
            scan.said.grain = unit
            scan.say(scan.at, scan.at + 1, "grain", unit)
    is_date = scan.last is not None and bool(scan.last.of("time"))
    ref = scan.last if is_date else None
    if ref is not None and ref in scan.said.outputs:
        scan.said.outputs.remove(ref)
    near = (scan.head.entities or scan.head.owners) if scan.head else ()
    value = scan.narrowed[-1].ref if scan.narrowed and scan.last is scan.narrowed[-1].ref else None
    time = TimeSaid(token.span, ref, near, value.owners if value is not None else (), scan.clause)
    if scan.quotient is not None:
        scan.quotient.add(time)
    else:
        scan.said.times.append(time)
    scan.say(scan.at, scan.at + 1, "time", token.span.label)
    scan.at += 1
    scan.each = False
    return True


def read_literal(scan: Scan) -> bool:
    """A quoted text or a number: the value of what was named before it, or of what is named behind it."""
    token = scan.here()
    if token.kind not in ("quoted", "number"):
        return False
    value: Value | None = token.text if token.kind == "quoted" else token.number
    if value is None:
        return False
    if token.kind == "quoted" and scan.word(1) == "in" and scan.word(-1) in ("have", "with", "contain"):
        inside = scan.mention(scan.at + 2)
        if inside is not None and inside[1].of("dimension"):
            narrow(scan, inside[1], "contains", value, scan.at, scan.at + 2 + inside[0])
            return True
    named = scan.last
    is_quoted = token.kind == "quoted"
    if named is None or not named.of("dimension", "entity" if is_quoted else "fact"):
        return False
    if named.entities if not is_quoted else scan.verb is not None:
        return False
    narrow(scan, named, "in", value, scan.at, scan.at + 1)
    return True


def compared(scan: Scan, value: Value, operator: Operator, ref: Ref | None) -> bool:
    """The other side of a comparison: a value for what was named, or a quantity of what comes."""
    first = scan.at
    if isinstance(value, str) and operator in ("<", "<=", ">", ">="):
        return False
    length, unit = (0, None) if isinstance(value, str) else unit_behind(scan, first + 1)
    scan.told.update(range(first, first + 1 + length))
    if compare_number(scan, operator, value, unit):
        scan.at = first + 1 + length
        return True
    follows = rows_behind(scan, first + 1 + length)
    if unit is not None:
        if ref is None or not ref.of("fact"):
            ref = told_in(scan, unit, scan.raw(first, first + 1 + length)) or ref
        follows = None
    elif follows is not None and (ref is None or not ref.of("fact", "dimension", "time")):
        length = follows[0] if ref is not None and follows[1].words == ref.words else 0
    is_quantity = not isinstance(value, str) and follows is not None and bool(follows[1].of("entity", "metric"))
    is_thing = ref is None or not ref.of("fact") or scan.at_word(scan.begins - 1) in ("and", "or", "with", "have", ",")
    if is_quantity and operator in ("<", "<=", ">", ">=", "in") and is_thing:
        count_related(scan, "=" if operator == "in" else operator, value, scan.begins)
        scan.at = first + 1
        return True
    is_bare = ref is not None and is_measured(scan, ref, operator)
    if ref is None or not (isinstance(value, str) or is_bare or ref.of("dimension", "fact", "time")):
        return False  # no row is more than a number
    scan.at = first
    if is_bare and scan.quotient is not None and scan.quotient.side.mark == "of":
        scan.quotient.side.mark = "weak"  # "percentage of orders over 1000"
    narrow(scan, ref, operator, value, first, first + 1 + length, unit)
    return True


def is_measured(scan: Scan, ref: Ref, operator: Operator) -> bool:
    """ "Orders over 1000": are rows compared with a number, by what each of them has?"""
    is_said = scan.raw(scan.begins - 1, scan.begins) in ref.words.split() or scan.at_word(scan.begins - 1) == "be"
    return bool(ref.entities) and operator in ("<", "<=", ">", ">=") and is_said and not scan.clause


def read_comparison(scan: Scan) -> bool:
    found = scan.phrase(wording.COMPARISONS)
    if found is None:
        return False
    if scan.word() in wording.SIGNS and scan.at > 0 and scan.tokens[scan.at - 1].kind in ("quoted", "number"):
        return False  # "where 'a' = 'a'": of no column
    length, operator = found
    place, is_text = scan.at + length, operator in ("starts_with", "ends_with")
    while scan.at_word(place) in _BETWEEN and not (is_text and scan.is_letter(place)):
        place += 1
    if place >= len(scan.tokens) or scan.tokens[place].sentence != scan.here().sentence:
        return False
    token = scan.tokens[place]
    number = token.number if token.kind == "number" else wording.NUMBERS.get(token.text)
    if token.kind == "time" and token.raw.isdecimal() and len(token.raw) == 4:
        number = int(token.raw)  # "over 2000" is a number where something is compared, though alone it is a year
    is_digits = is_text and token.kind == "number" and token.raw.isdecimal()
    if token.kind == "quoted" or (number is not None and not is_text):
        value: Value | None = token.text if token.kind == "quoted" else number
    elif ((is_text or operator in ("contains", "in")) and token.is_proper) or (
        is_text and (is_digits or (token.kind == "word" and len(token.text) == 1))
    ):
        value = token.raw
    else:
        return False
    ref = scan.last if scan.last is not None and scan.last.of("dimension", "fact", "time", "entity") else None
    if ref is None and operator in ("in", "starts_with", "ends_with", "contains"):
        ref = scan.head
    scan.begins, scan.at = scan.at, place
    return value is not None and compared(scan, value, operator, ref)


def narrow(
    scan: Scan, ref: Ref, operator: Operator, value: Value | None, first: int, after: int, unit: Unit | None = None
) -> None:
    """Take in a condition; what it is said of is no output."""
    if ref in scan.said.outputs:
        scan.said.outputs.remove(ref)
    near = ref.near or ((scan.head.entities or scan.head.owners) if scan.head is not None else ())
    if scan.narrowed and scan.last is scan.narrowed[-1].ref and scan.at_word(first - 1) in ("in", "on", "from"):
        near = ref.near or scan.last.owners  # "stocks on NASDAQ"
    values = () if value is None else (value,)
    narrowing = Narrowing(ref, operator, values, scan.negated, scan.alternative, near)
    narrowing.clause, narrowing.unit = scan.clause, unit
    narrowing.verb, scan.verb = scan.verb, None
    narrowing.role = None if is_of_head(scan, ref, first) else scan.take_role(first)
    narrowing.is_none, scan.is_none = scan.is_none and scan.negated, False
    narrowing.is_of_kind = scan.negated and scan.denied is not None and scan.denied.isdisjoint(ref.owners)
    scan.narrowed.append(narrowing)
    narrowing.begins, narrowing.ends = first, after
    known = same_condition(scan, narrowing)
    if known is not None and known.ends <= scan.number_ends <= first and tells_number(scan, after):
        known = None  # "buy transactions and sell transactions"
    if known is not None:
        known.ends = after
        known.values = tuple(dict.fromkeys((*known.values, *values)))
        known.is_joined |= before_it(scan, first) == "and"
    elif scan.narrowing is not None:
        scan.narrowing.conditions.append(narrowing)
    elif scan.quotient is not None:
        scan.quotient.add(narrowing)
    else:
        scan.said.conditions.append(narrowing)
    said = f"{ref.words} {'not ' if scan.negated else ''}{operator} {value}" if value is not None else ref.words
    scan.say(first, after, "filter", said)
    scan.negated = scan.alternative = False
    scan.last = ref
    scan.at = max(scan.at, after)


def tells_number(scan: Scan, place: int) -> bool:
    """Does a number follow at *place*, of which a value right before it is said: "number of sell transactions"?"""
    found = scan.mention(place)
    if found is None:
        return False
    ref = found[1]
    return bool(ref.of("metric") or (scan.counting and ref.entities) or (scan.agg and ref.of("fact")))


def before_it(scan: Scan, first: int) -> str:
    """The word before the place *first*, past what only points."""
    while scan.at_word(first - 1) in wording.DETERMINERS | wording.PARTICLES:
        first -= 1
    return scan.at_word(first - 1)


def same_condition(scan: Scan, new: Narrowing) -> Narrowing | None:
    """The condition before, where the new one only adds a value to it: "US and Canada", "grade A or C"."""
    before = scan.said.conditions if scan.quotient is None else scan.quotient.narrowed
    known = before[-1] if before else None
    if known is None or known.operator != "in" or new.operator != "in" or known.negated != new.negated:
        return None
    if known.clause != new.clause:
        return None
    if new.role not in (None, known.role):
        return None  # "from LAX to ORD" are two columns
    names = {target.name for target in known.ref.of("value", "dimension")}
    same = names & {target.name for target in new.ref.of("value", "dimension")}
    return known if same and known.values and new.values else None


def read_weekend(scan: Scan) -> bool:
    if scan.each:
        return False  # "by weekday" asks for each day of the week
    for phrases, negated in ((wording.WEEKENDS, False), (wording.WEEKDAYS, True)):
        if length := scan.starts(phrases):
            ref = scan.last if scan.last is not None and scan.last.of("time") else Ref("weekend", ())
            scan.negated ^= negated
            narrow(scan, ref, "is_weekend", None, scan.at, scan.at + length)
            return True
    return False


def narrow_value(scan: Scan, ref: Ref, first: int, after: int) -> None:
    """A value or a named condition; of rows right behind it that have it ("Physics courses") their own column."""
    found = scan.mention(scan.at) if scan.word() not in ("a", "an") else None
    rows = found[1] if found is not None and found[1].entities and found[1].is_plural else None
    if rows is not None and (kept := tuple(one for one in ref.of("value") if one.owner in rows.entities)):
        ref = Ref(ref.words, (*kept, *(one for one in ref.targets if one.kind != "value")), ref.near, ref.is_plural)
    is_denied = scan.negated and not scan.is_none and not scan.at_word(first - 1).startswith("non")
    if rows is not None and is_denied and scan.at_word(first - 1) in ("no", "any"):
        scan.said.unknown.append(scan.at_word(first - 1))  # "cities with no Mexican restaurant", told as restaurants
    take_value(scan, ref, first, after)


def take_value(scan: Scan, ref: Ref, first: int, after: int) -> None:
    values = ref.of("value")
    labelled = tuple(target for target in values if target.name in scan.labels)
    if labelled:
        narrow(scan, Ref(ref.words, labelled, ref.near), "in", labelled[0].value, first, after)
        scan.narrowed[-1].is_labelled = True
    elif values:
        narrow(scan, ref, "in", values[0].value, first, after)
    else:
        narrow(scan, Ref(ref.words, ref.of("condition"), ref.near), "in", None, first, after)


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
    if is_currency(unit.kind):  # whatever currency: another one is named when it is told apart
        targets = tuple(target for target in measured.get("money", ()) if target.owner in owners)
        return Ref(words, targets) if targets else None
    return Ref(words, targets) if len(targets) == 1 else None


def unit_behind(scan: Scan, place: int) -> tuple[int, Unit | None]:
    """The unit of the number right before *place*: how many words say it, and it."""
    found = unit_at(scan.words, place)
    if found is None:
        return 0, None
    length, unit = found
    named = scan.mention(place)
    is_named = named is not None and named[0] >= length and bool(named[1].of("entity", "metric"))
    return (0, None) if is_named else (length, unit)


def is_of_head(scan: Scan, ref: Ref, first: int) -> bool:
    """ "Users from Texas": a value of the very rows named before it, whose place it tells and no way to them."""
    if scan.head is None or scan.last is None or scan.last.words != scan.head.words:
        return False
    owners = {target.owner for target in ref.of("value")}
    ways = {target.owner for target in scan.direction(scan.at_word(first - 1)).targets} if first else set[str]()
    return bool(owners & set(scan.head.entities)) and not ways & set(scan.head.entities)
