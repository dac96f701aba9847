"""Whole questions → whole queries: lists, aggregates, comparisons, relations, ratios, ranks, periods, changes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.analytics.reader.read import Reader
from bot.analytics.reader.reading import Bound, NotUnderstood, Unclear
from bot.analytics.reader.scope import lexicon_of
from bylaw.authored.context import Dimension, Fact
from bylaw.semantic.query import Filter, Related, SemanticQuery, Unanswerable
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 20)
PIECES = """which,list,show,how many,number of,total,average,highest,top 3,most,ratio of,to,by,each,of,with,without
who have,more than,at least,5,between,100,and,200,or,not,from,in,last month,in 2026,month over month,on weekends,orders
customers,refunds,products,region,category,total amount,net revenue,laptops,EU,sorted by,descending,all"""


@each("row", ROWS["questions"], ids=lambda row: row["text"])
def test_a_question_is_read_as_this_query(row, reader):
    reading = reader.read(row["text"], TODAY)
    assert isinstance(reading, Bound), reading
    assert reading.query == SemanticQuery.model_validate(row["query"])


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (
            "which stores have cafes",
            {"dimensions": ["stores.store_name"], "filters": [{"dimension": "stores.has_cafe", "values": [True]}]},
        ),
        (
            "total number of seats by store city",
            {"metrics": ["sum(stores.seats)"], "dimensions": ["stores.store_city"]},
        ),
        ("how many store visits in each year", {"metrics": ["store_visitors"], "grain": "year"}),
        (
            "how many stores are there and how many of them are open",
            {
                "metrics": ["store_count", "store_count_1"],
                "measures": [
                    {
                        "name": "store_count_1",
                        "metric": "store_count",
                        "filters": [{"dimension": "stores.is_open", "values": [True]}],
                    }
                ],
            },
        ),
        (
            "what percentage of stores are open",
            {
                "metrics": ["percentage"],
                "measures": [
                    {
                        "name": "store_count_1",
                        "metric": "store_count",
                        "filters": [{"dimension": "stores.is_open", "values": [True]}],
                    }
                ],
                "ratios": [
                    {
                        "name": "percentage",
                        "numerator": "store_count_1",
                        "denominator": "store_count",
                        "in_percent": True,
                    }
                ],
            },
        ),
    ],
)
def test_what_a_row_has_narrows_and_what_it_has_many_of_adds_up(index, text, query):
    known = index.bundle.context
    stores = known.entities["stores"]
    cafe = Dimension(name="has_cafe", expr="has_cafe", data_type="boolean", synonyms=["cafe"])
    seats = Fact(name="seats", expr="seats", default_aggregation="avg")
    opened = Dimension(name="is_open", expr="is_open", data_type="boolean")
    year = Dimension(name="year", expr="opened_year", data_type="integer")
    more = {"dimensions": [*stores.dimensions, cafe, opened, year], "facts": [*stores.facts, seats]}
    context = known.model_copy(update={"entities": {**known.entities, "stores": stores.model_copy(update=more)}})
    reading = Reader(context, lexicon_of(context)).read(text, TODAY)
    assert isinstance(reading, Bound), reading
    assert reading.query == SemanticQuery.model_validate(query)


@each("row", ROWS["questions"], ids=lambda row: row["text"])
def test_what_is_read_can_be_computed(row, reader, compiler, warehouse):
    compiled = compiler.compile(reader.read(row["text"], TODAY).query)
    assert warehouse.run(compiled.sql, 10_000).columns == compiled.columns


@each("row", ROWS["refused"], ids=lambda row: row["text"])
def test_what_the_words_leave_open_is_named(row, reader):
    reading = reader.read(row["text"], TODAY)
    assert isinstance(reading, NotUnderstood), reading
    assert list(reading.words) == row["words"]


@each("row", ROWS["form"], ids=lambda row: row["text"])
def test_what_the_form_asks_is_not_read_as_something_else(row, reader):
    assert not isinstance(reader.read(row["text"], TODAY), Bound)


@each("row", ROWS["questions"], ids=lambda row: row["text"])
def test_capitals_and_a_question_mark_change_nothing(row, reader):
    said = f"{row['text'][:1].upper()}{row['text'][1:]}?"
    assert reader.read(said, TODAY).query == reader.read(row["text"], TODAY).query


@pytest.mark.parametrize(
    "where", [0.5, *(pytest.param(one, marks=pytest.mark.slow) for one in (0, 1))], ids=["middle", "begin", "end"]
)
@each("row", ROWS["questions"], ids=lambda row: row["text"])
def test_an_unknown_word_anywhere_is_never_skipped(row, reader, where):
    words = row["text"].split()
    place = int(len(words) * where)
    said = " ".join([*words[:place], "flurbish", *words[place:]])
    assert not isinstance(reader.read(said, TODAY), Bound), said


@pytest.mark.parametrize("text", ["net revenue in EU " + "and the US " * 200, "net revenue" + " please" * 600])
def test_a_question_too_long_to_read_whole_is_refused_whole(text, reader):
    reading = reader.read(text, TODAY)
    assert isinstance(reading, NotUnderstood)
    assert "at most" in reading.message


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES.replace("\n", ",").split(",")), max_size=9).map(" ".join))
def test_words_in_any_order_are_read_or_refused_and_computed_or_refused(reader, compiler, text):
    reading = reader.read(text, TODAY)
    assert isinstance(reading, Bound | Unclear | NotUnderstood)
    if not isinstance(reading, Bound):
        return
    for value in ("EU", "laptops"):
        if value in text:
            assert value in _values(reading.query), reading.query
    try:
        compiler.compile(reading.query)
    except Unanswerable:
        return


def _values(query):
    """Every value that a condition of the query compares with, wherever it stands."""
    waiting = [*query.filters, *(part for measure in query.measures for part in measure.filters)]
    found = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Filter):
            found |= set(part.values)
        else:
            waiting += part.filters if isinstance(part, Related) else part.any_of
    return found


@pytest.mark.parametrize("row", ROWS["dialogues"], ids=lambda row: " → ".join(row["said"]))
def test_a_follow_up_keeps_what_it_does_not_change(row, reader):
    query = None
    for text in row["said"]:
        reading = reader.read(text, TODAY, query)
        assert isinstance(reading, Bound), reading
        query = reading.query
    assert query == SemanticQuery.model_validate(row["query"])
