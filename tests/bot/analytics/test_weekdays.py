"""Weekends of rows that have no date but a column of the names of days."""

from __future__ import annotations

from datetime import date

from bot.analytics.reader.read import Reader
from bot.analytics.reader.reading import Bound, NotUnderstood
from bot.analytics.reader.scope import lexicon_of
from bylaw.authored.context import Context
from tests.rows import each

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]  # nobody came on a Sunday so far


def context(values):
    visits = {
        "name": "visits",
        "base_table": {"schema": "m", "table": "visits"},
        "primary_key": {"columns": ["visit_id"]},
        "dimensions": [{"name": "day", "is_enum": True, "sample_values": values}],
    }
    return Context.model_validate({"entities": {"visits": visits}})


def read(values, text):
    known = context(values)
    return Reader(known, lexicon_of(known)).read(text, date(2026, 11, 20))


@each(
    ("text", "days"),
    [
        ("how many visits on weekends", ("saturday", "sunday")),
        ("how many visits on weekdays", ("monday", "tuesday", "wednesday", "thursday", "friday")),
    ],
)
def test_the_days_are_those_of_the_column(text, days):
    reading = read(DAYS, text)
    assert isinstance(reading, Bound)
    assert [(part.dimension, part.values, part.negated) for part in reading.query.filters] == [
        ("visits.day", days, False)
    ]


def test_a_column_of_other_words_is_no_calendar():
    reading = read(["monday", "holiday"], "how many visits on weekends")
    assert isinstance(reading, NotUnderstood)
    assert "has no date" in reading.message
