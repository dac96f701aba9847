"""No rows where a value was named is a question; so is a comparison of spans, or a ranking by nothing."""

from __future__ import annotations

import pytest


def test_a_value_that_no_row_has_is_asked_about_with_the_nearest(ask):
    reply = ask('order count of the region "EUU" in 2025').reply
    assert reply.status == "needs_choice", reply.text
    assert reply.rows == ()
    assert "EU" in [choice.label for choice in reply.choices][:2]


def test_the_value_that_is_picked_answers_the_question(ask):
    asked = ask('order count of the region "EUU" in 2025')
    picked = next(choice for choice in asked.reply.choices if choice.label == "EU")
    assert ask(picked.value, asked.state).reply.rows == ask("order count of the region EU in 2025").reply.rows != ()


def test_nothing_on_a_day_is_an_answer_where_the_values_are_there(ask):
    reply = ask("number of orders of the region EU on 2019-01-01").reply
    assert reply.status == "answered"
    assert reply.rows == ((0,),)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("order count by month in 2025", "compare that to 2025"),
        ("order count by week this year", "compare that to last year"),
        (None, "who are our top customers"),
        (None, "list the top stores"),
    ],
)
def test_what_has_no_counterpart_or_no_measure_is_asked(ask, before, text):
    state = ask(before).state if before else None
    reply = ask(text, state).reply
    assert (reply.status, reply.rows) == ("needs_choice", ()), reply.text
    assert reply.form is not None or reply.choices
