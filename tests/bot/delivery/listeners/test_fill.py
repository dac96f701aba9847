"""A form is filled in by who was asked, once, with what its menus stand at."""

from __future__ import annotations

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


def state_of(post, **picked):
    """What Slack sends with a click: each menu as it was posted, or with what was picked since."""
    values = {}
    for block in post["blocks"]:
        menu = block.get("accessory")
        if menu is None:
            continue
        name = block["block_id"].removeprefix("form_field_")
        initial = menu.get("initial_options") or [menu[key] for key in ("initial_option",) if key in menu]
        options = [one for one in menu["options"] if one["value"] in picked[name]] if name in picked else initial
        many = menu["type"] == "multi_static_select"
        told = {"selected_options": options} if many else {"selected_option": options[0] if options else None}
        values[block["block_id"]] = {menu["action_id"]: {"type": menu["type"], **told}}
    return {"values": values}


def test_what_was_understood_is_chosen_already_and_a_menu_takes_what_it_can(asked, slack):
    _, post = asked
    menus = {
        one["block_id"].removeprefix("form_field_"): one["accessory"] for one in post["blocks"] if "accessory" in one
    }
    assert sorted(menus) == ["by", "metrics", "period"]
    assert len(menus["by"]["options"]) == 100
    assert [one["value"] for one in menus["by"]["initial_options"]] == ["shop.column_140"]
    assert slack.defects == []


def test_the_filled_form_is_answered_once(asked, slack):
    bot, post = asked
    for picked in (["revenue"], []):
        slack.click("UANA", post, "Run", state=state_of(post, metrics=picked))
    bot.settle()
    told = [one["text"] for one in slack.posts("C1") if not one["to"]]
    assert told[1:] == ["['revenue'] ['shop.column_140'] 2025"]
    assert "accessory" not in str(slack.posts("C1")[0]["blocks"])


def test_nobody_fills_in_the_form_of_somebody_else(asked, slack):
    bot, post = asked
    slack.click("UBEN", post, "Run", state=state_of(post))
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert "Only the person who asked" in slack.posts("C1", "UBEN")[-1]["text"]


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
