"""The files of an answer are in its thread once, for those who may see the answer, and never at the answer's cost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.conversation import Chart, Turn
from bot.delivery.blocks import files
from bot.delivery.listeners import threads as desks
from bot.delivery.listeners.ask import mention as read
from bot.delivery.listeners.attach import attach
from bot.delivery.listeners.notify import tell
from bot.router import Answerer
from tests.fakes.frame import question, said
from tests.fakes.slack.payloads import BOT, mention, message
from tests.fakes.slack.reading import shown

BARS = Chart(kind="bars", title="Orders by region", x="region", y=("orders",), format="integer")
ROWS = (("EU", 3), ("US", 5))


def answering(sql="SELECT 1", rows=ROWS):
    def answer(asked, _state, _index):
        shape = {"columns": ("region", "orders"), "rows": rows, "chart": BARS}
        return Turn(said(asked, "data", "answered", "orders by region", level=4, sql=sql, **shape), {})

    return (Answerer("data", lambda *_: 1.0, answer),)


def names(slack, channel):
    return [file["name"] for file in slack.shared(channel)]


def ask(slack, bot, user="UANA", channel="C1"):
    ts = slack.say(user, channel, f"<@{BOT}> orders by region" if channel[0] != "D" else "orders by region")
    bot.settle()
    return ts


@pytest.mark.parametrize("channel", ["C1", "D1"])
def test_a_chart_and_its_table_come_in_the_thread_after_the_text(start, slack, channel):
    ts = ask(slack, start(answerers=answering()), channel=channel)
    assert [(file["name"], file["thread_ts"]) for file in slack.shared(channel)] == [
        ("chart.png", ts),
        ("result.csv", ts),
    ]
    drawn, table = slack.shared(channel)
    assert drawn["alt"].startswith("Bar chart: Orders by region.")
    assert table["content"] == b"region,orders\r\nEU,3\r\nUS,5\r\n"
    assert [call.method for call in slack.calls if call.method.startswith(("chat", "files", "upload"))] == [
        "chat.postMessage",
        "files.getUploadURLExternal",
        "files.getUploadURLExternal",
        "upload",
        "upload",
        "files.completeUploadExternal",
    ]


def test_an_answer_in_one_row_has_no_files(start, slack):
    ask(slack, start(answerers=answering(rows=ROWS[:1])))
    assert len(slack.posts("C1")) == 1
    assert names(slack, "C1") == []


# ---- for whom -------------------------------------------------------------------------------------------------------


def test_what_only_its_asker_may_see_is_no_file_in_a_room(start, slack):
    ask(slack, start(answerers=answering("SELECT amount FROM finance.ledger")), "UFIN")
    (post,) = slack.posts("C1", "UFIN")
    assert "only in a direct message" in shown(post)
    assert slack.uploads == {}


def test_in_a_direct_message_it_is(start, slack):
    ask(slack, start(answerers=answering("SELECT amount FROM finance.ledger")), "UFIN", "D2")
    assert names(slack, "D2") == ["chart.png", "result.csv"]


# ---- once -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def event(slack):
    ts = slack.next_ts()
    slack.told("UANA", "C1", f"<@{BOT}> orders by region", ts, None)
    return mention("orders by region", "UANA", "C1", ts)


def test_an_event_that_comes_again_brings_no_second_file(start, slack, event):
    bot = start(answerers=answering())
    assert [slack.attempt(event, retry).status for retry in range(4)] == [200] * 4
    bot.settle()
    assert names(slack, "C1") == ["chart.png", "result.csv"]


def later(house, seconds):
    class Later:
        def services(self):
            return replace(house.bot.services(), clock=lambda: datetime.now(UTC) + timedelta(seconds=seconds))

    return replace(house.slack.threads, serving=Later())


def test_a_text_that_an_earlier_attempt_posted_gets_its_files_from_the_next(start, slack, event):
    bot = start(mode="still", answerers=answering())
    threads = bot.slack.threads
    heard = read(event["event"], threads)
    threads.take(heard)
    slack.fail("cut_after", on="chat.postMessage")
    slack.fail("cut_before", on="conversations.replies")
    desks.deliver(heard, threads)
    assert (len(slack.posts("C1")), names(slack, "C1")) == (1, [])
    for seconds in (31, 62):
        desks.deliver(heard, later(bot, seconds))
    assert (len(slack.posts("C1")), names(slack, "C1")) == (1, ["chart.png", "result.csv"])


def test_the_bot_does_not_answer_its_own_files(start, slack):
    bot = start(answerers=answering())
    ts = ask(slack, bot, channel="D1")
    told = message("", BOT, "D1", slack.next_ts(), thread_ts=ts, subtype="file_share", files=slack.shared("D1")[:1])
    told["event"]["files"] = [{"id": "F1", "name": "chart.png"}]
    assert slack.attempt(told).status == 200
    bot.settle()
    assert len(slack.posts("D1")) == 1


# ---- what goes wrong ------------------------------------------------------------------------------------------------

SHARE, URL = "files.completeUploadExternal", "files.getUploadURLExternal"


@pytest.mark.parametrize(
    ("fault", "on", "shared", "says"),
    [
        ("cut_before", URL, 0, "did not say whether"),
        ("unavailable", URL, 0, "did not say whether"),
        ("unavailable", "upload", 0, "did not say whether"),
        ("ratelimited", "upload", 0, "does not take them"),
        ("cut_before", "upload", 0, "did not say whether"),
        ("late", "upload", 0, "did not say whether"),
        ("cut_after", SHARE, 2, "did not say whether"),
    ],
)
def test_a_failed_upload_leaves_the_answer_and_is_said_once(start, slack, event, fault, on, shared, says):
    bot = start(answerers=answering())
    bot.slack.threads.client.timeout = 0.3
    slack.fail(fault, times=9, on=on)
    slack.send(event)
    bot.settle()
    text, told = slack.posts("C1")
    assert text["text"] == "orders by region"
    assert says in shown(told)
    assert told["thread_ts"] == event["event"]["ts"]
    assert len(slack.shared("C1")) == shared
    assert bot.delivery(f"slack:T0ACME:C1:{event['event']['ts']}")["place"]["ts"] == text["ts"]


def test_a_limit_of_calls_is_waited_for(start, slack, event):
    slack.retry_after = 0
    bot = start(answerers=answering())
    slack.fail("ratelimited", times=2, on="files.*")
    slack.send(event)
    bot.settle()
    assert len(slack.posts("C1")) == 1
    assert names(slack, "C1") == ["chart.png", "result.csv"]


def test_a_scope_that_is_not_granted_is_named(start, slack):
    slack.scopes.discard("files:write")
    ask(slack, start(answerers=answering()))
    text, told = slack.posts("C1")
    assert text["text"] == "orders by region"
    assert told["text"].startswith("Without chart.png and result.csv: this app lacks the scope files:write")


def test_words_that_cannot_be_said_now_are_said_later(start, slack, event):
    bot = start(mode="still", answerers=answering())
    threads = bot.slack.threads
    slack.scopes.discard("files:write")
    lost = read(event["event"], threads).model_copy(update={"channel": "C9"})
    asked = said(question(), "data", "answered", "t", columns=("a",), rows=((1,), (2,)))
    attach(asked, lost, threads.client, bot.bot.services())
    tell(threads)
    assert [post["text"][:30] for post in slack.posts("D1")] == ["Without result.csv: this app l"]


def test_what_is_too_large_is_left_out_and_the_rest_comes(start, slack, monkeypatch):
    wide = tuple((f"{n} " * 50_000, n) for n in range(9))
    bot = start(answerers=answering(rows=wide))
    monkeypatch.setattr(files, "MOST_BYTES", 500_000)
    ask(slack, bot)
    assert names(slack, "C1") == ["chart.png"]
    assert "Without result.csv: more than can be sent here" in slack.posts("C1")[-1]["text"]
