"""Days begin and end where the organisation is: moments of other zones are moved there, and zoneinfo agrees."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import duckdb
import pytest
import sqlglot
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context, Entity, TimeDimension
from bylaw.semantic.catalogue import catalogue_of
from bylaw.semantic.clauses.times import first_day
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Filter, SemanticQuery, Window
from bylaw.sql.gate import check_statement
from bylaw.warehouses.dialects import written
from bylaw.warehouses.port import WarehouseError
from tests.rows import each

RANDOM = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
ZONES = st.sampled_from(
    ["Europe/Amsterdam", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "America/St_Johns", "Australia/Lord_Howe",
     "America/Sao_Paulo", "Pacific/Kiritimati", "UTC"]
)  # fmt: skip
MOMENTS = st.lists(st.datetimes(datetime(2005, 1, 1), datetime(2025, 12, 31)), min_size=1, max_size=6)
GRAINS = st.sampled_from(["day", "week", "month", "quarter", "year"])
# the nights in which Amsterdam loses and gains an hour, on both sides of midnight and of the change itself
SPRING = [
    datetime(2026, 3, 28, 22, 59, 59),
    datetime(2026, 3, 28, 23),
    datetime(2026, 3, 29, 1),
    datetime(2026, 3, 29, 22),
]
AUTUMN = [
    datetime(2026, 10, 24, 21, 59),
    datetime(2026, 10, 24, 22),
    datetime(2026, 10, 25, 1),
    datetime(2026, 10, 25, 23),
]
TABLE = (
    "CREATE SCHEMA m; CREATE TABLE m.clicks (in_utc TIMESTAMP, there TIMESTAMP, absolute TIMESTAMPTZ, here TIMESTAMP)"
)


def context(calendar, there=None):
    clicks = Entity.model_validate(
        {
            "name": "clicks",
            "base_table": {"schema": "m", "table": "clicks"},
            "time_dimensions": [
                {"name": "in_utc", "time_zone": "UTC", "default": True},
                {"name": "there", "time_zone": there},
                {"name": "absolute", "data_type": "timestamp with time zone"},
                {"name": "here"},
            ],
        }
    )
    return Context(entities={"clicks": clicks}, calendar=Calendar.model_validate(calendar))


@pytest.fixture(scope="module")
def clicks():
    with duckdb.connect() as connection:
        connection.execute(TABLE)

        def _clicks(rows, query, context):
            connection.execute("TRUNCATE m.clicks")
            connection.executemany("INSERT INTO m.clicks VALUES (?, ?, ?::TIMESTAMP AT TIME ZONE 'UTC', ?)", rows)
            compiled = Compiler(context).compile(query)
            gate = check_statement(compiled.sql, catalogue=catalogue_of(context), schemas=None)
            assert gate.reason is None
            return connection.execute(compiled.sql).fetchall()

        yield _clicks


def _here(moment, zone):
    return moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


@RANDOM
@given(MOMENTS, ZONES, GRAINS, st.sampled_from(["in_utc", "absolute"]))
@example(SPRING, "Europe/Amsterdam", "day", "in_utc")
@example(AUTUMN, "Europe/Amsterdam", "day", "absolute")
def test_periods_are_those_of_the_organisation(clicks, moments, zone, grain, column):
    rows = [(moment, moment, moment, moment) for moment in moments]
    query = SemanticQuery(metrics=("count(clicks)",), grain=grain, time_dimension=f"clicks.{column}")
    calendar = Calendar(time_zone=zone)
    expected = Counter(first_day(_here(moment, zone).date(), grain, calendar) for moment in moments)
    told = sorted((day.year if grain == "year" else day, count) for day, count in expected.items())
    assert clicks(rows, query, context({"time_zone": zone})) == told


@RANDOM
@given(MOMENTS, ZONES, st.integers(-2, 2), st.integers(1, 40))
@example(SPRING, "Europe/Amsterdam", 0, 1)
def test_a_span_holds_the_moments_of_its_days(clicks, moments, zone, before, days):
    start = _here(moments[0], zone).date() + timedelta(days=before)
    window = Window(start=start, end=start + timedelta(days=days), label="x")
    expected = sum(window.start <= _here(moment, zone).date() < window.end for moment in moments)
    rows = [(moment, moment, moment, moment) for moment in moments]
    made = context({"time_zone": zone})
    assert clicks(rows, SemanticQuery(metrics=("count(clicks)",), window=window), made) == [(expected,)]
    day = Filter(dimension="clicks.absolute", values=(start.isoformat(),))
    on_it = sum(_here(moment, zone).date() == start for moment in moments)
    assert clicks(rows, SemanticQuery(metrics=("count(clicks)",), filters=(day,)), made) == [(on_it,)]


@RANDOM
@given(st.datetimes(datetime(2005, 1, 1), datetime(2025, 12, 31)), ZONES, ZONES)
def test_a_moment_of_another_zone_is_moved_from_there(clicks, moment, there, zone):
    aware = moment.replace(tzinfo=ZoneInfo(there))
    assume(aware.utcoffset() == aware.replace(fold=1).utcoffset())  # neither skipped nor shown twice
    query = SemanticQuery(dimensions=("clicks.there",))
    shown = aware.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    assert clicks([(moment,) * 4], query, context({"time_zone": zone}, there)) == [(shown,)]


def test_a_moment_of_no_said_zone_is_of_our_own_clocks(clicks):
    moment = datetime(2026, 3, 28, 23, 30)
    found = clicks([(moment,) * 4], SemanticQuery(dimensions=("clicks.here",)), context({"time_zone": "Asia/Tokyo"}))
    assert found == [(moment,)]


def test_without_a_zone_of_our_own_the_days_are_those_of_utc(clicks):
    rows = [(moment, moment, moment, moment) for moment in SPRING]
    query = SemanticQuery(metrics=("count(clicks)",), grain="day", time_dimension="clicks.there")
    assert clicks(rows, query, context({}, "Europe/Amsterdam")) == [(date(2026, 3, 28), 2), (date(2026, 3, 29), 2)]


def test_the_first_moment_is_one_of_ours(clicks):
    query = SemanticQuery(metrics=("min(clicks.in_utc)",))
    found = clicks([(SPRING[0],) * 4], query, context({"time_zone": "Europe/Amsterdam"}))
    assert found == [(datetime(2026, 3, 28, 23, 59, 59),)]


def test_the_date_column_is_said_with_its_zone():
    compiler = Compiler(context({"time_zone": "Europe/Amsterdam"}))
    by_day = compiler.compile(SemanticQuery(metrics=("count(clicks)",), grain="day"))
    assert by_day.time_column == "clicks.in_utc in Europe/Amsterdam time"
    plain = compiler.compile(SemanticQuery(metrics=("count(clicks)",), grain="day", time_dimension="clicks.here"))
    assert plain.time_column == "clicks.here"


WRITTEN = [
    ("postgres", "clicks.in_utc", "(clicks.in_utc) AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Tokyo'"),
    ("snowflake", "clicks.in_utc", "CONVERT_TIMEZONE('UTC', 'Asia/Tokyo', clicks.in_utc)"),
    ("snowflake", "clicks.absolute", "CAST(CONVERT_TIMEZONE('Asia/Tokyo', clicks.absolute) AS TIMESTAMPNTZ)"),
    ("bigquery", "clicks.in_utc", "DATETIME(TIMESTAMP(clicks.in_utc, 'UTC'), 'Asia/Tokyo')"),
    ("bigquery", "clicks.absolute", "DATETIME(clicks.absolute, 'Asia/Tokyo')"),
    ("trino", "clicks.in_utc", "CAST(AT_TIMEZONE(WITH_TIMEZONE(clicks.in_utc, 'UTC'), 'Asia/Tokyo') AS TIMESTAMP)"),
    ("mysql", "clicks.in_utc", "CONVERT_TZ(clicks.in_utc, 'UTC', 'Asia/Tokyo')"),
]


@pytest.mark.parametrize(("dialect", "column", "expected"), WRITTEN)
def test_other_databases_are_told_in_their_own_words(dialect, column, expected):
    made = context({"time_zone": "Asia/Tokyo"})
    sql = written(Compiler(made).compile(SemanticQuery(dimensions=(column,))).sql, dialect)
    assert sqlglot.parse_one(sql, dialect=dialect).expressions[0].this.sql(dialect=dialect) == expected
    assert check_statement(sql, catalogue=catalogue_of(made), schemas=None, dialect=dialect).reason is None


def test_a_database_without_words_for_it_is_not_asked():
    sql = Compiler(context({"time_zone": "Asia/Tokyo"})).compile(SemanticQuery(dimensions=("clicks.in_utc",))).sql
    with pytest.raises(WarehouseError, match="cannot be moved to another time zone in the SQL of `sqlite`"):
        written(sql, "sqlite")


@each(
    ("given_", "said"),
    [
        ({"time_zone": "Europe/Amsterdm"}, "`Europe/Amsterdm` is no time zone"),
        ({"time_zone": "../etc/passwd"}, "should match pattern"),
        ({"time_zone": "Europe"}, "is no time zone"),
        ({"time_zone": "UTC", "data_type": "TIMESTAMPTZ"}, "carry their time zone"),
        ({"time_zone": "UTC", "data_type": "date"}, "a day has no time zone"),
    ],
)
def test_a_zone_that_cannot_be_meant(given_, said):
    with pytest.raises(ValueError, match=said):
        TimeDimension.model_validate({"name": "at", **given_})


def test_how_long_something_took_is_no_matter_of_clocks(clicks):
    """From eleven in the evening to four in the night in which the clocks are put forward: four hours, one day."""
    rows = [(datetime(2026, 3, 28, 22), datetime(2026, 3, 28, 22), datetime(2026, 3, 29, 2), datetime(2026, 3, 29, 4))]
    asked = {"hours(clicks.in_utc, clicks.absolute)": 4, "hours(clicks.in_utc, clicks.here)": 4,
             "days(clicks.in_utc, clicks.here)": 1, "hours(2026-03-28, clicks.absolute)": 27}  # fmt: skip
    for between, expected in asked.items():
        query = SemanticQuery(dimensions=(f"clicks.{between}",))
        assert clicks(rows, query, context({"time_zone": "Europe/Amsterdam"})) == [(expected,)], between
