"""A form is filled in by who was asked, once, with what its menus stand at."""

from __future__ import annotations

from threading import Thread

import pytest

from bot.analytics.form import from_choices
from bot.conversation import Choice, Form, FormField, Turn
from bot.delivery.blocks import form as menus
from bot.router import Answerer
from tests.fakes.frame import said
from tests.fakes.slack.payloads import BOT

COLUMNS = tuple(Choice(value=f"shop.column_{n}", label=f"column {n}") for n in range(150))
FORM = Form(
    fields=(
        FormField(name="metrics", label="Number", options=(Choice(value="revenue", label="revenue"),), is_many=True),
        FormField(name="by", label="By", options=COLUMNS, chosen=("shop.column_140",), is_many=True),
        FormField(name="period", label="Period", options=(Choice(value="2025", label="2025"),), chosen=("2025",)),
        FormField(name="limit", label="First"),
        FormField(name="values", label="Values", is_many=True),
    )
)


@pytest.fixture
def asked(start, slack):
    """The bot, and the post with the form."""

    def answer(asked, state, _index):
        if (form := asked.options.get("form")) is not None:
            return Turn(said(asked, "data", "answered", f"{form['metrics']} {form['by']} {form.get('period')}"), {})
        return Turn(said(asked, "data", "needs_choice", "I do not understand `flurb`.", form=FORM), state)

    bot = start(answerers=(Answerer("data", lambda *_: 1.0, answer),))
    slack.say("UANA", "C1", f"<@{BOT}> revenue by flurb")
    bot.settle()
    return bot, dict(slack.posts("C1")[0])


def test_what_was_understood_is_chosen_already_and_a_menu_takes_what_it_can(asked, slack):
    _, post = asked
    menus = {one["block_id"].removeprefix("form_field_"): one["element"] for one in post["blocks"] if "element" in one}
    assert sorted(menus) == ["by", "metrics", "period", "values"]
    assert len(menus["by"]["options"]) == 100
    assert [one["value"] for one in menus["by"]["initial_options"]] == ["shop.column_140"]
    assert slack.defects == []


def test_the_filled_form_is_answered_once(asked, slack):
    bot, post = asked
    slack.click("UANA", slack.fill(post, "Number", "revenue"), "Run")
    slack.click("UANA", post, "Run")
    bot.settle()
    told = [one["text"] for one in slack.posts("C1") if not one["to"]]
    assert told[1:] == ["['revenue'] ['shop.column_140'] 2025"]
    assert "element" not in [name for block in slack.posts("C1")[0]["blocks"] for name in block]


def test_what_was_understood_can_be_left_out(asked, slack):
    bot, post = asked
    slack.click("UANA", slack.fill(post, "Period", "– leave it out –"), "Run")
    bot.settle()
    assert [one["text"] for one in slack.posts("C1") if not one["to"]][1:] == ["[] ['shop.column_140'] None"]


def test_nobody_fills_in_the_form_of_somebody_else(asked, slack):
    bot, post = asked
    slack.click("UBEN", post, "Run")
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert "Only the person who asked" in slack.posts("C1", "UBEN")[-1]["text"]


def test_two_who_press_at_once_are_answered_once(asked, slack):
    bot, post = asked
    both = [Thread(target=slack.click, args=(user, post, "Run")) for user in ("UANA", "UBEN", "UANA", "UANA")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    bot.settle()
    assert len([one for one in slack.posts("C1") if not one["to"]]) == 2
    assert any("Only the person who asked" in one["text"] for one in slack.posts("C1", "UBEN"))


LARGE = Form(
    fields=tuple(
        FormField(
            name=name,
            label=name,
            options=tuple(Choice(value=f"{name}{n}{'x' * 130}", label=f"{name} {n} {'y' * 60}") for n in range(140)),
            is_many=True,
        )
        for name in ("metrics", "by", "filters")
    )
)


@pytest.fixture
def large(start, slack):
    """The bot, and the post with a form that no message carries."""

    def answer(asked, state, _index):
        if (form := asked.options.get("form")) is not None:
            return Turn(said(asked, "data", "answered", f"{len(form['metrics'])} {form['by']}"), {})
        return Turn(said(asked, "data", "needs_choice", "I do not understand `flurb`.", form=LARGE), state)

    bot = start(answerers=(Answerer("data", lambda *_: 1.0, answer),))
    slack.say("UANA", "C1", f"<@{BOT}> revenue by flurb")
    bot.settle()
    return bot, dict(slack.posts("C1")[0])


def pick(slack, user, block_id, count):
    view = slack.modal(user)
    block = next(one for one in view["blocks"] if one["block_id"] == block_id)
    told = {"type": "multi_static_select", "selected_options": block["element"]["options"][:count]}
    view["state"]["values"][block_id] = {block["element"]["action_id"]: told}


def test_a_form_that_no_message_carries_opens_behind_a_button_and_is_answered_once(large, slack):
    bot, post = large
    slack.click("UANA", post, "Fill in the form…")
    bot.settle()
    assert "more can be asked for in words" in str(slack.modal("UANA"))
    pick(slack, "UANA", "form_field_metrics", 2)
    assert slack.submit("UANA") == {}
    bot.settle()
    assert [one["text"] for one in slack.posts("C1") if not one["to"]][1:] == ["2 []"]
    slack.click("UANA", post, "Fill in the form…")
    bot.settle()
    slack.submit("UANA")
    assert "answered already" in str(slack.modal("UANA")["blocks"])
    assert len([one for one in slack.posts("C1") if not one["to"]]) == 2


def test_nobody_opens_or_sends_the_form_of_somebody_else(large, slack):
    bot, post = large
    slack.click("UBEN", post, "Fill in the form…")
    bot.settle()
    assert "Only the person who asked" in slack.posts("C1", "UBEN")[-1]["text"]
    slack.click("UANA", post, "Fill in the form…")
    bot.settle()
    slack.modals["UBEN"] = slack.modals["UANA"]
    slack.submit("UBEN")
    bot.settle()
    assert "Only the person who asked" in str(slack.modal("UBEN")["blocks"])
    assert len([one for one in slack.posts("C1") if not one["to"]]) == 1


@pytest.mark.parametrize("metadata", ["", ":", "1.1:", "1.1:nobody", "null"])
def test_a_form_of_a_question_that_nobody_knows_says_so(large, slack, metadata):
    bot, post = large
    slack.click("UANA", post, "Fill in the form…")
    bot.settle()
    slack.modal("UANA")["private_metadata"] = metadata
    slack.submit("UANA")
    assert "I do not know that question" in str(slack.modal("UANA")["blocks"])


@pytest.mark.parametrize(
    "state",
    [
        None,
        7,
        {"values": 7},
        {"values": {"form_field_by": 7}},
        {"values": {"form_field_by": {"x": {"selected_options": 7}}}},
    ],
)
def test_a_state_that_is_none_is_an_empty_form(asked, slack, state):
    bot, post = asked
    assert slack.click("UANA", post, "Run", state=state).status == 200
    bot.settle()
    assert [one["text"] for one in slack.posts("C1") if not one["to"]][1:] == ["[] [] None"]


def test_what_is_open_is_completed_by_what_is_typed():
    line = {"form_field_values": {"form_field_values": {"type": "plain_text_input", "value": "Leeds, > 40"}}}
    menu = {"selected_options": [{"value": "pubs.city?"}, {"value": "pubs.open"}, {"value": "count(orders) per pubs?"}]}
    given = from_choices(menus.picked({"values": {**line, "form_field_filters": {"form_field_filters": menu}}}))
    assert given["filters"] == ["pubs.city=Leeds", "pubs.open", "count(orders) per pubs>40"]
