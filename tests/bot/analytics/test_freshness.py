"""Up to when the data goes, by an injected clock: what is looked up when, and what is said of it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from bot.analytics.plan import freshness
from bot.analytics.plan.freshness import Boundary
from bylaw.authored.context import Context, Entity
from bylaw.bundle import SchemaVersion
from bylaw.warehouses.port import Rows
from tests.rows import each

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


def entity(max_age="2 days", name="orders"):
    kept = None if max_age is None else {"as_of_column": "ordered_at", "max_age": max_age}
    return Entity.model_validate(
        {
            "name": name,
            "base_table": {"schema": "shop", "table": name},
            "dimensions": [{"name": "status"}],
            "freshness": kept,
        }
    )


class Shelf:
    """A warehouse that says one newest moment and has some columns."""

    dialect = "duckdb"

    def __init__(self, newest=None, columns=()):
        self.newest, self.there, self.ran = newest, columns, []

    def run(self, sql, limit, stop=None):
        self.ran.append(sql)
        return Rows(("newest",), ((self.newest,),))

    def columns(self, schema, table):
        return self.there


@each(
    ("newest", "ends"),
    [
        (datetime(2026, 11, 20, 8), None),
        (datetime(2026, 11, 18, 0, 0), None),
        (datetime(2026, 11, 17, 23, 59), "17 November"),
        (date(2026, 11, 7), "7 November"),
        ("2026-11-07T12:00:00", "7 November"),
        ("2025-11-07", "7 November 2025"),
        (datetime(2026, 11, 7, tzinfo=UTC), "7 November"),
        (None, None),
        ("***", None),
        (7, None),
        (datetime(2027, 1, 1), None),
    ],
    ids=str,
)
def test_data_that_is_too_old_is_said_with_its_last_day(newest, ends):
    boundary = freshness.looked_up(entity(), Shelf(newest))
    assert freshness.said(boundary, NOW) == (None if ends is None else f"Data of orders ends {ends}.")


@each(
    ("text", "expected"),
    [
        ("1 day", timedelta(days=1)),
        ("36 hours", timedelta(hours=36)),
        ("2 Weeks", timedelta(days=14)),
        ("31 days", timedelta(days=31)),
        ("soon", None),
        ("-1 days", None),
        ("1.5 days", None),
        ("9999999 days", None),
        ("", None),
    ],
)
def test_an_age_is_a_number_and_a_unit(text, expected):
    assert freshness.span(text) == expected


@each(
    ("until", "reaches"),
    [
        (None, True),
        (date(2026, 11, 21), True),
        (date(2026, 11, 19), True),
        (date(2026, 11, 18), False),
        (date(2026, 1, 1), False),
    ],
)
def test_a_question_about_long_ago_does_not_ask_how_new_the_data_is(until, reaches):
    assert freshness.reaches_now(entity(), NOW, until) == reaches
    assert not freshness.reaches_now(entity(max_age=None), NOW, until)


def test_the_score_falls_from_the_age_that_is_allowed_to_twice_that_age():
    def score(day):
        return Boundary("orders", datetime(2026, 11, day, tzinfo=UTC), timedelta(days=2)).score(NOW, Decimal(2))

    assert [score(day) for day in (20, 18, 17, 16, 1)] == [1, 1, Decimal("0.5"), 0, 0]
    assert Boundary("orders", None, timedelta(days=2)).score(NOW, Decimal(2)) == 0


def test_an_entity_that_declares_nothing_is_not_looked_up():
    shelf = Shelf()
    assert freshness.looked_up(entity(max_age=None), shelf) is None
    assert freshness.looked_up(entity(max_age="soon"), shelf) is None
    assert shelf.ran == []


def test_columns_that_a_table_lost_are_named():
    context = Context(entities={"orders": entity()})
    assert freshness.missing(context, ["orders"], Shelf(columns=("STATUS",))) == {"orders": ("ordered_at",)}
    assert freshness.missing(context, ["orders"], Shelf(columns=("status", "ordered_at", "more"))) == {}
    assert freshness.missing(context, ["orders"], Shelf()) == {}, "nobody described the table"


MEASURED = SchemaVersion(declared="d", measured="m", columns=["id", "ordered_at", "status"])


@each(
    ("there", "said"),
    [
        (("status", "ID", "Ordered_At"), None),
        (("id", "ordered_at", "status", "extra"), "1 column is new"),
        (("id", "ordered_at"), "1 column is gone"),
        (("a", "b", "ordered_at", "status"), "2 columns are new and 1 column is gone"),
        ((), None),
    ],
)
def test_a_table_that_is_not_as_it_was_measured_is_told(there, said):
    context = Context(entities={"orders": entity()})
    found = freshness.drifts(context, ["orders"], {"orders": MEASURED}, Shelf(columns=there))
    expected = (
        {} if said is None else {"orders": f"The table of orders is not as it was measured for the catalogue: {said}."}
    )
    assert {name: drift.said for name, drift in found.items()} == expected


def test_a_table_that_nobody_measured_has_not_changed():
    context = Context(entities={"orders": entity()})
    for versions in ({}, {"orders": SchemaVersion(declared="d")}):
        assert freshness.drifts(context, ["orders"], versions, Shelf(columns=("x",))) == {}


def test_the_statement_is_written_for_its_warehouse():
    assert freshness.statement(entity(), "postgres").split() == (
        ["SELECT", "MAX(orders.ordered_at)", "AS", "newest", "FROM", "shop.orders", "AS", "orders"]
    )
    assert freshness.statement(entity(max_age=None), "duckdb") is None
