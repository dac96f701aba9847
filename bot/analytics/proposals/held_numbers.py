"""Numbers, groups and order of a proposal: each is what the words that it is bound to speak of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bot.analytics.proposals.evidence import OVERS, PERCENT, Extreme, stems
from bot.analytics.proposals.held import aliases, base_of, bound_at, is_carried, own_names, parts
from bot.analytics.proposals.held_roles import role
from bot.analytics.proposals.holding import Holding, Untenable, listed
from bot.analytics.reader import wording
from bylaw.authored.context import Metric
from bylaw.language.units import units_in
from bylaw.semantic.clauses.measures import _WRITTEN_OUT
from bylaw.semantic.query import (
    Difference,
    First,
    Measure,
    Order,
    Part,
    Ratio,
    SemanticQuery,
    Summary,
)

_AS_GROUP = ("dimension", "entity", "grain")
_ALL_ROWS = frozenset("all each every any including include even also none zero".split())  # noqa: SIM905 - a table

_EACH = ("each", "every", "per")

# ---- numbers


def metrics(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    own = {*own_names(h), *(one.name for one in query.ratios), *(one.name for one in query.differences)}
    for name in query.metrics:
        if name not in own:
            _number(h, name)


def _number(h: Holding, name: str) -> None:
    """The number *name* is what the words that it is bound to speak of, aggregated as they say."""
    if h.previous is not None and name in h.previous.named:
        return
    places = bound_at(h, *aliases(h, name))
    if not h.mentions(places) and not h.loose(places):  # "highest and lowest cost": the noun stands once
        shared = h.evidence.behind(places[-1] + 1, h.evidence.mentions, 3)
        places = [*places, *(range(shared.first, shared.last + 1) if shared is not None else ())]
    if not h.supports(name, places, is_number=True):
        raise Untenable(f"nothing that `{name}` is bound to speaks of it")
    _counts_what_is_counted(h, name, places)
    _computes_what_is_said(h, name, places)
    written = _WRITTEN_OUT.fullmatch(name)
    if written is None:
        return
    agg, entity, part = written[1], written[2], written[3]
    e = h.evidence
    if part is not None and agg in ("sum", "avg", "min", "max", "median"):
        fact = h.record(f"{entity}.{part}")
        is_default = getattr(fact, "default_aggregation", None) == agg
        said = {wording.AGGREGATES.get(e.words[i]) or wording.EXTREMES.get(e.words[i]) for i in places} - {None}
        own = {
            wording.AGGREGATES.get(word) or wording.EXTREMES.get(word) for word in _plain_words(h, f"{entity}.{part}")
        }
        said -= own - {None}
        if agg in said:
            return
        if said - ({"sum"} if agg != "sum" else set()) and not (said <= {"max", "min"} and is_default):
            raise Untenable(f"what `{name}` is bound to asks for another aggregate")
        if not is_default and not said and agg != "sum":
            raise Untenable(f"no word asks for `{agg}`")
        if agg in ("min", "max") and agg not in said:
            raise Untenable(f"no word asks for `{agg}`")


def _counts_what_is_counted(h: Holding, name: str, places: Sequence[int]) -> None:
    """ "How many payments" is no amount of theirs, unless the catalogue calls the number so."""
    e = h.evidence
    for i in places:
        if e.words[i : i + 2] != ("how", "many"):
            continue
        behind = e.behind(i + 2, e.mentions, 2)
        if behind is None or not any(t.kind == "entity" for t in behind.targets):
            continue
        is_named = any(t.kind != "entity" and h.names_number(t, name) for t in behind.targets)
        if not is_named and h.atoms(name) and all(one.agg in ("sum", "avg") for one in h.atoms(name)):
            raise Untenable(f"`{behind.said}` are to be counted, and `{name}` counts nothing")


def _computes_what_is_said(h: Holding, name: str, places: Sequence[int]) -> None:
    """A number that is not called so whole: a mean, a share and a sum each need a word for it, a count its own rows."""
    found = [target for one in h.mentions(places) for target in one.targets]
    if any(target.kind == "metric" and h.names_number(target, name) for target in found):
        return
    rows = {target.name for target in found if target.kind == "entity"}
    written = _WRITTEN_OUT.fullmatch(name)
    if written is not None and written[1] == "count" and written[3] is None and rows and written[2] not in rows:
        raise Untenable(f"`{name}` counts other rows than the words that it is bound to name")
    metric = h.record(name)
    if not isinstance(metric, Metric):
        return
    e = h.evidence
    said = {wording.AGGREGATES.get(e.words[i]) for i in range(len(e.words)) if i not in e.remarks} - {None}
    if metric.agg in ("avg", "median") and metric.format != "percent" and metric.agg not in said:
        raise Untenable(f"`{name}` is a mean, and no word asks for one")
    if metric.format == "percent" and not e.has(OVERS["share"] | PERCENT | {"rate", "ratio"}):
        raise Untenable(f"`{name}` is a share, and no word asks for one")
    is_bare = bool(rows) and {target.kind for target in found} == {"entity"} and not h.loose(places)
    if metric.agg == "sum" and is_bare and "sum" not in said:
        raise Untenable(f"`{name}` adds up, and the words that it is bound to name rows")


def _plain_words(h: Holding, name: str) -> set[str]:
    record = h.record(name)
    said = [name.partition(".")[2], *getattr(record, "synonyms", ())]
    return {word for one in said for word in one.replace("_", " ").lower().split()}


def measure_metric(h: Holding, measure: Measure, _above: Sequence[Part]) -> None:
    if measure.metric not in own_names(h):
        _number(h, measure.metric)


def measure_window(h: Holding, measure: Measure, above: Sequence[Part]) -> None:
    if measure.window is None or is_carried(h, measure, above):
        return
    if h.window(measure.window, measure) is None:
        raise Untenable(f"the days of `{measure.name}` are not those of the question")


def turn(h: Holding, measure: Measure, above: Sequence[Part]) -> None:
    if measure.over == "value" or is_carried(h, measure, above):
        return
    e, base = h.evidence, base_of(h, measure.metric)
    places = h.at(*aliases(h, base))
    meant = [t for one in h.mentions(places) for t in one.targets if t.kind == "metric" and t.over]
    if meant:
        if not any(target.over == measure.over and target.name == base for target in meant):
            raise Untenable(f"`{measure.name}` turns the number otherwise than its words say")
        return
    asked = OVERS[measure.over]
    if not e.has(asked, places) and not any(e.words[i] in asked for i in range(len(e.words)) if i not in e.remarks):
        raise Untenable(f"no word asks for `{measure.over}`")
    if measure.over == "growth" and not e.has(frozenset(("growth", "grow", "grew", "grown")) | PERCENT | {"rate"}):
        raise Untenable("no word asks for a share of the period before")
    if measure.over == "change":
        growth = e.has(PERCENT | {"growth"})
        if growth and not e.has(frozenset(("absolute", "change", "difference"))):
            raise Untenable("a growth is a share of what was before")


def periods(h: Holding, measure: Measure, above: Sequence[Part]) -> None:
    if measure.over != "moving":
        if measure.periods != 1:
            raise Untenable("nothing is averaged over periods")
        return
    if not is_carried(h, measure, above) and not h.figure(
        measure.periods, None, None, h.at(*aliases(h, measure.metric)), measure
    ):
        raise Untenable(f"no word asks for {measure.periods} periods")


def scale(h: Holding, measure: Measure, above: Sequence[Part]) -> None:
    """Told in a unit that the words ask for, converted exactly as the unit of the catalogue says."""
    if (measure.scale == (1, 1) and measure.unit is None) or is_carried(h, measure, above):
        return
    ratio = Fraction(measure.scale[0], measure.scale[1]) if measure.scale[1] else Fraction(0)
    known = h.unit_of(base_of(h, measure.metric))
    asked = units_in(measure.unit or "")
    said = units_in(h.evidence.text)
    if not asked or asked[0] not in said:
        raise Untenable(f"no word asks for `{measure.unit or 'another scale'}`")
    if known is None or known.into(asked[0]) != ratio:
        raise Untenable(f"`{measure.name}` is no exact conversion into {asked[0].name}")


def unit(h: Holding, measure: Measure, _above: Sequence[Part]) -> None:
    if measure.unit is not None and not units_in(measure.unit):
        raise Untenable(f"`{measure.unit}` is no unit that is known")


def _half(h: Holding, ratio: Ratio, name: str) -> None:
    if name not in {*own_names(h), *(one.name for one in h.query.ratios)}:
        _number(h, name)


def numerator(h: Holding, ratio: Ratio, _above: Sequence[Part]) -> None:
    _half(h, ratio, ratio.numerator)


def denominator(h: Holding, ratio: Ratio, _above: Sequence[Part]) -> None:
    _half(h, ratio, ratio.denominator)


def in_percent(h: Holding, ratio: Ratio, _above: Sequence[Part]) -> None:
    if ratio.in_percent and not h.evidence.has(PERCENT):
        raise Untenable("no word asks for percent")


def is_growth(h: Holding, part: Difference, _above: Sequence[Part]) -> None:
    if part.is_growth and not h.evidence.has(OVERS["growth"]):
        raise Untenable("no word asks for a growth")
    if not part.is_growth and not h.evidence.has(OVERS["change"] | {"minus", "less", "difference", "growth"}):
        raise Untenable("no word asks for a change")


def difference(h: Holding, part: Difference, _above: Sequence[Part]) -> None:
    """Of one number in two spans of time, the earlier first; or of two numbers that the words name in this order."""
    own = {one.name: one for one in h.query.measures}
    before, after = own.get(part.before), own.get(part.after)
    for name in (part.before, part.after):
        if name not in own:
            _number(h, name)
    if before is not None and after is not None and before.metric == after.metric:
        if before.window is not None and after.window is not None and before.window.start < after.window.start:
            return
        if before.window is None or after.window is None:
            raise Untenable(f"`{part.name}` compares no two spans of time")
    if not h.evidence.has(frozenset(("minus", "less", "difference", "between"))):
        raise Untenable(f"`{part.name}` is made of numbers that nobody compares")


def aggregate(h: Holding, part: Summary, _above: Sequence[Part]) -> None:
    e = h.evidence
    said = {wording.AGGREGATES.get(word) or wording.EXTREMES.get(word) for word in e.words}
    if part.agg not in said:
        raise Untenable(f"no word asks for `{part.agg}`")


def summary_metric(h: Holding, part: Summary, _above: Sequence[Part]) -> None:
    if part.metric not in own_names(h):
        _number(h, part.metric)


# ---- groups


def _groups(h: Holding, names: Sequence[str], before: Sequence[str]) -> None:
    for name in names:
        if name in before:
            continue
        places = bound_at(h, name, kinds=_AS_GROUP)
        is_ranked = any(order.by == name for order in h.query.order) and any(
            one.first in places for one in h.evidence.extremes
        )
        is_ranked |= any(isinstance(one, First) and one.by == name for one, _ in parts(h.query))
        if not is_ranked and not h.supports(name, places):
            raise Untenable(f"nothing that `{name}` is bound to speaks of it")
        role(h, name, places)
        for one in h.mentions(places):
            if any(h.names_field(target, name) for target in one.targets) and h.taker(one) is None:
                h.take(one, h.query)


def dimensions(h: Holding, part: SemanticQuery | Summary, _above: Sequence[Part]) -> None:
    _groups(h, part.dimensions, h.previous.dimensions if h.previous else ())


def each_of(h: Holding, part: SemanticQuery | Summary | First, above: Sequence[Part]) -> None:
    if isinstance(part, First):
        _first_of(h, part)
        return
    labels = [name.partition(".")[0] for name in h.query.dimensions]
    _groups(h, [name for name in part.per if name not in labels], h.previous.per if h.previous else ())


def only_members(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    before = h.previous is not None and h.previous.only_members
    if query.only_members and not before and not any(one.word in _EACH for one in h.evidence.groups):
        raise Untenable("nobody asked to leave rows out")


def _first_of(h: Holding, part: First) -> None:
    """The first row of each of those that the words name, and of all rows only where no word says "each"."""
    e = h.evidence
    named = {t.owner or t.name for one in e.mentions if not one.is_role for t in one.targets if t.kind != "metric"}
    owners = {name.partition("@")[0] for name in part.per}
    strange = {name for name in owners if name not in h.compiled.entities or name not in named}
    if strange:
        raise Untenable(f"nobody asked for {listed(sorted(strange))}")
    marked = [e.behind(one.last + 1, e.mentions, 2) for one in e.groups if one.word in _EACH]
    wanted = [one for one in marked if one is not None and any(t.kind == "entity" for t in one.targets)]
    if h.query.is_list and any(not any(t.name in owners for t in one.targets) for one in wanted):
        raise Untenable(f"the first of each `{wanted[0].said}` is asked for")


def grain(h: Holding, part: SemanticQuery | Summary, _above: Sequence[Part]) -> None:
    if part.grain is None or (h.previous is not None and h.previous.grain == part.grain):
        return
    if not any(one.grain == part.grain for one in h.evidence.grains):
        raise Untenable(f"no word asks for `{part.grain}`")
    if not h.at(part.grain):
        raise Untenable(f"nobody asked for `{part.grain}`")


def with_empty(h: Holding, part: SemanticQuery | Summary, _above: Sequence[Part]) -> None:
    before = h.previous is not None and h.previous.with_empty
    if part.with_empty and not before and not h.evidence.has(_ALL_ROWS):
        raise Untenable("nobody asked for what has no rows")


def time_dimension(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    name = query.time_dimension
    if name is None or (h.previous is not None and h.previous.time_dimension == name):
        return
    if any(name in h.compiler.dates_of(metric) for metric in query.metrics if metric not in own_names(h)):
        return
    places = h.at(name)
    if not places or not (h.supports(name, places) and _says_moment(h, name, places)):
        raise Untenable(f"no word asks for `{name}`")


def _says_moment(h: Holding, name: str, places: Sequence[int]) -> bool:
    own = h.own(name) - {"date", "dat", "time", "tim"}
    if any(h.names_field(target, name) for one in h.mentions(places) for target in one.targets):
        return True
    return bool(h.loose(places)) or any(stems(h.evidence.words[i]) & own for i in places)


# ---- order


def order_by(h: Holding, order: Order, _above: Sequence[Part]) -> None:
    query = h.query
    if h.previous is not None and order in h.previous.order:
        return
    made = {*query.metrics, *query.dimensions, "time"}
    base = base_of(h, order.by)
    places = h.at(order.by, base)
    if not h.at(order.by, base, kinds=("order",)) and not (query.limit or query.place):
        raise Untenable(f"nobody asked for an order by `{order.by}`")
    is_number = order.by in query.metrics or order.by in h.compiler.context.metrics or "(" in order.by
    ends = [one for one in h.evidence.extremes if one.first in places]
    if order.by not in made and not is_number and not ends and not h.supports(order.by, places):
        raise Untenable(f"nothing asks for an order by `{order.by}`")
    field = None if is_number or order.by == "time" else h.record(order.by)
    ranks = [one for one in h.evidence.extremes if not one.is_direction]
    is_text = field is not None and not hasattr(field, "default_aggregation") and not hasattr(field, "time_granularity")
    named = h.mentions(h.at(order.by))
    is_named = any(h.names_field(t, order.by) for one in named for t in one.targets if t.kind != "entity")
    if ranks and (query.limit or query.place) and is_text and order is query.order[0] and not is_named:
        raise Untenable(f"`{order.by}` is nothing that ranks")
    _ranked_by(h, order)


def _ranked_by(h: Holding, order: Order) -> None:
    """ "Top 2 by revenue": what stands behind the "by" of a ranking is what the rows are ranked by."""
    query, e = h.query, h.evidence
    if order is not query.order[0] or not (query.limit or query.place):
        return
    starts = [one.first for one in (*e.figures, *e.extremes) if getattr(one, "is_rank", True)]
    for mark in e.groups:
        if mark.word != "by" or not any(start < mark.first <= start + 12 for start in starts):
            continue
        named = next((one for one in e.mentions if mark.last < one.first <= mark.last + 4), None)
        targets = [t for t in named.targets if t.kind in ("metric", "fact", "dimension")] if named else []
        if not targets:
            continue
        if any(h.names_field(t, name) for t in targets for name in query.dimensions):
            continue
        base = base_of(h, order.by)
        names = [h.names_number(t, base) or h.names_field(t, base) for t in targets]
        own = stems(named.said) <= h.own(base) if named else False
        if not any(names) and not own and not h.loose(range(mark.last + 1, named.first)):  # type: ignore[union-attr] # found
            raise Untenable(f"the rows are to be ranked by `{named.said}`")  # type: ignore[union-attr] # found
        return


def descending(h: Holding, order: Order, _above: Sequence[Part]) -> None:
    if h.previous is not None and order in h.previous.order:
        return
    query, e = h.query, h.evidence
    limit = str(query.limit) if query.limit else ""
    base = base_of(h, order.by)
    places = h.at(order.by, limit) if order is query.order[0] else h.at(order.by)
    inside = [one for one in e.extremes if one.sense and set(range(one.first, one.last + 1)) & set(places)]
    spelled = [one for one in e.extremes if one.is_direction]
    if spelled and spelled[0].sense is None:
        return
    found: Sequence[Extreme] = spelled[:1] or inside[:1] or [one for one in e.extremes if one.sense][:1]
    if len(query.order) > 1 and order is not query.order[0] and not inside:
        return
    if not found:
        return
    wanted = found[0].sense == "max"
    if _is_age(h, base, e.words[found[0].first]):
        wanted = not wanted
    if wanted != order.descending:
        raise Untenable(f"`{found[0].said}` asks for the other end of `{order.by}`")


def _is_age(h: Holding, name: str, word: str) -> bool:
    """The oldest has the highest age, and the earliest date."""
    record = h.record(name)
    is_moment = hasattr(record, "time_granularity")
    if word in ("oldest",):
        return not is_moment
    if word in ("youngest",):
        return not is_moment and wording.EXTREMES["youngest"] == "max"
    return False


def limit(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    if query.limit is None or (h.previous is not None and h.previous.limit == query.limit):
        return
    if h.figure(query.limit, None, None, (), query, is_rank=True) is not None:
        return
    e = h.evidence
    plain = h.figure(query.limit, None, None, h.at(str(query.limit)), query)
    if plain is not None and plain.operator is None and plain.unit is None:
        return
    is_one = query.limit == 1 and any(one.sense or one.is_one for one in e.extremes if not one.is_direction)
    if is_one and not any(one.is_rank for one in e.figures):
        return
    if query.limit == 1 and e.has(frozenset(("best", "worst", "fastest", "slowest"))):
        return
    raise Untenable(f"nobody asked for {query.limit} rows")


def limit_by(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    for name in query.limit_by:
        each = [one for one in h.evidence.groups if one.word in ("each", "every", "per")]
        marked = [h.evidence.behind(one.last + 1, h.evidence.mentions, 3) for one in each]
        if not any(one is not None and any(h.names_field(t, name) for t in one.targets) for one in marked):
            raise Untenable(f"nobody asked for so many of each `{name}`")


def nth(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    from bot.analytics.proposals.evidence import place_of

    if query.place is None:
        return
    said = [one for one in h.evidence.ordinals if place_of(one.word) == query.place]
    if not said or (query.place == 1 and not h.evidence.extremes):
        raise Untenable(f"nobody asked for place {query.place}")
    h.take(said[0], query)


def with_ties(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    if query.with_ties and not h.evidence.has(frozenset(("tie", "tied", "ties", "equal", "tying"))):
        raise Untenable("nobody asked for those that rank equal")


def hidden(h: Holding, query: SemanticQuery, _above: Sequence[Part]) -> None:
    ranked = {order.by for order in query.order} if query.limit or query.place else set()
    if strange := sorted(set(query.hidden) - ranked):
        raise Untenable(f"the query hides {listed(strange)}, which nobody spoke of")
