"""Rules for how much and by what: counting, adding up, ranking, grouping, periods."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.mentions import names_rows
from bot.analytics.reader.grammar.places import is_each_one
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.grammar.wholes import repeat_number
from bot.analytics.reader.said import OrderSaid


def read_counts(scan: Scan) -> bool:
    length = scan.starts(wording.COUNTING)
    if not length or (scan.word() == "count" and length == 1 and scan.at and scan.word(-1) not in ("", ",")):
        return False
    scan.counting = scan.raw(scan.at, scan.at + length)
    scan.distinct |= not wording.DISTINCT.isdisjoint(scan.words[scan.at : scan.at + length])
    scan.said.counts = True
    if scan.agg is not None and scan.agg[0] in ("avg", "median"):
        found = scan.mention(scan.at + length)
        if found is not None and found[1].of("fact") and not found[1].of("entity", "metric"):
            scan.counting = None  # "the average number of citations", where each row has one
            scan.at += length
            return True
    if scan.agg is not None and scan.agg[0] in ("avg", "median"):
        scan.said.unknown.append(scan.agg_words)  # "the average number of orders": of each of what?
        scan.agg = None
    scan.agg = None if scan.agg is None or not scan.agg[1] else scan.agg
    scan.at += length
    if scan.part:
        repeat_number(scan)
        return True
    while scan.word() in wording.DISTINCT | wording.ARTICLES | {"total"} and not scan.starts(wording.PRONOUNS_OF_ALL):
        scan.distinct |= scan.word() in wording.DISTINCT
        scan.at += 1
    return True


def read_amount(scan: Scan) -> bool:
    """ "How much did we refund", "how much money was paid back": an amount is asked for, not how many there were."""
    length = scan.starts(frozenset({("how", "much"), ("how", "much", "money")}))
    if not length or scan.word(length) not in ("do", "have", "be"):
        return False
    scan.said.is_amount = True
    scan.at += length
    return True


def read_top(scan: Scan) -> bool:
    """ "Top 5", "first 3", "which 5 … the most": how many, and from which end."""
    word, following = scan.word(), scan.word(1)
    number = scan.tokens[scan.at + 1].number if scan.at + 1 < len(scan.tokens) else None
    number = number if number is not None else wording.NUMBERS.get(following)
    if isinstance(number, int) and word in wording.RANKING and scan.agg is None:
        word = "top" if wording.EXTREMES[word] == "max" else "bottom"
    is_first = scan.last is scan.head is None and not scan.said.numbers and scan.word(-1) not in ("of", *wording.PLACES)
    is_asked = word in ("which", "what") or (word == "the" and is_first and scan.mention(scan.at + 2) is not None)
    ahead = [token.text for token in scan.tokens[scan.at :] if token.sentence == scan.here().sentence]
    if is_asked and isinstance(number, int) and 0 < number <= 1_000 and not wording.RANKING.isdisjoint(ahead):
        scan.said.limit, scan.asks = number, True  # "which 5 products have the highest net revenue"
        scan.at += 2
        return True
    if (word in ("top", "bottom")) and isinstance(number, int) and 0 < number <= 1_000:
        scan.said.limit = number
        scan.at += 2
        descending = wording.EXTREMES[word] == "max"
    elif word in ("top", "bottom"):
        scan.at += 1
        descending = word == "top"
    else:
        return False
    scan.said.descending = descending
    scan.said.is_ranking = scan.ranking = True
    scan.say(scan.at - 2, scan.at, "order", "descending" if descending else "ascending")
    if length := scan.starts(wording.FREQUENT):
        scan.at += length
    return True


def read_aggregate(scan: Scan) -> bool:
    """ "Total", "average", "highest": the next thing named is added up, averaged, or ranked by."""
    word = scan.word()
    agg = wording.AGGREGATES.get(word) or wording.EXTREMES.get(word)
    if scan.word(1) in wording.TIMELY and word in ("most", "least"):
        return False  # "the most recent order": which one that is, the form asks
    if agg is None or word in wording.AMBIGUOUS_EXTREMES:
        return False
    adds_nothing = word == "overall" or (word in ("total", "combined") and scan.word(1) in ("number", "count"))
    if adds_nothing and scan.mention(scan.at + 1) is None:
        scan.at += 1
        return True
    if word in ("most", "fewest", "least"):
        scan.counting = scan.here().raw
    if scan.agg is not None and is_another(scan):
        scan.aggs.append(scan.agg[0])  # "the highest and the lowest …"
    elif scan.agg is not None and scan.agg[1] and word in wording.AVERAGES:
        scan.ranked_agg = scan.agg[0]  # "the highest average …"
    is_sum = word == "total" and scan.word(1) == "of" and scan.word(-1) not in wording.ARTICLES - {"the"}
    scan.agg_words = scan.here().raw + (" of" if is_sum else "")  # "the total of refunds": how many, or how much?
    scan.agg = (agg, word in wording.EXTREMES)
    scan.at += 1
    scan.totals = False
    skipped = wording.ARTICLES | {"of", "total"} | (wording.DISTINCT if scan.counting else frozenset())
    while scan.word() in skipped and not scan.is_phrase():
        scan.totals |= scan.word() == "total"
        scan.distinct |= scan.word() in wording.DISTINCT
        scan.at += 1
    return adds_up_first(scan)


def adds_up_first(scan: Scan) -> bool:
    """ "The highest total commission": what is ranked is added up."""
    found = scan.mention(scan.at)
    is_fact = found is not None and found[1].of("fact") and not found[1].of("metric")
    if scan.totals and scan.agg is not None and scan.agg[1] and is_fact:
        scan.ranked_agg, scan.agg, scan.agg_words = scan.agg[0], ("sum", False), "total"
    return True


def is_another(scan: Scan) -> bool:
    """Does the word here stand beside an aggregate, "minimum, maximum and average", and not behind it?"""
    place = scan.at - 1
    while scan.at_word(place) in wording.ARTICLES:
        place -= 1
    return scan.at_word(place) in ("and", ",", "&", "/")


def ranks_too(scan: Scan, first: int) -> bool:
    """ "Top 3 regions by revenue and number of orders": is the number at *first* the second that they are ranked by?"""
    begins = scan.ranked_ends
    between = scan.words[begins:first]
    is_near = 0 < begins < first <= begins + 5 and between[0] == "and" and scan.at_word(begins + 1) != "return"
    return is_near and scan.tokens[begins].sentence == scan.tokens[first].sentence and "by" not in between


def read_each(scan: Scan) -> bool:
    word = scan.word()
    if (word, scan.word(1), scan.word(2)) == ("in", "term", "of"):
        scan.at += 3
        scan.each = True
        return True
    if word in ("split", "broken", "grouped", "group", "break", "breakdown") and "by" in (
        scan.word(1),
        scan.word(2),
    ):
        scan.at += 2 if scan.word(1) == "by" else 3
        scan.each = True
        return True
    if word == "within" and scan.word(1) == "each":
        scan.at += 2
        scan.each = True
        return True
    if word not in wording.BY:
        return False
    before = scan.word(-1)
    is_verb = before in wording.NEUTRAL_VERBS or (scan.last is not None and bool(scan.last.of("relation")))
    if word == "by" and is_verb and scan.word(1) != "each" and names_rows(scan, scan.at + 1):
        scan.each = is_each_one(scan, scan.at + 1)
        scan.agent = not scan.each
        scan.at += 1
        return True
    if word == "across" and scan.word(1) == "all":
        scan.agent = True  # over everything, so no group
        scan.at += 2
        return True
    if word == "by" and scan.word(1) != "each" and is_told_apart(scan):
        scan.agent = True
        scan.at += 1
        return True
    scan.each = True
    if word in ("each", "every") and scan.word(-1) == "do":
        scan.said.with_empty = True  # "how many did each sell": none is an answer too
    scan.at += 1
    return True


def is_told_apart(scan: Scan) -> bool:
    """ "By users who joined last year": whose rows they are, no group. "By user in May" says when, not who."""
    found = scan.mention(scan.at + 1)
    is_rank = scan.ranking and found is not None and bool(found[1].of("metric"))  # "top 2 customers by orders in …"
    behind = scan.at + found[0] + 2 if found is not None else scan.at
    while scan.at_word(behind) in wording.ARTICLES:
        behind += 1  # "by campaign in the last 30 days"
    if found is None or not found[1].entities or is_rank or scan.is_time(behind):
        return False
    return scan.word(1 + found[0]) in wording.RELATIVE | {"from", "in", "living", "located", "named"}


def read_all_of(scan: Scan) -> bool:
    """ "For all customers": each of them, those without any row too. A total "of all customers" is one."""
    is_one = scan.word(-1) == "of" and bool(scan.said.numbers) and scan.said.numbers[-1].agg is not None
    if scan.word() == "all" and scan.word(-1) in ("for", "of") and scan.said.numbers and not is_one:
        found = scan.mention(scan.at + 1)
        if found is not None and found[1].entities and found[1].is_plural:
            scan.said.with_empty = True
            scan.each = True
            scan.at += 1
            return True
    return False


def is_inside_number(scan: Scan) -> bool:
    """ "The average daily …", "the average number of … per day": of what the numbers are that are averaged."""
    if scan.agg is not None and not scan.agg[1]:
        return True
    last = scan.said.numbers[-1] if scan.said.numbers else None
    return scan.word(-1) == "per" and last is not None and last.agg in ("avg", "median")


def read_grain(scan: Scan) -> bool:
    word = scan.word()
    if word not in wording.GRAINS:
        return False
    length = scan.starts(wording.RECURRING)
    is_of_one = scan.word(length - 1) == "year" and scan.is_time(scan.at + length)  # "month of the year 2021"
    if length and not is_of_one:  # each Monday alike: no period after the other
        scan.said.unknown.append(scan.raw(scan.at, scan.at + length))
        scan.at += length
        return True
    if scan.word(-1) == "that" and scan.said.times:
        scan.at += 1  # "that year": the span named before
        return True
    behind = scan.at + (2 if scan.word(1) == "of" else 1)
    is_led = scan.each or scan.word(-1) in wording.WHICH | {"each"}  # "which month of 2021"
    if behind < len(scan.tokens) and scan.tokens[behind].kind == "time" and not is_led:
        scan.at = behind  # "the year 2021", "in the month of April"
        return True
    known = scan.lexicon.longest_at([word], 0)
    is_column = known is not None and any(target.kind == "dimension" for target in known[1])
    is_date = known is not None and not is_column and any(target.kind == "time" for target in known[1])
    is_named = known is not None and not (is_date and scan.each)  # "by day", where the date is called so
    is_named = is_named or (scan.agg is not None and scan.is_phrase())  # "the average daily volume"
    if scan.ordering:
        scan.said.orders.append(OrderSaid(wording.GRAINS[word]))
        scan.at += 1
        return True
    if (word in wording.ADVERBS and not is_named and not scan.is_phrase()) or scan.each:
        is_free = is_column or not scan.is_time(scan.at + 1)  # "each month of 2021" of rows that have a month
        if scan.each and is_named and not is_inside_number(scan) and is_free:
            return False
        grain = wording.GRAINS[word]
        if is_inside_number(scan):
            scan.said.unknown.append(scan.here().raw)
        else:
            scan.said.grain = grain
        scan.say(scan.at, scan.at + 1, "grain", grain)
        scan.each = scan.word(1) in ("and", ",") and scan.each
        scan.at += 1
        return True
    if scan.said.grain == wording.GRAINS[word] and not is_named:
        scan.at += 1
        return True
    is_asked = scan.word(-1) in wording.WHICH or scan.word(1) in ("", ",", "and", "\0")
    if scan.asks and not is_named and is_asked:
        scan.said.grain = wording.GRAINS[word]
        scan.say(scan.at, scan.at + 1, "grain", wording.GRAINS[word])
        scan.at += 1
        return True
    return False
