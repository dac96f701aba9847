"""What ranks equal with the last one shown is told, counted by SQL of its own."""

from __future__ import annotations

import pytest

from bot.analytics.answer import answer
from bot.analytics.headline import listed
from bot.analytics.reply.ties import UNSEEN
from bot.conversation import Question
from bylaw.warehouses.port import WarehouseError
from tests.bot.analytics.conftest import NOW

RANKED = """
WITH n AS (SELECT customer_id, count(*) AS n FROM shop.orders JOIN shop.customers USING (customer_id)
  WHERE NOT is_test AND status <> 'cancelled' GROUP BY customer_id)
SELECT customer_id FROM (SELECT customer_id, n, rank() OVER (ORDER BY n {order}) AS place FROM n)
WHERE place <= {limit} ORDER BY n {order}, customer_id
"""
UNTIED = "which region has the most customers"
TIED = "which customer has the fewest orders"


@pytest.fixture(scope="module")
def ranked(warehouse):
    return lambda order, limit: [key for (key,) in warehouse.run(RANKED.format(order=order, limit=limit), 1_000).rows]


@pytest.mark.parametrize(
    ("text", "order", "limit", "is_tied"),
    [
        ("top 5 customers by number of orders", "DESC", 5, True),
        ("top 3 customers by number of orders", "DESC", 3, False),
        ("which 3 customers have the fewest orders", "ASC", 3, True),
        (TIED, "ASC", 1, True),
    ],
)
def test_they_are_named(text, order, limit, is_tied, ask, ranked):
    reply, equal = ask(text).reply, ranked(order, limit)
    assert [row[0] for row in reply.rows] == equal[:limit]
    names = [str(key) for key in equal[limit : limit + 5]]
    names += ["others"] if len(equal) > limit + 5 else []
    assert is_tied == bool(names)
    who = "it" if limit == 1 else "the last"
    said = f" Tied with {who}: {listed(names)}." if names else ""
    assert reply.text.partition(".")[2] == said


@pytest.mark.parametrize("text", [UNTIED, "net revenue by region", "net revenue", "top 50 regions by net revenue"])
def test_nothing_is_said_where_nothing_is_tied(text, ask):
    assert "Tied" not in ask(text).reply.text


def test_those_of_each_group_are_named(ask, warehouse):
    reply = ask("which product has the most orders in each category this year").reply
    sold = """
        SELECT category, product_name, count(*) AS n FROM shop.order_items JOIN shop.orders USING (order_id)
        JOIN shop.customers USING (customer_id) JOIN shop.products USING (product_id)
        WHERE NOT is_test AND status <> 'cancelled' AND year(ordered_at) = 2026 GROUP BY ALL"""
    best = warehouse.run(
        f"SELECT product_name, category FROM ({sold}) QUALIFY rank() OVER (PARTITION BY category ORDER BY n DESC) = 1",
        99,
    ).rows
    tied = sorted(set(best) - set(reply.rows))
    assert tied and set(reply.rows) < set(best)
    assert reply.text.endswith(f" Tied with them: {' and '.join(' / '.join(row) for row in tied)}.")


class Failing:
    """The warehouse, but for the question with ties."""

    def __init__(self, warehouse):
        self._warehouse = warehouse

    def __getattr__(self, name):
        return getattr(self._warehouse, name)

    def run(self, sql, limit, stop=None):
        if "RANK()" in sql:
            raise WarehouseError("too slow")
        return self._warehouse.run(sql, limit, stop)


def test_where_it_cannot_be_seen_the_answer_says_so(index, warehouse, ask):
    question = Question(text=TIED, asked_at=NOW, request_id="r-1", session_id="s-1")
    reply = answer(question, {}, index, Failing(warehouse), None).reply
    assert reply.rows == ask(TIED).reply.rows
    assert UNSEEN in reply.caveats and "Tied" not in reply.text
