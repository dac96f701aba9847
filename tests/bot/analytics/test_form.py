"""The form of a data question: what it offers, what was understood, and how the filled form is answered."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from bot.analytics.answer import answer
from bot.analytics.form import blank, filled, from_choices, query_of
from bot.ask.ground import calendar_rules
from bot.conversation import Question
from bot.delivery.filling import fill
from bylaw.authored.machines.access import Grant, Rights
from bylaw.semantic.query import Unanswerable
from tests.bot.analytics.conftest import NOW, TODAY
from tests.realworld.comparison import same

ROWS = yaml.safe_load(Path(__file__).with_name("form.yaml").read_text(encoding="utf-8"))
SHOP = Rights((Grant(frozenset({"shop"}), ()),))
ASKED = "how flurby was the net revenue of laptops by region last quarter"


@pytest.fixture
def send(index, warehouse):
    def _send(form, rights=None, text="the filled form"):
        question = Question(text=text, asked_at=NOW, request_id="r", session_id="s", options={"form": form})
        return answer(question, {}, index, warehouse, rights).reply

    return _send


@pytest.mark.parametrize("row", ROWS["answered"], ids=lambda row: row["title"])
def test_a_filled_form_gives_the_rows_it_asks_for_and_shows_what_was_compiled(row, send, warehouse):
    reply = send(row["form"])
    assert reply.status == "answered", reply.text
    assert same(reply.rows, warehouse.run(row["rows"], 10_000).rows)
    assert row["says"] in reply.text


@pytest.mark.parametrize("row", ROWS["refused"], ids=lambda row: row["title"])
def test_a_form_that_asks_for_nothing_sound_says_what_is_wrong(row, send):
    reply = send(row["form"])
    assert reply.rows == ()
    assert reply.status in ("refused", "needs_choice")
    assert row["says"] in reply.text


@pytest.mark.parametrize("form", [7, "x", [], {"filters": [[[[]]]]}, {"by": ["a" * 9_000]}, {"metrics": "order_count"}])
def test_whatever_is_sent_as_a_form_is_no_crash(form, send):
    assert send(form).rows == ()


def test_the_words_beside_a_form_are_not_read(send):
    form = {"metrics": ["order_count"], "period": "last month"}
    assert send(form, text="delete all orders").rows == send(form).rows != ()


def test_what_is_not_read_whole_shows_what_was_understood(ask):
    reply = ask(ASKED).reply
    assert (reply.status, reply.rows) == ("needs_choice", ())
    chosen = {field.name: field.chosen for field in reply.form.fields}
    assert chosen["metrics"] == ("net_revenue",)
    assert chosen["by"] == ("customers.region",)
    assert chosen["filters"] == ("products.category=laptops",) or "laptop" in chosen["filters"][0]
    assert chosen["period"] == ("last quarter",)


def test_what_was_understood_sent_back_is_the_question_without_what_was_not(ask, send):
    shown = ask(ASKED).reply.form
    picked = from_choices({field.name: field.chosen for field in shown.fields})
    assert send(picked).rows == ask("net revenue of laptops by region last quarter").reply.rows != ()


@pytest.mark.parametrize(
    ("text", "field", "chosen"),
    [
        ("zzz average number of orders per customer", "metrics", ("avg(order_count) per customers",)),
        ("zzz orders with a total amount above 100", "filters", ("orders.total_amount>100",)),
    ],
)
def test_what_no_catalogue_lists_is_offered_where_it_was_said(ask, send, text, field, chosen):
    shown = {one.name: one for one in ask(text).reply.form.fields}
    assert shown[field].chosen == chosen
    assert chosen[0] in {option.value for option in shown[field].options}
    picked = {name: one.chosen for name, one in shown.items()}
    assert send(from_choices(picked)).status == "answered"


def test_every_option_is_one_that_is_answered(index, compiler):
    """Some numbers need a span of time or a grain, and some are what is true now, which has none."""
    form, calendar = blank(index.bundle.context, None), calendar_rules(index.bundle.context.calendar)
    options = {field.name: field.options for field in form.fields}

    def compiles(given):
        try:
            return compiler.compile(query_of(filled(given), compiler, TODAY, calendar))
        except Unanswerable:
            return None

    for name in ("metrics", "by"):
        for option in options[name]:
            given = {name: [option.value]}
            more = ({}, {"period": "last month"}, {"grain": "month"}, {"grain": "month", "period": "last month"})
            assert any(compiles({**given, **one}) for one in more), option
    for option in options["period"]:
        assert compiles({"metrics": ["order_count"], "period": option.value}), option


def test_two_periods_stand_side_by_side(send):
    both = {"metrics": ["net_revenue", "order_count"], "by": ["customers.region"], "order": "descending"}
    compared = send({**both, "period": "Q2 2026", "compared_with": "Q2 2025"})
    assert compared.columns == (
        "region",
        "net_revenue_q2_2026",
        "net_revenue_q2_2025",
        "order_count_q2_2026",
        "order_count_q2_2025",
    )
    single = {
        period: {row[0]: row[1:] for row in send({**both, "period": period}).rows} for period in ("Q2 2026", "Q2 2025")
    }
    assert len(compared.rows) > 1
    for region, *figures in compared.rows:
        now, before = (single[period].get(region, (None, None)) for period in single)
        assert tuple(figures) == (now[0], before[0], now[1], before[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"period": None},
        {"metrics": [], "by": ["customers.region"]},
        {"compared_with": "last quarter"},
        {"compared_with": "soon"},
        {"compared_with": {"start": "2026-01-02", "end": "2026-01-02"}},
        {"grain": "month"},
        {"metrics": ["avg(order_count) per customers"]},
    ],
)
def test_what_compares_no_two_periods_is_told(wrong, send):
    form = {"metrics": ["order_count"], "period": "last quarter", "compared_with": "last year"}
    assert send(form).status == "answered"
    reply = send({**form, **wrong})
    assert (reply.status, reply.rows) == ("needs_choice", ())


def test_two_periods_that_were_said_are_filled_in(ask, send):
    fields = ask("net revenue by region last quarter versus last year, flurb").reply.form.fields
    shown = {one.name: one.chosen for one in fields}
    assert (shown["period"], shown["compared_with"]) == (("last quarter",), ("last year",))
    assert send(from_choices(shown)).status == "answered"


def test_nobody_is_offered_what_his_rights_do_not_reach(index, send):
    shown = blank(index.bundle.context, SHOP)
    values = {option.value for field in shown.fields for option in field.options}
    assert "order_count" in values
    assert not any("refunds" in value or "refund_amount" in value for value in values)
    assert not any("email" in value for value in values)
    assert send({"metrics": ["refund_amount"]}, SHOP).rows == ()


@pytest.mark.parametrize("name", ["tickets", "leads"])
def test_every_condition_that_is_offered_is_one_that_is_answered(name, index, compiler):
    """An open one is completed as a person does."""
    context = index.bundle.context
    calendar = calendar_rules(context.calendar)
    form = {field.name: field.options for field in blank(context, None).fields}
    ends = [one.right_entity for one in context.entities[name].relationships]
    own = [one for one in form["filters"] if name in re.findall(r"\w+", one.value)]
    listed = [one for one in own if "=" in one.value and " per " not in one.value]
    for option in [*listed[:2], *(one for one in own if one not in listed)]:
        typed = next((said for said in ("> 40", "> 100", "< 2025-07-01") if said in option.label), "x")
        counted = next((end for end in ends if f" per {end}" in option.value), name)
        given = from_choices({"filters": [option.value], "values": [typed], "metrics": [f"count({counted})"]})
        assert compiler.compile(query_of(filled(given), compiler, TODAY, calendar)), option
    assert len(own) > len(listed) + 5


def test_what_is_said_of_what_was_understood_is_offered_first(index):
    shown = {one.name: one for one in blank(index.bundle.context, None, {"metrics": ("count(tickets)",)}).fields}
    assert "tickets" in shown["by"].options[0].value and "tickets" in shown["filters"].options[0].value


def test_a_terminal_asks_for_the_value_of_what_is_open(ask, send):
    open_ = "total amount (orders) (> 100) ?"
    said = iter(["order count", "-", open_, "> 250", *"------"])
    picked = fill(ask(ASKED).reply.form, lambda _: next(said), lambda _: None)
    assert picked["filters"] == ["orders.total_amount>250"]
    assert send(picked).status == "answered"


def test_a_terminal_fills_it_in_line_by_line(ask, send):
    answers = {"Number": "order count", "By": "region (customers)", "Period": "2025", "First": "2", "Order": "2"}
    said = []
    shown = ask(ASKED).reply.form
    picked = fill(shown, lambda words: answers.get(words.partition(" [")[0].partition(" (")[0], "-"), said.append)
    assert picked["metrics"] == ["order_count"]
    reply = send(json.loads(json.dumps(picked)))
    assert reply.status == "answered" and len(reply.rows) == 2


def test_a_whole_query_is_a_form_too(send):
    query = {"metrics": ["order_count"], "dimensions": ["customers.region"]}
    assert send({"query": query}).rows == send({"metrics": ["order_count"], "by": ["customers.region"]}).rows != ()


def test_a_list_of_rows_without_a_date_says_that_one_has_to_be_named(index, compiler):
    undated = next(one for one in index.bundle.context.entities.values() if not one.time_dimensions and one.dimensions)
    form = filled({"by": [f"{undated.name}.{undated.dimensions[0].name}"], "period": "2025"})
    with pytest.raises(Unanswerable, match="no date"):
        query_of(form, compiler, TODAY, calendar_rules(index.bundle.context.calendar))
