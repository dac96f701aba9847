"""An answer is corrected where it stands: a button under it, a form with what it says now, an answer that follows."""

from __future__ import annotations

import pytest

from bot.evidence.store.tables import audit, corrections
from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown

ASKED = "order count by channel last month"
FIELD = "Order count: which rows it counts"


@pytest.fixture
def bot(tmp_path, slack, voltmark):
    with house(tmp_path, slack, **voltmark) as opened:
        yield opened


def ask(slack, bot, user, text=None):
    ts = slack.say(user, "C1", f"<@{BOT}> {text or ASKED}")
    bot.settle()
    return next(post for post in slack.posts("C1", user) if post["thread_ts"] == ts)


def press(slack, bot, user, post):
    slack.click(user, post, "Wrong…")
    bot.settle()


def kept(bot, user):
    with bot.bot.services().store.reading() as connection:
        return corrections.of(connection, user)


def test_the_answer_says_how_to_correct_it_and_the_form_does(bot, slack):
    post = ask(slack, bot, "UANA")
    assert "Wrong? Say so in this thread" in shown(post)
    press(slack, bot, "UANA", post)
    slack.choose("UANA", FIELD)
    bot.settle()
    assert "It says now: nothing" in shown(slack.modal("UANA"))
    said = slack.submit("UANA", wrong_new="chanel = 'online'", wrong_reason="stores count themselves")
    assert said == {"wrong_new": "`orders.chanel` is no column that the context knows"}
    assert slack.submit("UANA", wrong_new="channel = 'online'", wrong_reason="stores count themselves") == {}
    assert "applied this correction to your personal context" in shown(slack.modal("UANA"))
    mine, theirs = ask(slack, bot, "UANA"), ask(slack, bot, "UBEN")
    assert mine["to"] == "UANA", "a figure that one person changed is not shown to everybody"
    assert "Using your correction of" in shown(mine)
    assert "in-store" not in shown(mine)
    assert "Using your correction of" in shown(ask(slack, bot, "UANA", "how many orders did we get in 2025?"))
    assert "Using your correction" not in shown(theirs)
    assert "in-store" in shown(theirs)
    (one,) = kept(bot, "UANA")
    assert (one.object, one.field, one.new, one.stage) == (
        "metrics/order_count", "filter", "channel = 'online'", "localized",
    )  # fmt: skip


def test_a_permission_is_told_at_once_and_changes_nothing(bot, slack):
    press(slack, bot, "UANA", ask(slack, bot, "UANA"))
    slack.choose("UANA", "I should not be able to see this")
    assert slack.submit("UANA", wrong_reason="these are salaries") == {}
    assert "flagged this as a permission issue" in shown(slack.modal("UANA"))
    (one,) = kept(bot, "UANA")
    assert (one.correction_type, one.is_applied) == ("permission", False)
    with bot.bot.services().store.reading() as connection:
        assert [entry.body["event"] for entry in audit.about(connection, one.request_id)] == ["reply", "security"]


def test_a_form_that_slack_no_longer_opens_is_told_so(bot, slack):
    post, slack.trigger_seconds = ask(slack, bot, "UANA"), 0.0
    press(slack, bot, "UANA", post)
    bot.settle()
    assert "Press the button again" in slack.posts("C1", "UANA")[-1]["text"]
    assert kept(bot, "UANA") == ()


def test_nobody_corrects_an_answer_that_was_not_shown_to_them(bot, slack):
    press(slack, bot, "UANA", ask(slack, bot, "UANA"))
    slack.choose("UANA", FIELD)
    slack.submit("UANA", wrong_new="channel = 'online'", wrong_reason="stores count themselves")
    private = ask(slack, bot, "UANA")
    assert private["to"] == "UANA"
    press(slack, bot, "UBEN", private)
    bot.settle()
    assert "I do not know that answer" in slack.posts("C1", "UBEN")[-1]["text"]


def test_free_words_in_the_thread_become_the_reason_in_the_form(bot, slack):
    post = ask(slack, bot, "UANA")
    words = "that's wrong, stores should be excluded"
    slack.say("UANA", "C1", words, thread=post["thread_ts"])
    bot.settle()
    heard = slack.posts("C1", "UANA")[-1]
    assert "I understand that my answer is wrong. Nothing has changed yet" in shown(heard)
    slack.click("UANA", heard, "Say what is right…")
    bot.settle()
    slack.choose("UANA", FIELD)
    bot.settle()
    assert slack.submit("UANA", wrong_new="channel = 'online'") == {}
    (one,) = kept(bot, "UANA")
    assert (one.reason, one.request_id) == (words, f"slack:T0ACME:C1:{post['thread_ts']}")
