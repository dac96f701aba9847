"""Whatever the compiler can be asked, items can say: a query written as items and assembled again is the same query."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.analytics.plan.restatement import renamed
from bot.ask.query.assemble import assemble
from bot.ask.query.spans import label_of
from bylaw.hold.item import misfit_of
from bylaw.language.dates import FIRST_DAY, LAST_DAY
from bylaw.semantic.query import (
    AnyOf,
    Apart,
    Difference,
    Filter,
    First,
    Measure,
    Order,
    Ratio,
    Related,
    SemanticQuery,
    Summary,
    Than,
    Window,
)  # fmt: skip
from tests.rendered import render, span_of

SETTINGS = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)

# ---- random queries

METRICS = ["accession_count", "seeds_held", "viability", "test_count", "count(tests)", "sum(accessions.weight)",
           "avg(tests.sprouted / tests.sown)", "count_distinct(tests.method)", "max(tests.tested_on)",
           "avg(tests.days(tests.tested_on, tests.ended_on))"]  # fmt: skip
COLUMNS = ["accessions.vault", "species.family", "sites.country", "people@curated_by.team", "tests.method"]
DATES = ["accessions.collected_on", "accessions.banked_on", "tests.tested_on", "tests.ended_on"]
THINGS = ["species", "sites", "people@curated_by", "accessions"]
GRAINS = ["day", "week", "month", "quarter", "year"]
few = lambda values, most=2: st.lists(values, max_size=most)  # noqa: E731  # a list of few
days = st.dates(date(2024, 1, 1), date(2026, 12, 31))


@st.composite
def windows(draw):
    start = draw(st.one_of(st.just(FIRST_DAY), days))
    end = draw(st.one_of(st.just(LAST_DAY), st.dates(date(2027, 1, 1), date(2028, 1, 1))))
    if (start, end) == (FIRST_DAY, LAST_DAY):
        start = date(2025, 1, 1)
    return Window(start=start, end=end, label=label_of(start, end))


words = st.sampled_from(["north", "Fabaceae", "KE", "alba", "x y"])
numbers = st.one_of(st.integers(-5, 500), st.decimals(0, 9, places=2))


@st.composite
def filters(draw):
    kind = draw(st.sampled_from(["in", "number", "search", "null", "weekend", "named", "day", "computed", "flag"]))
    negated = draw(st.booleans())
    match kind:
        case "in":
            values = tuple(draw(st.lists(words, min_size=1, max_size=3, unique=True)))
            return Filter(dimension=draw(st.sampled_from(COLUMNS)), values=values, negated=negated)
        case "number":
            sign = draw(st.sampled_from(["<", "<=", ">", ">="]))
            return Filter(dimension="accessions.seeds", operator=sign, values=(draw(numbers),), negated=negated)
        case "search":
            sign = draw(st.sampled_from(["contains", "starts_with", "ends_with"]))
            return Filter(dimension="species.name", operator=sign, values=(draw(words),), negated=negated)
        case "null":
            return Filter(dimension=draw(st.sampled_from([*COLUMNS, *DATES])), operator="is_null", negated=negated)
        case "weekend":
            return Filter(dimension=draw(st.sampled_from(DATES)), operator="is_weekend", negated=negated)
        case "named":
            return Filter(dimension="accessions.duplicates", negated=negated)
        case "day":
            sign = draw(st.sampled_from(["<", "<=", ">", ">="]))
            day = draw(days).isoformat()
            return Filter(dimension=draw(st.sampled_from(DATES)), operator=sign, values=(day,), negated=negated)
        case "computed":
            name = draw(
                st.sampled_from(["tests.weekday(tested_on)", "tests.days(accessions.banked_on, tests.tested_on)"])
            )
            return Filter(dimension=name, values=(draw(st.sampled_from(["Monday", "Sunday"])),), negated=negated)
    return Filter(dimension="accessions.is_wild", values=(draw(st.booleans()),), negated=negated)


@st.composite
def aparts(draw):
    moment = draw(st.sampled_from(DATES))
    known = {
        "moment": moment,
        "since": draw(st.sampled_from([one for one in DATES if one != moment])),  # nobody counts from a day to itself
        "negated": draw(st.booleans()),
    }
    if draw(st.booleans()):
        return Apart(**known, same=draw(st.sampled_from(GRAINS)))
    least, most = draw(st.sampled_from([(0, 10), (None, 4), (3, None), (-2, 2), (1, 5)]))
    return Apart(**known, least=least, most=most, unit=draw(st.sampled_from(GRAINS)), is_open=draw(st.booleans()))


@st.composite
def firsts(draw):
    per = tuple(draw(st.lists(st.sampled_from(THINGS), max_size=2, unique=True)))
    inner = tuple(draw(few(st.one_of(filters(), aparts()), 1)))
    return First(by=draw(st.sampled_from(DATES)), per=per, is_last=draw(st.booleans()), filters=inner)


@st.composite
def relations(draw, depth=1):
    known = {"entity": draw(st.sampled_from([*THINGS, "species.family"])), "metric": draw(st.sampled_from(METRICS))}
    inner = [filters(), aparts(), firsts()] + ([relations(depth=depth - 1)] if depth else [])
    known["filters"] = distinct(draw(few(st.one_of(*inner))))
    way = draw(st.sampled_from(["value", "against", "than"]))
    if way == "against":
        return Related(
            **known,
            comparison=draw(st.sampled_from(["<", ">", ">="])),
            against=draw(st.sampled_from(["avg", "median"])),
        )
    if way == "than":
        than = Than(metric=draw(st.sampled_from(METRICS)), filters=tuple(draw(few(filters(), 1))))
        return Related(**known, comparison=draw(st.sampled_from(["<", ">"])), than=than)
    return Related(**known, comparison=draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), value=draw(numbers))


def distinct(found):
    """Conditions, each once, and one of each column that is equal to something: several are any of the values."""
    columns = {}
    for k, one in enumerate(found):
        is_equal = isinstance(one, Filter) and one.operator == "in" and one.values and not one.negated
        columns.setdefault(one.dimension if is_equal else k, one)
    return tuple(dict.fromkeys(columns.values()))


conditions = st.one_of(
    filters(), aparts(), firsts(), relations(),
    st.lists(st.one_of(filters(), aparts(), firsts(), relations(depth=0)), min_size=1, max_size=3).map(
        lambda parts: AnyOf(any_of=tuple(parts))
    ),
)  # fmt: skip


@st.composite
def measures(draw, metric=None):
    over = draw(st.sampled_from(["value", "change", "growth", "running", "moving", "share", "total", "rank"]))
    name = metric or draw(st.sampled_from(METRICS))
    scale = {"scale": (1, 1000), "unit": "kg"} if name == "sum(accessions.weight)" and draw(st.booleans()) else {}
    return Measure(
        name="m", metric=name, filters=() if metric else distinct(draw(few(conditions, 2))),
        window=draw(st.none() | windows()), over=over, periods=3 if over == "moving" else 1, **scale,
    )  # fmt: skip


@st.composite
def parts(draw, made):
    """A number: its name, and what the query needs for it, added to *made*."""
    kind = draw(st.sampled_from(["plain", "plain", "measure", "ratio", "difference", "measured ratio"]))
    name = f"n{sum(map(len, made.values()))}"
    if kind == "plain":
        return draw(st.sampled_from(METRICS))
    if kind == "measure":
        found = draw(measures())
        if found == Measure(name="m", metric=found.metric):
            return found.metric
        made["measures"].append(found.model_copy(update={"name": name}))
        return name
    halves = []
    for _ in range(2):
        half = draw(measures())
        own = f"n{sum(map(len, made.values()))}"
        if half == Measure(name="m", metric=half.metric):
            halves.append(half.metric)
        else:
            made["measures"].append(half.model_copy(update={"name": own}))
            halves.append(own)
    name = f"n{sum(map(len, made.values()))}"
    if kind == "difference":
        made["differences"].append(
            Difference(name=name, before=halves[0], after=halves[1], is_growth=draw(st.booleans()))
        )
        return name
    percent = draw(st.booleans())
    made["ratios"].append(Ratio(name=name, numerator=halves[0], denominator=halves[1], in_percent=percent))
    if kind == "measured ratio":
        outer = draw(measures(metric=name))
        if outer != Measure(name="m", metric=name):
            made["measures"].append(outer.model_copy(update={"name": f"{name}x"}))
            return f"{name}x"
    return name


@st.composite
def queries(draw):
    made = {"measures": [], "ratios": [], "differences": [], "summaries": []}
    shown = list(dict.fromkeys(draw(st.lists(parts(made), max_size=3))))
    if not shown and draw(st.booleans()):
        for _ in range(draw(st.integers(1, 2))):
            known = {
                "per": tuple(draw(few(st.sampled_from(THINGS), 1))),
                "dimensions": tuple(draw(few(st.sampled_from(COLUMNS), 1))),
            }
            known["grain"] = draw(st.none() | st.sampled_from(GRAINS))
            if not any(known.values()):
                known["grain"] = "month"
            name = f"s{len(made['summaries'])}"
            made["summaries"].append(
                Summary(
                    name=name,
                    agg=draw(st.sampled_from(["avg", "median", "min", "max"])),
                    metric=draw(st.sampled_from(METRICS)),
                    with_empty=draw(st.booleans()),
                    **known,
                )
            )
            shown.append(name)
    dimensions = draw(
        st.lists(st.sampled_from([*COLUMNS, "species.name", "tests.weekday(tested_on)"]), unique=True, max_size=2)
    )
    if not shown and not dimensions:
        dimensions = ["species.name"]
    grain = draw(st.none() | st.sampled_from(GRAINS))
    hidden = [name for name in draw(few(st.sampled_from(METRICS), 1)) if name not in shown]
    sorted_by = draw(
        st.lists(
            st.sampled_from([*dimensions, *shown, *hidden, *(["time"] if grain else []), "accessions.seeds"]),
            unique=True,
            max_size=2,
        )
    )
    sorted_by += [name for name in hidden if name not in sorted_by]
    order = tuple(Order(by=name, descending=draw(st.booleans())) for name in sorted_by)
    count = draw(st.none() | st.integers(1, 9))
    is_place = bool(order) and draw(st.booleans())
    known = (
        {"place": count}
        if is_place and count
        else {"limit": count, "with_ties": count is not None and draw(st.booleans())}
    )
    if known.get("limit"):
        known["limit_by"] = tuple(draw(st.lists(st.sampled_from(COLUMNS), unique=True, max_size=2)))
    window = draw(st.none() | windows())
    return SemanticQuery(
        metrics=(*shown, *hidden), hidden=tuple(hidden), dimensions=tuple(dimensions),
        per=tuple(draw(st.lists(st.sampled_from(THINGS), unique=True, max_size=2))),
        only_members=draw(st.booleans()), with_empty=draw(st.booleans()), grain=grain, window=window, order=order,
        time_dimension=draw(st.none() | st.sampled_from(DATES)) if grain or window else None,
        filters=distinct(draw(few(conditions, 3))), **{name: tuple(found) for name, found in made.items()}, **known,
    )  # fmt: skip


# ---- both


def plain(query):
    """The query under our names, its own numbers in the order of these."""
    found = renamed(query)
    made = ("measures", "ratios", "differences", "summaries")
    return found.model_copy(update={name: tuple(sorted(getattr(found, name), key=repr)) for name in made})


@SETTINGS
@given(query=queries())
def test_a_query_written_as_items_is_assembled_again(means, query):
    items = render(query)
    assert not [found for one in items if (found := misfit_of(one, "data"))]
    assert plain(assemble(items, means)) == plain(query)


def test_days_are_told_by_their_ends():
    window = Window(start=FIRST_DAY, end=date(2026, 1, 1) + timedelta(1), label="x")
    assert span_of(window) == "../2026-01-02"
