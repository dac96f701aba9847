"""In a thread a word takes the answer, a follow-up needs no mention; what people have to hear reaches them once."""

from __future__ import annotations

import threading

from bot.delivery.listeners.notify import tell
from bot.delivery.listeners.outbox import mark
from bot.evidence.store.tables import deliveries, requests
from bot.lifecycle import Outcome
from tests.fakes.slack.payloads import BOT


def asked(start, slack):
    bot = start()
    slack.say("UANA", "C1", f"<@{BOT}> revenue by region")
    bot.settle()
    (post,) = slack.posts("C1")
    return bot, post


def outcome(bot, post):
    with bot.bot.services().store.reading() as connection:
        return requests.load(connection, f"slack:T0ACME:C1:{post['thread_ts']}").outcome


def test_looks_good_in_the_thread_accepts_without_a_mention(start, slack):
    bot, post = asked(start, slack)
    slack.say("UANA", "C1", "looks good", thread_ts=post["thread_ts"])
    bot.settle()
    assert outcome(bot, post) == Outcome.ACCEPTED
    assert [one["text"] for one in slack.posts("C1")][1:] == ["Accepted."]


def test_what_somebody_else_says_in_the_thread_is_not_for_the_bot(start, slack):
    bot, post = asked(start, slack)
    slack.say("UBEN", "C1", "looks good", thread_ts=post["thread_ts"])
    slack.say("UANA", "C1", "looks good")  # beside the thread
    slack.say("UANA", "C1", "let us have lunch", thread_ts=post["thread_ts"])
    bot.settle()
    assert (outcome(bot, post), len(slack.posts("C1"))) == (None, 1)


def kept(bot, person, text="Something happened."):
    services = bot.bot.services()
    with services.store.writing() as connection:
        deliveries.notify(connection, person, "r1", "answered", text, services.clock())


def test_a_notice_is_told_once_in_a_direct_message_whoever_looks(start, slack):
    houses = [start(), start(), start()]
    kept(houses[0], "UGRACE")
    together = [threading.Thread(target=tell, args=(one.slack.threads,)) for one in houses]
    for one in together:
        one.start()
    for one in together:
        one.join()
    for one in houses:
        one.settle()
    assert [one["text"] for one in slack.posts("DUGRACE")] == ["Something happened."]
    assert tell(houses[0].slack.threads) == 0


def test_a_notice_that_was_sent_by_a_process_that_died_is_not_sent_again(start, slack):
    bot = start()
    kept(bot, "UANA")
    services = bot.bot.services()
    ((name, letter),) = _open(bot)
    with services.store.writing() as connection:
        held = deliveries.claim(connection, name, "dead", services.clock(), services.lease)
        deliveries.renew(connection, held, services.clock(), services.lease * 0)
    slack.at(services.clock())
    bot.slack.threads.client.chat_postMessage(channel="D1", text=letter["text"], metadata=mark(name))
    tell(bot.slack.threads)
    bot.settle()
    assert (len(slack.posts("D1")), _open(bot)) == (1, [])


def test_a_person_whom_slack_does_not_know_keeps_nothing_up(start, slack):
    bot = start()
    kept(bot, "amara")
    kept(bot, "UANA")
    tell(bot.slack.threads)
    bot.settle()
    assert len(slack.posts("D1")) == 1
    (waiting,) = _all(bot, "amara")
    assert waiting["failure"]


def _open(bot):
    services = bot.bot.services()
    with services.store.reading() as connection:
        return deliveries.notices(connection, services.clock())


def _all(bot, person):
    with bot.bot.services().store.reading() as connection:
        return connection.all("SELECT * FROM deliveries WHERE recipient = :person", {"person": person})
