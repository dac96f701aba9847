"""MetricFlow as a second opinion: for requests that both can read, the same numbers over random rows.

It leaves a sum of no rows empty where it is 0 here, and adds a last period to what looks back: neither is compared.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path

import duckdb
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery, Window
from tests.bylaw.semantic.conftest import MARKET

pytest.importorskip("metricflow", reason="MetricFlow is not installed")
pytestmark = pytest.mark.slow

PATH = Path(__file__).with_name("metricflow.yaml")
PEOPLE = {1: "Ann", 2: "Ben", 3: "Cleo"}
DAYS = st.dates(date(2026, 1, 1), date(2026, 5, 31))
OWNERS, CHANNELS, AMOUNTS = st.sampled_from(sorted(PEOPLE)), st.sampled_from(["web", "phone"]), st.integers(1, 90)
SPINE = "SELECT range AS ds FROM range(DATE '2025-12-01', DATE '2026-08-01', INTERVAL 1 DAY)"
NOON = time(12)
ROWS = st.fixed_dictionaries(
    {
        "orders": st.lists(st.tuples(OWNERS, CHANNELS, DAYS, AMOUNTS), min_size=1, max_size=12),
        "tickets": st.lists(st.tuples(OWNERS, DAYS, AMOUNTS), min_size=1, max_size=6),
        "balances": st.lists(st.tuples(OWNERS, DAYS, AMOUNTS), min_size=1, max_size=8),
    }
)
NAMES = {"people.name": "person__name", "orders.channel": "order__channel"}
SHARED = [(), ("people.name",)]
OF_ORDERS = [*SHARED, ("orders.channel",), ("people.name", "orders.channel")]
CASES = {
    "one": (["revenue", "order_count", "buyers", "average_order", "web_revenue", "web_share"], OF_ORDERS),
    "several": (["revenue", "minutes", "revenue_per_minute"], SHARED),
    "balances": (["balance", "total_balance"], SHARED),
    "running": (["revenue_so_far", "revenue_7_days", "revenue_to_date"], [()]),
    "back": (["revenue_growth"], [()]),
}


@st.composite
def requests(draw):
    kind = draw(st.sampled_from(sorted(CASES)))
    metrics, groups = CASES[kind]
    grain = draw(st.sampled_from([None, "day", "week", "month", "quarter"]))
    grain = {"running": "day", "back": "month"}.get(kind, grain)
    most = 2 if kind in ("one", "several") else 1
    window = None
    # MetricFlow widens a window to whole periods of the grain, which is another question.
    if kind in ("one", "several") and grain in (None, "day") and draw(st.booleans()):
        start = draw(DAYS)
        window = Window(start=start, end=start + timedelta(days=draw(st.integers(1, 90))), label="some days")
    return SemanticQuery(
        metrics=tuple(draw(st.lists(st.sampled_from(metrics), min_size=1, max_size=most, unique=True))),
        dimensions=draw(st.sampled_from(groups)),
        grain=grain,
        window=window,
    )


class _Client:
    """As much of a connection as a request needs to be written down."""

    def __init__(self):
        from metricflow.protocols.sql_client import SqlEngine
        from metricflow.sql.render.duckdb_renderer import DuckDbSqlPlanRenderer

        self.sql_engine_type = SqlEngine.DUCKDB
        self.sql_plan_renderer = DuckDbSqlPlanRenderer()


@pytest.fixture(scope="module")
def metricflow():
    """A request → the SQL that MetricFlow writes for it."""
    from metricflow.engine.metricflow_engine import MetricFlowEngine, MetricFlowQueryRequest
    from metricflow_semantic_interfaces.parsing.dir_to_model import (
        parse_yaml_files_to_validation_ready_semantic_manifest,
    )
    from metricflow_semantic_interfaces.parsing.objects import YamlConfigFile
    from metricflow_semantics.model.semantic_manifest_lookup import SemanticManifestLookup

    raw = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    parts = [*raw["semantic_models"], *raw["metrics"], {"project_configuration": raw["project_configuration"]}]
    files = [YamlConfigFile(filepath=f"{i}.yaml", contents=yaml.safe_dump(part)) for i, part in enumerate(parts)]
    manifest = parse_yaml_files_to_validation_ready_semantic_manifest(files).semantic_manifest
    engine = MetricFlowEngine(SemanticManifestLookup(manifest), _Client())

    def _sql(query):
        names = [f"metric_time__{query.grain}"] if query.grain else []
        window = query.window
        request = MetricFlowQueryRequest.create(
            metric_names=list(query.metrics),
            group_by_names=[*names, *(NAMES[name] for name in query.dimensions)],
            time_constraint_start=window and datetime.combine(window.start, datetime.min.time()),
            time_constraint_end=window and datetime.combine(window.end - timedelta(days=1), datetime.min.time()),
        )
        return engine.explain(request).sql_statement.sql

    return _sql


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        opened.execute(MARKET["tables"])
        opened.execute(f"CREATE SCHEMA mf; CREATE TABLE mf.days AS {SPINE}")
        for table in ("people", "orders", "tickets", "balances"):
            opened.execute(f"CREATE VIEW mf.{table} AS SELECT * FROM m.{table}")
        people = [(number, name, None, date(2026, 1, 1), False) for number, name in PEOPLE.items()]
        opened.executemany("INSERT INTO m.people VALUES (?, ?, ?, ?, ?)", people)
        yield opened


def _fill(connection, rows):
    orders, tickets = enumerate(rows["orders"]), enumerate(rows["tickets"])
    filled = {
        "orders": [
            (i, person, channel, datetime.combine(day, NOON), None, amount, False, None, None)
            for i, (person, channel, day, amount) in orders
        ],
        "tickets": [(i, person, "late", day, minutes) for i, (person, day, minutes) in tickets],
        "balances": rows["balances"],
    }
    for table, found in filled.items():
        connection.execute(f"TRUNCATE m.{table}")
        connection.executemany(f"INSERT INTO m.{table} VALUES ({', '.join('?' * len(found[0]))})", found)


def _answer(found, width):
    """Group → numbers, nothing and 0 being the same."""
    plain = [[cell.date() if isinstance(cell, datetime) else cell for cell in row] for row in found]
    numbers = {tuple(row[:-width]): [round(float(cell or 0), 6) for cell in row[-width:]] for row in plain}
    return {group: row for group, row in numbers.items() if any(row)}


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS, requests())
def test_metricflow_finds_the_same_numbers(connection, metricflow, market, rows, query):
    _fill(connection, rows)
    width = len(query.metrics)
    ours = _answer(connection.execute(Compiler(market).compile(query).sql).fetchall(), width)
    cursor = connection.execute(metricflow(query))
    names = [column[0] for column in cursor.description]
    order = [f"metric_time__{query.grain}"] if query.grain else []
    order = [names.index(name) for name in (*order, *(NAMES[name] for name in query.dimensions), *query.metrics)]
    theirs = _answer([[row[i] for i in order] for row in cursor.fetchall()], width)
    if query.metrics == ("revenue_growth",):
        periods = {group for group in theirs if group in ours or theirs[group] == [0.0]}
        assert {group: row for group, row in theirs.items() if group in periods} == ours
    elif query.metrics[0] in CASES["running"][0]:
        assert {group: row for group, row in theirs.items() if group in ours} == ours
    else:
        assert ours == theirs
