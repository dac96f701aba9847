"""Rules for the first or the last of several rows: "the latest order of each customer", "their first treatment"."""

from __future__ import annotations

from collections.abc import Mapping

from bot.analytics.grammar import wording
from bot.analytics.grammar.conditions import narrow_value
from bot.analytics.grammar.mentions import rows_at
from bot.analytics.grammar.moments import follows
from bot.analytics.grammar.names import TAKERS
from bot.analytics.grammar.numbers import add_number
from bot.analytics.grammar.said import FirstSaid, NumberSaid, OrderSaid, Ref
from bot.analytics.grammar.scan import Scan
from bot.analytics.scope import Target

_ADVERBS: Mapping[tuple[str, ...], bool] = {
    ("first",): False, ("earliest",): False, ("last",): True, ("latest",): True, ("most", "recently"): True,
}  # fmt: skip
_OWNERS = frozenset(("their", "its", "his", "her", "whose"))
_OF = frozenset(("of", "for", "by", "from", "per", "to"))


def read_first(scan: Scan) -> bool:
    """ "The latest order of each customer": one row of several, by its date."""
    place, is_dated = scan.at, False
    of = scan.at + 1 + (scan.word() in wording.DETERMINERS)
    if scan.at_word(of - 1) == "date" and scan.at_word(of) in ("of", "for"):
        place, is_dated = of + 1, True
        place += scan.at_word(place) in wording.DETERMINERS
    found = scan.phrase(wording.ENDS, place)
    if found is None:
        return False
    length, is_last = found
    named = scan.mention(place)
    if named is not None and named[0] > length:
        return False
    kinds, behind = kinds_before(scan, place + length)
    row = rows_at(scan, behind)
    if row is None:
        return False
    size, ref = row
    if not ref.entities and size > 1 and not kinds and (owner := _owner(scan, behind, ref)) is not None:
        return _take_part(scan, behind, size, ref, FirstSaid(owner, is_last, is_owned=True, is_told=True))
    rows = ref.of("entity") or (() if ref.of("metric", "time", "value") else ref.of("fact"))
    is_owned = scan.word(-1) in _OWNERS or scan.raw(scan.at - 1, scan.at).endswith(("'s", "s'", "’s", "s’"))
    after = behind + size
    if not rows or (ref.is_plural and ref.entities and not is_owned and not _is_of_each(scan, after)):
        return False
    is_dated |= bool(ref.entities) and scan.at_word(after) == "date"
    after += bool(ref.entities) and scan.at_word(after) == "date"
    if is_dated:
        return _take_date(scan, after, ref, is_last)
    first = scan.at
    said = FirstSaid(Ref(ref.words, rows, ref.near), is_last, is_owned=is_owned)
    said.is_age = scan.at_word(place) in wording.AGES
    said.is_told = is_owned or (scan.relative and scan.at_word(after) in ("be", "have"))
    before = [scan.word(-1), scan.word(-2) if scan.word(-1) in wording.DETERMINERS else ""]
    said.is_shown = bool({"and", ","} & set(before)) and bool(scan.said.outputs)
    for start, end, kind in kinds:
        narrow_value(scan, kind, start, end)
    scan.said.firsts.append(said)
    scan.say(first, after, "order", f"the {'last' if is_last else 'first'} {ref.words}")
    scan.at = after
    if ref.entities:
        _take_rows(scan, said.ref)
    else:
        for take in TAKERS:
            if take(scan, said.ref, first, after):
                break
    scan.last = said.ref
    _take_owner(scan, said)
    return True


def _is_of_each(scan: Scan, place: int) -> bool:
    return scan.at_word(place) == "per" or (scan.at_word(place) in _OF and scan.at_word(place + 1) in ("each", "every"))


def _owner(scan: Scan, place: int, ref: Ref) -> Ref | None:
    """ "Coupon start date": the rows whose column it is."""
    found = scan.lexicon.longest_at(scan.words[place : place + 1], 0)
    entities = tuple(target for target in found[1] if target.kind == "entity") if found is not None else ()
    owned = tuple(target for target in entities if target.name in ref.owners)
    return Ref(scan.raw(place, place + 1), owned) if owned and not ref.of("metric") else None


def _take_part(scan: Scan, place: int, size: int, ref: Ref, said: FirstSaid) -> bool:
    """ "Earliest coupon id": a column of the first of them. A date is one only where it is compared with another."""
    after = place + size
    after += scan.at_word(after) == "be"
    is_known = any(known.ref.entities == said.ref.entities for known in scan.said.firsts)
    if ref.of("time") and not follows(scan, after) and not is_known:
        return False
    if not is_known:
        scan.said.firsts.append(said)
    scan.say(scan.at, place, "order", f"the {'last' if said.is_last else 'first'} {said.ref.words}")
    scan.at = place
    if ref.of("time") and follows(scan, after):
        scan.at, scan.last = after, Ref(ref.words, ref.of("time"))
    return True


def kinds_before(scan: Scan, place: int) -> tuple[list[tuple[int, int, Ref]], int]:
    """ "The latest online order": the values before the rows that have them, and the place of the rows."""
    kinds: list[tuple[int, int, Ref]] = []
    while (found := scan.mention(place)) is not None:
        length, ref = found
        if not ref.of("value", "condition") or ref.of("entity", "metric", "time", "fact"):
            break
        kinds.append((place, place + length, ref))
        place += length
    return kinds, place


def read_several(scan: Scan) -> bool:
    """ "The last 5 orders of each customer", "the 5 latest orders": so many by their date, the first or the last."""
    is_behind = scan.here().kind == "number"  # "the 5 latest orders"
    found = scan.phrase(wording.ENDS, scan.at + is_behind)
    number_at = scan.at + (0 if is_behind or found is None else found[0])
    number = scan.tokens[number_at].number if found and number_at < len(scan.tokens) else None
    if found is None or not isinstance(number, int) or not 0 < number <= 1_000:
        return False
    place = scan.at + found[0] + 1
    rows = rows_at(scan, place)
    dated = [] if rows is None else [name for name in rows[1].entities if name in scan.lexicon.dates]
    is_list = not (scan.said.numbers or scan.said.outputs or scan.said.subject or scan.agg or scan.counting)
    if rows is None or not dated or scan.at_word(place + rows[0]) == "by":
        return False
    if not is_list:
        scan.said.unknown.append(scan.raw(scan.at, place))  # a number of these rows alone
        scan.at = place
        return True
    ref, first = Ref(rows[1].words, rows[1].of("entity"), (), is_plural=True), scan.at
    scan.said.limit, scan.said.subject, scan.head = number, ref, ref
    dates = tuple(Target("time", scan.lexicon.dates[name]) for name in dated)
    scan.said.orders.append(OrderSaid(Ref(ref.words, dates), found[1]))
    scan.said.heads.append(ref)
    scan.at = place + rows[0]
    scan.say(first, scan.at, "order", "descending" if found[1] else "ascending")
    several = FirstSaid(ref, found[1])
    _take_owner(scan, several)
    scan.said.each_of = several.per
    return True


def _take_rows(scan: Scan, ref: Ref) -> None:
    if scan.asks and scan.said.subject is None and not scan.said.numbers and not scan.said.outputs:
        scan.said.subject = ref
    scan.said.heads.append(ref)
    scan.head = ref


def _take_owner(scan: Scan, said: FirstSaid) -> None:
    """ "… of each customer", "per customer": whose rows the first is looked for among."""
    place = scan.at
    done = scan.mention(place) or scan.lexicon.moment_at(scan.words, place)
    if done is not None and scan.at_word(place + done[0]) in _OF:
        place += done[0]  # "the last message sent to each user"
    elif scan.at_word(place) in wording.NEUTRAL_VERBS:
        place += 1
    if scan.at_word(place) not in _OF:
        return
    is_each = scan.at_word(place) == "per"
    place += 1
    if scan.at_word(place) in ("each", "every", "all"):
        is_each, place = True, place + 1
    found = scan.mention(place)
    if found is None or not found[1].entities or not is_each:
        return
    said.per = found[1]
    scan.say(scan.at, place + found[0], "dimension", found[1].words)
    scan.at = place + found[0]
    scan.said.heads.append(Ref(found[1].words, found[1].of("entity"), (), found[1].is_plural))


def _take_date(scan: Scan, after: int, ref: Ref, is_last: bool) -> bool:
    """ "The date of the first order": the least of its dates, of all or of each."""
    dates = [date for entity in ref.entities if (date := scan.lexicon.dates.get(entity))]
    if not dates or scan.each:
        return False  # "by their first order date": no column of a row
    first, scan.at = scan.at, after
    times = tuple(Target("time", date) for date in dates)
    for agg in scan.aggs:
        add_number(scan, NumberSaid(Ref(ref.words, times), agg), first, after)  # "first and last order dates"
    scan.aggs = []
    add_number(scan, NumberSaid(Ref(ref.words, times), "max" if is_last else "min"), first, after)
    scan.head = Ref(ref.words, ref.of("entity"))
    scan.dated = True
    return True


def read_placed(scan: Scan) -> bool:
    """ "Which customer joined first": ranked by the date that the verb tells."""
    found = scan.phrase(_ADVERBS)
    if found is None or scan.last is None or not scan.last.of("time") or scan.last in scan.said.outputs:
        return False
    length, is_last = found
    behind = scan.at + length
    is_over = behind >= len(scan.tokens) or scan.tokens[behind].sentence != scan.here().sentence
    if not is_over:
        return False
    scan.said.orders.append(OrderSaid(scan.last, is_last))
    scan.said.descending, scan.said.is_ranking = is_last, True
    scan.say(scan.at, behind, "order", "descending" if is_last else "ascending")
    scan.at = behind
    return True


def read_its_date(scan: Scan) -> bool:
    """ "First treatment (date and id)": the date of the row that is the first, or the first date said again."""
    if scan.word() != "date" or scan.mention(scan.at) is not None:
        return False
    if scan.dated or any(number.agg and number.ref.of("time") for number in scan.said.numbers):
        scan.at += 1
        return True
    if not scan.said.firsts:
        return False
    date = next(
        (scan.lexicon.dates[name] for name in scan.said.firsts[-1].ref.entities if name in scan.lexicon.dates), None
    )
    if date is None:
        return False
    ref = Ref(scan.here().raw, (Target("time", date),))
    scan.say(scan.at, scan.at + 1, "dimension", ref.words)
    scan.said.outputs.append(ref)
    scan.last = ref
    scan.at += 1
    return True
