"""The Slack app starts with what it needs or says what is missing, and takes up what an earlier process left."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.conversation import Actor
from bot.delivery.listeners.heard import Heard, said_at, session_of
from bot.delivery.slack.app import answering, open_slack
from bot.evidence.store.tables import watches
from bot.settings import Settings
from bylaw.errors import BylawError, UsageError
from tests.fakes.slack.payloads import TEAM


def settings(slack, **others):
    given = {"slack_bot_token": slack.bot_token, "slack_app_token": slack.app_token, "slack_signing_secret": "s"}
    return Settings(slack_api_url=slack.api, **{**given, **others})


@pytest.mark.parametrize(
    ("way", "lacks", "says"),
    [
        ("http", "slack_signing_secret", "BYLAW_SLACK_SIGNING_SECRET"),
        ("socket", "slack_app_token", "BYLAW_SLACK_APP_TOKEN"),
        ("http", "slack_bot_token", "token for Slack is missing"),
    ],
)
def test_what_is_missing_is_said_by_name(slack, way, lacks, says):
    with pytest.raises(UsageError, match=says), answering(None, settings(slack, **{lacks: None}), way, None):
        pytest.fail("it started")


def test_a_token_that_slack_does_not_take_is_said_at_the_start(slack):
    with pytest.raises(UsageError, match="does not take the bot's token"):
        open_slack(None, settings(slack, slack_bot_token="xoxb-wrong"))


def test_a_slack_that_cannot_be_reached_is_said_at_the_start():
    nowhere = Settings(slack_api_url="http://127.0.0.1:9/api/", slack_bot_token="xoxb-1")
    with pytest.raises(UsageError, match="does not take"):
        open_slack(None, nowhere)


def test_a_socket_that_slack_does_not_open_is_an_error_with_words(slack):
    with (
        pytest.raises(BylawError, match="opens no socket"),
        answering(None, settings(slack, slack_app_token="xapp-wrong"), "socket", None),
    ):
        pytest.fail("it started")


def test_charts_that_cannot_be_drawn_are_said_at_the_start(slack, monkeypatch, caplog):
    open_slack(None, settings(slack)).close()
    assert "charts" not in caplog.text
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    open_slack(None, settings(slack)).close()
    assert "install `bylaw-policies[charts]`" in caplog.text


def test_nothing_secret_is_in_what_is_printed_of_the_settings(slack):
    shown = repr(settings(slack, slack_signing_secret="hush"))
    assert not any(secret in shown for secret in (slack.bot_token, slack.app_token, "hush"))


def test_leftovers_are_taken_up_when_the_app_starts(start, slack):
    """An utterance that was acknowledged long ago, by a process that is no more."""
    bot = start(mode="still")
    ts = slack.next_ts()
    slack.told("UANA", "D1", "why did we leave plasma?", ts, None)
    left = Heard(
        key="slack:left",
        text="why did we leave plasma?",
        user=Actor(id="UANA").id,
        team=TEAM,
        channel="D1",
        thread=ts,
        session_id=session_of(TEAM, "D1", ts),
        said_at=said_at(ts),
        is_direct=True,
    )
    bot.slack.threads.take(left)
    services = bot.bot.services()
    bot.bot._services = replace(services, lease=services.lease * 0)
    bot.slack.start()
    while not slack.posts("D1"):
        bot.settle()
    bot.slack.close()
    assert [post["text"] for post in slack.posts("D1")] == ["It lost money."]


def test_what_was_said_while_no_process_was_there_is_answered_when_one_starts(start, slack):
    bot = start(mode="still")
    now = datetime.now(UTC)
    with bot.bot.services().store.writing() as connection:
        for name in ("slack:T0ACME", "slack:T0ACME:D1"):
            watches.begin(connection, name, now - timedelta(minutes=30))
    slack.at(now - timedelta(minutes=20))
    slack.write("UANA", "D1", "why did we leave plasma?")
    bot.slack.start()
    until_there(lambda: slack.posts("D1"))
    bot.slack.close()
    assert [post["text"] for post in slack.posts("D1")] == ["It lost money."]


def test_what_nobody_foresaw_in_an_answer_of_slack_ends_no_work(start, slack, caplog):
    bot = start(mode="still")
    with bot.bot.services().store.writing() as connection:
        watches.begin(connection, "slack:T0ACME", datetime.now(UTC) - timedelta(minutes=30))
    slack.distort("users.conversations", {"ok": True, "channels": "none"})
    bot.slack.start()
    until_there(lambda: "could not be read" in caplog.text)
    assert all(one.is_alive() for one in bot.slack._beside)
    bot.slack.close()


def until_there(found):
    """Wait for what runs beside."""
    for _ in range(500):
        if found():
            return
        time.sleep(0.02)
    pytest.fail("it never came")
