"""What a data question may say of time and order: spans, comparisons, superlatives, limits, numbers that run on."""

from __future__ import annotations

from bylaw.hold.bearing import Bearing
from bylaw.hold.columns import look_up, name_parts
from bylaw.hold.targets import read_target
from bylaw.hold.values import amount_of, grains_in, interval_of, written_interval
from bylaw.language.dates import Span
from bylaw.language.lexicon import closed, lexicon

_LEADING = frozenset(("in", "during", "for", "since", "from", "on"))  # before days they part them from what they are of


def bear_time(one: Bearing) -> None:
    """A span of time, as the one grammar reads the whole phrase; the value, where it is given, is what it reads."""
    item = one.item
    spans = [span for span in one.values.spans_at(*one.place) if not span.is_untold]
    if not spans:
        one.refuse("these words are no time that is read here")
        return
    if len(spans) > 1:
        one.refuse("these words are more than one time")
        return
    if left := one.values.cut_off(*one.place):
        one.refuse(f"“{left}” belongs to the time as well")
    written = written_interval(spans[0])
    if item.value is not None and interval_of(item.value) != interval_of(written):
        one.refuse(f"the words say {written}")
    one.value = written
    one.take(one.seen.words(spans[0].begins, spans[0].ends))
    before = [token for token in one.tokens if token.end <= spans[0].begins and token.word != "of"]
    said = one.seen.words(spans[0].begins, spans[0].ends)
    is_next = bool(before and said) and before[-1].clause == said[0].clause
    if is_next and is_called(before[-1].word, spans[0], said[0].word):
        one.take(before[-1:])
    _bear_date_name(one)


def is_called(word: str, span: Span, first: str) -> bool:
    """Is *word* what a span is called, whose words begin with *first*: "the year 2021", "the month of May"?

    "By month in 2026" is of every month, and "by year 2021" of no month.
    """
    if first in _LEADING or not span.start or not span.end:
        return False
    days = (span.end - span.start).days
    is_year = word in closed("grain_year") and 365 <= days <= 366
    return is_year or (word in closed("grain_month") and 28 <= days <= 31)


def _bear_date_name(one: Bearing) -> None:
    if one.item.name is None:
        return
    target = look_up(one, "date")
    if target is not None and target.parts[0].kind != "date":
        one.refuse(f"`{one.item.name}` is no date")
    elif target is not None:
        name_parts(one, target)


def bear_comparison(one: Bearing) -> None:
    """What a span is compared with: the one before it, or one that the words say."""
    one.take_classes("comparing")
    one.take(token for token in one.around if token.word in closed("comparing_two") and token.start < one.place[0])
    if one.item.value == "previous":
        if not one.holds_any("comparing"):
            one.refuse("the words compare nothing")
        one.take(token for span in one.values.spans_at(*one.place) for token in one.seen.words(span.begins, span.ends))
        one.take(token for token in one.tokens if grains_in((token,)))
        return
    bear_time(one)


def bear_order(one: Bearing) -> None:
    """The side that a superlative puts first."""
    side = one.item.value
    if side not in ("asc", "desc"):
        one.refuse("`order` is `asc` or `desc`")
        return
    other = "asc" if side == "desc" else "desc"
    is_natural = side == "asc" and one.holds_any("ordering") and not one.holds_any("ranking_desc")
    if not one.holds_any(f"ranking_{side}") and is_natural:
        _bear_natural(one)
    elif not one.holds_any(f"ranking_{side}"):
        one.refuse(
            "the words put the other side first" if one.holds_any(f"ranking_{other}") else "the words rank nothing"
        )
    elif _holds_other(one, str(side), other) and not _shared_side(one) and _first_side(one) != side:
        one.refuse("the words put the other side first")
    one.take_classes(f"ranking_{side}", "ordering", "grouping")
    if "to" in one.words:  # "from lowest to highest"
        one.take_classes(f"ranking_{other}")
    if one.item.name == "time":
        one.take(token for token in one.tokens if grains_in((token,)))
    elif one.item.name is not None and (target := look_up(one, "number")) is not None:
        name_parts(one, target)
        if target.function in ("count", "count_distinct", "sum") or target.parts[0].kind == "metric":
            one.take_classes("aggregating_count", "aggregating_sum")


def _bear_natural(one: Bearing) -> None:
    """Columns and periods that are sorted by, and no side is said, begin with the first; a number is not told."""
    target = read_target(one.index, one.item.name) if one.item.name is not None else None
    is_column = target is not None and not target.functions and target.parts and target.parts[0].kind != "metric"
    if one.item.name != "time" and not is_column:
        one.refuse("the words rank nothing")


def _holds_other(one: Bearing, side: str, other: str) -> bool:
    """Do words outside the phrases of its own side say the other one ("lowest first" says no first)?"""
    own = {k for a, b in lexicon()[f"ranking_{side}"].find(one.words) for k in range(a, b)}
    return any(not own.issuperset(range(a, b)) for a, b in lexicon()[f"ranking_{other}"].find(one.words))


def _first_side(one: Bearing) -> str | None:
    """Of two sides the one that is said first, where "to" leads to the other: "from lowest to highest"."""
    found = {side: min(a for a, _ in lexicon()[f"ranking_{side}"].find(one.words)) for side in ("asc", "desc")}
    first, last = sorted(found, key=lambda side: found[side])
    return first if "to" in one.words[found[first] : found[last]] else None


def _shared_side(one: Bearing) -> bool:
    return all(
        one.words[a:b] == one.words[c:d]
        for a, b in lexicon()["ranking_asc"].find(one.words)
        for c, d in lexicon()["ranking_desc"].find(one.words)
    )


def bear_limit(one: Bearing) -> None:
    """How many rows: a number in the quote, or the one of a superlative."""
    value = amount_of(one.item.value)
    figures = one.values.figures_at(*one.place)
    is_place = one.item.unit == "place"  # "the second", and not "the top two"
    said = [figure for figure in figures if value in figure.values and figure.is_ordinal is is_place]
    is_superlative = value == 1 and not figures and (one.holds_any("ranking_desc") or one.holds_any("ranking_asc"))
    if not said and not is_superlative:
        one.refuse(f"the words do not say {one.item.value}")
    for figure in said:
        one.take(one.seen.words(figure.start, figure.end))
    if one.item.unit == "ties" and not one.holds_any("ranking_ties"):
        one.refuse("the words do not speak of those that rank equal")
    one.take_classes("ranking_desc", "ranking_asc", "grouping", "ranking_ties")
    if one.item.name is not None and (target := look_up(one, "group")) is not None:
        name_parts(one, target)


def bear_course(one: Bearing) -> None:
    """A number that runs on, ranks, changes or grows over the rows; a moving average over so many of them."""
    kind, *periods = one.item.values
    if kind not in ("running", "rank", "growth", "change", "moving", "share", "total"):
        one.refuse("`over` is `running`, `rank`, `growth`, `change`, `moving`, `share` or `total`")
        return
    if not one.holds_any(f"over_{kind}"):
        one.refuse(f"the words do not say {kind}")
    one.take_classes(f"over_{kind}")
    for count in periods:
        figures = [
            one_ for one_ in one.values.figures_at(*one.place, beside_time=True) if amount_of(count) in one_.values
        ]
        if not figures:
            one.refuse(f"the words do not say {count}")
        for figure in figures:
            one.take(one.seen.words(figure.start, figure.end))
