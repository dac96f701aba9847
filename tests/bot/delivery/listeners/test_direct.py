"""A direct message goes on with what that person said to the bot a little before, whoever answers it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Thread

import pytest

from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown

ASKED = "I bought a TV 20 days ago. Can I get a refund?"
RECEIPT = "Do you have the receipt?"
CREDIT = "The customer gets store credit."
COST = "How much did the item cost"


@pytest.fixture
def bot(tmp_path, slack, voltmark):
    with house(tmp_path, slack, **voltmark) as opened:
        yield opened


def say(slack, bot, text, user="UANA", channel="D1"):
    """What is answered to a message that begins a thread of its own."""
    ts = slack.say(user, channel, text)
    bot.settle()
    return [post for post in slack.posts(channel, user) if post["thread_ts"] == ts][-1]


def later(bot, **by):
    """The bot with a clock that goes so far ahead."""
    threads, services = bot.slack.threads, bot.bot.services()

    class Ahead:
        def services(self):
            return replace(services, clock=lambda: services.clock() + timedelta(**by))

    return replace(threads, serving=Ahead())


def test_the_next_message_answers_what_was_asked_and_the_one_after_goes_on(slack, bot):
    assert RECEIPT in shown(say(slack, bot, ASKED))
    assert COST in shown(say(slack, bot, "I lost the receipt"))
    last = say(slack, bot, "it cost 100 dollars")
    assert CREDIT in shown(last) and "From before: bought 20 days ago" in shown(last)


def test_what_is_carried_over_is_dropped_by_a_button(slack, bot):
    say(slack, bot, ASKED)
    post = say(slack, bot, "Can I get a refund? I lost the receipt")
    slack.click("UANA", post, "New case")
    bot.settle()
    last = shown(slack.posts("D1", "UANA")[-1])
    assert "A new case: what was said before is not carried over." in last
    assert "From before: the customer does not have the receipt." in last and "20 days" not in last
    assert slack.defects == []


def test_nobody_else_and_no_channel_goes_on_with_it(slack, bot):
    say(slack, bot, ASKED)
    assert "20 days" not in shown(say(slack, bot, "I lost the receipt", "UFIN", "D2"))
    assert "20 days" not in shown(say(slack, bot, f"<@{BOT}> Can I get a refund? I lost the receipt", "UANA", "C1"))


def test_a_channel_is_not_gone_on_with_in_a_direct_message(slack, bot):
    say(slack, bot, f"<@{BOT}> {ASKED}", "UANA", "C1")
    assert "20 days" not in shown(say(slack, bot, "Can I get a refund? I lost the receipt"))


def test_a_message_in_a_thread_goes_on_with_its_thread_alone(slack, bot):
    first = say(slack, bot, ASKED)
    say(slack, bot, "New case: I bought a camera 3 days ago. Can I get a refund?")
    slack.say("UANA", "D1", "I lost the receipt", thread_ts=first["thread_ts"])
    bot.settle()
    last = [post for post in slack.posts("D1", "UANA") if post["thread_ts"] == first["thread_ts"]][-1]
    assert "From before: bought 20 days ago" in shown(last)


@pytest.mark.parametrize(("seconds", "goes_on"), [(1_790, True), (1_801, False)])
def test_after_half_an_hour_it_begins_anew(slack, bot, seconds, goes_on):
    say(slack, bot, ASKED)
    threads = later(bot, seconds=seconds)
    heard = heard_in(slack, bot, "I lost the receipt")
    threads.take(heard)
    threads.hand_over(heard)
    bot.settle()
    assert ("20 days" in shown(slack.posts("D1", "UANA")[-1])) is goes_on


def heard_in(slack, bot, text):
    from bot.delivery.listeners.ask import message
    from tests.fakes.slack.payloads import message as payload

    ts = slack.write("UANA", "D1", text, None)
    return message(payload(text, "UANA", "D1", ts)["event"], bot.slack.threads)


def test_another_process_goes_on_with_it(tmp_path, slack, voltmark):
    with house(tmp_path, slack, **voltmark) as first:
        say(slack, first, ASKED)
    with house(tmp_path, slack, **voltmark) as second:
        assert "From before: bought 20 days ago" in shown(say(slack, second, "I lost the receipt"))


def test_two_messages_at_once_go_on_with_the_same(slack, bot):
    say(slack, bot, ASKED)
    said = ("I lost the receipt", "I have the receipt")
    together = [Thread(target=slack.say, args=("UANA", "D1", text)) for text in said]
    for one in together:
        one.start()
    for one in together:
        one.join()
    bot.settle()
    answers = [shown(post) for post in slack.posts("D1", "UANA")[1:]]
    assert len(answers) == 2
    assert any("does not have the receipt" in one for one in answers)
    assert all("20 days" in one for one in answers)
