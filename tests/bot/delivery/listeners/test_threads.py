"""Whatever arrives twice is answered once, and what was acknowledged is answered even when a process dies."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.conversation import Turn
from bot.delivery.listeners import threads as desks
from bot.evidence.store.tables import deliveries
from bot.router import Answerer
from tests.fakes.frame import said
from tests.fakes.slack.payloads import BOT, mention


@pytest.fixture
def event(slack):
    ts = slack.next_ts()
    slack.told("UANA", "C1", f"<@{BOT}> why did we leave plasma?", ts, None)
    return mention("why did we leave plasma?", "UANA", "C1", ts)


def key(event):
    return f"slack:T0ACME:C1:{event['event']['ts']}"


def later(house, seconds):
    """The same bot, as it will be so much later."""

    class Later:
        def services(self):
            now = datetime.now(UTC) + timedelta(seconds=seconds)
            return replace(house.bot.services(), clock=lambda: now)

    return replace(house.slack.threads, serving=Later())


def test_a_retry_is_acknowledged_and_not_answered_again(bot, slack, event):
    assert [slack.attempt(event, retry).status for retry in range(4)] == [200] * 4
    bot.settle()
    assert len(slack.posts("C1")) == 1


def test_an_event_that_comes_again_over_a_new_socket_is_answered_once(start, slack, event):
    bot = start(mode="socket")
    assert slack.attempt(event).status == 200
    slack.disconnect()
    slack.connected(2)
    assert slack.send(event)[-1].status == 200
    bot.settle()
    assert len(slack.posts("C1")) == 1


def test_two_processes_that_get_the_same_event_answer_it_once(start, slack, event):
    called = []
    both = threading.Barrier(2)

    def answer(asked, _state, _index):
        called.append(asked.request_id)
        return Turn(said(asked, "decision", "answered", "once"), {})

    houses = [start(answerers=(Answerer("decision", lambda *_: 1.0, answer),)) for _ in range(2)]
    urls = [house.url for house in houses]

    def send(url):
        both.wait()
        fake_request(slack, url, event)

    threads = [threading.Thread(target=send, args=(url,)) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for house in houses:
        house.settle()
    assert [one.status for one in slack.sent] == [200, 200]
    assert len(slack.posts("C1")) == len(called) == 1


def fake_request(slack, url, event):
    """Send *event* to one process of several."""
    one = type(slack)()
    one.secret, one.request_url, one.sent = slack.secret, f"{url}/slack/events", slack.sent
    one.attempt(event)


def test_what_cannot_be_kept_is_not_acknowledged_and_comes_again(start, slack, event):
    bot = start()
    store = bot.bot.services().store
    with store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE deliveries RENAME TO gone")
    assert slack.attempt(event).status == 500
    with store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE gone RENAME TO deliveries")
    assert [one.status for one in slack.send(event)] == [200]
    bot.settle()
    assert len(slack.posts("C1")) == 1


def test_what_a_dead_process_left_is_taken_up(start, slack, event):
    bot = start(mode="still")
    threads = bot.slack.threads
    heard = desks.Heard.model_validate(kept(threads, event))
    assert threads.take(heard)  # acknowledged, and then the process died
    assert desks.resume(threads) == 0  # too soon: somebody may be at it
    assert desks.resume(later(bot, 121)) == 1
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert desks.resume(later(bot, 1000)) == 0


def kept(threads, event):
    from bot.delivery.listeners.ask import mention as read

    return read(event["event"], threads).model_dump()


def test_an_answer_that_was_posted_before_its_process_died_is_not_posted_again(start, slack, event):
    bot = start(mode="still")
    threads = bot.slack.threads
    heard = desks.Heard.model_validate(kept(threads, event))
    threads.take(heard)
    slack.fail("cut_after", times=1, on="chat.postMessage")  # posted, but nobody heard that it was
    slack.fail("cut_before", times=1, on="conversations.replies")
    desks.deliver(heard, threads)
    assert len(slack.posts("C1")) == 1
    row = bot.delivery(key(event))
    assert row["closed_at"] is None
    assert row["failure"]
    desks.deliver(heard, later(bot, 31))
    assert len(slack.posts("C1")) == 1
    assert bot.delivery(key(event))["place"] == {"channel": "C1", "ts": slack.posts("C1")[0]["ts"]}


@pytest.mark.parametrize(("before", "behind"), [(300, 0), (0, 40)])
def test_in_a_long_thread_too_the_answer_of_an_earlier_attempt_is_found(start, slack, before, behind):
    def others(count):
        for n in range(count):
            slack.told("UBEN", "C1", f"word {n}", slack.next_ts(), thread)

    bot = start(mode="still")
    thread = slack.next_ts()
    slack.told("UANA", "C1", "plasma?", thread, None)
    others(before)
    ts = slack.next_ts()
    slack.told("UANA", "C1", f"<@{BOT}> why did we leave plasma?", ts, thread)
    heard = desks.Heard.model_validate(kept(bot.slack.threads, mention("why?", "UANA", "C1", ts, thread_ts=thread)))
    bot.slack.threads.take(heard)
    others(behind)
    slack.fail("cut_after", times=1, on="chat.postMessage")  # posted, but nobody heard that it was
    slack.fail("cut_before", times=1, on="conversations.replies")
    desks.deliver(heard, bot.slack.threads)
    desks.deliver(heard, later(bot, 31))
    assert len(slack.posts("C1")) == 1
    assert bot.delivery(heard.key)["place"] == {"channel": "C1", "ts": slack.posts("C1")[0]["ts"]}


def test_an_answer_whose_connection_was_cut_is_looked_for_before_it_is_posted_again(start, slack, event):
    bot = start()
    slack.fail("cut_after", times=1, on="chat.postMessage")
    slack.send(event)
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert bot.delivery(key(event))["place"] == {"channel": "C1", "ts": slack.posts("C1")[0]["ts"]}


@pytest.mark.parametrize("fault", ["unavailable", "cut_before"])
def test_what_passes_by_itself_is_waited_for(start, slack, event, fault):
    bot = start()
    slack.fail(fault, on="chat.postMessage")
    slack.send(event)
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert [call.error for call in slack.calls if call.method == "chat.postMessage"] == [fault, None]


def test_a_text_is_better_than_blocks_that_slack_does_not_take(start, slack, event):
    bot = start(answerers=(Answerer("data", lambda *_: 1.0, wide),))
    slack.refused_types.add("table")
    slack.send(event)
    bot.settle()
    (post,) = slack.posts("C1")
    assert (post["text"], post["blocks"]) == ("a table", [])


def wide(asked, _state, _index):
    return Turn(said(asked, "data", "answered", "a table", columns=("a", "b"), rows=((1, 2),)), {})


def test_a_message_is_claimed_by_one_at_a_time(start, slack, event):
    bot = start(mode="still")
    threads, services = bot.slack.threads, bot.bot.services()
    heard = desks.Heard.model_validate(kept(threads, event))
    threads.take(heard)
    with services.store.writing() as connection:
        assert deliveries.claim(connection, heard.key, "other", services.clock(), services.lease) is not None
    desks.deliver(heard, threads)
    assert slack.posts("C1") == []
