"""What a word of the catalogue does where it names a number: counted, added up, a half of a ratio, a metric."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.conditions import narrow_value
from bot.analytics.reader.grammar.mentions import follows_number, opens_clause
from bot.analytics.reader.grammar.places import is_of_either, rows_of_condition, stands_beside, tells_kind
from bot.analytics.reader.grammar.quantities import ranks_too
from bot.analytics.reader.grammar.ratios import add_half
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import NumberSaid, OrderSaid, Ref


def takes_counted(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    if scan.counting is None:
        return False
    wanted = ref.of("entity", "metric") or ref.of("fact") or ref.of("dimension")
    if not wanted:
        return False
    if ref.of("flag") and wanted == ref.of("dimension"):
        scan.said.unknown.append(ref.words)  # nobody asks how many answers a question of yes and no has
        return True
    if is_of_either(scan, wanted):
        scan.said.unknown.append(scan.word(1))
    number = NumberSaid(Ref(ref.words, wanted, ref.near, ref.is_plural, ref.is_owned), "count", scan.distinct)
    number.is_total = not ref.entities and "total" in scan.normal(scan.counting)
    scan.counting, scan.distinct = None, False
    add_number(scan, number, first, after)
    if ref.entities:
        scan.head = ref
    return True


def takes_aggregate(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    if scan.agg is None:
        return False
    agg, is_extreme = scan.agg
    if (ref.of("value") or ref.of("condition")) and not ref.of("metric", "fact", "time", "entity"):
        narrow_value(scan, ref, first, after)
        return True
    if scan.agg_words.lower() in ("sum", "total of") and ref.entities and not ref.of("fact"):
        scan.said.unknown.append(scan.agg_words)  # "the sum of refunds": how many, or how much?
        scan.agg = None
        return False
    if scan.agg_words.lower() in ("most", "fewest") and {target.kind for target in ref.targets} <= {"time", "relation"}:
        scan.said.unknown.append(ref.words)  # "the most arriving flights": no date is the most
        return True
    if is_extreme and scan.relative and scan.number_ends > 0 and not scan.said.numbers[-1].is_extreme:
        scan.said.unknown.append(scan.agg_words)  # "the number of orders with the highest amount": of these alone
    wanted = ref.of("metric") or ref.of("fact", "time")
    if ref.of("metric") and agg in ("avg", "median"):
        wanted = ref.of("metric", "fact")  # "average revenue": of the rows, where the metric adds them up
    word = scan.agg_words.lower()
    is_counted = word in wording.COUNTED or (ref.is_plural and word in wording.RANKING)
    is_column = any(target.owner not in ref.entities for target in ref.of("dimension")) or bool(ref.of("fact"))
    if ref.entities and is_extreme and not is_counted and not is_column:
        scan.said.unknown.append(scan.agg_words)  # "the largest order", "the longest rivers": by what?
        scan.agg = None
        return True
    if not wanted and not (ref.of("dimension") and is_extreme):
        return False
    number = NumberSaid(
        Ref(ref.words, (*(wanted or ref.of("dimension")), *ref.of("entity")), ref.near, ref.is_plural),
        agg,
        is_extreme=is_extreme,
        is_total=scan.totals,
    )
    scan.agg, before = None, scan.aggs
    if is_extreme and not before:
        scan.said.descending = agg == "max" if scan.said.descending is None else scan.said.descending
    scan.aggs = []
    for other in before:  # "the highest and the lowest price": no row is both
        add_number(scan, NumberSaid(number.ref, other), first, after)
    number.is_extreme = is_extreme and not before
    add_number(scan, number, first, after)
    return True


def takes_half(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    """The number of one side of a quotient: a metric, rows that are counted, a fact."""
    if scan.quotient is None or scan.quotient.side.number is not None or scan.relative or scan.ordering:
        return False
    wanted = ref.of("metric", "entity", "fact")
    if not wanted and (rows := rows_of_condition(scan, ref, first, after)) is not None:
        narrow_value(scan, ref, first, after)
        ref, wanted = rows, rows.of("metric", "entity")
    if not wanted or (ref.of("value") and tells_kind(scan, ref)):
        return False
    number = NumberSaid(Ref(ref.words, wanted, ref.near, ref.is_plural))
    number.agg = "count" if ref.entities and not ref.of("metric") else None
    add_number(scan, number, first, after)
    scan.head = Ref(ref.words, ref.of("entity")) if ref.entities else scan.head
    return True


def takes_number(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    if not ref.of("metric"):
        return False
    if scan.each and not scan.ranking:
        scan.said.unknown.append(ref.words)
        return True
    is_rows = ref.is_plural or ref.words.lower() not in {one.name.replace("_", " ") for one in ref.of("metric")}
    if ref.entities and is_rows and opens_clause(scan, first):
        scan.asks = True
        return False  # "customers who …", "the customer with …": themselves, not how many
    is_thing = scan.asks and is_rows
    is_thing = is_thing or stands_beside(scan, first)
    is_next = ref.is_plural and scan.words[first - 1] in ("and", ",", "&") and follows_number(scan, first - 1)
    is_behind = bool(scan.said.numbers) and not is_next  # "net revenue and orders by region" are two numbers
    if ref.entities and (is_thing or scan.relative or scan.agent or scan.quantity or scan.ranking or is_behind):
        return False
    add_number(scan, NumberSaid(ref), first, after)
    if ref.entities and scan.head is None:
        scan.head = Ref(ref.words, ref.of("entity"), ref.near, ref.is_plural)  # "customers in the EU with orders"
    return True


def add_number(scan: Scan, number: NumberSaid, first: int, after: int) -> None:
    """Take in a number: of a ratio, to sort by, or of the answer."""
    if computed := {target.over for target in number.ref.of("metric") if target.over is not None}:
        number.over = computed.pop()
    number.begins = first
    if scan.ranked_agg is not None or (scan.agg is not None and scan.agg[1] and number.agg == "count"):
        agg = scan.ranked_agg or (scan.agg[0] if scan.agg else None)
        scan.said.descending, scan.agg, scan.ranked_agg = agg == "max", None, None
        scan.said.is_ranking = number.is_rank = True
        scan.said.orders.append(OrderSaid(number, scan.said.descending))
    goes_on = ranks_too(scan, first)
    if add_half(scan, number, first, after):
        pass
    elif scan.ordering:
        scan.said.orders.append(OrderSaid(number))
    else:
        scan.said.numbers.append(number)
    if (scan.each and scan.ranking) or goes_on:
        scan.said.orders.append(OrderSaid(number, scan.said.descending))
        scan.ranked_ends = after
    scan.each = scan.ranking = False
    scan.number_ends = after
    scan.say(first, after, "metric", number.ref.words)


def suffixes(scan: Scan) -> frozenset[str]:
    """The words that may stand behind the number named last and add nothing to it."""
    last = scan.said.numbers[-1] if scan.said.numbers else None
    counts = last is not None and (last.agg == "count" or bool(last.ref.entities))
    return wording.COUNT_SUFFIXES if counts else wording.SUFFIXES
