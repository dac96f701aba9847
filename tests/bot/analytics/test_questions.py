"""Whole questions without a model: read whole they give these rows; anything else is a form, and nothing is guessed."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.analytics.matched import Desk
from bot.analytics.reading import Bound, NotUnderstood, Unclear
from bot.ask.ground import ground_of_data
from bylaw.semantic.query import Filter, Related, SemanticQuery
from tests.rows import each

ROWS = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
TODAY = date(2026, 11, 20)
PIECES = """which,list,show,how many,number of,total,average,highest,top 3,most,ratio of,to,by,each,of,with,without
who have,more than,at least,5,between,100,and,200,or,not,from,in,last month,in 2026,month over month,on weekends,orders
customers,refunds,products,region,category,total amount,net revenue,laptops,EU,sorted by,descending,all"""


@pytest.fixture(scope="module")
def desk(index, compiler):
    return Desk(ground_of_data(index, TODAY, None), compiler)


def told(rows):
    """The rows in any order, with their figures to four places, and their cells in any order."""

    def cell(value):
        is_figure = not isinstance(value, str | bool | None) and hasattr(value, "__float__")
        return repr(round(float(value), 4)) if is_figure else str(value)

    return sorted(tuple(sorted(map(cell, row))) for row in rows)


@each("row", ROWS["at_once"], ids=lambda row: row["text"])
def test_a_question_gives_the_rows_of_this_query(row, desk, compiler, warehouse):
    reading = desk.read(row["text"]).reading
    assert isinstance(reading, Bound), reading
    ours, meant = (compiler.compile(one).sql for one in (reading.query, SemanticQuery.model_validate(row["query"])))
    assert told(warehouse.run(ours, 10_000).rows) == told(warehouse.run(meant, 10_000).rows)


@each("text", [*ROWS["form"], *ROWS["never"]], ids=lambda text: text)
def test_what_is_not_said_whole_is_not_read_as_something_else(text, desk):
    assert not isinstance(desk.read(text).reading, Bound)


@each("row", ROWS["at_once"], ids=lambda row: row["text"])
def test_capitals_and_a_question_mark_change_nothing(row, desk):
    said = f"{row['text'][:1].upper()}{row['text'][1:]}?"
    assert desk.read(said).reading.query == desk.read(row["text"]).reading.query


@pytest.mark.parametrize(
    "where", [0.5, *(pytest.param(one, marks=pytest.mark.slow) for one in (0, 1))], ids=["middle", "begin", "end"]
)
@each("row", ROWS["at_once"], ids=lambda row: row["text"])
def test_an_unknown_word_anywhere_is_never_skipped(row, desk, where):
    words = row["text"].split()
    place = int(len(words) * where)
    said = " ".join([*words[:place], "flurbish", *words[place:]])
    assert not isinstance(desk.read(said).reading, Bound), said


def test_a_question_too_long_to_read_whole_is_refused_whole(desk):
    reading = desk.read("net revenue" + " please" * 600).reading
    assert isinstance(reading, NotUnderstood)
    assert "at most" in reading.message


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES.replace("\n", ",").split(",")), max_size=9).map(" ".join))
def test_words_in_any_order_are_read_whole_or_left(desk, compiler, text):
    reading = desk.read(text).reading
    assert isinstance(reading, Bound | Unclear | NotUnderstood)
    if not isinstance(reading, Bound):
        return
    for value in ("EU", "laptops"):
        if value in text:
            assert value in _values(reading.query), reading.query
    compiler.compile(reading.query)


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
def test_a_follow_up_keeps_what_it_does_not_change(row, desk, compiler, warehouse):
    items = None
    for text in row["said"]:
        reading = desk.read(text, items).reading
        assert isinstance(reading, Bound), reading
        items = list(reading.items)
    ours, meant = (compiler.compile(one).sql for one in (reading.query, SemanticQuery.model_validate(row["query"])))
    assert told(warehouse.run(ours, 10_000).rows) == told(warehouse.run(meant, 10_000).rows)
