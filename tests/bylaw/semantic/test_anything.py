"""Any query over the market is answered by a statement that runs, or refused in words: nothing else can happen."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import AnyOf, Filter, Measure, Order, Ratio, Related, SemanticQuery, Unanswerable, Window
from bylaw.sql.gate import check_statement

RANDOM = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

PARTS = [
    "people.name", "people.joined_on", "people.is_tester", "orders.channel", "orders.amount", "orders.placed_at",
    "lines.quantity", "items.item", "items.kind", "items.price", "tags.word", "tickets.topic", "tickets.opened_on",
    "towns.town", "towns@sent_to.town", "towns@sent_from.town", "towns@lives_in.town", "balances.owner",
    "forecasts.month", "people@bought_by.name", "orders.order_id", "orders.nothing", "nothing.word",
]  # fmt: skip
METRICS = [
    "revenue", "order_count", "web_revenue", "buyers", "average_order", "units", "minutes", "paid", "web_share",
    "revenue_per_minute", "net", "revenue_growth", "phone_less_web", "revenue_so_far", "revenue_to_date",
    "revenue_7_days", "buyers_so_far", "balance", "total_balance", "steady", "expected", "round", "odd_window",
    "looking_back", "count(people)", "count(item_tags)", "sum(items.price)", "max(orders.amount)",
    "count_distinct(people.name)", "median(lines.quantity)", "count(nothing)", "flurb", "m", "k", "r",
]  # fmt: skip
ENTITIES = ["people", "orders", "lines", "items", "tags", "item_tags", "tickets", "towns", "towns@sent_to", "balances"]
TEXT = ["web", "Ann", "%", "'", "a_b", ""]
DATED = ["2026-01-31", "2026-02-01 10:00:00", "soon"]
OF_KIND = {  # a database compares nothing with what is of another kind
    "text": ([*PARTS[:1], "orders.channel", "items.kind", "tags.word", "tickets.topic", "towns.town",
              "towns@sent_to.town", "towns@lives_in.town", "people@bought_by.name", "orders.nothing"], TEXT),
    "number": (["orders.amount", "lines.quantity", "items.price", "balances.owner", "orders.order_id"], [5, 0, 1.5]),
    "date": (["people.joined_on", "orders.placed_at", "tickets.opened_on", "forecasts.month"], DATED),
    "flag": (["people.is_tester", "orders.is_void"], [True, False]),
}  # fmt: skip
OPERATORS = ["in", "in", "<", "<=", ">", ">=", "contains", "starts_with", "ends_with", "is_null", "is_weekend"]
NAMED = ["orders.large", "people.early"]


@st.composite
def filters(draw):
    operator = draw(st.sampled_from(OPERATORS))
    if operator == "in" and draw(st.booleans()):
        return Filter(dimension=draw(st.sampled_from(NAMED)), negated=draw(st.booleans()))
    kind = draw(st.sampled_from(sorted(OF_KIND)))
    names, values = OF_KIND[kind]
    operator = "in" if kind == "flag" or (kind == "number" and operator.endswith(("s", "with"))) else operator
    count = {"is_null": 0, "is_weekend": 0, "in": 2}.get(operator, 1)
    wanted = tuple(draw(st.sampled_from(values)) for _ in range(count))
    return Filter(dimension=draw(st.sampled_from(names)), operator=operator, values=wanted, negated=draw(st.booleans()))


RELATED = st.builds(
    Related,
    entity=st.sampled_from(ENTITIES),
    metric=st.sampled_from(METRICS),
    comparison=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    value=st.sampled_from([0, 1, 5]),
    filters=st.lists(filters(), max_size=1).map(tuple),
)
SINGLE = st.one_of(filters(), filters(), RELATED)
CONDITIONS = st.one_of(SINGLE, SINGLE, st.builds(AnyOf, any_of=st.lists(SINGLE, min_size=1, max_size=2).map(tuple)))
OVER = st.sampled_from(["value", "change", "growth", "running", "share", "rank"])
MEASURES = st.tuples(
    *(
        st.builds(
            Measure,
            name=st.just(name),
            metric=st.sampled_from(METRICS),
            filters=st.lists(CONDITIONS, max_size=1).map(tuple),
            over=OVER,
        )
        for name in ("m", "k")
    )
)
QUERIES = st.builds(
    lambda metrics, dimensions, **more: SemanticQuery(
        metrics=metrics, dimensions=dimensions if metrics or dimensions else ("people.name",), **more
    ),
    metrics=st.lists(st.sampled_from(METRICS), max_size=3, unique=True).map(tuple),
    measures=MEASURES,
    ratios=st.tuples(
        st.builds(Ratio, name=st.just("r"), numerator=st.sampled_from(METRICS), denominator=st.sampled_from(METRICS))
    ),
    dimensions=st.lists(st.sampled_from(PARTS), max_size=2, unique=True).map(tuple),
    per=st.lists(st.sampled_from(ENTITIES), max_size=1).map(tuple),
    filters=st.lists(CONDITIONS, max_size=2).map(tuple),
    window=st.one_of(st.none(), st.just(Window(start=date(2026, 1, 1), end=date(2026, 4, 1), label="Q1"))),
    time_dimension=st.one_of(
        st.none(), st.none(), st.sampled_from(["orders.paid_on", "tickets.opened_on", "people.name"])
    ),
    grain=st.sampled_from([None, None, "day", "week", "month", "quarter", "year"]),
    with_empty=st.booleans(),
    order=st.lists(
        st.builds(Order, by=st.sampled_from([*PARTS, *METRICS, "time"]), descending=st.booleans()), max_size=1
    ).map(tuple),
    limit=st.sampled_from([None, None, 1, 3]),
    with_ties=st.booleans(),
    limit_by=st.one_of(st.just(()), st.just(()), st.lists(st.sampled_from([*PARTS, "time"]), max_size=1).map(tuple)),
)


@pytest.fixture(scope="module")
def outcome(market, stalls):
    compiler, catalogue = Compiler(market), catalogue_of(market)

    def _outcome(query):
        try:
            compiled = compiler.compile(query)
        except Unanswerable as problem:
            assert problem.message
            return None, None
        reason = check_statement(compiled.sql, catalogue=catalogue, schemas=None).reason
        assert reason is None or "is the limit" in reason
        return compiled, stalls.execute(compiled.sql)

    return _outcome


@RANDOM
@given(QUERIES)
def test_any_query_runs_or_is_refused(outcome, query):
    compiled, found = outcome(query)
    if compiled is not None:
        assert [column[0] for column in found.description] == list(compiled.columns)
        assert [column.name for column in compiled.outputs] == list(compiled.columns)
