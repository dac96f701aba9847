"""Items that a caller gives with a data question: whole they run, else the form shows what holds; on every door."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.analytics.answer import answer
from bot.analytics.plan import plans
from bot.conversation import Question
from bylaw.authored.machines.access import Grant, Rights

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
PRICE = "order_items.unit_price"
TEXT = "net revenue by region last quarter"
ITEMS = [
    {"kind": "asks", "name": "net_revenue", "quote": "net revenue"},
    {"kind": "group", "name": "customers.region", "quote": "by region"},
    {"kind": "time", "quote": "last quarter"},
]


@pytest.fixture
def given(index, warehouse):
    def _given(text, items, schemas=None):
        rights = None if schemas is None else Rights((Grant(frozenset(schemas)),))
        asked = Question(text=text, asked_at=NOW, request_id="r-1", session_id="s-1", options={"items": items})
        return answer(asked, {}, index, warehouse, rights, plans.always).reply

    return _given


def test_what_is_held_whole_runs_and_is_told_as_it_was_read(given, index, warehouse):
    reply = given(TEXT, ITEMS)
    asked = Question(text=TEXT, asked_at=NOW, request_id="r-2", session_id="s-2")
    plain = answer(asked, {}, index, warehouse, None, plans.always).reply
    assert (reply.status, reply.sql, reply.rows) == ("answered", plain.sql, plain.rows)
    assert reply.reading["by"] == "given"
    assert [one["status"] for one in reply.reading["items"]] == ["borne"] * 3


def test_items_that_a_person_picked_need_no_words(given):
    picked = [{key: value for key, value in one.items() if key != "quote"} for one in ITEMS]
    picked[2]["value"] = "2026-07-01/2026-10-01"
    reply = given("anything", picked)
    assert (reply.status, reply.rows) == ("answered", given(TEXT, ITEMS).rows)


@pytest.mark.parametrize(
    ("text", "items", "told"),
    [
        ("net revenue by region and mood", ITEMS[:2], "mood"),
        ("net revenue by territory", [ITEMS[0], {**ITEMS[1], "quote": "by territory"}], "none of its words"),
        (TEXT, [*ITEMS, {"kind": "limit", "value": 3, "quote": "by region"}], "the words do not say 3"),
        (TEXT, [*ITEMS, {"kind": "group", "name": "customers.mood"}], "customers.mood"),
        (TEXT, ITEMS[1:], "no item says what is asked for"),
        (TEXT, [*ITEMS, {"kind": "over", "name": "order_count", "value": "rank"}], "order_count"),
    ],
)
def test_what_does_not_hold_is_the_form_with_what_was_understood(given, text, items, told):
    reply = given(text, items)
    assert (reply.status, reply.sql, reply.rows) == ("needs_choice", None, ())
    assert told in reply.text
    assert reply.form is not None and reply.reading is not None


def test_the_form_takes_over_what_holds(given):
    items = [
        {"kind": "asks", "name": "net_revenue", "quote": "net revenue"},
        {"kind": "filter", "name": "customers.region", "operator": "!=", "value": "EU", "quote": "not in EU"},
        {
            "kind": "filter",
            "name": "order_items.unit_price",
            "operator": ">",
            "value": 20,
            "quote": "unit price above 20",
        },
    ]
    reply = given("net revenue not in EU with a unit price above 20 flurb", items)
    chosen = {one.name: one.chosen for one in reply.form.fields if one.chosen}
    assert chosen["filters"] == ("customers.region!=EU", "order_items.unit_price>20")


def test_items_give_nobody_more_rights(given):
    reply = given(TEXT, ITEMS, schemas=["finance"])
    assert (reply.status, reply.sql, reply.rows) == ("needs_choice", None, ())


def test_a_request_to_write_is_refused_whatever_the_items_say(given):
    assert given("delete all orders", ITEMS).status == "refused"
