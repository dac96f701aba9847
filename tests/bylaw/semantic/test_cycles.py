"""Months and weekdays come in the order of the calendar, whatever the names of other things begin with."""

from __future__ import annotations

import duckdb
import pytest

from bylaw.authored.context import Context
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Order, SemanticQuery

TABLE = "CREATE SCHEMA m; CREATE TABLE m.visits (day TEXT, n INT)"
DAYS = ["Friday", "Monday", "Saturday", "Sunday"]


def asked(values, rows, week_start="monday", column=None, **query):
    column = column or {"name": "day", "is_enum": True, "sample_values": values}
    context = Context.model_validate(
        {
            "entities": {
                "visits": {
                    "name": "visits",
                    "base_table": {"schema": "m", "table": "visits"},
                    "dimensions": [{**column, "expr": "day"}],
                    "facts": [{"name": "n"}],
                }
            },
            "metrics": {"visitors": {"name": "visitors", "entity": "visits", "agg": "sum", "expr": "n"}},
            "calendar": {"week_start": week_start},
        }
    )
    given = SemanticQuery(metrics=("visitors",), dimensions=(f"visits.{column['name']}",), **query)
    with duckdb.connect() as connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO m.visits VALUES (?, ?)", rows)
        return [row[0] for row in connection.execute(Compiler(context).compile(given).sql).fetchall()]


@pytest.mark.parametrize(
    ("values", "week_start", "order"),
    [
        (DAYS, "monday", ["Monday", "Friday", "Saturday", "Sunday"]),
        (DAYS, "sunday", ["Sunday", "Monday", "Friday", "Saturday"]),
        (["Dec", "Apr.", "JAN"], "monday", ["JAN", "Apr.", "Dec"]),
        (["May", "April", "March", "Month"], "monday", ["March", "April", "May", "Month"]),
        (["Sept", "October", "June"], "monday", ["June", "Sept", "October"]),
        (["marketing", "decor", "sunrise"], "monday", ["sunrise", "decor", "marketing"]),
        (["May", "Will"], "monday", ["Will", "May"]),
        (["Ma", "Ju"], "monday", ["Ju", "Ma"]),
    ],
)
def test_what_is_named_after_the_calendar_is_sorted_like_it(values, week_start, order):
    """Anything else is sorted by its number, the highest first."""
    assert asked(values, [(value, n) for n, value in enumerate(values)], week_start) == order


def test_an_order_that_is_asked_for_stays():
    rows = [(value, n) for n, value in enumerate(DAYS)]
    assert asked(DAYS, rows, order=(Order(by="visitors", descending=True),)) == DAYS[::-1]
    by_day = (Order(by="visits.day", descending=True),)
    assert asked(DAYS, rows, order=by_day) == ["Sunday", "Saturday", "Friday", "Monday"]
    assert asked(DAYS, rows, order=by_day, limit=2) == ["Sunday", "Saturday"]


@pytest.mark.parametrize(
    ("name", "data_type", "order"),
    [
        ("year", "integer", ["1", "2", "3"]),
        ("semester_id", "BIGINT", ["1", "2", "3"]),
        ("fiscal_week", "numeric(4, 0)", ["1", "2", "3"]),
        ("semester", "varchar", ["2", "3", "1"]),
        ("open_days", "integer", ["2", "3", "1"]),
        ("customer_id", "integer", ["2", "3", "1"]),
        ("year", None, ["2", "3", "1"]),
    ],
)
def test_numbers_of_periods_follow_one_another(name, data_type, order):
    column = {"name": name, "data_type": data_type}
    assert asked([], [("1", 5), ("2", 9), ("3", 7)], column=column) == order
