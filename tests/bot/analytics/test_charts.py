"""Which rows are worth a picture, and which picture."""

from __future__ import annotations

from decimal import Decimal

from bot.analytics.plan.interfaces import Results
from bot.analytics.reply.charts import chart
from bylaw.semantic.compiler import Column
from tests.rows import each

MONTH = Column("month", "time", "time")
REGION = Column("region", "customers.region", "dimension")
STATUS = Column("status", "orders.status", "dimension")
REVENUE = Column("revenue", "revenue", "metric", "currency", "USD")
COST = Column("cost", "cost", "metric", "currency", "USD")
RATE = Column("rate", "rate", "metric", "percent", None)


def made(outputs, rows, truncated=False):
    columns = tuple(column.name for column in outputs)
    return chart(outputs, "T", Results(columns=columns, rows=tuple(rows), row_count=len(rows), truncated=truncated))


def test_numbers_over_time_are_a_line():
    found = made([MONTH, REVENUE, COST, RATE], [("2026-01-01", 1, 2, 0.5), ("2026-02-01", Decimal(3), None, 0.1)])
    assert (found.kind, found.x, found.y, found.series) == ("line", "month", ("revenue", "cost"), None)
    assert (found.format, found.unit, found.title) == ("currency", "USD", "T")


def test_groups_over_time_are_a_line_each():
    rows = [(f"2026-0{m}-01", region, m) for m in (1, 2) for region in ("EU", "US")]
    found = made([MONTH, REGION, REVENUE], rows)
    assert (found.kind, found.x, found.y, found.series) == ("line", "month", ("revenue",), "region")


def test_a_number_by_category_is_bars():
    found = made([REGION, RATE], [("EU", 0.5), (None, 0.1)])
    assert (found.kind, found.x, found.y, found.format) == ("bars", "region", ("rate",), "percent")


@each(
    ("outputs", "rows"),
    [
        ([REVENUE], [(1,)]),
        ([REGION, REVENUE], [("EU", 1)]),
        ([REGION, REVENUE], []),
        ([REGION, STATUS], [("EU", "a"), ("US", "b")]),
        ([REGION, STATUS, REVENUE], [("EU", "a", 1), ("US", "b", 2)]),
        ([REGION, REVENUE], [(f"r{i}", i) for i in range(31)]),
        ([REGION, REVENUE], [("EU", 1), ("EU", 2)]),
        ([REGION, REVENUE], [("EU", "a"), ("US", 2)]),
        ([REGION, REVENUE], [("EU", float("nan")), ("US", 2)]),
        ([REGION, REVENUE], [("EU", None), ("US", None)]),
        ([REGION, REVENUE], [("EU", True), ("US", False)]),
        ([MONTH, REGION, REVENUE], [("2026-01-01", f"r{i % 9}", i) for i in range(18)]),
        ([MONTH, REGION, STATUS, REVENUE], [("2026-01-01", "a", "b", 1), ("2026-02-01", "a", "b", 1)]),
        ([REVENUE, COST], [(1, 2), (3, 4)]),
    ],
)
def test_where_a_table_says_it_better_there_is_no_chart(outputs, rows):
    assert made(outputs, rows) is None


def test_a_result_that_was_cut_is_not_drawn():
    rows = [("EU", 1), ("US", 2)]
    assert made([REGION, REVENUE], rows) is not None
    assert made([REGION, REVENUE], rows, truncated=True) is None


def test_columns_of_another_name_are_not_drawn():
    results = Results(columns=("a", "b"), rows=(("EU", 1), ("US", 2)), row_count=2)
    assert chart([REGION, REVENUE], "T", results) is None
