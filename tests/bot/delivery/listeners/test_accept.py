"""An answer that waits for it is accepted by its asker or a steward, once, and shows it."""

from __future__ import annotations

import pytest

from bot.evidence.store.tables import audit, querylog, requests
from bot.lifecycle import State
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown


@pytest.fixture
def asked(start, slack):
    """A data answer in the channel, and the bot that gave it."""
    bot = start()
    slack.say("UANA", "C1", f"<@{BOT}> revenue by region")
    bot.settle()
    (post,) = slack.posts("C1")
    assert [slack.labels(one) for one in slack.elements(post)] == [["Accept"]]
    return bot, post


def kept(bot, post):
    with bot.bot.services().store.reading() as connection:
        request = f"slack:T0ACME:C1:{post['thread_ts']}"
        row = next(row for row in querylog.rows(connection) if row["request_id"] == request)
        events = [entry.body["event"] for entry in audit.about(connection, request)]
        return requests.load(connection, request).state, row["user_accepted"], events


@pytest.mark.parametrize("user", ["UANA", "UGRACE"])
def test_the_asker_or_a_steward_accepts(asked, slack, user):
    bot, post = asked
    assert slack.click(user, post, "Accept").status == 200
    bot.settle()
    assert kept(bot, post) == (State.CLOSE, True, ["reply", "accepted"])
    (after,) = slack.posts("C1")
    assert slack.elements(after) == []
    assert f"Accepted by <@{user}>" in shown(after)
    assert "EU" in shown(after)


def test_nobody_else_does(asked, slack):
    bot, post = asked
    slack.click("UBEN", post, "Accept")
    bot.settle()
    assert kept(bot, post) == (State.ACCEPT, None, ["reply"])
    (_, told) = slack.posts("C1", "UBEN")
    assert "Only the person who asked, or a steward" in told["text"]
    assert len(slack.posts("C1")) == 1


def test_two_clicks_are_one_acceptance(asked, slack):
    bot, post = asked
    for _ in range(2):
        slack.click("UANA", dict(post), "Accept") if slack.elements(post) else None
    bot.settle()
    assert kept(bot, post) == (State.CLOSE, True, ["reply", "accepted"])


def test_an_answer_without_a_level_has_nothing_to_accept(start, slack):
    bot = start()
    slack.say("UANA", "C1", f"<@{BOT}> why did we leave plasma?")
    bot.settle()
    assert slack.elements(slack.posts("C1")[0]) == []


def test_a_click_on_what_nobody_knows_any_more_is_told_so(asked, slack):
    bot, post = asked
    old = {**post, "blocks": [{"type": "actions", "elements": [{**slack.elements(post)[0], "value": "gone"}]}]}
    assert slack.click("UANA", old, "Accept").status == 200
    bot.settle()
    assert "I do not know that answer" in slack.posts("C1", "UANA")[-1]["text"]
