"""Random markets and random queries: the compiled SQL and the naive reading give the same rows."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import AnyOf, Apart, Filter, First, Related, SemanticQuery, Than, Window
from bylaw.sql.gate import check_statement
from tests.bylaw.semantic.conftest import MARKET
from tests.bylaw.semantic.naive import COLUMNS, UP, WAYS, Naive, period

RANDOM = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))

IDS = st.integers(1, 4)
MAYBE = st.one_of(st.none(), st.integers(1, 5))  # 5 leads nowhere
DAYS = st.sampled_from([date(2026, 1, 3), date(2026, 1, 31), date(2026, 2, 1), date(2026, 4, 6), date(2027, 1, 1)])
MOMENTS = st.sampled_from(
    [datetime(2026, 1, 3, 10), datetime(2026, 1, 31, 23, 59, 59), datetime(2026, 2, 1), datetime(2026, 4, 6, 8)]
)
NUMBERS = st.one_of(st.none(), st.sampled_from([0, 1, 5, 5, 50, 60, -3]))
NAMES = st.sampled_from(["Ann", "ann", "Ben", "50%", "_x", None])
CHANNELS = st.sampled_from(["web", "web", "phone", None])
FLAG = st.sampled_from([False, False, False, True])


def _table(*cells, key=True, size=5):
    rows = st.lists(st.tuples(*cells), max_size=size)
    return rows.map(lambda found: [[i, *row] if key else list(row) for i, row in enumerate(found, 1)])


MARKETS = st.fixed_dictionaries(
    {
        "towns": _table(st.sampled_from(["Bonn", "Ulm"]), size=2),
        "people": _table(NAMES, MAYBE, st.one_of(st.none(), DAYS), FLAG, size=4),
        "orders": _table(
            MAYBE, CHANNELS, st.one_of(st.none(), MOMENTS), st.none(), NUMBERS, FLAG, st.none(), st.none(), size=7
        ),
        "lines": _table(MAYBE, MAYBE, NUMBERS, size=7),
        "items": _table(st.sampled_from(["mug", "vase"]), st.sampled_from(["pot", "cloth", None]), NUMBERS, size=3),
        "item_tags": _table(MAYBE, MAYBE, key=False, size=6),
        "tags": _table(st.sampled_from(["red", "old", None]), size=3),
        "tickets": _table(MAYBE, st.sampled_from(["late", None]), st.one_of(st.none(), DAYS), NUMBERS, size=4),
    }
)

FILTERS = {
    "people": [
        {"dimension": "people.name", "values": ["Ann"]},
        {"dimension": "people.nick", "values": ["ANN", "ben"]},
        {"dimension": "people.alias", "values": ["%"]},
        {"dimension": "people.name", "operator": "contains", "values": ["_"]},
        {"dimension": "people.name", "operator": "starts_with", "values": ["a"]},
        {"dimension": "people.name", "operator": "is_null"},
        {"dimension": "people.joined_on", "operator": ">", "values": ["2026-01-03"]},
        {"dimension": "people.early"},
    ],
    "towns": [{"dimension": "towns.town", "values": ["Ulm"]}],
    "orders": [
        {"dimension": "orders.channel", "values": ["web"]},
        {"dimension": "orders.channel", "values": ["phone", "web"]},
        {"dimension": "orders.amount", "operator": ">=", "values": [5]},
        {"dimension": "orders.placed_at", "operator": "<=", "values": ["2026-01-31"]},
        {"dimension": "orders.placed_at", "values": ["2026-01-31", "2026-02-01"]},
        {"dimension": "orders.placed_at", "operator": "is_weekend"},
        {"dimension": "orders.large"},
    ],
    "lines": [{"dimension": "lines.quantity", "operator": "<", "values": [5]}],
    "items": [{"dimension": "items.kind", "values": ["pot"]}, {"dimension": "items.kind", "operator": "is_null"}],
    "tags": [{"dimension": "tags.word", "values": ["red"]}],
    "tickets": [{"dimension": "tickets.topic", "values": ["late"]}],
}
RELATED = [
    ("people", ["count(orders)", "revenue", "average_order", "count(tickets)", "units"]),
    ("orders", ["count(lines)", "units"]),
    ("items", ["count(tags)", "count(lines)"]),
    ("tags", ["count(items)"]),
]
METRICS = {
    "orders": ["revenue", "order_count", "web_revenue", "buyers", "average_order", "web_share", "max(orders.amount)"],
    "people": ["count(people)"],
    "lines": ["units", "count(lines)"],
    "items": ["count(items)"],
    "tags": ["count(tags)"],
    "tickets": ["minutes", "min(tickets.minutes)"],
}
DIMENSIONS = ["people.name", "towns.town", "orders.channel", "items.kind", "tags.word", "tickets.topic"]


def _near(base):
    """The entities that conditions may speak of."""
    return sorted({base, *(b for a, b in UP if a == base), *(b for a, b in WAYS if a == base)} - {"item_tags"})


@st.composite
def conditions(draw, base, depth=1):
    kind = draw(st.sampled_from(["filter", "filter", "filter", "related", "any"]))
    owners = [name for name in _near(base) if name != "towns" or base == "people"]
    if kind == "related":
        fitting = [(owner, names) for owner, names in RELATED if owner in owners]
        if fitting:
            owner, names = draw(st.sampled_from(fitting))
            sign = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
            return Related(
                entity=owner,
                metric=draw(st.sampled_from(names)),
                comparison=sign,
                value=draw(st.sampled_from([0, 1, 5])),
            )
    if kind == "any" and depth:
        parts = draw(st.lists(conditions(base, 0), min_size=1, max_size=2))
        places = {_owner(part) for part in parts}
        if len(places) > 1 or places == {base}:
            return AnyOf(any_of=tuple(parts))
    owner = draw(st.sampled_from(owners))
    return Filter.model_validate({**draw(st.sampled_from(FILTERS[owner])), "negated": draw(st.booleans())})


def _owner(part):
    return part.entity if isinstance(part, Related) else part.dimension.split(".")[0]


@st.composite
def queries(draw):
    base = draw(st.sampled_from(sorted(METRICS)))
    metrics = draw(st.lists(st.sampled_from(METRICS[base]), min_size=1, max_size=3, unique=True))
    reach = [name for name in DIMENSIONS if name.split(".")[0] in _near(base)]
    dimensions = draw(st.lists(st.sampled_from(reach), max_size=1 if base in ("items", "tags") else 2, unique=True))
    far = [name for name in dimensions if name.split(".")[0] not in {base, *(b for a, b in UP if a == base)}]
    dimensions = [name for name in dimensions if name not in far[1:]]
    filters = draw(st.lists(conditions(base), max_size=2))
    if far:
        owner = far[0].split(".")[0]
        filters = [part for part in filters if isinstance(part, Filter) and _owner(part) in (owner, base)]
    timed = base in ("orders", "tickets", "people")
    grain = draw(st.sampled_from([None, "day", "week", "month", "quarter", "year"])) if timed else None
    window = draw(st.sampled_from([None, None, Window(start=date(2026, 1, 31), end=date(2026, 4, 6), label="x")]))
    is_web = {"web_revenue", "web_share"} & set(metrics)
    filters = [part for part in filters if not (is_web and "orders.channel" in str(part))]  # refused, not answered
    return SemanticQuery(
        metrics=tuple(metrics), dimensions=tuple(dimensions), filters=tuple(filters), grain=grain,
        window=window if timed else None,
    )  # fmt: skip


@st.composite
def wide_queries(draw):
    """Numbers of different rows by what they share."""
    metrics = draw(st.lists(st.sampled_from(["revenue", "minutes", "order_count", "revenue_per_minute"]), min_size=1))
    dimensions = draw(st.sampled_from([(), ("people.name",)]))
    grain = draw(st.sampled_from([None, "month"]))
    shared = [part for part in FILTERS["people"] if part["dimension"] != "people.joined_on"]
    filters = draw(st.lists(st.sampled_from(shared), max_size=1))
    return SemanticQuery.model_validate(
        {"metrics": tuple(dict.fromkeys(metrics)), "dimensions": dimensions, "grain": grain, "filters": filters}
    )


APART = {  # what rows of an entity can be held to: their own moments, those they belong to, those of their many
    "orders": [("orders.placed_at", "people.joined_on"), ("orders.paid_on", "orders.placed_at")],
    "lines": [("orders.placed_at", "people.joined_on")],
    "tickets": [("tickets.opened_on", "people.joined_on"), ("people.joined_on", "tickets.opened_on")],
    "people": [
        ("orders.placed_at", "people.joined_on"),
        ("people.joined_on", "tickets.opened_on"),
        ("orders.paid_on", "orders.placed_at"),
    ],
}
BETWEEN = {
    "orders": [
        "avg(orders.days(people.joined_on, orders.placed_at))",
        "max(orders.hours(orders.paid_on, orders.placed_at))",
    ],
    "lines": ["min(lines.days(people.joined_on, orders.placed_at))"],
    "tickets": ["median(tickets.days(people.joined_on, tickets.opened_on))"],
    "people": ["min(people.days(people.joined_on, 2026-02-01))"],
}
FIRST = [("orders.placed_at", ("people",)), ("orders.amount", ()), ("tickets.opened_on", ("people",)),
         ("orders.placed_at", ("people", "orders"))]  # fmt: skip


@st.composite
def aparts(draw, base):
    moment, since = draw(st.sampled_from(APART[base]))
    negated, same = draw(st.booleans()), draw(st.sampled_from([None, None, None, "day", "week", "month", "year"]))
    if same is not None:
        return Apart(moment=moment, since=since, same=same, negated=negated)
    least, most = draw(st.sampled_from([(0, 1), (None, 0), (0, None), (-30, 30), (1, 1), (2, None), (None, -1)]))
    unit = draw(st.sampled_from(["day", "week", "month", "year"]))
    is_open = draw(st.booleans())
    return Apart(moment=moment, since=since, least=least, most=most, unit=unit, is_open=is_open, negated=negated)


@st.composite
def firsts(draw, base):
    by, per = draw(st.sampled_from([one for one in FIRST if one[0].split(".")[0] in _near(base)]))
    filters = ()
    if by.startswith("orders"):
        filters = draw(st.sampled_from([(), (), (Filter(dimension="orders.channel", values=("web",)),)]))
    return First(by=by, per=per, is_last=draw(st.booleans()), filters=filters)


@st.composite
def dated_queries(draw):
    """Numbers of rows by how far their moments lie apart, by being the first of theirs, and by anything else."""
    base = draw(st.sampled_from(sorted(APART)))
    filters = [draw(aparts(base)) if draw(st.booleans()) else draw(firsts(base))]
    near = {base, *(b for a, b in UP if a == base)} - {"towns"}
    owner = draw(
        st.sampled_from(sorted({filters[0].by.split(".")[0] if isinstance(filters[0], First) else base, *near}))
    )
    if draw(st.booleans()):
        filters.append(Filter.model_validate(draw(st.sampled_from(FILTERS[owner]))))
    if draw(st.booleans()):
        filters.append(draw(aparts(base)))
    metrics = draw(st.lists(st.sampled_from([*METRICS[base], *BETWEEN[base]]), min_size=1, max_size=2, unique=True))
    if {"web_revenue", "web_share"} & set(metrics):
        filters = [part for part in filters if "orders.channel" not in str(part)]
    named = [name for name in DIMENSIONS if name.split(".")[0] in near]
    dimensions = draw(st.lists(st.sampled_from(named), max_size=1)) if named else []
    return SemanticQuery(metrics=tuple(metrics), dimensions=tuple(dimensions), filters=tuple(filters))


EACH = {  # what rows of an entity are summarized by
    "orders": [
        {"per": ["people"]},
        {"dimensions": ["orders.channel"]},
        {"grain": "day"},
        {"grain": "month"},
        {"per": ["people"], "grain": "month"},
    ],
    "tickets": [{"per": ["people"]}, {"grain": "month"}, {"dimensions": ["tickets.topic"]}],
    "lines": [{"per": ["orders"]}, {"per": ["items"]}, {"per": ["people"]}],
}


@st.composite
def summaries(draw):
    """Aggregates over what each of something has: one, or several of the same."""
    base = draw(st.sampled_from(sorted(EACH)))
    each = draw(st.sampled_from(EACH[base]))
    metrics = draw(st.lists(st.sampled_from(METRICS[base]), min_size=1, max_size=2))
    metrics = [name for name in metrics if name not in ("web_share", "web_revenue")] or [METRICS[base][0]]
    parts = [
        {"name": f"number_{i}", "agg": draw(st.sampled_from(["avg", "median", "min", "max"])), "metric": name, **each}
        for i, name in enumerate(metrics)
    ]
    near = {base, *(b for a, b in UP if a == base)}
    reach = [n for n in DIMENSIONS if n.split(".")[0] in near and n not in each.get("dimensions", ())]
    far = {"orders": ["items.kind"]}.get(base, [])  # of which one row may have several
    filters = draw(st.lists(conditions(base), max_size=1))
    dimensions = draw(st.lists(st.sampled_from([*reach, *(far if not filters else [])]), max_size=1))
    coarse = ["quarter", "year"] if each.get("grain") else ["month", "year"]
    return SemanticQuery.model_validate(
        {
            "metrics": [part["name"] for part in parts],
            "summaries": parts,
            "dimensions": dimensions,
            "filters": filters,
            "grain": draw(st.sampled_from([None, *coarse])) if base in ("orders", "tickets") else None,
        }
    )


NOBODY = {"lines": [[1, None, None, None]]}
OF_NOBODY = SemanticQuery(
    metrics=("units",),
    dimensions=("people.name",),
    filters=(Related(entity="people", metric="count(orders)", comparison="=", value=0),),
)


@pytest.fixture(scope="module")
def ask(market):
    """Compile, pass the gate, run over the given rows."""
    compiler, catalogue = Compiler(market), catalogue_of(market)
    with duckdb.connect() as connection:
        connection.execute(MARKET["tables"])

        def _ask(data, query):
            for table in COLUMNS:
                rows = data.get(table, [])
                connection.execute(f"TRUNCATE m.{table}")
                if rows:
                    marks = ", ".join(f"({', '.join('?' * len(row))})" for row in rows)
                    connection.execute(f"INSERT INTO m.{table} VALUES {marks}", [cell for row in rows for cell in row])
            compiled = compiler.compile(query)
            assert check_statement(compiled.sql, catalogue=catalogue, schemas=None).reason is None
            return connection.execute(compiled.sql).fetchall()

        yield _ask


def _plain(rows):
    """Rows that can be compared whatever their order."""
    found = [tuple(round(cell, 6) if isinstance(cell, float) else cell for cell in row) for row in rows]
    return sorted(found, key=lambda row: [(cell is None, str(type(cell)) * (cell is None), str(cell)) for cell in row])


@RANDOM
@given(MARKETS, queries())
@example(NOBODY, OF_NOBODY)
def test_a_query_over_one_entity_is_what_loops_over_its_rows_give(ask, data, query):
    assert _plain(ask(data, query)) == _plain(Naive(data).answer(query))


@RANDOM
@given(MARKETS, st.sampled_from(sorted(METRICS)), st.data())
def test_a_condition_and_everything_else_are_all_rows(ask, rows, base, data):
    """Rows without a value are on one side too; what is behind many rows is there, or it is not."""
    owners = [name for name in _near(base) if name != "towns" or base == "people"]
    part = data.draw(st.sampled_from(FILTERS[data.draw(st.sampled_from(owners))]))
    count = SemanticQuery(metrics=(f"count({base})",))
    kept, left = (
        count.model_copy(update={"filters": (Filter.model_validate({**part, "negated": negated}),)})
        for negated in (False, True)
    )
    ((all_rows,),) = ask(rows, count)
    assert ask(rows, kept)[0][0] + ask(rows, left)[0][0] == all_rows


@RANDOM
@given(MARKETS, st.sampled_from(["revenue", "order_count", "minutes"]), st.sampled_from(["day", "week", "month"]))
def test_periods_add_up_to_quarters_and_groups_to_the_total(ask, rows, metric, grain):
    total = sum(row[-1] or 0 for row in ask(rows, SemanticQuery(metrics=(metric,))))
    for by in ({"grain": grain}, {"grain": "quarter"}, {"dimensions": ("people.name",)}):
        assert sum(row[-1] or 0 for row in ask(rows, SemanticQuery(metrics=(metric,), **by))) == total
    whole = {row[0]: row[1] or 0 for row in ask(rows, SemanticQuery(metrics=(metric,), grain="quarter"))}
    parts = dict.fromkeys(whole, 0)
    for day, number in ask(rows, SemanticQuery(metrics=(metric,), grain="month")):
        parts[None if day is None else period(day, "quarter")] += number or 0
    assert parts == whole


@RANDOM
@given(MARKETS, dated_queries())
def test_moments_are_compared_as_loops_over_the_rows_compare_them(ask, data, query):
    assert _plain(ask(data, query)) == _plain(Naive(data).answer(query))


@RANDOM
@given(MARKETS, wide_queries())
def test_a_query_over_several_entities_is_what_loops_over_their_rows_give(ask, data, query):
    assert _plain(ask(data, query)) == _plain(Naive(data).answer(query))


def _floats(rows):
    return _plain([tuple(float(c) if isinstance(c, int | float | Decimal) else c for c in row) for row in rows])


@st.composite
def typical_queries(draw):
    """Rows by how they stand to the average of all, or by what all of their kind have."""
    owner, metric = draw(
        st.sampled_from(
            [
                ("people", "revenue"), ("people", "count(orders)"), ("people", "average_order"), ("orders", "units"),
                ("people.name", "count(orders)"), ("people.name", "revenue"), ("orders.channel", "revenue"),
            ]
        )
    )  # fmt: skip
    base = draw(st.sampled_from(["people", "orders"] if owner.startswith("people") else ["orders"]))
    filters = draw(st.sampled_from([(), (Filter(dimension="orders.amount", operator=">=", values=(5,)),)]))
    against = (
        draw(st.sampled_from(["avg", "median", None])) if "." in owner else draw(st.sampled_from(["avg", "median"]))
    )
    part = Related(
        entity=owner,
        metric=metric,
        comparison=draw(st.sampled_from(["<", "<=", ">", ">="])),
        value=draw(st.sampled_from([1, 2, 5])),
        against=against,
        filters=filters if metric != "units" else (),
    )
    dimensions = draw(st.lists(st.sampled_from(["people.name"]), max_size=1))
    return SemanticQuery(metrics=(f"count({base})",), dimensions=tuple(dimensions), filters=(part,))


@RANDOM
@given(MARKETS, typical_queries())
def test_rows_above_the_average_are_those_that_loops_over_all_of_them_find(ask, data, query):
    assert _plain(ask(data, query)) == _plain(Naive(data).answer(query))


@st.composite
def compared_queries(draw):
    """Rows with more of one number than of another, each over rows of its own kind."""
    owner, numbers = draw(
        st.sampled_from(
            [
                ("people", ["count(orders)", "revenue", "count(tickets)", "count(lines)"]),
                ("orders", ["count(lines)", "units"]), ("people.name", ["count(orders)", "revenue"]),
                ("orders.channel", ["revenue", "count(orders)"]),
            ]
        )
    )  # fmt: skip
    those = [(), (Filter(dimension="orders.amount", operator=">=", values=(5,)),)]
    sides = []
    for _ in range(2):
        metric = draw(st.sampled_from(numbers))
        sides.append((metric, draw(st.sampled_from(those)) if metric in ("count(orders)", "revenue") else ()))
    (metric, filters), (other, kinds) = sides
    part = Related(
        entity=owner,
        metric=metric,
        comparison=draw(st.sampled_from(["<", ">"])),
        value=0,
        filters=filters,
        than=Than(metric=other, filters=kinds),
    )
    base = draw(st.sampled_from(["people", "orders"] if owner.startswith("people") else ["orders"]))
    dimensions = draw(st.lists(st.sampled_from(["people.name"]), max_size=1))
    return SemanticQuery(metrics=(f"count({base})",), dimensions=tuple(dimensions), filters=(part,))


@RANDOM
@given(MARKETS, compared_queries())
def test_rows_with_more_of_one_than_of_another_are_those_that_loops_over_both_find(ask, data, query):
    assert _plain(ask(data, query)) == _plain(Naive(data).answer(query))


@RANDOM
@given(MARKETS, st.integers(2, 40), st.sampled_from(["revenue", "order_count"]))
def test_a_moving_average_is_that_of_the_days_before_and_of_days_with_none(ask, data, periods, metric):
    by_day = SemanticQuery(metrics=(metric,), grain="day")
    numbers = {day: float(number or 0) for day, number in Naive(data).answer(by_day) if day is not None}
    found = ask(
        data,
        SemanticQuery.model_validate(
            {
                "metrics": ["m"],
                "measures": [{"name": "m", "metric": metric, "over": "moving", "periods": periods}],
                "grain": "day",
            }
        ),
    )
    days = [min(numbers) + timedelta(days=i) for i in range((max(numbers) - min(numbers)).days + 1)] if numbers else []
    expected = []
    for i, day in enumerate(days):
        last = [numbers.get(one, 0.0) for one in days[max(0, i - periods + 1) : i + 1]]
        expected.append((day, pytest.approx(sum(last) / len(last))))
    assert [(day, float(number)) for day, number in found] == expected


@RANDOM
@given(MARKETS, summaries())
def test_an_aggregate_of_what_each_has_is_what_loops_over_each_give(ask, data, query):
    assert _floats(ask(data, query)) == _floats(Naive(data).summarized(query))


@RANDOM
@given(MARKETS)
def test_those_with_none_count_only_where_they_are_asked_for(ask, data):
    each = {"name": "n", "agg": "avg", "metric": "order_count", "per": ["people"]}
    without, with_empty = (
        ask(data, SemanticQuery.model_validate({"metrics": ["n"], "summaries": [{**each, "with_empty": flag}]}))[0][0]
        for flag in (False, True)
    )
    naive = Naive(data)
    people = [row for row in naive.rows["people"] if naive.counts("people", row)]
    orders = [row for row in naive.rows["orders"] if naive.counts("orders", row) and naive.one("orders", row, "people")]
    buyers = {row["person_id"] for row in orders}
    assert without == (pytest.approx(len(orders) / len(buyers)) if buyers else None)
    assert with_empty == (pytest.approx(len(orders) / len(people)) if people else None)
