"""Questions and what they mean in SQL that somebody wrote by hand: their rows are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.analytics.matched import Desk
from bot.analytics.reading import Bound
from bot.ask.ground import ground_of_data
from tests.bot.analytics.conftest import TODAY
from tests.bot.analytics.test_questions import told
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("related.yaml").read_text(encoding="utf-8"))
MEANT = """
WITH c AS (SELECT * FROM shop.customers WHERE NOT is_test),
  o AS (SELECT orders.* FROM shop.orders AS orders JOIN c USING (customer_id) WHERE status <> 'cancelled'),
  r AS (SELECT refunded_at, o.customer_id FROM finance.refunds JOIN shop.order_items AS i USING (order_item_id)
    JOIN o ON o.order_id = i.order_id)
"""


@pytest.fixture(scope="module")
def asked(index, compiler, warehouse):
    desk = Desk(ground_of_data(index, TODAY, None), compiler)

    def _asked(text):
        reading = desk.read(text).reading
        assert isinstance(reading, Bound), reading
        return warehouse.run(compiler.compile(reading.query).sql, 10_000).rows

    return _asked


def pairs(section):
    return [(text, row["means"]) for row in ROWS[section] for text in row["texts"]]


@each(("text", "means"), pairs("customers"), ids=lambda one: one)
def test_the_customers_are_those_that_are_meant(text, means, asked, warehouse):
    rows = asked(text)
    meant = warehouse.run(f"{MEANT} SELECT customer_id FROM c WHERE {means}", 10_000).rows
    keys = sorted(key for (key,) in meant)
    assert keys and len(keys) < 408  # a condition that all meet, or none, would show nothing
    assert rows == ((len(keys),),) or sorted(row[0] for row in rows) == keys


@each(("text", "means"), pairs("figures"), ids=lambda one: one)
def test_the_answer_is_what_the_statement_gives(text, means, asked, warehouse):
    rows = asked(text)
    assert rows
    assert told(rows) == told(warehouse.run(f"{MEANT} {means}", 1_000).rows)


@each("text", [*ROWS["form"], *ROWS["never"]], ids=lambda text: text)
def test_what_is_not_said_whole_is_not_read_as_something_else(text, index, compiler):
    reading = Desk(ground_of_data(index, TODAY, None), compiler).read(text).reading
    assert not isinstance(reading, Bound), reading.query
