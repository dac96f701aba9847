"""What a reply asks back can be answered in Slack by pressing: the form of a data question, a reading to confirm."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread

import pytest

from bot.answerers import answerers
from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown


@pytest.fixture
def bot(tmp_path, slack, voltmark):
    with house(tmp_path, slack, **voltmark) as opened:
        yield opened


def ask(slack, bot, user, text):
    ts = slack.say(user, "C1", f"<@{BOT}> {text}")
    bot.settle()
    return thread(slack, ts, user)[-1]


def thread(slack, ts, user="UANA"):
    return [dict(post) for post in slack.posts("C1", user) if post["thread_ts"] == ts]


def test_the_form_of_an_unread_data_question_is_shown_filled_in_and_answered(bot, slack):
    post = ask(slack, bot, "UANA", "data: order count by flurb last month")
    assert "flurb" in shown(post)
    slack.click("UANA", post, "Fill in the form…")
    bot.settle()
    form = slack.modal("UANA")
    labels = [block["label"]["text"] for block in form["blocks"] if block["type"] == "input"]
    assert {"Number", "By", "Only", "Period"} <= {label.partition(" (")[0] for label in labels}
    by = next(label for label in labels if label.partition(" (")[0] == "By")
    element = next(one["element"] for one in form["blocks"] if one["label"]["text"] == by)
    (channel,) = [one["text"]["text"] for one in element["options"] if one["value"] == "orders.channel"]
    form["state"] = {
        "values": slack.fill({"blocks": form["blocks"], "state": form["state"]["values"]}, by, channel)["state"]
    }
    assert slack.submit("UANA") == {}
    bot.settle()
    (_, answered) = thread(slack, post["thread_ts"])
    assert "in-store" in shown(answered) and "online" in shown(answered)
    assert slack.defects == []


def buttons(slack, post):
    return [label for one in slack.elements(post) for label in slack.labels(one)]


CONFIRMED = "can I return a laptop for my hamster?"
ITEMS = [{"kind": "asks", "quote": "return", "name": "refund"}]


@pytest.fixture
def held(tmp_path, slack, voltmark):
    """The bot, whose policy questions come with what somebody read in them."""
    made = answerers(None)
    policy = next(one for one in made if one.kind == "policy")

    def answer(question, state, index):
        options = {"items": ITEMS} if question.text == CONFIRMED else {}
        return policy.answer(question.model_copy(update={"options": options}), state, index)

    always = replace(policy, score=lambda *_: 1.0, answer=answer, personal=None)
    with house(tmp_path, slack, **{**voltmark, "answerers": (always,)}) as opened:
        yield opened


def test_a_reading_to_confirm_has_buttons_and_pressing_one_answers(held, slack):
    post = ask(slack, held, "UANA", CONFIRMED)
    assert "hamster" in shown(post)
    assert {"Yes, that is my question", "No, something else"} <= set(buttons(slack, post))
    slack.click("UBEN", post, "Yes, that is my question")
    held.settle()
    assert any("Only the person who asked" in one["text"] for one in slack.posts("C1", "UBEN"))
    assert len(thread(slack, post["thread_ts"])) == 1
    slack.click("UANA", post, "Yes, that is my question")
    held.settle()
    (closed, answered) = thread(slack, post["thread_ts"])
    assert "chose: Yes, that is my question" in shown(closed)
    assert "Is that your question?" not in shown(answered)
    assert buttons(slack, closed) == []


def test_pressing_no_asks_what_is_meant(held, slack):
    post = ask(slack, held, "UANA", CONFIRMED)
    slack.click("UANA", post, "No, something else")
    held.settle()
    (closed, answered) = thread(slack, post["thread_ts"])
    assert "chose: No, something else" in shown(closed)
    assert "Is that your question?" not in shown(answered)


@pytest.mark.parametrize("users", [("UANA", "UANA"), ("UANA", "UBEN"), ("UBEN", "UBEN")])
def test_two_at_once_are_one_answer_at_most(held, slack, users):
    post = ask(slack, held, "UANA", CONFIRMED)
    labels = ("Yes, that is my question", "No, something else")
    both = [Thread(target=slack.click, args=(user, post, label)) for user, label in zip(users, labels, strict=True)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    held.settle()
    answers = [one for one in thread(slack, post["thread_ts"], None) if not one["to"]]
    assert len(answers) == (2 if "UANA" in users else 1)
