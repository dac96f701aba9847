"""Rows by what belongs to them: what is asked gives the rows that the same condition in SQL gives."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.analytics.reader.read import Reader
from bot.analytics.reader.reading import Bound, NotUnderstood
from bot.analytics.reader.scope import lexicon_of
from bylaw.semantic.compiler import Compiler
from tests.bot.analytics.conftest import TODAY
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("related.yaml").read_text(encoding="utf-8"))
MEANT = """
WITH c AS (SELECT * FROM shop.customers WHERE NOT is_test), o AS (SELECT * FROM shop.orders),
  r AS (SELECT refunded_at, o.customer_id FROM finance.refunds JOIN shop.order_items AS i USING (order_item_id)
    JOIN o ON o.order_id = i.order_id)
SELECT customer_id FROM c WHERE {means}
"""


@pytest.fixture(scope="module")
def asked(index, warehouse):
    context = index.bundle.context
    compiler = Compiler(context)
    reader = Reader(context, lexicon_of(context))

    def _asked(texts):
        query = None
        for text in texts:
            reading = reader.read(text, TODAY, query)
            if not isinstance(reading, Bound):
                return reading, None
            query = reading.query
        compiled = compiler.compile(query)
        return reading, warehouse.run(compiled.sql, 10_000).rows

    return _asked


def meant(warehouse, means):
    return sorted(key for (key,) in warehouse.run(MEANT.format(means=means), 10_000).rows)


def held(rows, is_counted, keys):
    assert keys and len(keys) < 408  # a condition that all meet, or none, would show nothing
    return rows == ((len(keys),),) if is_counted else sorted(row[0] for row in rows) == keys


@each(
    ("text", "means"), [(text, row["means"]) for row in ROWS["questions"] for text in row["texts"]], ids=lambda one: one
)
def test_the_rows_are_those_that_are_meant(text, means, asked, warehouse):
    reading, rows = asked([text])
    assert rows is not None, reading
    assert held(rows, text.startswith(("how many", "number")), meant(warehouse, means)), reading.query


@pytest.mark.parametrize("row", ROWS["follow_ups"], ids=lambda row: row["texts"][-1])
def test_whose_other_days_are_meant_is_asked(row, asked):
    reading, rows = asked(row["texts"])
    assert isinstance(reading, NotUnderstood) and rows is None


@pytest.mark.parametrize("row", ROWS["refused"], ids=lambda row: row["text"])
def test_what_could_mean_two_things_is_not_guessed(row, asked):
    reading, rows = asked([row["text"]])
    assert isinstance(reading, NotUnderstood) and rows is None
    assert list(reading.words) == row["words"]
