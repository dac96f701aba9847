"""Whole questions → rows: what is asked gives the rows of a statement that somebody wrote by hand."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import yaml

from bot.analytics.reader.reading import Bound, NotUnderstood, Unclear
from bylaw.semantic.query import Unanswerable
from tests.bot.analytics.conftest import TODAY
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("computed.yaml").read_text(encoding="utf-8"))
MEANT = """
WITH c AS (SELECT * FROM shop.customers WHERE NOT is_test),
  o AS (SELECT orders.* FROM shop.orders AS orders JOIN c USING (customer_id) WHERE status <> 'cancelled')
{means}
"""


def plain(rows):
    def told(value):
        is_text = isinstance(value, str | datetime | None)
        return str(value) if isinstance(value, datetime) else value if is_text else round(float(value), 4)

    return [tuple(map(told, row)) for row in rows]


@each(
    ("text", "means"), [(text, row["means"]) for row in ROWS["questions"] for text in row["texts"]], ids=lambda one: one
)
def test_the_answer_is_what_the_statement_gives(text, means, reader, compiler, warehouse):
    reading = reader.read(text, TODAY)
    assert isinstance(reading, Bound), reading
    rows = warehouse.run(compiler.compile(reading.query).sql, 1_000).rows
    assert rows
    assert plain(rows) == plain(warehouse.run(MEANT.format(means=means), 1_000).rows)


@pytest.mark.parametrize("row", ROWS["asked"], ids=lambda row: row["text"])
def test_which_of_several_numbers_is_meant_is_asked_and_each_choice_is_a_question(row, reader):
    reading = reader.read(row["text"], TODAY)
    assert isinstance(reading, Unclear)
    assert [choice.label for choice in reading.choices] == row["labels"]
    assert all(isinstance(reader.read(choice.value, TODAY), Bound) for choice in reading.choices)


@pytest.mark.parametrize("row", ROWS["refused"], ids=lambda row: row["text"])
def test_what_cannot_be_told_is_refused(row, reader, compiler):
    reading = reader.read(row["text"], TODAY)
    if isinstance(reading, Bound):
        with pytest.raises(Unanswerable, match=row["says"]):
            compiler.compile(reading.query)
    else:
        assert isinstance(reading, NotUnderstood)
        assert row["says"] in f"{reading.message} {reading.help} {' '.join(reading.words)}"
