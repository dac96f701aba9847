"""After an outage of our own every question is answered or declined once, from the histories that may be read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation import Actor
from bot.delivery.listeners import threads as desks
from bot.delivery.listeners.ask import mention as read
from bot.delivery.slack.catch_up import EVERY, catch_up
from bot.evidence.store.tables import deliveries, watches
from bot.request.listening import list_unseen
from tests.bot.delivery.listeners.test_outages import Clock, clocked
from tests.bot.evidence.store.conftest import store_url  # noqa: F401  # the same on both databases
from tests.fakes.bundle import write_bundle
from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT, mention
from tests.fakes.slack.rooms import ROLES

ASK = f"<@{BOT}> why did we leave plasma?"
GRACE = Actor(id="UGRACE")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def bot(start, slack, clock):
    """The bot, which has listened until now to every conversation it is in."""
    slack.at(clock.now)
    made = clocked(start(mode="still"), clock)
    listen(made, clock)
    clock.now += EVERY
    listen(made, clock)
    clock.now += EVERY
    listen(made, clock)
    slack.at(clock.now)
    return made


def never(_seconds):
    pytest.fail("it waited")


def listen(bot, clock, pause=never):
    found = catch_up(bot.slack.threads, pause)
    bot.settle()
    return found


def away(slack, clock, **span):
    """The bot is not there for so long."""
    clock.now += timedelta(**span)
    slack.at(clock.now)


def texts(slack, channel="C1"):
    return [post["text"] for post in slack.posts(channel)]


def test_who_was_never_there_hears_nothing_of_before(start, slack, clock):
    slack.at(clock.now)
    slack.write("UANA", "C1", ASK)
    clock.now += timedelta(minutes=1)
    bot = clocked(start(mode="still"), clock)
    for _ in range(4):
        listen(bot, clock)
        clock.now += EVERY
    assert texts(slack) == []


def test_after_half_an_hour_every_question_is_answered_once(bot, slack, clock):
    slack.write("UANA", "C1", ASK)
    slack.write("UBEN", "C1", "let us have lunch")
    slack.write("UANA", "D1", "why did we leave plasma?")
    slack.write("UFIN", "G1", ASK)
    top = slack.write("UBEN", "C1", "plasma?")
    slack.write("UANA", "C1", ASK, top)
    away(slack, clock, minutes=30)
    assert listen(bot, clock) == 4
    assert [len(texts(slack, channel)) for channel in ("C1", "D1", "G1")] == [2, 1, 1]
    assert slack.posts("C1")[-1]["thread_ts"] or slack.posts("C1")[0]["thread_ts"]
    assert listen(bot, clock) == 0
    away(slack, clock, minutes=30)
    assert listen(bot, clock) == 0
    assert len(texts(slack)) == 2


def test_what_was_answered_when_it_was_said_is_not_answered_again(bot, slack, clock):
    ts = slack.write("UANA", "C1", ASK)
    heard = read(mention("why did we leave plasma?", "UANA", "C1", ts)["event"], bot.slack.threads)
    bot.slack.threads.take(heard)
    desks.deliver(heard, bot.slack.threads)
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), len(texts(slack))) == (0, 1)


def test_what_was_redacted_since_is_not_answered_again(bot, slack, clock):
    ts = slack.write("UANA", "C1", ASK)
    heard = read(mention("why did we leave plasma?", "UANA", "C1", ts)["event"], bot.slack.threads)
    bot.slack.threads.take(heard)
    desks.deliver(heard, bot.slack.threads)
    with bot.bot.services().store.writing() as connection:
        for table in ("deliveries", "request_steps", "requests", "sessions"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), len(texts(slack))) == (0, 1)


def test_what_is_too_old_is_declined_in_a_sentence(bot, slack, clock):
    slack.write("UANA", "C1", ASK)
    away(slack, clock, hours=30)
    slack.write("UBEN", "C1", ASK)
    away(slack, clock, minutes=5)
    assert listen(bot, clock) == 2
    declined, answered = sorted(texts(slack), key=len, reverse=True)
    assert "could not be reached" in declined and "say it again" in declined
    assert answered == "It lost money."
    away(slack, clock, minutes=30)
    assert listen(bot, clock) == 0


def test_a_thread_that_began_before_is_looked_through(bot, slack, clock):
    top = slack.write("UBEN", "C1", "plasma?")
    away(slack, clock, hours=2)
    listen(bot, clock)
    slack.write("UANA", "C1", ASK, top)
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), len(texts(slack))) == (1, 1)


def test_a_word_in_a_thread_is_heard_only_where_the_bot_waited_for_it_then(bot, slack, clock):
    ts = slack.write("UANA", "C1", f"<@{BOT}> revenue by region")
    slack.write("UANA", "C1", "looks good", ts)  # before there was an answer
    away(slack, clock, seconds=30)
    heard = read(mention("revenue by region", "UANA", "C1", ts)["event"], bot.slack.threads)
    bot.slack.threads.take(heard)
    desks.deliver(heard, bot.slack.threads)
    slack.write("UBEN", "C1", "looks good", ts)
    away(slack, clock, minutes=1)
    slack.write("UANA", "C1", "looks good", ts)
    away(slack, clock, minutes=30)
    assert listen(bot, clock) == 1
    assert texts(slack)[1:] == ["Accepted."]


def test_what_was_said_in_one_thread_is_answered_in_its_order(bot, slack, clock):
    ts = slack.write("UANA", "D1", "may I return it?")
    for text in ("12", "true"):
        slack.write("UANA", "D1", text, ts)
    away(slack, clock, minutes=30)
    assert listen(bot, clock) == 3
    assert texts(slack, "D1")[-1] == "full_refund"


def test_long_histories_are_read_page_by_page_to_their_beginning(bot, slack, clock):
    slack.write("UANA", "C1", ASK)
    for n in range(200):
        slack.write("UBEN", "C1", f"word {n}")
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), len(texts(slack))) == (1, 1)


def test_what_is_more_than_is_read_is_told_to_the_stewards(bot, slack, clock):
    slack.write("UANA", "C1", ASK)
    for n in range(1_000):
        slack.write("UBEN", "C1", f"word {n}")
    slack.write("UANA", "C1", ASK)
    away(slack, clock, minutes=30)
    assert listen(bot, clock) == 1
    with bot.bot.services().store.reading() as connection:
        ((_, letter),) = deliveries.notices(connection, clock.now)
    assert letter["to"] == "UGRACE" and "C1" in letter["text"] and "ask again" in letter["text"]


def test_a_thread_that_is_more_than_is_read_is_told_too(bot, slack, clock):
    top = slack.write("UANA", "C1", "plasma?")
    for n in range(1_000):
        slack.write("UBEN", "C1", f"word {n}", top)
    away(slack, clock, minutes=30)
    listen(bot, clock)
    with bot.bot.services().store.reading() as connection:
        ((_, letter),) = deliveries.notices(connection, clock.now)
    assert "conversation C1" in letter["text"]


@pytest.mark.parametrize("method", ["users.conversations", "conversations.history", "conversations.replies"])
def test_slack_that_asks_to_wait_is_left_alone_and_then_read_on(bot, slack, clock, method):
    top = slack.write("UANA", "C1", ASK)
    slack.write("UBEN", "C1", "well", top)
    away(slack, clock, minutes=30)
    slack.retry_after = 45
    slack.fail("ratelimited", times=2, on=method)
    waited = []
    assert listen(bot, clock, waited.append) == 1
    assert waited == [45, 45]


def test_one_that_ends_while_it_waits_leaves_the_rest_for_later(bot, slack, clock):
    slack.write("UANA", "C1", ASK)
    away(slack, clock, minutes=30)
    slack.fail("ratelimited", times=1, on="conversations.history")
    assert listen(bot, clock, lambda _seconds: True) == 0
    clock.now += timedelta(minutes=20)
    assert (listen(bot, clock), len(texts(slack))) == (1, 1)


@pytest.mark.parametrize("method", ["users.conversations", "conversations.history", "conversations.replies"])
def test_slack_that_is_down_loses_nothing_that_was_said(bot, slack, clock, method):
    top = slack.write("UANA", "C1", ASK)
    slack.write("UBEN", "C1", "well", top)
    away(slack, clock, minutes=30)
    slack.break_down("cut_before", on=method)
    for _ in range(5):
        listen(bot, clock)
        clock.now += timedelta(minutes=7)
    slack.mend()
    for _ in range(3):
        listen(bot, clock)
        clock.now += timedelta(hours=1)
    assert texts(slack) == ["It lost money."]


@pytest.mark.parametrize(
    ("scope", "channel", "says"),
    [
        ("channels:read", "C7", "public channels"),
        ("groups:read", "G7", "private channels"),
        ("im:read", "D7", "direct messages"),
        ("channels:history", "C1", "what is said in C1"),
    ],
)
def test_without_a_scope_it_says_what_it_cannot_see(bot, slack, clock, scope, channel, says):
    slack.scopes.discard(scope)
    slack.channel(channel, "UANA")
    slack.write("UANA", channel, ASK)
    away(slack, clock, minutes=30)
    listen(bot, clock)
    clock.now += EVERY
    listen(bot, clock)
    assert texts(slack, channel) == []
    services = clock.services(bot)
    assert any(says in line and scope in line for line in list_unseen(GRACE, services))
    assert list_unseen(Actor(id="UANA"), services) == []
    slack.scopes.add(scope)
    away(slack, clock, minutes=20)
    listen(bot, clock)
    if scope.endswith("read"):  # what could not even be listed is heard from now on
        slack.write("UBEN", channel, ASK)
    for _ in range(3):
        away(slack, clock, minutes=20)
        listen(bot, clock)
    assert (texts(slack, channel), list_unseen(GRACE, services)) == (["It lost money."], [])


def test_without_the_scopes_to_list_it_knows_where_it_was_spoken_to(start, slack, clock):
    slack.scopes -= {"channels:read", "groups:read", "im:read"}
    slack.at(clock.now)
    bot = clocked(start(mode="still"), clock)
    listen(bot, clock)
    ts = slack.write("UANA", "C1", ASK)
    heard = read(mention("why did we leave plasma?", "UANA", "C1", ts)["event"], bot.slack.threads)
    bot.slack.threads.take(heard)
    desks.deliver(heard, bot.slack.threads)
    away(slack, clock, minutes=1)
    slack.write("UBEN", "C1", ASK)
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), len(texts(slack))) == (1, 2)


def test_a_conversation_it_was_invited_to_meanwhile_is_read(bot, slack, clock):
    slack.channel("C8", "UANA")
    slack.write("UANA", "C8", ASK)
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), len(texts(slack, "C8"))) == (1, 1)


def test_a_conversation_it_was_taken_out_of_is_left(bot, slack, clock):
    slack.write("UANA", "C1", ASK)
    slack.members["C1"].discard(BOT)
    away(slack, clock, minutes=30)
    assert listen(bot, clock) == 0
    with bot.bot.services().store.reading() as connection:
        assert watches.load(connection, "slack:T0ACME:C1") is None


@pytest.mark.parametrize(
    "message",
    [
        {"subtype": "channel_join", "user": "UANA", "text": ASK},
        {"bot_id": "BOTHER", "user": "UOTHER", "text": ASK},
        {"user": None, "text": ASK},
        {"user": "UANA", "text": None},
        {"user": "UANA", "text": "<@UBYLAWX> hello"},
        {"user": "UANA", "text": ASK, "ts": "nonsense"},
    ],
    ids=str,
)
def test_what_nobody_said_to_the_bot_is_not_answered(bot, slack, clock, message):
    ts = slack.next_ts()
    slack.messages["C1", ts] = {"ts": ts, "channel": "C1", "thread_ts": None, **message}
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), texts(slack)) == (0, [])


def test_two_replicas_answer_what_nobody_heard_once(slack, tmp_path, store_url, clock):  # noqa: F811
    write_bundle(tmp_path / "bundle.json", roles=ROLES)
    slack.at(clock.now)
    given = {"mode": "still", "store_url": store_url}
    with house(tmp_path, slack, **given) as one, house(tmp_path, slack, **given) as two:
        both = [clocked(each, clock) for each in (one, two)]
        listen(one, clock)
        clock.now += EVERY
        listen(two, clock)
        slack.at(clock.now)
        for _ in range(10):
            slack.write("UANA", "C1", ASK)
        away(slack, clock, minutes=30)
        with ThreadPoolExecutor(2) as pool:
            assert sum(pool.map(lambda bot: catch_up(bot.slack.threads, never), both)) == 10
        for each in both:
            each.settle()
        assert len(texts(slack)) == 10


def test_what_was_taken_up_by_a_process_that_died_is_answered_by_another(bot, slack, clock):
    """Kept, and then killed before it was answered; its lease on the conversation runs out too."""
    slack.write("UANA", "C1", ASK)
    away(slack, clock, minutes=30)
    threads = bot.slack.threads
    dead = replace(threads, work=Dead())
    assert catch_up(dead, never) == 1
    assert texts(slack) == []
    clock.now += timedelta(minutes=5)
    desks.resume(threads)
    assert texts(slack) == ["It lost money."]


class Dead:
    """A pool of a process that is no more: it takes work and does none."""

    def submit(self, _work):
        from concurrent.futures import Future

        return Future()


def test_a_conversation_that_a_dead_process_was_reading_is_read_by_another(bot, slack, clock):
    slack.write("UANA", "C1", ASK)
    away(slack, clock, minutes=30)
    services = clock.services(bot)
    with services.store.writing() as connection:
        assert watches.claim(connection, "slack:T0ACME:C1", "dead", clock.now, EVERY, services.lease)
    assert listen(bot, clock) == 0
    clock.now += services.lease
    assert (listen(bot, clock), len(texts(slack))) == (1, 1)


def test_many_conversations_are_read_a_few_at_a_time_until_all_are(bot, slack, clock):
    for n in range(30):
        slack.channel(f"C9{n}", "UANA")
    listen(bot, clock)
    clock.now += EVERY
    slack.at(clock.now)
    for n in range(30):
        slack.write("UANA", f"C9{n}", ASK)
    away(slack, clock, minutes=30)
    calls, rounds = len(slack.calls), []
    while not all(texts(slack, f"C9{n}") for n in range(30)):
        listen(bot, clock)
        clock.now += timedelta(seconds=15)
        rounds.append(sum(call.method == "conversations.history" for call in slack.calls[calls:]))
        calls = len(slack.calls)
        assert len(rounds) < 20
    assert max(rounds) <= 5


def test_what_is_said_while_our_clock_is_ahead_is_not_passed_over(bot, slack, clock):
    away(slack, clock, minutes=30)
    listen(bot, clock)
    slack.at(clock.now - timedelta(seconds=40))
    slack.write("UANA", "C1", ASK)
    away(slack, clock, minutes=30)
    assert (listen(bot, clock), len(texts(slack))) == (1, 1)
