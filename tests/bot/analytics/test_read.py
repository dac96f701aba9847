"""How questions are read: bound word by word, asked back, or refused by name."""

from __future__ import annotations

import string
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.analytics.reader.asking import is_write_request
from bot.analytics.reader.grammar.parse import parse
from bot.analytics.reader.read import Reader
from bot.analytics.reader.reading import Bound, NotUnderstood, Unclear
from bot.analytics.reader.scope import lexicon_of
from bot.analytics.reader.wording import FILLERS
from bylaw.language.words import read_words
from bylaw.semantic.query import SemanticQuery
from tests.rows import each

HERE = Path(__file__).parent
ROWS = yaml.safe_load((HERE / "read.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def reader(index):
    context, rules = index.bundle.context, index.rules
    phrases = (*rules.risk.stakes_phrases(), *rules.autonomy.preference_phrases())
    return Reader(context, lexicon_of(context, phrases))


@pytest.fixture(scope="module")
def read(reader):
    def _read(text, previous=None):
        return reader.read(text, date(2026, 11, 20), previous)

    return _read


def _check(row, query):
    assert query.metrics == tuple(row["metrics"])
    assert query.dimensions == tuple(row.get("dimensions", ()))
    found = {(part.dimension, part.negated): list(part.values) for part in query.filters}
    expected = {(name, False): values for name, values in row.get("filters", {}).items()}
    expected |= {(name, True): values for name, values in row.get("without", {}).items()}
    assert found == expected
    assert (query.window.label if query.window else None) == (str(row["time"]) if "time" in row else None)
    assert query.grain == row.get("grain")
    assert query.limit == row.get("limit")
    orders = [(order.by, "down" if order.descending else "up") for order in query.order]
    assert orders == ([(row["metrics"][0], row["order"])] if "order" in row else [])


@each("row", ROWS["bound"], ids=lambda row: row["text"])
def test_a_question_is_read_as_this_query(row, read):
    reading = read(row["text"])
    assert isinstance(reading, Bound), reading
    _check(row, reading.query)
    assert sorted(reading.stakes) == row.get("stakes", [])
    assert not reading.is_follow_up


@each("row", ROWS["bound"], ids=lambda row: row["text"])
def test_every_content_word_of_a_question_is_bound_or_asks(row, read, reader):
    """What nothing binds must be one of the few words of asking: nothing is skipped."""
    from bot.analytics.reader import wording as asking

    reading = read(row["text"])
    said = " ".join(binding.words for binding in reading.bindings)
    bound = {word.text for word in read_words(said)}
    asking_words = FILLERS | asking.ASKING | asking.BY | asking.NOT | asking.MOST
    asking_words |= {"broken", "down", "split", "grouped", "lowest"}
    asking_words |= {"many", "number", "count", "total", "or", "i", "over", "time", *asking.GRAINS, *asking.NUMBERS}
    for word in read_words(row["text"]):
        assert word.text in bound | asking_words or word.text.isdigit(), word


@each("row", ROWS["not_understood"], ids=lambda row: row["text"])
def test_a_word_that_is_not_understood_is_named(row, read):
    reading = read(row["text"])
    assert isinstance(reading, NotUnderstood), reading
    assert list(reading.words) == row["words"]
    for word in row["words"]:
        assert f"`{word}`" in reading.message


@pytest.mark.parametrize("row", ROWS["refused"], ids=lambda row: row["text"])
def test_a_question_that_has_no_faithful_answer_says_why(row, read):
    reading = read(row["text"])
    assert isinstance(reading, NotUnderstood), reading
    assert row["says"] in reading.message


@pytest.mark.parametrize("row", ROWS["choices"], ids=lambda row: row["text"])
def test_a_word_with_two_meanings_is_asked_back(row, read):
    reading = read(row["text"])
    assert isinstance(reading, Unclear), reading
    assert [choice.value for choice in reading.choices] == row["values"]
    for choice in reading.choices:
        assert isinstance(read(choice.value), Bound), choice.value


@pytest.mark.parametrize("text", ["in euros", "as a percentage", "per discount amount"])
def test_a_follow_up_that_changes_nothing_is_not_passed_over(text, read):
    previous = read("net revenue by region last quarter").query
    assert isinstance(read(text, previous), NotUnderstood)


@pytest.mark.parametrize("row", ROWS["follow_ups"], ids=lambda row: f"{row['after']} → {row['text']}")
def test_a_follow_up_changes_only_what_it_names(row, read):
    first = read(row["after"])
    _check(row, read(row["text"], first.query).query)


def test_an_unknown_word_comes_before_a_choice(read):
    assert isinstance(read("revenue by flurb"), NotUnderstood)


def test_a_near_word_is_suggested_and_never_taken(read):
    reading = read("net revenue by regoin")
    assert isinstance(reading, NotUnderstood)
    assert reading.help == "did you mean `region`?"


def test_a_query_survives_the_session(read):
    query = read("top 5 products by net revenue in EU last quarter").query
    assert SemanticQuery.model_validate(query.model_dump(mode="json")) == query


@each(
    "text",
    [
        "delete all orders", "please delete the refunds", "DROP TABLE orders", "can you update the prices",
        "insert a row into customers", "truncate orders", "set the price of LA-026 to 10", "cancel order 12",
        "I want to remove the test accounts", "change the tier of customer 5", "create a table",
        "do write the orders again", "do drop the orders", "show the orders of May; then delete them",
        "could you get rid of the test accounts", "lower all prices by ten percent", "please double every price",
        "close claim 123", "undo the refund of order 12", "let's void the unpaid invoices", "block customer 17",
        "would it be possible to have order 12 marked as delivered", "I'd like the price to be 10 from now on",
        "could someone take order 12 out of the system",
    ],
)  # fmt: skip
def test_a_request_to_change_data_is_seen(text):
    assert is_write_request(text)


@each(
    "text",
    [
        "net revenue by region", "how many orders were cancelled", "which orders changed", "updated orders", "dropped",
        "how many reviews did each customer write", "why did revenue drop in August", "did net revenue drop in May",
        "show the drop in orders from May to June", "set of orders in May", "when was the last update",
        "raise in refunds last month", "void invoices by month", "transfer volume by month", "lower prices by category",
        "write a poem", "please write me a story about orders", "what do write requests do",
        "orders created last month",
        "which tickets did the team update", "number of writes per day", "merge requests by month",
        "create a report of orders by month", "show orders that were removed and orders deleted by region",
        "can I have the orders by region", "can we get the orders set to shipped", "close deals last month",
    ],
)  # fmt: skip
def test_a_question_about_changes_is_no_request_to_change(text):
    assert not is_write_request(text)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=string.ascii_letters + " ?!.,'\"()-_`%0123456789ü😀", max_size=120))
def test_no_text_makes_reading_raise(read, text):
    assert isinstance(read(text), Bound | Unclear | NotUnderstood)


PIECES = """net revenue,revenue,orders,refunds,customers,by,per,region,category,status,EU,laptops,cancelled,last month
in 2025,top 5,which,highest,how many,not,and,or,excluding,monthly,by month,flurb,the,of,total,plan,yearly,email"""


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES.replace("\n", ",").split(",")), max_size=8).map(" ".join))
def test_words_of_the_catalogue_in_any_order_are_bound_or_named(read, text):
    reading = read(text)
    if "flurb" in text:
        assert isinstance(reading, NotUnderstood)
    if isinstance(reading, Bound):
        said = {binding.name for binding in reading.bindings}
        assert set(reading.query.metrics) <= said
        for value in ("EU", "laptops"):
            if value in text:
                assert any(value in part.values for part in reading.query.filters)


@pytest.mark.parametrize(
    ("rule", "figure"),
    [
        ("how many times may a customer return", "how many times did a customer return"),
        ("what happens to a refund over 500 euros", "number of refunds over 500 euros"),
        ("how many orders must we check", "how many orders did we check"),
    ],
)
def test_a_count_of_what_may_be_done_is_less_of_a_data_question(reader, rule, figure):
    asked, other = (reader.knows(text, date(2026, 11, 20)) for text in (rule, figure))
    assert asked <= 0.4 < other
    assert reader.knows("orders in may 2026 by region", date(2026, 11, 20)) == 1.0


def test_who_routes_a_question_and_who_answers_it_parse_it_once(reader, monkeypatch):
    parsed = []
    monkeypatch.setattr("bot.analytics.reader.read.parse", lambda scan: parsed.append(scan) or parse(scan))
    text = "Net revenue by region last month"
    assert reader.knows(text, date(2100, 1, 1)) == 1
    readings = [reader.read(text, day) for day in (date(2026, 11, 20), date(2025, 1, 15))]
    assert [one.query.window.label for one in readings] == ["October 2026", "December 2024"]
    assert [one.bindings[-1].name for one in readings] == ["October 2026", "December 2024"]
    assert len(parsed) == 1
