"""An answer for its asker alone cannot be looked for in Slack: it is shown once, and offered where that is not sure."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.delivery.listeners import threads as desks
from bot.delivery.listeners.ask import mention as read
from tests.bot.delivery.listeners.test_ask import LEDGER
from tests.fakes.forked import Forked
from tests.fakes.slack.payloads import BOT, mention
from tests.fakes.slack.reading import shown


@pytest.fixture
def event(slack):
    ts = slack.next_ts()
    slack.told("UFIN", "C1", f"<@{BOT}> the ledger", ts, None)
    return mention("the ledger", "UFIN", "C1", ts)


def taken(house, event):
    heard = read(event["event"], house.slack.threads)
    house.slack.threads.take(heard)
    return heard


def later(house, seconds=200):
    class Later:
        def services(self):
            now = datetime.now(UTC) + timedelta(seconds=seconds)
            return replace(house.bot.services(), clock=lambda: now)

    return replace(house.slack.threads, serving=Later())


def said(slack):
    """Of each message that she sees: is it the answer, the offer to show it?"""
    return [("1 million" in shown(post), "Show it" in shown(post)) for post in slack.posts("C1", "UFIN")]


ANSWER, OFFER = (True, False), (False, True)


@pytest.mark.parametrize(
    ("fault", "seen"),
    [(None, [ANSWER]), ("cut_after", [ANSWER, OFFER]), ("cut_before", [OFFER]), ("ratelimited", [])],
)
def test_whatever_goes_wrong_it_is_there_once_or_offered(start, slack, event, fault, seen):
    bot = start(answerers=LEDGER)
    if fault:
        slack.fail(fault, times=1, on="chat.postEphemeral")
    slack.send(event)
    bot.settle()
    assert said(slack) == seen
    assert slack.posts("C1", "UANA") == []


def test_what_slack_refuses_was_not_shown_and_is_sent_whole_next_time(start, slack, event):
    bot = start(mode="still", answerers=LEDGER)
    heard = taken(bot, event)
    slack.fail("ratelimited", on="chat.postEphemeral")
    desks.deliver(heard, bot.slack.threads)
    assert said(slack) == []
    desks.deliver(heard, later(bot, 31))
    assert said(slack) == [ANSWER]


def test_the_offered_answer_is_shown_to_its_asker_in_the_place_of_the_button(start, slack, event):
    bot = start(answerers=LEDGER)
    slack.fail("cut_before", times=1, on="chat.postEphemeral")
    slack.send(event)
    bot.settle()
    (offer,) = slack.posts("C1", "UFIN")
    assert slack.click("UANA", offer, "Show it").status == 200  # as if somebody forged it
    bot.settle()
    assert [("1 million" in shown(post), post["to"]) for post in slack.posts("C1", "UANA")] == [(False, "UANA")]
    assert slack.click("UFIN", offer, "Show it").status == 200
    bot.settle()
    (whole,) = slack.posts("C1", "UFIN")
    assert ("1 million" in shown(whole), "Only you can see this" in shown(whole)) == (True, True)
    assert slack.click("UFIN", whole, "Accept").status == 200
    bot.settle()
    assert "Accepted by <@UFIN>" in shown(slack.posts("C1", "UFIN")[0])


def test_an_answer_that_was_redacted_since_is_not_shown(start, slack, event):
    bot = start(answerers=LEDGER)
    slack.fail("cut_before", times=1, on="chat.postEphemeral")
    slack.send(event)
    bot.settle()
    (offer,) = slack.posts("C1", "UFIN")
    with bot.bot.services().store.writing() as connection:
        connection.exec_driver_sql("DELETE FROM request_steps")
        connection.exec_driver_sql("DELETE FROM requests")
    slack.click("UFIN", offer, "Show it")
    bot.settle()
    assert [post["text"][:13] for post in slack.posts("C1", "UFIN")] == ["I may have sh", "I do not have"]


# What answers here is killed as soon as Slack has the message, or just before it gets it.
VICTIM = """
import json, os, signal, sys
from pathlib import Path
from types import SimpleNamespace
from slack_sdk import WebClient
from bot.delivery.listeners import threads
from bot.delivery.listeners.heard import Heard
from tests.bot.delivery.listeners.test_ask import LEDGER
from tests.fakes.frame import ANSWERERS
from tests.fakes.slack.house import house
told = json.loads(sys.argv[1])
def dying(call):
    def made(*given, **named):
        if told["when"] == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        call(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    return made
WebClient.chat_postMessage = dying(WebClient.chat_postMessage)
WebClient.chat_postEphemeral = dying(WebClient.chat_postEphemeral)
answerers = LEDGER if told["is_private"] else ANSWERERS
with house(Path(told["folder"]), SimpleNamespace(**told["slack"]), mode="still", answerers=answerers) as bot:
    threads.deliver(Heard.model_validate(told["heard"]), bot.slack.threads)
"""


@pytest.mark.parametrize("when", ["before", "behind"])
@pytest.mark.parametrize("is_private", [True, False])
def test_a_process_that_is_killed_around_its_post_leaves_no_answer_twice_and_none_lost(
    start, slack, tmp_path, is_private, when
):
    words, user = ("the ledger", "UFIN") if is_private else ("why did we leave plasma?", "UANA")
    ts = slack.next_ts()
    slack.told(user, "C1", f"<@{BOT}> {words}", ts, None)
    bot = start(mode="still", **({"answerers": LEDGER} if is_private else {}))
    heard = taken(bot, mention(words, user, "C1", ts))
    fake = {name: getattr(slack, name) for name in ("api", "bot_token", "app_token", "secret")}
    told = {"folder": str(tmp_path), "slack": fake, "is_private": is_private, "when": when}
    told["heard"] = heard.model_dump(mode="json")
    assert Forked("-c", VICTIM, json.dumps(told)).wait() == -signal.SIGKILL
    assert len(slack.posts("C1", user)) == (when == "behind")
    assert desks.resume(later(bot)) == 1
    bot.settle()
    if is_private:
        assert said(slack) == ([ANSWER, OFFER] if when == "behind" else [OFFER])
    else:
        assert len(slack.posts("C1", user)) == 1
    assert bot.delivery(heard.key)["closed_at"] is not None
