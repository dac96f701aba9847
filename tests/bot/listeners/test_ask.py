"""A mention or a direct message is answered in its thread, once, however often and through whatever it arrives."""

from __future__ import annotations

import pytest

from tests.fakes.slack.payloads import BOT


def shown(post):
    """Everything a person reads in a post."""

    def texts(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                if key == "text" and isinstance(inner, str):
                    yield inner
                elif key not in ("value", "action_id"):
                    yield from texts(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from texts(inner)

    return "\n".join(texts(post["blocks"]))


def test_a_mention_is_answered_in_its_thread(bot, slack):
    ts = slack.say("UANA", "C1", f"<@{BOT}> why did we leave plasma?")
    bot.settle()
    (post,) = slack.posts("C1")
    assert (post["thread_ts"], post["to"], post["text"]) == (ts, None, "It lost money.")
    assert "It lost money." in shown(post)


def test_a_direct_message_is_answered_in_its_thread(bot, slack):
    ts = slack.say("UANA", "D1", "why did we leave plasma?")
    bot.settle()
    (post,) = slack.posts("D1")
    assert (post["thread_ts"], post["text"]) == (ts, "It lost money.")


def test_a_whole_conversation_with_a_typed_fact_and_a_button(bot, slack):
    ts = slack.say("UANA", "C1", f"<@{BOT}> may I return it?")
    bot.settle()
    slack.say("UANA", "C1", "20 days", thread=ts)  # no mention: the bot has asked
    bot.settle()
    asked = slack.posts("C1")
    assert "How many days ago" in shown(asked[0])
    assert [slack.labels(one) for one in slack.elements(asked[1])] == [["Yes"], ["No"]]
    assert slack.click("UANA", asked[1], "Yes").status == 200
    bot.settle()
    last = slack.posts("C1")[-1]
    assert "full_refund" in shown(last)
    assert last["thread_ts"] == ts
    assert "POL-REFUND-001" in shown(last)
    question = slack.posts("C1")[1]
    assert slack.elements(question) == []
    assert "<@UANA> chose: Yes" in shown(question)


def test_what_others_say_in_a_thread_is_not_for_the_bot(bot, slack):
    ts = slack.say("UANA", "C1", f"<@{BOT}> may I return it?")
    bot.settle()
    slack.say("UBEN", "C1", "20 days", thread=ts)
    slack.say("UANA", "C1", "20 days")  # another thread
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert all(one.status == 200 for one in slack.sent)
