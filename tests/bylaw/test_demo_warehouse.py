"""The demo data: the same for one day, linked, and full of the traps that the gotchas are about."""

from __future__ import annotations

import time
from datetime import date, datetime

import duckdb
import pytest

from bylaw.demos.warehouse import build

TODAY = date(2026, 11, 20)
TABLES = [
    "shop.customers",
    "shop.products",
    "shop.orders",
    "shop.order_items",
    "finance.refunds",
    "finance.subscriptions",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    target = tmp_path_factory.mktemp("demo") / "demo.duckdb"
    build(target, TODAY)
    return target


@pytest.fixture
def demo(path):
    connection = duckdb.connect(str(path), read_only=True)
    yield connection
    connection.close()


def _one(demo, sql):
    return demo.execute(sql).fetchone()[0]


def _content(path):
    with duckdb.connect(str(path), read_only=True) as connection:
        return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES}


@pytest.mark.slow
def test_two_builds_of_one_day_hold_the_same_rows(path, tmp_path):
    build(tmp_path / "again.duckdb", TODAY)
    assert _content(tmp_path / "again.duckdb") == _content(path)


def test_another_day_moves_the_dates(path, tmp_path):
    build(tmp_path / "later.duckdb", date(2027, 1, 1))
    later = _content(tmp_path / "later.duckdb")["shop.orders"]
    assert max(row[4] for row in later).date() == date(2027, 1, 1)


def test_there_are_a_few_thousand_rows(demo):
    total = sum(_one(demo, f"SELECT count(*) FROM {table}") for table in TABLES)
    assert 5_000 < total < 20_000


def test_nothing_happens_after_the_injected_day(demo):
    end = datetime(2026, 11, 21)
    assert _one(demo, "SELECT max(ordered_at) FROM shop.orders") < end
    assert _one(demo, "SELECT max(refunded_at) FROM finance.refunds") < end
    assert _one(demo, "SELECT max(started_at) FROM finance.subscriptions") < end.date()


@pytest.mark.parametrize(
    ("child", "parent", "key"),
    [
        ("shop.orders", "shop.customers", "customer_id"),
        ("shop.order_items", "shop.orders", "order_id"),
        ("shop.order_items", "shop.products", "product_id"),
        ("finance.refunds", "shop.order_items", "order_item_id"),
        ("finance.subscriptions", "shop.customers", "customer_id"),
    ],
)
def test_every_reference_leads_somewhere(demo, child, parent, key):
    assert _one(demo, f"SELECT count(*) FROM {child} WHERE {key} NOT IN (SELECT {key} FROM {parent})") == 0


def test_an_order_costs_what_its_items_cost(demo):
    wrong = """
        SELECT count(*) FROM shop.orders o
        WHERE total_amount <> (SELECT sum(quantity * unit_price - discount_amount)
                               FROM shop.order_items i WHERE i.order_id = o.order_id)
    """
    assert _one(demo, wrong) == 0


def test_refunds_on_items_equal_the_refunds_paid(demo):
    paid = _one(demo, "SELECT sum(amount) FROM finance.refunds")
    assert paid == _one(demo, "SELECT sum(refunded_amount) FROM shop.order_items")


def test_test_accounts_would_change_the_numbers(demo):
    share = """
        SELECT sum(total_amount) FILTER (is_test) / sum(total_amount)
        FROM shop.orders JOIN shop.customers USING (customer_id)
    """
    assert _one(demo, share) > 0.2


def test_cancelled_orders_would_change_the_numbers(demo):
    assert _one(demo, "SELECT count(*) FILTER (status = 'cancelled') / count(*) FROM shop.orders") > 0.05


def test_a_build_costs_little(tmp_path):
    started = time.process_time()
    build(tmp_path / "demo.duckdb", TODAY)
    assert time.process_time() - started < 3


@pytest.mark.slow
def test_a_build_replaces_the_file_and_leaves_nothing_beside_it(tmp_path):
    target = tmp_path / "deep" / "demo.duckdb"
    build(target, TODAY)
    build(target, date(2026, 11, 21))
    assert [path.name for path in target.parent.iterdir()] == ["demo.duckdb"]
