"""A question in Slack, from outside: the real policies and example data, real Bolt over both ways in, a real store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.delivery.listeners.heard import said_at
from bot.evidence.store.tables import audit
from bylaw.audit.verify import verify
from bylaw.demos.warehouse import build
from tests.fakes import stored
from tests.fakes.slack.house import house
from tests.fakes.slack.payloads import BOT
from tests.fakes.slack.reading import shown
from tests.fakes.slack.server import FakeSlack
from tests.fakes.voltmark import compiled


@pytest.fixture(scope="module")
def voltmark(tmp_path_factory):
    """The bundle and its data; in this workspace UBEN is a finance analyst."""
    folder = tmp_path_factory.mktemp("voltmark")
    build(folder / "data.duckdb", said_at(FakeSlack().next_ts()).date())
    return compiled(folder, UBEN=["finance_analyst"]), f"duckdb:///{folder / 'data.duckdb'}"


@pytest.fixture
def slack():
    with FakeSlack() as fake:
        fake.channel("C1", "UANA", "UBEN")
        fake.channel("D1", "UANA")
        yield fake
    assert fake.defects == []


@pytest.mark.parametrize("mode", ["http", "socket"])
def test_people_ask_in_slack(tmp_path, voltmark, slack, mode):
    bundle, warehouse = voltmark
    with house(tmp_path, slack, bundle=bundle, mode=mode, answerers=None, warehouse=warehouse) as bot:
        _policy(bot, slack)
        _data(bot, slack)
        _sensitive(bot, slack)
        _decision(bot, slack)
        with bot.bot.services().store.reading() as connection:
            entries = list(audit.entries(connection))
            assert verify(entries).is_intact
            assert stored.unfinished(connection, datetime.now(UTC)) == []
        assert [entry.body["event"] for entry in entries].count("accepted") == 1


def _policy(bot, slack):
    """What is missing is asked for with buttons, one fact at a time; the answer cites its line."""
    ts = slack.say("UANA", "D1", "Can I return a TV I bought 10 days ago?")
    bot.settle()
    (asked,) = slack.posts("D1")
    assert asked["thread_ts"] == ts
    assert ["yes"] in [slack.labels(one) for one in slack.elements(asked)]
    clicked = 0
    while buttons := [label for one in slack.elements(slack.posts("D1")[-1]) for label in slack.labels(one)]:
        if buttons == ["New case"]:  # nothing is asked for any more: what is left is to drop what was told
            break
        slack.click("UANA", slack.posts("D1")[-1], "yes" if "yes" in buttons else buttons[0])
        bot.settle()
        clicked += 1
        assert len(slack.posts("D1")) == clicked + 1
    answered = slack.posts("D1")[-1]
    assert "he customer gets " in shown(answered)
    assert "policies/refund/POL-" in shown(answered)


def _data(bot, slack):
    """A figure with its table, its statement and its reading, accepted by who asked."""
    ts = slack.say("UANA", "C1", f"<@{BOT}> number of orders by status last month")
    bot.settle()
    (post,) = [one for one in slack.posts("C1") if one["thread_ts"] == ts]
    assert "table" in [block["type"] for block in post["blocks"]]
    assert "SELECT" in shown(post)
    slack.click("UANA", post, "Accept")
    bot.settle()
    assert "Accepted by <@UANA>" in shown(slack.posts("C1")[-1])


def _sensitive(bot, slack):
    """What not everybody may read is shown to who may, and denied to who may not."""
    ts = slack.say("UBEN", "C1", f"<@{BOT}> refund amount last month")
    bot.settle()
    (post,) = [one for one in slack.posts("C1", "UBEN") if one["thread_ts"] == ts]
    assert post["to"] == "UBEN"
    ts = slack.say("UANA", "C1", f"<@{BOT}> refund amount last month")
    bot.settle()
    (post,) = [one for one in slack.posts("C1", "UANA") if one["thread_ts"] == ts]
    assert "do not grant the schema" in shown(post)


def _decision(bot, slack):
    """A decision with its sources."""
    ts = slack.say("UANA", "C1", f"<@{BOT}> why did we drop plasma televisions?")
    bot.settle()
    (post,) = [one for one in slack.posts("C1") if one["thread_ts"] == ts]
    assert "context/decisions/" in shown(post)
