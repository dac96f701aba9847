"""An outage of Slack at any step: nothing is lost or there twice, and what time does not mend waits visibly."""

from __future__ import annotations

import itertools
import json
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.conversation import Actor, Question
from bot.delivery.listeners import outbox
from bot.delivery.listeners import threads as desks
from bot.delivery.listeners.ask import mention as read
from bot.delivery.listeners.notify import tell
from bot.delivery.listeners.rounds import MOST
from bot.evidence.store import erasure
from bot.evidence.store.connection import insert_new
from bot.evidence.store.tables import deliveries, requests
from tests.bot.evidence.store.conftest import store_url  # noqa: F401  # the same on both databases
from tests.fakes.bundle import write_bundle
from tests.fakes.forked import Forked
from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT, mention
from tests.fakes.slack.rooms import ROLES

AFTER = ["cut_after", "unavailable_after", "broken_after"]


class Clock:
    """What the bot takes for the time; moved by hand."""

    def __init__(self):
        self.now = datetime.now(UTC)

    def services(self, bot):
        still = {"wait_seconds": 0, "pause": lambda _seconds: None}
        return replace(bot.bot.services(), clock=lambda: self.now, chance=lambda: 1.0, **still)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def bot(start, slack, clock):
    return clocked(start(mode="still"), clock)


def clocked(bot, clock):
    class Serving:
        def services(self):
            return clock.services(bot)

    bot.slack.threads = replace(bot.slack.threads, serving=Serving())
    return bot


def ask(bot, slack, text="why did we leave plasma?", user="UANA", channel="C1"):
    """A question that was acknowledged; nobody has answered it yet."""
    ts = slack.next_ts()
    slack.told(user, channel, f"<@{BOT}> {text}", ts, None)
    heard = read(mention(text, user, channel, ts)["event"], bot.slack.threads)
    assert bot.slack.threads.take(heard)
    return heard


def notice(bot, clock, person="UGRACE", event="answered", about="r1", text="Something happened."):
    with clock.services(bot).store.writing() as connection:
        deliveries.notify(connection, person, about, event, text, clock.now)
        (name,) = [name for name, letter in deliveries.notices(connection, clock.now) if letter["text"] == text]
    return name


def sweep(bot, clock, **span):
    """What the bot does in that time: a round every 15 seconds, in a long time every few minutes."""
    end, step = clock.now + timedelta(**span), max(timedelta(seconds=15), timedelta(**span) / 80)
    while clock.now < end:
        clock.now += step
        desks.resume(bot.slack.threads)
        tell(bot.slack.threads)


def there(slack, channel="C1"):
    return [post["text"] for post in slack.posts(channel)]


STEPS = [
    {"title": "nobody answers", "kind": "cut_before", "on": ".*"},
    {"title": "every call is refused for the moment", "kind": "unavailable", "on": ".*"},
    {"title": "posts are cut", "kind": "cut_before", "on": "chat.*"},
    {"title": "too many calls", "kind": "ratelimited", "on": ".*"},
    {"title": "conversations cannot be opened", "kind": "cut_before", "on": "conversations.open"},
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["title"])
@pytest.mark.parametrize("hours", [0.03, 6])
def test_after_an_outage_of_any_length_everything_arrives_once(bot, slack, clock, step, hours):
    slack.break_down(step["kind"], on=step["on"])
    heard = ask(bot, slack)
    name = notice(bot, clock)
    desks.deliver(heard, bot.slack.threads)
    sweep(bot, clock, hours=hours)
    slack.mend()
    slack.at(clock.now)
    sweep(bot, clock, hours=4.1)
    assert there(slack) == ["It lost money."]
    assert there(slack, "DUGRACE") == ["Something happened."]
    for one in (heard.key, name):
        assert bot.delivery(one)["outcome"] == "delivered"


def test_slack_is_left_alone_more_and_more(bot, slack, clock):
    slack.break_down("cut_before")
    name = notice(bot, clock)
    tried = []
    for _ in range(24 * 12):
        clock.now += timedelta(minutes=5)
        calls = len(slack.calls)
        tell(bot.slack.threads)
        tried += [clock.now] if len(slack.calls) > calls else []
    waits = [later - earlier for earlier, later in itertools.pairwise(tried)]
    assert waits == sorted(waits) and timedelta(hours=4) <= waits[-1] <= timedelta(hours=4, minutes=5)
    assert (len(tried) < 16, bot.delivery(name)["closed_at"]) == (True, None)


def test_many_that_wait_do_not_each_ask_a_slack_that_is_down(bot, slack, clock):
    slack.break_down("cut_before")
    for n in range(40):
        notice(bot, clock, about=f"r{n}", text=f"notice {n}")
    calls = len(slack.calls)
    clock.now += timedelta(minutes=1)
    tell(bot.slack.threads)
    assert len(slack.calls) == calls + 1


def test_once_one_gets_through_the_others_do_not_wait_for_their_hour(bot, slack, clock):
    slack.break_down("cut_before")
    for n in range(5):
        notice(bot, clock, about=f"r{n}", text=f"notice {n}")
    for _ in range(12 * 12):
        clock.now += timedelta(minutes=5)
        tell(bot.slack.threads)
    slack.mend()
    slack.at(clock.now)
    while not there(slack, "DUGRACE"):
        clock.now += timedelta(minutes=5)
        tell(bot.slack.threads)
    sweep(bot, clock, seconds=30)
    assert len(there(slack, "DUGRACE")) == 5


def test_slack_that_asks_to_wait_is_left_alone_for_so_long(bot, slack, clock):
    slack.retry_after = 600
    slack.fail("ratelimited", on="chat.postMessage")
    name = notice(bot, clock)
    sweep(bot, clock, seconds=15)
    until = datetime.fromisoformat(str(bot.delivery(name)["leased_until"]))
    assert until - clock.now == timedelta(seconds=660), "ten minutes, and up to a tenth more"
    assert bot.delivery(name)["is_doubtful"] is False
    calls = len(slack.calls)
    sweep(bot, clock, minutes=10)
    assert len(slack.calls) == calls
    sweep(bot, clock, minutes=2)
    assert there(slack, "DUGRACE") == ["Something happened."]
    assert not [call for call in slack.calls if call.method == "conversations.history"], "a refusal leaves no doubt"


@pytest.mark.parametrize("fault", AFTER)
def test_what_slack_took_without_saying_so_is_found_and_not_posted_again(bot, slack, clock, fault):
    slack.at(clock.now)
    heard, name = ask(bot, slack), notice(bot, clock)
    slack.fail(fault, times=2, on="chat.postMessage")
    slack.fail("cut_before", times=2, on="conversations.(replies|history)")
    desks.deliver(heard, bot.slack.threads)
    tell(bot.slack.threads)
    assert [bot.delivery(one)["closed_at"] for one in (heard.key, name)] == [None, None]
    slack.mend()
    sweep(bot, clock, minutes=5)
    assert (len(there(slack)), len(there(slack, "DUGRACE"))) == (1, 1)
    assert bot.delivery(heard.key)["place"]["ts"] == slack.posts("C1")[0]["ts"]


def test_a_look_that_slack_limits_keeps_the_doubt(bot, slack, clock):
    slack.at(clock.now)
    heard = ask(bot, slack)
    slack.fail("cut_after", on="chat.postMessage")
    slack.fail("ratelimited", on="conversations.replies")
    desks.deliver(heard, bot.slack.threads)
    assert bot.delivery(heard.key)["is_doubtful"] is True
    sweep(bot, clock, minutes=5)
    assert len(there(slack)) == 1


def test_what_somebody_else_posts_under_our_mark_is_not_taken_for_ours(bot, slack, clock):
    slack.channel("DUGRACE", "UGRACE")
    slack.at(clock.now)
    heard, name = ask(bot, slack), notice(bot, clock)
    for channel, key in (("C1", heard.key), ("DUGRACE", name)):
        ts = slack.write("UMALLORY", channel, "It lost money.", heard.thread if channel == "C1" else None)
        slack.messages[channel, ts]["metadata"] = outbox.mark(key)
    slack.fail("cut_before", times=2, on="chat.postMessage")
    desks.deliver(heard, bot.slack.threads)
    sweep(bot, clock, minutes=5)
    assert (len(there(slack)), len(there(slack, "DUGRACE"))) == (1, 1)


def test_a_notice_behind_many_others_is_found(bot, slack, clock):
    slack.channel("DUGRACE", "UGRACE")
    slack.at(clock.now)
    name = notice(bot, clock)
    slack.fail("cut_after", on="chat.postMessage")
    slack.fail("cut_before", on="conversations.history")
    tell(bot.slack.threads)
    for n in range(120):
        slack.write("UGRACE", "DUGRACE", f"word {n}")
    sweep(bot, clock, minutes=5)
    assert (there(slack, "DUGRACE"), bot.delivery(name)["outcome"]) == (["Something happened."], "delivered")


def test_what_cannot_be_looked_through_waits_for_a_person(bot, slack, clock):
    slack.channel("DUGRACE", "UGRACE")
    slack.at(clock.now)
    name = notice(bot, clock)
    slack.fail("cut_before", on="chat.postMessage")
    slack.fail("cut_before", on="conversations.history")
    tell(bot.slack.threads)
    for n in range(800):
        slack.write("UGRACE", "DUGRACE", f"word {n}")
    sweep(bot, clock, minutes=5)
    row = bot.delivery(name)
    assert (row["failure"], row["blocked_at"] is not None, row["closed_at"]) == ("unseen", True, None)


def refused(slack, how):
    match how:
        case "not_in_channel":
            slack.members["C1"].discard(BOT)
        case "channel_not_found":
            del slack.members["C1"]
        case "is_archived":
            slack.archive("C1")
        case "restricted_action":
            slack.refuse("chat.postMessage", "restricted_action")


@pytest.mark.parametrize("how", ["not_in_channel", "channel_not_found", "is_archived", "restricted_action"])
def test_what_slack_refuses_for_good_is_tried_once_and_waits_for_a_person(bot, slack, clock, how):
    heard = ask(bot, slack)
    refused(slack, how)
    desks.deliver(heard, bot.slack.threads)
    calls = len(slack.calls)
    sweep(bot, clock, hours=2)
    row = bot.delivery(heard.key)
    assert (row["failure"], row["cause"], row["closed_at"], len(slack.calls)) == (how, "refused", None, calls)
    assert row["blocked_at"] is not None


def test_a_page_of_somebody_in_between_is_no_refusal(bot, slack, clock):
    heard = ask(bot, slack)
    slack.refuse("chat.postMessage", "<html>Sign in to the guest network</html>", times=2)
    desks.deliver(heard, bot.slack.threads)
    assert bot.delivery(heard.key)["cause"] == "outage"
    sweep(bot, clock, minutes=3)
    assert there(slack) == ["It lost money."]


def test_a_token_that_was_taken_away_and_given_back_needs_nobody(bot, slack, clock):
    heard, token = ask(bot, slack), slack.bot_token
    slack.bot_token = "xoxb-2-new"
    desks.deliver(heard, bot.slack.threads)
    assert (bot.delivery(heard.key)["cause"], bot.delivery(heard.key)["blocked_at"]) == ("installation", None)
    slack.bot_token = token
    sweep(bot, clock, minutes=3)
    assert there(slack) == ["It lost money."]


def test_five_hundred_that_wait_all_arrive_once_and_one_that_is_refused_holds_up_none(bot, slack, clock):
    assert MOST < 500
    for n in range(500):
        notice(bot, clock, person=["UANA", "UBEN", "UFIN", "nobody"][n % 4], about=f"r{n}", text=f"notice {n}")
    slack.break_down("unavailable")
    sweep(bot, clock, minutes=2)
    slack.mend()
    slack.at(clock.now)
    sweep(bot, clock, hours=1)
    found = [text for channel in ("D1", "DUBEN", "D2") for text in there(slack, channel)]
    assert sorted(found) == sorted(f"notice {n}" for n in range(500) if n % 4 != 3)
    with clock.services(bot).store.reading() as connection:
        waits = deliveries.list_undelivered(connection, clock.now, 1_000)
    assert {(one.failure, one.blocked_at is not None) for one in waits} == {("user_not_found", True)}
    assert len(waits) == 125


def test_two_replicas_post_everything_once(slack, tmp_path, store_url, clock):  # noqa: F811
    write_bundle(tmp_path / "bundle.json", roles=ROLES)
    with (
        house(tmp_path, slack, mode="still", store_url=store_url) as one,
        house(tmp_path, slack, mode="still", store_url=store_url) as two,
    ):
        both = [clocked(each, clock) for each in (one, two)]
        heard = [ask(one, slack) for _ in range(20)]
        for n in range(20):
            notice(one, clock, about=f"r{n}", text=f"notice {n}")
        clock.now += timedelta(minutes=10)
        with ThreadPoolExecutor(4) as pool:
            for work in (desks.resume, tell, desks.resume, tell):
                list(pool.map(lambda bot: work(bot.slack.threads), both))  # noqa: B023
        assert len(there(slack)) == len(heard)
        assert sorted(there(slack, "DUGRACE")) == sorted(f"notice {n}" for n in range(20))


# What tells a notice is killed as soon as Slack has it, or just before it gets it.
VICTIM = """
import json, os, signal, sys
from pathlib import Path
from types import SimpleNamespace
from slack_sdk import WebClient
from bot.delivery.listeners import notify
from tests.fakes.slack.house import house
told = json.loads(sys.argv[1])
def dying(call):
    def made(*given, **named):
        if told["when"] == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        call(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    return made
setattr(WebClient, told["at"], dying(getattr(WebClient, told["at"])))
with house(Path(told["folder"]), SimpleNamespace(**told["slack"]), mode="still", store_url=told["store"]) as bot:
    notify.tell(bot.slack.threads)
"""


@pytest.mark.parametrize("at", ["conversations_open", "chat_postMessage"])
@pytest.mark.parametrize("when", ["before", "behind"])
def test_a_process_that_is_killed_while_it_tells_a_notice_tells_it_neither_twice_nor_never(
    slack,
    tmp_path,
    store_url,  # noqa: F811
    clock,
    at,
    when,
):
    write_bundle(tmp_path / "bundle.json", roles=ROLES)
    slack.at(clock.now)
    with house(tmp_path, slack, mode="still", store_url=store_url) as bot:
        clocked(bot, clock)
        notice(bot, clock)
        fake = {name: getattr(slack, name) for name in ("api", "bot_token", "app_token", "secret")}
        told = {"folder": str(tmp_path), "slack": fake, "when": when, "at": at, "store": store_url}
        assert Forked("-c", VICTIM, json.dumps(told)).wait() == -signal.SIGKILL
        assert len(there(slack, "DUGRACE")) == ((at, when) == ("chat_postMessage", "behind"))
        sweep(bot, clock, minutes=1)
        assert len(there(slack, "DUGRACE")) == ((at, when) == ("chat_postMessage", "behind")), "it has a lease"
        sweep(bot, clock, minutes=4)
        assert there(slack, "DUGRACE") == ["Something happened."]


def test_who_lost_the_lease_while_it_answered_posts_nothing(bot, slack, clock):
    heard = ask(bot, slack)
    services = clock.services(bot)
    with services.store.writing() as connection:
        held = deliveries.claim(connection, heard.key, "slow", clock.now, services.lease)
    clock.now += services.lease * 2
    desks.deliver(heard, bot.slack.threads)
    assert outbox.send(held, lambda: pytest.fail("posted"), lambda: pytest.fail("looked"), services) is None
    assert len(there(slack)) == 1


def test_who_loses_the_lease_while_it_looks_posts_nothing(bot, slack, clock):
    heard, services = ask(bot, slack), clock.services(bot)
    with services.store.writing() as connection:
        held = replace(deliveries.claim(connection, heard.key, "slow", clock.now, services.lease), is_doubtful=True)

    def look():
        clock.now += services.lease * 2
        desks.deliver(heard, bot.slack.threads)

    assert outbox.send(held, lambda: pytest.fail("posted"), look, services) is None
    assert len(there(slack)) == 1


def test_a_lease_that_is_shorter_than_a_post_is_longer_while_it_is_posted(bot, slack, clock):
    heard, services = ask(bot, slack), replace(clock.services(bot), lease=timedelta(seconds=1))
    with services.store.writing() as connection:
        held = deliveries.claim(connection, heard.key, "slow", clock.now, services.lease)

    def post():
        clock.now += timedelta(seconds=60)  # Slack takes its time
        assert desks.deliver(heard, bot.slack.threads) is None
        return {"channel": "C1", "ts": "1.1"}

    assert outbox.send(held, post, lambda: None, services) == {"channel": "C1", "ts": "1.1"}
    assert there(slack) == []


def test_what_only_waits_to_be_sent_again_can_be_redacted(bot, slack, clock):
    heard = ask(bot, slack)
    slack.break_down("cut_before")
    desks.deliver(heard, bot.slack.threads)
    with clock.services(bot).store.reading() as connection:
        assert not erasure.is_held(connection, heard.key, clock.now)
    slack.mend()
    with clock.services(bot).store.writing() as connection:
        clock.now += timedelta(hours=1)
        deliveries.claim(connection, heard.key, "a", clock.now, timedelta(minutes=1))
        assert erasure.is_held(connection, heard.key, clock.now)


def test_limits_that_set_in_on_the_way_end_the_round(bot, slack, clock):
    for n in range(40):
        notice(bot, clock, about=f"r{n}", text=f"notice {n}")
    slack.break_down("ratelimited", on="chat.postMessage")
    clock.now += timedelta(minutes=1)
    tell(bot.slack.threads)
    assert sum(call.method == "chat.postMessage" for call in slack.calls) == 1


def test_a_steward_whom_slack_does_not_know_is_stood_in_for_in_the_channel_of_stewards(start, slack, tmp_path, clock):
    write_bundle(tmp_path / "bundle.json", roles={**ROLES, "users": {"grace": ["steward"]}, "steward_channel": "C1"})
    bot = clocked(start(mode="still"), clock)
    notice(bot, clock, person="grace", event="candidate", about="P-1", text="Look at it.")
    sweep(bot, clock, minutes=2)
    (text,) = there(slack)
    assert "Look at it." in text and "grace" in text
    assert [slack.labels(one) for one in slack.elements(slack.posts("C1")[0])] == [["Review…"]]


def test_what_another_process_still_answers_is_not_answered_with_patience(bot, slack, clock):
    """The question is another's for a while: its answer is waited for, not replaced by a word that it will come."""
    heard, services = ask(bot, slack, "revenue by region"), clock.services(bot)
    asked = Question(
        text=heard.text,
        actor=Actor(id=heard.user),
        asked_at=heard.said_at,
        session_id=heard.session_id,
        request_id=heard.key,
    )
    with services.store.writing() as connection:
        requests.claim(connection, asked, "other", clock.now, services.lease)
    assert desks.deliver(heard, bot.slack.threads) == "busy"
    assert (there(slack), bot.delivery(heard.key)["closed_at"]) == ([], None)
    sweep(bot, clock, minutes=5)
    assert there(slack) == ["revenue by region"]


@pytest.mark.parametrize("letter", [{}, {"text": "hello"}, [1], {"key": "another"}], ids=str)
@pytest.mark.parametrize("kind", ["message", "notice"])
def test_what_cannot_be_read_waits_for_a_person_and_nothing_waits_for_it(bot, slack, clock, kind, letter):
    name = notice(bot, clock)
    with bot.bot.services().store.writing() as connection:
        row = {"delivery_id": "odd", "letter": letter, "attempts": 0, "kind": kind}
        assert insert_new(connection, "deliveries", {**row, "created_at": clock.now - timedelta(days=1)})
    heard = ask(bot, slack)
    clock.now += timedelta(hours=1)
    desks.resume(bot.slack.threads)
    tell(bot.slack.threads)
    assert bot.delivery("odd")["blocked_at"] is not None
    assert bot.delivery("odd")["failure"] == "unreadable"
    assert bot.delivery(heard.key)["closed_at"] is not None
    assert bot.delivery(name)["outcome"] == "delivered"
