"""A choice is made by who was asked, once, while the question is open."""

from __future__ import annotations

import pytest

from bot.analytics.plan import plans
from bot.conversation import Choice, Turn
from bot.router import Answerer
from tests.fakes.frame import said
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown


@pytest.fixture
def asked(start, slack):
    """The bot, and the post in which it asks for the receipt."""
    bot = start()
    slack.say("UANA", "C1", f"<@{BOT}> may I return it after 20 days?")
    bot.settle()
    return bot, dict(slack.posts("C1")[0])


def test_a_choice_is_the_answer(asked, slack):
    bot, post = asked
    slack.click("UANA", post, "No")
    bot.settle()
    assert "reject" in shown(slack.posts("C1")[-1])


def test_whoever_clicks_twice_has_chosen_once(asked, slack):
    bot, post = asked
    slack.click("UANA", post, "Yes")
    slack.click("UANA", post, "Yes")
    slack.click("UANA", post, "No")
    bot.settle()
    assert [("full_refund" in shown(one)) for one in slack.posts("C1")] == [False, True]
    told = [one["text"] for one in slack.posts("C1", "UANA") if one["to"]]
    assert set(told) == {"That question was answered already."}


def test_a_button_of_a_question_that_was_answered_in_words_chooses_nothing(asked, slack):
    bot, post = asked
    slack.say("UANA", "C1", "Yes", thread=post["thread_ts"])
    bot.settle()
    slack.click("UANA", post, "No")
    bot.settle()
    assert len(slack.posts("C1")) == 2
    assert "answered already" in slack.posts("C1", "UANA")[-1]["text"]


def test_nobody_answers_for_somebody_else(asked, slack):
    bot, post = asked
    slack.click("UBEN", post, "Yes")
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert "Only the person who asked" in slack.posts("C1", "UBEN")[-1]["text"]


@pytest.mark.parametrize("value", ["", "0", "x:y", "99:{}", "-1:{}", "0:unknown"])
def test_a_button_that_is_not_ours_does_nothing(asked, slack, value):
    bot, post = asked
    request = slack.elements(post)[0]["value"].partition(":")[2]
    made = {**slack.elements(post)[0], "value": value.format(request)}
    old = {**post, "blocks": [{"type": "actions", "elements": [made]}]}
    assert slack.click("UANA", old, "Yes").status == 200
    bot.settle()
    assert len(slack.posts("C1")) == 1


def test_many_choices_are_a_menu(start, slack):
    labels = [f"store {n}" for n in range(30)]

    def pick(asked, _state, _index):
        if asked.text.startswith("S"):
            return Turn(said(asked, "data", "answered", f"picked {asked.text}"), {})
        choices = tuple(Choice(value=f"S{n}", label=label) for n, label in enumerate(labels))
        return Turn(said(asked, "data", "needs_choice", "Which one?", choices=choices), {})

    bot = start(answerers=(Answerer("data", lambda *_: 1.0, pick),))
    slack.say("UANA", "C1", f"<@{BOT}> stock of the store")
    bot.settle()
    (post,) = slack.posts("C1")
    assert [slack.labels(one) for one in slack.elements(post)] == [labels]
    slack.click("UANA", post, "store 17")
    bot.settle()
    assert slack.posts("C1")[-1]["text"] == "picked S17"


@pytest.fixture
def planned(start, slack):
    """A bot that shows a statement before it runs it, and the post in which it does."""

    def show(asked, state, _index):
        if word := plans.heard(asked.text):
            return Turn(said(asked, "data", "answered", f"it was a {word}"), {})
        text = "this is the statement I would run"
        reply = said(asked, "data", "recommended", text, sql="SELECT 1", level=2, choices=plans.CHOICES)
        return Turn(reply, state)

    bot = start(answerers=(Answerer("data", lambda text, _: float("revenue" in text), show),))
    slack.say("UANA", "C1", f"<@{BOT}> revenue by region")
    bot.settle()
    return bot, dict(slack.posts("C1")[0])


def test_a_plan_has_a_button_that_runs_it_and_none_that_takes_it_as_it_is(planned, slack):
    bot, post = planned
    assert [slack.labels(one) for one in slack.elements(post)] == [["Run it"], ["Do not run it"]]
    slack.click("UBEN", post, "Run it")
    slack.click("UANA", post, "Run it")
    slack.click("UANA", post, "Run it")
    bot.settle()
    assert [one["text"] for one in slack.posts("C1") if not one.get("to")][1:] == ["it was a yes"]


@pytest.mark.parametrize("says", ["yes", "Do not run it"])
def test_a_plan_is_answered_in_its_thread_without_a_mention(planned, slack, says):
    bot, post = planned
    slack.say("UBEN", "C1", says, thread=post["thread_ts"])
    slack.say("UANA", "C1", says, thread=post["thread_ts"])
    bot.settle()
    word = "yes" if says == "yes" else "no"
    assert [one["text"] for one in slack.posts("C1")[1:]] == [f"it was a {word}"]
