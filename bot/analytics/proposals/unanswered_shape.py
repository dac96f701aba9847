"""The shape that a question asks for, and a proposal must have: groups, turned numbers, units, alternatives, ratios."""

from __future__ import annotations

from collections.abc import Sequence

from bot.analytics.proposals.evidence import OVERS, PERCENT, Piece, stems
from bot.analytics.proposals.held import base_of, parts
from bot.analytics.proposals.held_query import fields_in, is_before, is_inside, numbers_in
from bot.analytics.proposals.holding import Holding, Untenable
from bot.analytics.reader import wording
from bylaw.language.units import unit_at
from bylaw.semantic.parts import PART
from bylaw.semantic.query import AnyOf, Apart, Filter, First, Ratio, Related

_SHARES = frozenset(("share", "proportion", "fraction", "portion", "percentage"))


def hold_groups(h: Holding) -> None:
    """What stands behind "each", "per" or "split by" has a row of its own."""
    e, query = h.evidence, h.query
    grouped = [*query.dimensions, *query.per, *query.limit_by]
    grouped += [name for one in query.summaries for name in (*one.per, *one.dimensions)]
    grouped += [name for part, _ in parts(query) if isinstance(part, First) for name in part.per]
    for mark in e.groups:
        behind = e.behind(mark.last + 1, [one for one in e.mentions if not one.is_role], 2)
        if behind is None or mark.first in e.remarks or not behind.targets:
            continue
        if mark.word == "by" and not all(t.kind in ("dimension", "flag", "value") for t in behind.targets):
            continue
        owners = {name.partition(".")[0].partition("@")[0] for name in grouped}
        is_row = any(t.kind == "entity" and t.name in owners for t in behind.targets)
        is_shown = any(h.names_field(t, name) for t in behind.targets for name in grouped)
        is_cycle = any(PART.search(name) and behind.said.lower().rstrip("s") in name for name in grouped)
        is_sorted = any(h.names_field(t, order.by) for t in behind.targets for order in query.order)
        is_number = any(t.kind in ("metric", "fact") for t in behind.targets) and mark.word != "each"
        is_halved = bool(query.ratios) and mark.word == "per"
        is_made = any(
            stems(behind.said) <= h.own(name)
            and mark.word in ("per", "each")
            and behind.first in h.places.get(name, ())
            for name in numbers_in(h)
        )
        is_own = any(stems(behind.said) <= h.own(name) for name in grouped)
        is_list = query.is_list
        # "by bank transfer": a value that a condition took
        is_value = mark.word == "by" and isinstance(h.taker(behind), Filter)
        if not (
            is_row
            or is_shown
            or is_cycle
            or is_number
            or is_halved
            or is_made
            or is_own
            or is_list
            or is_sorted
            or is_value
        ):
            raise Untenable(f"nothing is grouped by `{behind.said}`")


def hold_grains(h: Holding) -> None:
    e, query = h.evidence, h.query
    wanted = []
    for one in e.grains:
        word = e.words[one.first]
        before = e.words[one.first - 1] if one.first else ""
        before = (
            e.words[one.first - 3] if before == "the" and one.first > 2 and e.words[one.first - 2] == "of" else before
        )
        is_span = e.tokens[one.first].kind == "time"
        is_asked = (
            before in ("by", "per", "each", "every")
            or word in wording.ADVERBS
            or (len(e.words[one.first]) > 1 and one.first != one.last)
        )
        if is_asked and one.first not in e.remarks and not any(m.first <= one.first <= m.last for m in e.mentions):
            wanted.append((one, is_span))
    grains = {query.grain, *(one.grain for one in query.summaries)}
    names = " ".join((*query.dimensions, *fields_in(h)))
    for one, is_span in wanted:
        if is_span and any(other.grain in grains for other, _ in wanted):
            continue
        if one.grain not in grains and f"{one.grain}" not in names and not is_inside(h, one):
            raise Untenable(f"`{one.said}` asks for each {one.grain}")


def hold_turns(h: Holding) -> None:
    """Cumulative, moving, ranked and shared numbers are what the query has too."""
    e, query = h.evidence, h.query
    overs = {one.over for one in query.measures}
    numbers = numbers_in(h)
    own = {word for name in numbers for word in h.own(name)}
    kinds = {metric.type for name in numbers if (metric := h.context.metrics.get(name))}
    formats = {metric.format for name in query.metrics if (metric := h.context.metrics.get(base_of(h, name)))}
    weekend = any(isinstance(part, Filter) and part.operator == "is_weekend" for part, _ in parts(query))
    for i, word in enumerate(e.words):
        if word == "weekend" and not weekend and i not in e.remarks and not h.taker_at(i):
            raise Untenable(f"`{word}` is in the question and not in the query")
        if i in e.remarks or any(m.first <= i <= m.last for m in e.mentions) or stems(word) & own:
            continue
        if word in OVERS["running"] and "running" not in overs and "cumulative" not in kinds:
            raise Untenable(f"`{word}` is in the question and not in the query")
        if word in OVERS["moving"] and "moving" not in overs and "cumulative" not in kinds:
            raise Untenable(f"`{word}` is in the question and not in the query")
        is_divided = (
            bool(query.ratios or query.differences)
            or overs & {"share", "growth"}
            or "ratio" in kinds
            or "percent" in formats
        )
        if (word in _SHARES or word in PERCENT or word == "ratio") and not is_divided:
            raise Untenable(f"`{word}` is in the question and not in the query")
        if (
            word in PERCENT
            and query.ratios
            and not any(one.in_percent for one in query.ratios)
            and not overs & {"share", "growth"}
        ):
            raise Untenable(f"`{word}` is in the question and not in the query")
        if word in ("growth", "grow", "grew") and not (
            overs & {"growth", "change"} or query.differences or "derived" in kinds
        ):
            raise Untenable(f"`{word}` is in the question and not in the query")
        if word == "growth" and "change" in overs and "growth" not in overs:
            raise Untenable("a growth is a share of what was before")


def hold_units(h: Holding) -> None:
    """ "In hours" is what the number is told in, where it is known what it is told in."""
    e = h.evidence
    for i in range(1, len(e.words)):
        named = unit_at(e.words, i)
        if e.words[i - 1] not in ("in", "to") or named is None or i in e.remarks:
            continue
        unit = named[1]
        told = {one.name: one.unit for one in h.query.measures}
        for name in h.query.shown:
            own = h.unit_of(base_of(h, name))
            if own is None or own.into(unit) is None:
                continue
            if not told.get(name) and own != unit:
                raise Untenable(f"`{name}` is told in {own.name}, not in {unit.name}")


def hold_ordinals(h: Holding) -> None:
    from bot.analytics.proposals.evidence import place_of

    for one in h.evidence.ordinals:
        if one.first in h.evidence.remarks or h.taker(one) is not None:
            continue
        if (place_of(one.word) or 1) > 1 and not is_inside(h, one):
            raise Untenable(f"`{one.said}` is in the question and not in the query")


def hold_alternatives(h: Holding) -> None:
    """ "Or" between two conditions: one of them is enough; "and": both must hold."""
    e = h.evidence
    takers = [
        (one, part) for one in (*e.mentions, *e.figures) if isinstance(part := h.taker(one), Filter | Related | Apart)
    ]
    takers += [(Piece(at, at, 0, 0, ""), part) for at, part in h.literals if isinstance(part, Filter)]
    takers.sort(key=lambda pair: pair[0].first)
    inside = {id(part): one for one, _ in parts(h.query) if isinstance(one, AnyOf) for part, _ in parts(one)}
    for i, word in enumerate(e.words):
        if word != "or" or e.words[i : i + 2] in wording.AFTERWARDS or i in e.remarks:
            continue
        if any(one.first <= i <= one.last for one in (*e.mentions, *e.figures)):
            continue
        before = [
            (one, part) for one, part in takers if one.last < i and e.tokens[one.last].sentence == e.tokens[i].sentence
        ]
        behind = [
            (one, part)
            for one, part in takers
            if one.first > i and e.tokens[one.first].sentence == e.tokens[i].sentence
        ]
        if not before or not behind or behind[0][0].first - i > 8:
            continue
        left, right = before[-1][1], behind[0][1]
        if left is right or (id(left) in inside and inside[id(left)] is inside.get(id(right))):
            continue
        if any(id(part) in inside and inside[id(part)] is inside.get(id(right)) for _, part in before):
            continue
        raise Untenable("one of two conditions is enough, and the query asks for both")
    for one, _ in parts(h.query):
        if isinstance(one, AnyOf) and not is_before(h, one):
            mine = [piece.first for piece, part in takers if inside.get(id(part)) is one]
            if mine and not any(e.words[k] in ("or", "either", "any") for k in range(max(0, min(mine) - 3), max(mine))):
                raise Untenable("both conditions must hold, and the query asks for one of them")


def hold_ratios(h: Holding) -> None:
    """What is divided by what: as the words stand, the part by the whole."""
    for ratio in h.query.ratios:
        own = {one.name: one for one in h.query.measures}
        halves = [own.get(name) for name in (ratio.numerator, ratio.denominator)]
        over, under = (_pieces(h, name) for name in (ratio.numerator, ratio.denominator))
        same = [half and (half.metric, half.filters, half.window, half.over) for half in halves]
        if ratio.numerator == ratio.denominator or (same[0] and same[0] == same[1]):
            raise Untenable("a number is divided by itself")
        if halves[1] is not None and halves[1].over == "total":
            continue
        is_share = h.evidence.has(_SHARES | PERCENT)
        filtered = [half.filters if half is not None else () for half in halves]
        if is_share and not set(filtered[1]) <= set(filtered[0]) and not filtered[0]:
            raise Untenable("the whole is divided by its part")
        if is_share and set(filtered[1]) < set(filtered[0]):
            continue
        _in_order(h, ratio, [i for i in over if i not in under], [i for i in under if i not in over])


def _in_order(h: Holding, ratio: Ratio, over: Sequence[int], under: Sequence[int]) -> None:
    e = h.evidence
    marks = [
        i
        for i in range(1, len(e.words))
        if e.words[i - 1 : i + 1] in (("divide", "by"), ("divided", "by"), ("out", "of"))
    ]
    begins = next((i for i, word in enumerate(e.words) if word in ("ratio", "quotient", *_SHARES)), None)
    if not marks:
        marks = [
            i
            for i, word in enumerate(e.words)
            if word in ("to", "versus", "vs", "/") and begins is not None and i > begins and i not in e.remarks
        ]
        marks = marks or [one.first for one in e.groups if one.word == "per"]
    if not over or not under:
        return
    if marks:
        if min(over) < marks[0] < max(under):
            return
        raise Untenable(f"`{ratio.name}` divides the other way round")
    if begins is not None and min(over) > min(under):
        raise Untenable(f"`{ratio.name}` divides the other way round")


def _pieces(h: Holding, name: str) -> list[int]:
    """Where the question speaks of one side of a ratio."""
    measure = next((one for one in h.query.measures if one.name == name), None)
    if measure is not None and measure.filters:
        inside = [part for one in measure.filters for part, _ in parts(one)]
        return sorted(piece.first for part in inside for piece in h.pieces_of(part))
    base = base_of(h, name)
    return sorted(one.first for one in h.evidence.mentions if any(h.names_number(t, base) for t in one.targets))
