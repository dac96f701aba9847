"""Rules for what is put against something else: spans, values, numbers, how far one lies from another, its rank."""

from __future__ import annotations

from bot.analytics.grammar import wording
from bot.analytics.grammar.numbers import add_number
from bot.analytics.grammar.said import NumberSaid, Ref
from bot.analytics.grammar.scan import Scan


def read_compared(scan: Scan) -> bool:
    """ "Compare", "versus": what is compared is decided by the whole question."""
    length = scan.starts(wording.COMPARING)
    if not length or names_record(scan):
        return False
    scan.said.compares = scan.said.compares or scan.raw(scan.at, scan.at + length)
    scan.at += length
    scan.said.compared_at.append(scan.tokens[scan.at - 1].end)
    return True


def read_changed(scan: Scan) -> bool:
    """ "How much did it grow", "percent change", "difference between": of two spans, or of two numbers."""
    found = scan.phrase(wording.CHANGED)
    if found is None or names_record(scan):
        return False
    length, kind = found
    said = scan.said
    if said.numbers and said.numbers[-1].over == "change" and scan.number_ends == scan.at and kind != "change":
        said.numbers[-1].over = "growth"  # "month over month net revenue growth"
        scan.at += length
        return True
    known = said.change or kind
    said.change = known if known == kind or kind == "both" else kind
    said.change_words = scan.raw(scan.at, scan.at + length)
    if scan.agg is not None and scan.agg[1] and not scan.aggs:
        said.is_ranking, said.descending, scan.agg = True, scan.agg[0] == "max", None  # "the highest difference"
    elif scan.agg is not None and not scan.agg[1]:
        said.unknown.append(scan.agg_words)  # "the average difference between gross and net revenue": over what?
        scan.agg = None
    scan.say(scan.at, scan.at + length, "calculation", "growth" if kind == "growth" else "change")
    scan.at += length
    if scan.word() == "between":
        scan.at += 1
    return True


def read_less(scan: Scan) -> bool:
    """ "The average difference between A and B", "average A minus B", of what each row has of both."""
    numbers = scan.said.numbers
    if scan.word() == "minus" and numbers and scan.number_ends == scan.at and numbers[-1].ref.of("fact"):
        other = scan.mention(scan.at + 1)
        if other is None or not other[1].of("fact") or numbers[-1].agg is None or numbers[-1].less is not None:
            return False
        numbers[-1].less = facts_of(other[1])
        scan.at += 1 + other[0]
        scan.number_ends = scan.at
        return True
    if (scan.word(), scan.word(1)) != ("difference", "between") or scan.agg is None or names_record(scan):
        return False
    first = scan.mention(scan.at + 2)
    place = scan.at + 2 + first[0] if first is not None else scan.at
    second = scan.mention(place + 1) if scan.at_word(place) == "and" else None
    if first is None or second is None or not (first[1].of("fact") and second[1].of("fact")):
        return False
    (agg, is_extreme), begins = scan.agg, scan.at
    number = NumberSaid(facts_of(first[1]), agg, is_extreme=is_extreme, less=facts_of(second[1]))
    scan.said.descending = agg == "max" if is_extreme and scan.said.descending is None else scan.said.descending
    scan.agg, scan.at = None, place + 1 + second[0]
    add_number(scan, number, begins, scan.at)
    return True


def facts_of(ref: Ref) -> Ref:
    return Ref(ref.words, ref.of("fact"), ref.near, ref.is_plural)


def read_its_sides(scan: Scan) -> bool:
    """ "The difference in A between B and C": two values, and no span of time."""
    said = scan.said
    if scan.word() == "between" and said.change == "change" and len(said.numbers) == 1 and scan.number_ends == scan.at:
        scan.at += 1
        return True
    return False


def read_rank(scan: Scan) -> bool:
    """ "Rank products by …", "with their rank", "the rank of each region by …": the place from the highest."""
    said = scan.said
    if said.ranks and scan.word() == "by" and said.groups and not said.numbers and scan.word(1) not in wording.GRAINS:
        scan.at += 1
        scan.each = False
        return True
    if scan.word() not in wording.RANKS or names_record(scan) or scan.ordering:
        return False
    if scan.opens(scan.at) and scan.leads_to(("entity", "dimension")):
        said.ranks = scan.here().raw  # "rank the regions by net revenue": how much each has, and its place
        scan.each = True
        scan.at += 1
        return True
    if scan.at and scan.number_ends == scan.at and said.numbers[-1:] and said.numbers[-1].over == "value":
        said.numbers[-1].over = "rank"  # "net revenue rank"
        scan.at += 1
        return True
    before = scan.word(-1)
    is_noun = before in wording.RANK_LEADS and (scan.word(1) != "by" or before in wording.RANK_OWNERS)
    if not is_noun and not scan.opens(scan.at):
        return False
    scan.at += 1
    length = scan.starts(wording.RANK_BY)
    scan.say(scan.at - 1, scan.at, "calculation", "rank")
    if length and scan.word() in ("of", "for"):
        said.ranks = scan.raw(scan.at - 1, scan.at)
        scan.at += length
        found = scan.mention(scan.at)
        scan.each = scan.each or (found is not None and bool(found[1].of("entity", "dimension")))
        return True
    scan.at += length
    if length:
        scan.over = "rank"
    else:
        said.ranks = scan.raw(scan.at - 1, scan.at)
    return True


def names_record(scan: Scan) -> bool:
    """Is the word here, or what it begins, one of the catalogue: "price change"?"""
    return scan.lexicon.longest_at(scan.words[scan.at : scan.at + 5], 0) is not None
